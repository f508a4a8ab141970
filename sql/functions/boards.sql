-- Boards: triggers, locks, and the card count that a plan limits.

create or replace function boards_stamp() returns trigger
language plpgsql set search_path = corkboard, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    new.updated_at := stamp();
    new.created_at := coalesce(new.created_at, new.updated_at);
  elsif new is distinct from old then
    new.updated_at := stamp();
  end if;
  return new;
end $$;

-- Only writers of the workspace may move, delete and restore its boards. A shared editor may change a board's contents.
-- Identifiers need the same right: a refusal would tell a guest which identifiers the other boards have.
create or replace function boards_guard() returns trigger
language plpgsql set search_path = corkboard, pg_temp as $$
begin
  if (new.parent_board_id is distinct from old.parent_board_id or new.deleted_at is distinct from old.deleted_at
      or new.workspace_id is distinct from old.workspace_id or new.id is distinct from old.id
      or new.identifiers is distinct from old.identifiers)
     and current_user = 'corkboard_app'
     and old.workspace_id not in (select writable_workspaces(current_user_id())) then
    raise exception using errcode = 'insufficient_privilege',
      message = 'only a writer of the workspace may move, delete or restore its boards, or set their identifiers';
  end if;
  return new;
end $$;

-- Makes the documents of all boards that one statement inserts.
create or replace function boards_open_document() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  insert into board_documents (board_id, workspace_id, api_client, changed_at)
  select n.id, n.workspace_id, (2::bigint ^ 32)::bigint + 1 + floor(random() * ((2::bigint ^ 52)::bigint))::bigint, clock_timestamp()
  from new_rows n;
  return null;
end $$;

-- Locks the boards on which the caller may write, by the rows of their documents, in the order of commit_batch. No commit
-- changes them until the transaction ends.
create or replace function lock_boards(p_boards uuid[]) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  perform from board_documents d
  where d.board_id = any (p_boards)
    and (d.workspace_id in (select writable_workspaces(current_user_id()))
         or d.board_id in (select writable_shared_boards(current_user_id())))
  order by d.board_id
  for update;
end $$;

create or replace function lock_board(board uuid) returns void
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  select lock_boards(array[board])
$$;

-- Keeps is_counted equal to: the board is live and has cards. A board changes only with its document locked, so the later of
-- two changes sees the earlier one.
create or replace function boards_count() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  update board_documents d
  set is_counted = not d.is_counted
  where d.board_id = new.id and d.is_counted <> (new.deleted_at is null and d.card_count > 0);
  return null;
end $$;

create or replace function board_documents_count() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  update board_documents d
  set is_counted = not d.is_counted
  from boards b
  where d.board_id = new.board_id and b.id = d.board_id
    and d.is_counted <> (b.deleted_at is null and d.card_count > 0);
  return null;
end $$;

-- Number of cards that count towards an owner's cap: of all kinds, on live boards. Commits of all accounts wait for it, so it
-- reads only boards that count: a free account may have a million that are empty or in the trash.
create or replace function owner_card_count(owner uuid) returns bigint
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select coalesce(sum(d.card_count), 0)::bigint
  from workspaces w
  join board_documents d on d.workspace_id = w.id and d.is_counted
  where w.owner_id = owner
$$;

-- The tier of the board's owner and the owner's card count, which is null without a cap. No row when the caller can't see the
-- board.
create or replace function board_capacity(board uuid) returns table (tier text, used bigint)
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select u.tier, case u.tier when 'free' then owner_card_count(u.id) end
  from boards b
  join workspaces w on w.id = b.workspace_id
  join users u on u.id = w.owner_id
  where b.id = board and board_access(current_user_id(), b.id, b.workspace_id) is not null
$$;

-- Like board_capacity, for a writer: locks the owner's count until the transaction ends. Call it after locking boards.
create or replace function lock_board_owner(board uuid) returns table (tier text, used bigint)
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  owner uuid;
begin
  if board_access(current_user_id(), board, (select workspace_id from boards where id = board)) is distinct from 'write' then
    return;
  end if;
  select w.owner_id into owner from boards b join workspaces w on w.id = b.workspace_id where b.id = board;
  perform from users u where u.id = owner for no key update;
  return query select u.tier, case u.tier when 'free' then owner_card_count(u.id) end from users u where u.id = owner;
end $$;

grant execute on function lock_board, lock_boards, board_capacity, lock_board_owner to corkboard_app;
