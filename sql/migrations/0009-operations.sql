-- Records of requests, the processes that serve the database, its key, and its schema files.

-- The audit. Entries can't be changed, and only the retention deletes them. One row holds the entries of an operation: 500
-- boards of one request share their account, path and address. Each element of `resource_ids` is an entry, with the ids
-- `id`, `id + 1`, …. There are no foreign keys, because the objects may be deleted.
create table audit_operations (
  id bigint generated always as identity (increment by 1000) primary key, -- a row has at most 1,000 elements
  occurred_at timestamptz not null,    -- set by stamp()
  action text not null,
  user_id uuid not null,
  display_name text,                   -- at the time of the request
  token_id uuid,
  service_account_id uuid,
  client_id text,
  method text not null,
  path text not null,                  -- without the query string
  status integer not null,
  workspace_id uuid,
  board_id uuid,                       -- board of the resources; null when they are boards themselves
  resource_type text,
  resource_ids text[] not null,
  request_id text not null,
  ip text not null
);
alter table audit_operations alter column resource_ids set storage external; -- compressing the ids takes longer than storing them
create index audit_operations_user on audit_operations (user_id, occurred_at, id);
create index audit_operations_workspace on audit_operations (workspace_id, occurred_at, id);
create index audit_operations_age on audit_operations using brin (occurred_at) with (autosummarize = on); -- for the retention
create policy app_select on audit_operations for select to corkboard_app
  using (user_id = current_user_id() or workspace_id in (select owned_workspaces(current_user_id())));
grant select on audit_operations to corkboard_app;

-- Idempotency keys.
create table idempotency_keys (
  id bytea primary key,                -- SHA-256 of account, method, path and key
  user_id uuid not null,
  fingerprint bytea not null,          -- SHA-256 of the request
  attempt uuid not null,               -- the attempt that may continue the work
  result jsonb not null default '[]',  -- the objects that were made, to rebuild an answer that was lost
  response bytea,                      -- encrypted answer; null until it is known
  created_at timestamptz not null
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- The processes that serve this database, and the boards that each has open on canvases. A process asks the others to show
-- its API writes.
create table nodes (
  node_id uuid primary key,
  seen_at timestamptz not null default now()
);

create table open_boards (
  node_id uuid not null references nodes on delete cascade,
  board_id uuid not null,
  primary key (board_id, node_id)
);
create index open_boards_node on open_boards (node_id);

-- A known text, encrypted with the SECRET_KEY of this database's secrets. A start with another key can't decrypt it, and
-- stops.
create table secret_canary (
  one boolean primary key default true check (one), -- the table has one row
  sealed bytea not null
);

-- The table of the migration runner (sql/migrate.ts). Its owner writes it, and the service compares it with its files.
create policy runner on schema_files using (true) with check (true);

-- Forces row-level security on every table, also for its owner. The service's own role may do everything. The rights of
-- requests are beside each table.
do $$
declare
  t regclass;
begin
  for t in select oid::regclass from pg_class where relnamespace = 'corkboard'::regnamespace and relkind = 'r' loop
    execute format('alter table %s enable row level security, force row level security', t);
    continue when t = 'schema_files'::regclass;
    execute format('create policy system on %s to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %s to corkboard_system', t);
  end loop;
end $$;
revoke update on audit_operations, commit_pieces, secret_canary from corkboard_system;
revoke delete on secret_canary from corkboard_system;
grant select on schema_files to corkboard_system;
