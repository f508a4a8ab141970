-- What a request leaves behind of itself, in the transaction of its work: an entry in the audit, and the key under which
-- it may be sent again.

-- Append-only: nobody may change an entry, and only the retention may delete one. No foreign keys: what an entry tells
-- of may be gone.
create table audit_entries (
  id bigint generated always as identity primary key,
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
  board_id uuid,
  resource_type text,
  resource_id text,
  request_id text not null,
  ip text not null
);
create index audit_entries_user on audit_entries (user_id, occurred_at, id);
create index audit_entries_workspace on audit_entries (workspace_id, occurred_at, id);
create index audit_entries_age on audit_entries using brin (occurred_at) with (autosummarize = on); -- for the retention

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

do $$
declare
  t text;
begin
  foreach t in array array['audit_entries', 'idempotency_keys'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy system on %I to corkboard_system using (true) with check (true)', t);
  end loop;
end $$;
grant select, insert, delete on audit_entries to corkboard_system;
grant select, insert, update, delete on idempotency_keys to corkboard_system;
create policy app_select on audit_entries for select to corkboard_app
  using (user_id = current_user_id() or workspace_id in (select owned_workspaces(current_user_id())));
grant select on audit_entries to corkboard_app;

alter type commit_item add attribute a json; -- of a write: the operation that it is part of
