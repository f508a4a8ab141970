-- Triggers of the card index and of documents. They keep counters and identifiers equal to the cards.

-- What an insert of cards leads to: their count, identifiers, events, and words to index. It is one trigger, because each
-- trigger takes 30 µs before it does any work. A commit of new cards alone does this itself (commit-creates.sql).
create or replace function card_index_insert() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  -- An upsert fires the triggers of insert and of update, and usually has rows for one of them.
  if not exists (select from new_rows) then
    return null;
  end if;
  update board_documents d set card_count = d.card_count + n.delta
  from (select board_id, count(*) as delta from new_rows where deleted_at is null group by board_id) n
  where d.board_id = n.board_id;
  if exists (select from new_rows where identifiers <> '[]') then
    insert into card_identifiers (board_id, card_id, workspace_id, scope, value)
    select distinct n.board_id, n.card_id, n.workspace_id, i.scope, i.value
    from new_rows n
    cross join lateral jsonb_to_recordset(n.identifiers) as i(scope text, value text)
    where n.deleted_at is null and n.identifiers <> '[]';
  end if;
  insert into events as e (type, workspace_id, board_id, from_board_id, resource_type, resource_id, card_ids, op, origin, occurred_at)
  select c.type, c.workspace_id, c.board_id, c.moved_from, 'board', c.board_id,
    array_agg(c.card_id order by c.z, c.card_id), c.op, c.origin, max(c.updated_at)
  from (
    select case when n.cause = 'move' then 'card.moved' else 'card.created' end as type,
      n.workspace_id, n.board_id, case when n.cause = 'move' then n.moved_from end as moved_from, n.card_id, n.z, n.op,
      case when n.cause = 'editor' then 'app' else 'api' end as origin,
      date_trunc('milliseconds', least(n.updated_at, clock_timestamp())) as updated_at
    from new_rows n
    where n.deleted_at is null and n.cause <> 'rebuild'
  ) c
  group by c.type, c.workspace_id, c.board_id, c.moved_from, c.op, c.origin
  on conflict (op, board_id, type, from_board_id) where op is not null
  do update set card_ids = e.card_ids || excluded.card_ids;
  insert into search_pending (board_id, workspace_id, changed_at)
  select board_id, workspace_id, min(updated_at) from new_rows group by board_id, workspace_id;
  return null;
end $$;

-- Counts live cards, for the card cap and for trees.
create or replace function card_index_count() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    update board_documents d set card_count = d.card_count - n.delta
    from (select board_id, count(*) as delta from old_rows where deleted_at is null group by board_id) n
    where d.board_id = n.board_id;
  else
    update board_documents d set card_count = d.card_count + n.delta
    from (
      select board_id, sum(delta) as delta
      from (
        select board_id, 1 as delta from new_rows where deleted_at is null
        union all
        select board_id, -1 from old_rows where deleted_at is null
      ) c
      group by board_id
      having sum(delta) <> 0
    ) n
    where d.board_id = n.board_id;
  end if;
  return null;
end $$;

-- Keeps removed_bytes, and the bytes of guests, equal to the removed cards.
create or replace function removed_cards_size() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
declare
  r record;
begin
  if tg_op = 'INSERT' then
    update board_documents d
    set removed_bytes = d.removed_bytes + n.bytes
    from (select board_id, sum(octet_length(state)) as bytes from new_rows group by board_id) n
    where d.board_id = n.board_id;
  else
    for r in select board_id, sum(octet_length(state))::bigint as bytes from old_rows group by board_id order by board_id loop
      update board_documents set removed_bytes = removed_bytes - r.bytes where board_id = r.board_id;
      perform shrink_guest_bytes(r.board_id, r.bytes);
    end loop;
  end if;
  return null;
end $$;

-- Deletes the rows of a deleted document, because their tables have no foreign keys.
create or replace function board_documents_drop() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  delete from board_updates where board_id in (select board_id from old_rows);
  delete from card_index where board_id in (select board_id from old_rows);
  delete from group_index where board_id in (select board_id from old_rows);
  delete from removed_cards where board_id in (select board_id from old_rows);
  delete from guest_bytes where board_id in (select board_id from old_rows);
  delete from board_history where board_id in (select board_id from old_rows);
  delete from board_versions where board_id in (select board_id from old_rows);
  return null;
