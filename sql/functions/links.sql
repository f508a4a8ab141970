-- Guest links of boards, as the owner of the workspace makes and ends them. sql/accounts/guests.ts opens them.

create or replace function create_board_link(
  link uuid, board uuid, link_name text, guest_role text, secret_hash bytea, password_phc text, with_history boolean,
  ends timestamptz
) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if not owns_board(board) then
    raise exception 'only the owner of the workspace may make links to its boards' using errcode = '42501';
  end if;
  insert into board_links (id, board_id, name, role, hash, phc, history_since, expires_at)
  values (
    link, board, link_name, guest_role, secret_hash, password_phc,
    case when with_history then date_trunc('milliseconds', clock_timestamp()) end, ends
  );
end $$;

-- Ends a link with the tokens of its guests. False when the board has no such link.
create or replace function end_board_link(board uuid, link uuid) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if not owns_board(board) then
    raise exception 'only the owner of the workspace may end links to its boards' using errcode = '42501';
  end if;
  update board_links l
  set ended_at = date_trunc('milliseconds', clock_timestamp())
  where l.id = link and l.board_id = board and l.ended_at is null;
  if not found then
    return false;
  end if;
  -- The trigger on tokens tells every node. A guest who comes at this moment has no rights any more, but keeps a token.
  update tokens t
  set revoked_at = date_trunc('milliseconds', clock_timestamp())
  from guests g
  where g.link_id = link and t.user_id = g.id and t.revoked_at is null;
  return true;
end $$;

-- A guest whose link is deleted with its board leaves no account.
create or replace function delete_guest_account() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  delete from users where id = old.id;
  return null;
end $$;

-- The accounts with which a guest shares its limits: all guests of its link. Other accounts are alone.
create or replace function fellow_guests(account uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select account
  union
  select o.id from guests g join guests o on o.link_id = g.link_id where g.id = account
$$;

grant execute on function create_board_link, end_board_link to corkboard_app;
