-- The storage of documents: the bytes of all boards of an owner, and the bytes that guests have added.

-- Bytes of all boards in the workspaces that an account owns, with those in the trash.
create or replace function owner_documents(owner uuid) returns bigint
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select coalesce(sum(s.bytes), 0)::bigint
  from workspaces w
  join document_sizes s on s.workspace_id = w.id
  where w.owner_id = owner
$$;

-- The same for the caller, with the part that is history. One pass: an account may have 100,000 boards.
create or replace function my_document_bytes() returns table (used bigint, history bigint)
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select coalesce(sum(s.bytes), 0)::bigint, coalesce(sum(s.history_bytes), 0)::bigint
  from workspaces w
  join document_sizes s on s.workspace_id = w.id
  where w.owner_id = current_user_id()
$$;

-- Nodes of earlier versions call my_documents() and my_history().
create or replace function my_documents() returns bigint
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select used from my_document_bytes()
$$;

create or replace function my_history() returns bigint
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select history from my_document_bytes()
$$;

-- The owner of a board's workspace, and the bytes of the owner's boards. No row when the board does not exist.
create or replace function document_room(board uuid) returns table (owner uuid, tier text, used bigint)
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select u.id, u.tier, owner_documents(u.id)
  from boards b
  join workspaces w on w.id = b.workspace_id
  join users u on u.id = w.owner_id
  where b.id = board
$$;

-- True when the account is a guest, not a member of the workspace, and with these bytes would exceed its share: a tenth of
-- the quota of the workspace's owner, over all of the owner's boards. Guests of a link share it.
create or replace function guest_is_full(account uuid, workspace uuid, adds bigint, free_bytes bigint, pro_bytes bigint) returns boolean
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select workspace not in (select readable_workspaces(account)) and (
    select coalesce(sum(g.bytes), 0)
    from guest_bytes g
    join board_documents d on d.board_id = g.board_id
    join workspaces o on o.id = d.workspace_id
    where g.user_id in (select fellow_guests(account)) and o.owner_id = w.owner_id
  ) + adds > case when u.tier = 'pro' then pro_bytes else free_bytes end / 10
  from workspaces w
  join users u on u.id = w.owner_id
  where w.id = workspace
$$;

-- Whether a write that adds bytes fits the quota: ok, full or guest.
create or replace function room_outcome(p_room json, p_is_full boolean, p_guest boolean, p_account uuid, p_workspace uuid) returns text
language sql stable set search_path = corkboard, pg_temp as $$
  select case
    when p_is_full then 'full'
    when p_guest and guest_is_full(
      p_account, p_workspace, (p_room ->> 'bytes')::bigint, (p_room ->> 'free')::bigint, (p_room ->> 'pro')::bigint
    ) then 'guest'
    else 'ok'
  end
$$;

-- Reduces the bytes of a board's guests in proportion, after the board shrank by `freed` bytes. The caller holds the lock of
-- the board's row.
create or replace function shrink_guest_bytes(board uuid, freed bigint) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  size bigint;
begin
  if freed <= 0 or not exists (select from guest_bytes g where g.board_id = board) then
    return;
  end if;
  select s.bytes into size from document_sizes s where s.board_id = board;
  update guest_bytes g set bytes = (g.bytes::numeric * size / (size + freed))::bigint where g.board_id = board;
  delete from guest_bytes g where g.board_id = board and g.bytes <= 0;
end $$;

grant execute on function my_document_bytes, my_documents, my_history to corkboard_app;
