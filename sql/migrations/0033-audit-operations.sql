-- The audit keeps one row for an operation, not one for each thing that it wrote to: 500 boards of one request share
-- their account, path and address. Its entries are the elements of `resource_ids`; their ids are `id`, `id + 1`, ….
alter table audit_entries rename to audit_operations;
alter table audit_operations rename column resource_id to resource_ids;
alter table audit_operations alter column resource_ids type text[] using array[resource_ids];
alter table audit_operations alter column resource_ids set not null;
alter table audit_operations alter column resource_ids set storage external; -- compressing ids takes longer than storing them
alter table audit_operations alter column id set increment by 1000; -- the most elements of a row
alter index audit_entries_pkey rename to audit_operations_pkey;
alter index audit_entries_user rename to audit_operations_user;
alter index audit_entries_workspace rename to audit_operations_workspace;
alter index audit_entries_age rename to audit_operations_age;
comment on column audit_operations.board_id is 'on which they are; null of boards, each of which is its own';
