-- Access rights. The policies, commit_batch and search all use these predicates. They return sets, for use as
-- `x in (select f(...))`, which is evaluated once per statement. A correlated `exists` would run for each row.
-- functions/sessions.sql adds the rights of sessions.

create or replace function current_user_id() returns uuid
language sql stable parallel safe set search_path = corkboard, pg_temp as $$
  select nullif(current_setting('corkboard.user_id', true), '')::uuid -- '' after a transaction has set it on this connection
$$;

create or replace function readable_workspaces(account uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select id from workspaces where owner_id = account
  union all
  select workspace_id from workspace_members where user_id = account
  union all
  select session_workspaces(account, false)
$$;

create or replace function writable_workspaces(account uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select id from workspaces where owner_id = account
  union all
  select workspace_id from workspace_members where user_id = account and role = 'editor'
  union all
  select session_workspaces(account, true)
$$;

create or replace function owned_workspaces(account uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select id from workspaces where owner_id = account
$$;

create or replace function readable_shared_boards(account uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select board_id from board_shares where user_id = account
  union all
  select board_id from guest_rights where user_id = account
  union all
  select session_boards(account, false)
$$;

create or replace function writable_shared_boards(account uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select board_id from board_shares where user_id = account and role = 'editor'
  union all
  select board_id from guest_rights where user_id = account and role = 'editor'
  union all
  select session_boards(account, true)
$$;

-- The shared boards whose history the account sees. Sessions read the past by history_access.
create or replace function historic_shared_boards(account uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select board_id from board_shares where user_id = account and history_since is not null
  union all
  select board_id from guest_rights where user_id = account and history_since is not null
$$;

-- Returns 'write', 'read' or null, for functions that act for many users in one statement.
create or replace function board_access(account uuid, board uuid, workspace uuid) returns text
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select case
    when workspace in (select writable_workspaces(account)) or board in (select writable_shared_boards(account)) then 'write'
    when workspace in (select readable_workspaces(account)) or board in (select readable_shared_boards(account)) then 'read'
  end
$$;

-- Returns the accounts that can read a board. It must agree with board_access, but guests of links are not told of anything.
create or replace function board_readers(board uuid, workspace uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select owner_id from workspaces where id = workspace
  union
  select user_id from workspace_members where workspace_id = workspace
  union
  select user_id from board_shares where board_id = board
$$;

grant execute on function current_user_id, readable_workspaces, writable_workspaces, owned_workspaces,
  readable_shared_boards, writable_shared_boards, historic_shared_boards, board_access to corkboard_app;
