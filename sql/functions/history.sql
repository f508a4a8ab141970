-- The history of boards: its bytes, the files that nothing refers to any more, and who may see it.

-- Keeps history_bytes, and the bytes of guests, equal to the segments and the named versions, which have no bases. Files of
-- deleted rows become leftovers.
create or replace function board_history_size() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
declare
  r record;
begin
  if tg_op <> 'INSERT' then
    if tg_op = 'DELETE' then
      insert into history_leftovers (key, ended)
      select f.key, true
      from old_rows o
      cross join lateral unnest(array[o.key, to_jsonb(o) ->> 'base_key']) as f(key)
      where f.key is not null
      on conflict (key) do update set ended = true;
    end if;
    for r in
      select o.board_id, sum(o.bytes + coalesce((to_jsonb(o) ->> 'base_bytes')::bigint, 0))::bigint as bytes
      from old_rows o
      group by o.board_id
      order by o.board_id
    loop
      update board_documents set history_bytes = history_bytes - r.bytes where board_id = r.board_id;
      if tg_op = 'DELETE' then
        perform shrink_guest_bytes(r.board_id, r.bytes);
      end if;
    end loop;
  end if;
  if tg_op <> 'DELETE' then
    update board_documents d
    set history_bytes = d.history_bytes + n.bytes
    from (
      select a.board_id, sum(a.bytes + coalesce((to_jsonb(a) ->> 'base_bytes')::bigint, 0)) as bytes from new_rows a group by a.board_id
    ) n
    where d.board_id = n.board_id;
  end if;
  return null;
end $$;

-- Whether the caller may see the board's history, and from when on. `since` is null when all of it may be seen. A session
-- with the claim `history` sees it since the first such session of its user.
create or replace function history_access(board uuid, out allowed boolean, out since timestamptz)
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select m.member or g.since is not null, case when not m.member then g.since end
  from boards b
  cross join lateral (
    select not in_session() and b.workspace_id in (select readable_workspaces(current_user_id())) as member
  ) m
  left join lateral (
    select s.history_since as since from board_shares s where s.board_id = b.id and s.user_id = current_user_id()
    union all
    select r.history_since from guest_rights r where r.board_id = b.id and r.user_id = current_user_id()
    union all
    select h.since
    from session_history h
    where h.user_id = current_user_id() and (session_of(current_user_id()) ->> 'history')::boolean
      and h.place_id = case when session_of(current_user_id()) ->> 'boards' is null then b.workspace_id else b.id end
  ) g on true
  where b.id = board
$$;

grant execute on function history_access to corkboard_app;
