-- Who may see and do what. The predicates are the one definition: the policies use them, and so does commit_batch.
-- They return sets, to be used as `x in (select f(...))`, which is evaluated once per statement; a correlated
-- `exists` would run for each row.
grant create on schema corkboard to corkboard_system; -- for the ownership of functions; taken back below

create function current_user_id() returns uuid
language sql stable parallel safe set search_path = corkboard, pg_temp as $$
  select nullif(current_setting('corkboard.user_id', true), '')::uuid -- '' after a transaction that had set it
$$;

create function readable_workspaces(account uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select id from workspaces where owner_id = account
  union all
  select workspace_id from workspace_members where user_id = account
$$;

create function writable_workspaces(account uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select id from workspaces where owner_id = account
  union all
  select workspace_id from workspace_members where user_id = account and role = 'editor'
$$;

create function owned_workspaces(account uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select id from workspaces where owner_id = account
$$;

create function readable_shared_boards(account uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select board_id from board_shares where user_id = account
$$;

create function writable_shared_boards(account uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select board_id from board_shares where user_id = account and role = 'editor'
$$;

-- For the functions that act for many users in one statement: 'write', 'read' or null.
create function board_access(account uuid, board uuid, workspace uuid) returns text
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select case
    when workspace in (select writable_workspaces(account)) or board in (select writable_shared_boards(account)) then 'write'
    when workspace in (select readable_workspaces(account)) or board in (select readable_shared_boards(account)) then 'read'
  end
$$;

-- Moving, deleting and restoring a board is for writers of its workspace; a shared editor changes what is on it.
create function boards_guard() returns trigger
language plpgsql set search_path = corkboard, pg_temp as $$
begin
  if (new.parent_board_id is distinct from old.parent_board_id or new.deleted_at is distinct from old.deleted_at
      or new.workspace_id is distinct from old.workspace_id or new.id is distinct from old.id)
     and current_user = 'corkboard_app'
     and old.workspace_id not in (select writable_workspaces(current_user_id())) then
    raise exception using errcode = 'insufficient_privilege', message = 'only a writer of the workspace moves, deletes or restores its boards';
  end if;
  return new;
end $$;
create trigger boards_guard before update on boards for each row execute function boards_guard();

-- The cards that count against an owner's cap: all kinds, on live boards.
create function owner_card_count(owner uuid) returns bigint
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select coalesce(sum(d.card_count), 0)::bigint
  from workspaces w
  join boards b on b.workspace_id = w.id and b.deleted_at is null
  join board_documents d on d.board_id = b.id
  where w.owner_id = owner
$$;

-- What a reader of a board may know of its owner: the tier and the count. Nothing for a board that is not theirs to see.
create function board_capacity(board uuid) returns table (tier text, used bigint)
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select u.tier, owner_card_count(u.id)
  from boards b
  join workspaces w on w.id = b.workspace_id
  join users u on u.id = w.owner_id
  where b.id = board and board_access(current_user_id(), b.id, b.workspace_id) is not null
$$;

-- Holds the owner's count still while a transaction decides on it. Taken after the locks of boards.
create function lock_board_owner(board uuid) returns table (tier text, used bigint)
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  owner uuid;
begin
  if board_access(current_user_id(), board, (select workspace_id from boards where id = board)) is distinct from 'write' then
    return;
  end if;
  select w.owner_id into owner from boards b join workspaces w on w.id = b.workspace_id where b.id = board;
  perform from users u where u.id = owner for no key update;
  return query select u.tier, owner_card_count(u.id) from users u where u.id = owner;
end $$;

-- The document row is a board's lock: what a commit may do to the board holds still while it is taken.
create function lock_board(board uuid) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if board_access(current_user_id(), board, (select workspace_id from boards where id = board)) = 'write' then
    perform from board_documents d where d.board_id = board for update;
  end if;
end $$;

-- The personal workspace of the caller, made on demand.
create function personal_workspace() returns uuid
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  found_id uuid;
begin
  insert into workspaces (name, owner_id, personal)
  select coalesce(u.display_name, 'Personal'), u.id, true from users u where u.id = current_user_id()
  on conflict (owner_id) where personal do nothing;
  select id into found_id from workspaces where owner_id = current_user_id() and personal;
  return found_id;
end $$;

do $$
declare
  t text;
  f text;
begin
  foreach t in array array['users', 'workspaces', 'workspace_members', 'tokens', 'boards', 'board_shares', 'board_documents',
                           'board_updates', 'card_index', 'group_index', 'removed_cards', 'commits'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy system on %I to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %I to corkboard_system', t);
  end loop;
  foreach f in array array['readable_workspaces(uuid)', 'writable_workspaces(uuid)', 'owned_workspaces(uuid)', 'readable_shared_boards(uuid)',
                           'writable_shared_boards(uuid)', 'board_access(uuid, uuid, uuid)', 'owner_card_count(uuid)',
                           'board_capacity(uuid)', 'lock_board_owner(uuid)', 'lock_board(uuid)', 'personal_workspace()',
                           'boards_open_document()', 'card_index_count()'] loop
    execute format('alter function %s owner to corkboard_system', f);
  end loop;
  for f in select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'corkboard'::regnamespace loop
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to corkboard_app, corkboard_system', f);
  end loop;
end $$;
-- These count or look for any account that is named: not for requests.
revoke execute on function owner_card_count(uuid) from corkboard_app;

revoke create on schema corkboard from corkboard_system;

-- The runner's own table: its owner writes it, the service compares it with its files.
alter table schema_files enable row level security;
alter table schema_files force row level security;
create policy runner on schema_files using (true) with check (true);
grant select on schema_files to corkboard_system;

create policy app_select on users for select to corkboard_app using (id = current_user_id());
grant select on users to corkboard_app;

create policy app_select on workspaces for select to corkboard_app
  using (id in (select readable_workspaces(current_user_id())));
create policy app_update on workspaces for update to corkboard_app
  using (owner_id = current_user_id()) with check (owner_id = current_user_id());
grant select on workspaces to corkboard_app;

create policy app_select on workspace_members for select to corkboard_app
  using (user_id = current_user_id() or workspace_id in (select owned_workspaces(current_user_id())));
grant select on workspace_members to corkboard_app;

create policy app_select on tokens for select to corkboard_app using (user_id = current_user_id());
grant select on tokens to corkboard_app;

create policy app_select on boards for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or id in (select readable_shared_boards(current_user_id())));
create policy app_insert on boards for insert to corkboard_app
  with check (workspace_id in (select writable_workspaces(current_user_id())));
create policy app_update on boards for update to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())) or id in (select writable_shared_boards(current_user_id())))
  with check (workspace_id in (select writable_workspaces(current_user_id())) or id in (select writable_shared_boards(current_user_id())));
grant select on boards to corkboard_app;
grant insert (workspace_id, parent_board_id, name, view, scheduled_date, scheduled_end, day_label, props, identifiers) on boards to corkboard_app;
grant update (parent_board_id, name, view, scheduled_date, scheduled_end, day_label, props, identifiers, deleted_at) on boards to corkboard_app;

create policy app_select on board_shares for select to corkboard_app using (user_id = current_user_id());
grant select on board_shares to corkboard_app;

create policy app_select on board_documents for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
grant select (board_id, workspace_id, card_count) on board_documents to corkboard_app;

create policy app_select on card_index for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
grant select on card_index to corkboard_app;

create policy app_select on group_index for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
grant select on group_index to corkboard_app;

create policy app_select on removed_cards for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
grant select on removed_cards to corkboard_app;