end $$;

create or replace function boards_insert_identifiers() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  if exists (select from new_rows where identifiers <> '[]') then
    insert into board_identifiers (workspace_id, scope, value, board_id)
    select distinct n.workspace_id, i.scope, i.value, n.id
    from new_rows n
    cross join lateral jsonb_to_recordset(n.identifiers) as i(scope text, value text)
    where n.deleted_at is null;
  end if;
  return null;
end $$;

create or replace function boards_update_identifiers() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  delete from board_identifiers where board_id = new.id;
  if new.deleted_at is null then
    insert into board_identifiers (workspace_id, scope, value, board_id)
    select distinct new.workspace_id, i.scope, i.value, new.id
    from jsonb_to_recordset(new.identifiers) as i(scope text, value text);
  end if;
  return null;
end $$;

-- Writes the differences of an update, because a card that is moved on its board keeps its identifiers.
create or replace function card_index_identify() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  if exists (select from old_rows where identifiers <> '[]') or exists (select from new_rows where identifiers <> '[]') then
    with before as materialized (
      select o.board_id, o.card_id, o.workspace_id, i.scope, i.value
      from old_rows o
      cross join lateral jsonb_to_recordset(o.identifiers) as i(scope text, value text)
      where o.deleted_at is null and o.identifiers <> '[]'
    ), after as materialized (
      select n.board_id, n.card_id, n.workspace_id, i.scope, i.value
      from new_rows n
      cross join lateral jsonb_to_recordset(n.identifiers) as i(scope text, value text)
      where n.deleted_at is null and n.identifiers <> '[]'
    ), gone as (
      delete from card_identifiers c
      using (
        select o.place
        from (select * from before except select * from after) b
        cross join lateral (
          select x.ctid as place
          from card_identifiers x
          where x.board_id = b.board_id and x.card_id = b.card_id and x.scope = b.scope and x.value = b.value
          offset 0
        ) o
        offset 0
      ) g
      where c.ctid = g.place
    )
    insert into card_identifiers (board_id, card_id, workspace_id, scope, value)
    select * from after except select * from before;
  end if;
  return null;
end $$;

-- Returns [scope, value, card] of a claimed identifier that another card of the board has, or null. The caller must hold the
-- lock of the board's row: then the index contains all writes of the API.
create or replace function identifier_carried(p_board uuid, p_claims jsonb) returns json
language plpgsql stable set search_path = corkboard, pg_temp
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  carried json;
begin
  select json_build_array(v.scope, v.value, c.card_id) into carried
  from jsonb_to_recordset(p_claims -> 'identifiers') as v(scope text, value text)
  cross join lateral (
    select x.card_id
    from card_identifiers x
    where x.board_id = p_board and x.scope = v.scope and x.value = v.value and not (p_claims -> 'cards') ? x.card_id
    limit 1
  ) c
  limit 1;
  return carried;
end $$;

-- Whether the index still has what a write was built on: complete, with these cards at these positions (null: no such card),
-- and with these groups. The caller must hold the lock of the board's row.
create or replace function index_holds(p_board uuid, p_rests_on jsonb) returns boolean
language plpgsql stable set search_path = corkboard, pg_temp
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return exists (select from board_documents d where d.board_id = p_board and d.indexed_seq = d.seq)
    and not exists (
      select from jsonb_each_text(p_rests_on -> 'cards') as e(id, position)
      left join lateral (
        select x.position from card_index x where x.board_id = p_board and x.card_id = e.id and x.deleted_at is null offset 0
      ) c on true
      where c.position is distinct from e.position::bigint
    )
    and not exists (
      select from jsonb_array_elements_text(p_rests_on -> 'groups') as e(id)
      where not exists (
        select from group_index x where x.board_id = p_board and x.group_id = e.id and x.deleted_at is null
      )
    );
end $$;
