-- The members of a workspace, and the accounts that have one of its boards. The workspace's owner manages them; each
-- function checks that the caller is the owner. Service accounts are members too, but have operations of their own.

-- Rows of persons only. The owner comes first.
create or replace function workspace_people(workspace uuid) returns table (user_id uuid, email text, display_name text, role text)
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select u.id, u.email, u.display_name, p.role
  from (
    select w.owner_id as id, 'owner' as role from workspaces w where w.id = workspace
    union all
    select m.user_id, m.role from workspace_members m where m.workspace_id = workspace
  ) p
  join users u on u.id = p.id
  where workspace in (select owned_workspaces(current_user_id()))
    and not exists (select from service_accounts s where s.id = u.id)
  order by p.role <> 'owner', lower(u.email), u.id
$$;

-- False when the account is no member besides the owner.
create or replace function set_member_role(workspace uuid, account uuid, new_role text) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if workspace not in (select owned_workspaces(current_user_id())) then
    raise exception 'only the owner of the workspace may manage its members' using errcode = '42501';
  end if;
  update workspace_members m
  set role = new_role
  where m.workspace_id = workspace and m.user_id = account and not exists (select from service_accounts s where s.id = account);
  return found;
end $$;

-- Removes a member. A member may also remove itself. False when the account is no member besides the owner.
create or replace function remove_member(workspace uuid, account uuid) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if account is distinct from current_user_id() and workspace not in (select owned_workspaces(current_user_id())) then
    raise exception 'only the owner of the workspace may manage its members' using errcode = '42501';
  end if;
  delete from workspace_members m
  where m.workspace_id = workspace and m.user_id = account and not exists (select from service_accounts s where s.id = account);
  return found;
end $$;

create or replace function owns_board(board uuid) returns boolean
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select exists (
    select from boards b where b.id = board and b.workspace_id in (select owned_workspaces(current_user_id()))
  )
$$;

create or replace function board_people(board uuid)
returns table (user_id uuid, email text, display_name text, role text, history_since timestamptz)
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select u.id, u.email, u.display_name, s.role, s.history_since
  from board_shares s
  join users u on u.id = s.user_id
  where s.board_id = board and owns_board(board)
  order by lower(u.email), u.id
$$;

-- Shares a board with an account. Ids of strangers are not accepted: only members of the caller's workspaces, and accounts
-- with which the caller shares a board. False for other accounts.
create or replace function share_board(board uuid, account uuid, new_role text, with_history boolean) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if not owns_board(board) then
    raise exception 'only the owner of the workspace may share its boards' using errcode = '42501';
  end if;
  if exists (select from service_accounts s where s.id = account) or not exists (
    select from workspace_members m
    where m.user_id = account and m.workspace_id in (select owned_workspaces(current_user_id()))
    union all
    select from board_shares s
    join boards b on b.id = s.board_id
    where s.user_id = account and b.workspace_id in (select owned_workspaces(current_user_id()))
  ) then
    return false;
  end if;
  insert into board_shares as s (board_id, user_id, role, history_since)
  values (board, account, new_role, case when with_history then date_trunc('milliseconds', clock_timestamp()) end)
  on conflict (user_id, board_id) do update
  set role = excluded.role,
    history_since = case when with_history then coalesce(s.history_since, excluded.history_since) end;
  return true;
end $$;

-- Changes a share. A null leaves its field as it is. False when the board is not shared with the account.
create or replace function change_share(board uuid, account uuid, new_role text, with_history boolean) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if not owns_board(board) then
    raise exception 'only the owner of the workspace may share its boards' using errcode = '42501';
  end if;
  update board_shares s
  set role = coalesce(new_role, s.role),
    history_since = case coalesce(with_history, s.history_since is not null)
      when true then coalesce(s.history_since, date_trunc('milliseconds', clock_timestamp()))
    end
  where s.board_id = board and s.user_id = account;
  return found;
end $$;

-- Ends a share. The account of the share may do this too. False when the board is not shared with the account.
create or replace function end_share(board uuid, account uuid) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if account is distinct from current_user_id() and not owns_board(board) then
    raise exception 'only the owner of the workspace may share its boards' using errcode = '42501';
  end if;
  delete from board_shares s where s.board_id = board and s.user_id = account;
  return found;
end $$;

grant execute on function workspace_people, set_member_role, remove_member, owns_board, board_people, share_board, change_share,
  end_share to corkboard_app;
