-- The running of the service: what requests leave behind of themselves, the processes that serve the database, its key,
-- and the files that made it.

-- The audit: append-only. Nobody may change an entry, and only the retention may delete one. One row for an operation, not
-- one for each thing that it wrote to: 500 boards of one request share their account, path and address. Its entries are
-- the elements of `resource_ids`; their ids are `id`, `id + 1`, …. No foreign keys: what an entry tells of may be gone.
create table audit_operations (
  id bigint generated always as identity (increment by 1000) primary key, -- the most elements of a row
  occurred_at timestamptz not null,    -- by stamp()
  action text not null,
  user_id uuid not null,
  display_name text,                   -- as it was then
  token_id uuid,
  service_account_id uuid,
  client_id text,
  method text not null,
  path text not null,                  -- without query
  status integer not null,
  workspace_id uuid,
  board_id uuid,                       -- that the resources are on; null when they are boards
  resource_type text,
  resource_ids text[] not null,
  request_id text not null,
  ip text not null
);
alter table audit_operations alter column resource_ids set storage external; -- compressing ids takes longer than storing them
create index audit_operations_user on audit_operations (user_id, occurred_at, id);
create index audit_operations_workspace on audit_operations (workspace_id, occurred_at, id);
create index audit_operations_age on audit_operations using brin (occurred_at) with (autosummarize = on); -- for the retention
alter table audit_operations enable row level security, force row level security;
create policy system on audit_operations to corkboard_system using (true) with check (true);
grant select, insert, delete on audit_operations to corkboard_system;
create policy app_select on audit_operations for select to corkboard_app
  using (user_id = current_user_id() or workspace_id in (select owned_workspaces(current_user_id())));
grant select on audit_operations to corkboard_app;

-- The keys under which requests may be sent again.
create table idempotency_keys (
  id bytea primary key,                -- SHA-256 of account, method, path and key
  user_id uuid not null,
  fingerprint bytea not null,          -- SHA-256 of the request
  attempt uuid not null,               -- who may go on under this key
  result jsonb not null default '[]',  -- ids of what was made: from them the answer is made again if it was lost
  response bytea,                      -- encrypted; null until the work's answer is there
  created_at timestamptz not null
);
create index idempotency_keys_age on idempotency_keys (created_at);
alter table idempotency_keys enable row level security, force row level security;
create policy system on idempotency_keys to corkboard_system using (true) with check (true);
grant select, insert, update, delete on idempotency_keys to corkboard_system;

-- The processes that serve this database, and which boards each has open on canvases: an API write on one of them asks
-- the others to show it.
create table nodes (
  node_id uuid primary key,
  seen_at timestamptz not null default now()
);
alter table nodes enable row level security, force row level security;
create policy system on nodes to corkboard_system using (true) with check (true);
grant select, insert, update, delete on nodes to corkboard_system;

create table open_boards (
  node_id uuid not null references nodes on delete cascade,
  board_id uuid not null,
  primary key (board_id, node_id)
);
create index open_boards_node on open_boards (node_id);
alter table open_boards enable row level security, force row level security;
create policy system on open_boards to corkboard_system using (true) with check (true);
grant select, insert, update, delete on open_boards to corkboard_system;

-- A known text, encrypted with the SECRET_KEY that this database's secrets are encrypted with. A start with another key
-- can't open it, and stops.
create table secret_canary (
  one boolean primary key default true check (one), -- there is one row
  sealed bytea not null
);
alter table secret_canary enable row level security, force row level security;
create policy system on secret_canary to corkboard_system using (true) with check (true);
grant select, insert on secret_canary to corkboard_system;

-- The runner's own table (sql/migrate.ts): its owner writes it, the service compares it with its files.
alter table schema_files enable row level security, force row level security;
create policy runner on schema_files using (true) with check (true);
grant select on schema_files to corkboard_system;
