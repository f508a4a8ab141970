-- commit_batch performs all writes of a group commit, on all its boards, in one call.
--
-- p_items    edits, writes and flushes; CommitItem in sql/commit-call.ts describes their fields
-- p_rows     rows of card_index, p_groups rows of group_index. gone: a removal; fresh: a new card; moved_from and was:
--            the board that a moved card comes from, and its id there
-- p_removed  removed cards with their restore tokens; their states are in p_blob
--
-- Returns {t, boards: [[b, seq, indexed, client, clock, top, rows, bytes]], items: [[n, r, detail]], times: [[n, id, created, updated]]}
-- with times in milliseconds. `items` lists the items whose outcome r is not ok:
--   ok         written
--   again      the document has changed since the item was built: rebuild it and send it again
--   reserved   the same. Until the write is settled, but at most for two seconds, no other node writes on its boards
--   busy       another transaction has locked the board or its owner's row, or another node has reserved it: send it again
--   missing | forbidden | trashed   refused
--   limit      refused; detail: the owner's number of cards
--   identifier refused; detail: [scope, value, card] of an identifier that another card has
--   full       refused: the owner's quota of documents is full
--   guest      refused: the account is a guest and has used its share of that quota
--   moved_on   refused: what the write rests on is no longer in the index
--   storage    refused; detail: [used, quota, bytes] of the owner's storage of files, for the files that the card names
-- An error is raised only for a fault; then nothing is written. A call with a known commit id returns that commit's result.
-- migrate.ts replaces {{card_columns}} by the columns of card_index for fields of cards.

create or replace function commit_batch(
  p_commit uuid, p_again boolean, p_free_cap integer, p_items json, p_blob bytea, p_rows json, p_groups json, p_removed json
) returns json
language plpgsql volatile security definer set search_path = corkboard, pg_temp
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  r record;
  batch commit_item[];
  numbers integer[];
  only_edits boolean;
  only_writes boolean;
  writes boolean; -- whether the batch has any, as below
  traces boolean;
  operations boolean;
  keys boolean;
  locked uuid[];
  owners uuid[];
  counts bigint[];
  owner_at integer;
  board uuid;
  clock bigint;
  blocked boolean;
  outcome text;
  partner_outcome text;
  detail json;
  accepted integer[] := '{}';
  answers text[] := '{}';
  t timestamptz;
  heads json;
  times json;
  answer json;
  card_rows commit_row[];
  keeps boolean;
  keeps_earlier boolean;
  removes boolean;
  records json;
  guest_writes integer[] := '{}';
  guests_edit boolean;
  only_creates boolean;
  reservation_lasts constant interval := '2 seconds';
  caller uuid;
  reserving uuid[] := '{}';
  refused uuid[] := '{}';
begin
  if p_again then
    select c.result into answer from commits c where c.commit_id = p_commit;
    if found then
      return answer;
    end if;
  end if;
  -- Each statement below takes 10 to 100 µs, even when it has nothing to do. So this one tells which are needed.
  select array_agg(i), array_agg(i.n), bool_and(i.kind = 'edit'), bool_and(i.kind = 'write'), bool_or(i.kind = 'write'),
    bool_or(i.operation ->> 'trace' is not null), bool_or(i.operation is not null), bool_or(i.operation ->> 'key' is not null),
    bool_or(i.guests is not null), bool_and(i.creates is true)
  into batch, numbers, only_edits, only_writes, writes, traces, operations, keys, guests_edit, only_creates
  from json_populate_recordset(null::commit_item, p_items) as i;
  caller := coalesce(batch[1].node, '00000000-0000-0000-0000-000000000000'); -- code before 0015 sends none

  -- Every function takes locks in this order: documents by id, then owners by id. This one waits for none.
  select coalesce(array_agg(l.board_id), '{}') into locked
  from (
    select d.board_id
    from board_documents d
    where d.board_id in (select i.board from unnest(batch) as i)
      and (d.reserved_by <> caller and d.reserved_until between clock_timestamp() and clock_timestamp() + reservation_lasts) is not true
    order by d.board_id
    for update skip locked
  ) l;

  if only_creates then
    answer := commit_creates(p_commit, p_free_cap, p_blob, p_rows, batch, locked, keys);
    if answer is not null then
      return answer;
    end if;
  end if;

  -- Edits are always accepted. Index rows are accepted when their author has seen the whole log.
  if only_edits and cardinality(locked) = cardinality(batch) then
    accepted := numbers;
  elsif not only_writes then
    select coalesce(array_agg(i.n) filter (where i.r = 'ok'), '{}'),
      coalesce(array_agg(json_build_array(i.n, i.r, null)::text) filter (where i.r <> 'ok'), '{}'),
      coalesce(array_agg(i.board) filter (where i.r = 'reserved'), '{}')
    into accepted, answers, reserving
    from (
      select i.n, i.board,
        case
          when d.board_id is null then 'missing'
          when not d.board_id = any (locked) then 'busy'
          when i.kind in ('part', 'flush') and i.seen <> d.seq then case i.reservation when 'wanted' then 'reserved' else 'again' end
          else 'ok'
        end as r
      from unnest(batch) as i
      left join board_documents d on d.board_id = i.board
      where i.kind <> 'write'
    ) i;
  end if;

  if writes then
    if p_free_cap is not null then
      select array_agg(l.id) into owners
      from (
        select u.id
        from users u
        where u.tier = 'free' and u.id in (
          select w.owner_id
          from unnest(batch) as i
          join boards bo on bo.id = i.board
          join workspaces w on w.id = bo.workspace_id
          where i.adds > 0
        )
        order by u.id
        for no key update skip locked
      ) l;
      if owners is not null then
        counts := array(select owner_card_count(o.id) from unnest(owners) with ordinality as o(id, at) order by o.at);
      end if;
    end if;

    -- Reads each write once, and a pair of writes from the side that adds cards.
    for r in
      with items as materialized (
        select * from unnest(batch) as i where i.kind = 'write'
      ), writers as materialized (
        -- Most writers may write in the whole workspace, so one query per account answers for most of their boards.
        select a.account, array(select writable_workspaces(a.account)) as writable
        from (select distinct i.account from items i) a
      ), rights as materialized (
        select p.board, p.account, p.session,
          case
            when p.session is not null then session_access(p.session, p.board, p.workspace_id)
            when p.workspace_id = any (s.writable) then 'write'
            else board_access(p.account, p.board, p.workspace_id)
          end as access,
          case when p.workspace_id = any (s.writable) then false else p.workspace_id not in (select readable_workspaces(p.account)) end as guest
        from (select distinct i.board, i.account, i.session, bo.workspace_id from items i join boards bo on bo.id = i.board) p
        join writers s on s.account = p.account
      ), standing as materialized (
        select i.*, d.api_clock, bo.workspace_id, w.owner_id, o.tier, a.guest,
          case
            when d.board_id is null then 'missing'
            when not i.board = any (locked) then 'busy'
            when a.access is null then 'missing'
            when a.access <> 'write' then 'forbidden'
            when bo.deleted_at is not null then 'trashed'
            when i.seen <> d.seq or (i.partner is not null and i.clock <> d.api_clock) then 'again'
            else 'ok'
          end as outcome
        from items i
        left join board_documents d on d.board_id = i.board
        left join boards bo on bo.id = i.board
        left join workspaces w on w.id = bo.workspace_id
        left join users o on o.id = w.owner_id
        left join rights a on a.board = i.board and a.account = i.account and a.session is not distinct from i.session
      )
      select s.*, p.board as partner_board, p.outcome as partner_outcome, p.guest as partner_guest,
        p.owner_id is distinct from s.owner_id as owner_gains -- a move from another owner, or a write without a partner
      from standing s
      left join standing p on p.n = s.partner
      where p.n is null or (coalesce(s.adds, 0), p.n) > (coalesce(p.adds, 0), s.n)
      order by s.board, s.n
    loop
      if r.board is distinct from board then
        board := r.board;
        clock := r.api_clock;
        blocked := false; -- a refused write leaves a gap in the clock, so later ones are built again
      end if;
      owner_at := null;
      detail := null;
      outcome := case when r.outcome = 'ok' and r.clock is not null and (blocked or r.clock <> clock) then 'again' else r.outcome end;
      partner_outcome := coalesce(r.partner_outcome, 'ok');
      if outcome = 'ok' and partner_outcome = 'ok' then
        if r.rests_on is not null and not index_holds(r.board, r.rests_on) then
          outcome := 'moved_on';
        end if;
        if outcome = 'ok' and r.claims is not null then
          detail := identifier_carried(r.board, r.claims);
          if detail is not null then
            outcome := 'identifier';
          end if;
        end if;
        if outcome = 'ok' and r.owner_gains and (r.is_full or (r.guest and r.room is not null)) then
          outcome := room_outcome(r.room, r.is_full, r.guest, r.account, r.workspace_id);
        end if;
        if outcome = 'ok' and r.owner_gains and r.adds > 0 and r.tier = 'free' and p_free_cap is not null then
          owner_at := array_position(owners, r.owner_id);
          if owner_at is null then
            outcome := 'busy';
          elsif counts[owner_at] + r.adds > p_free_cap then
            outcome := 'limit';
            detail := to_json(counts[owner_at]);
          else
            counts[owner_at] := counts[owner_at] + r.adds;
          end if;
        end if;
        if outcome = 'ok' and r.files is not null then
          perform set_config('corkboard.trace', coalesce(r.operation ->> 'trace', ''), true); -- for the events of the files
          select f.outcome, f.detail into outcome, detail from take_files(r.board, r.account, r.files) f;
          perform set_config('corkboard.trace', '', true);
          if outcome <> 'ok' and owner_at is not null then
            counts[owner_at] := counts[owner_at] - r.adds;
          end if;
        end if;
      end if;

      if outcome = 'ok' and partner_outcome = 'ok' then
        accepted := accepted || array_remove(array[r.n, r.partner], null);
        guest_writes := guest_writes
          || array_remove(array[case when r.guest then r.n end, case when r.partner_guest then r.partner end], null);
        clock := clock + coalesce(r.used, 0);
      else
        blocked := blocked or r.clock is not null;
        -- A write never waits for one board while it has reserved another. So two of them never wait for each other.
        if r.reservation = 'wanted' and outcome in ('ok', 'again') and partner_outcome in ('ok', 'again') then
          outcome := 'reserved';
          partner_outcome := 'reserved';
          reserving := reserving || array_remove(array[r.board, r.partner_board], null);
        elsif r.reservation = 'held' and (outcome not in ('ok', 'again', 'busy') or partner_outcome not in ('ok', 'again', 'busy')) then
          refused := refused || array_remove(array[r.board, r.partner_board], null);
        end if;
        answers := answers || json_build_array(r.n, case outcome when 'ok' then 'again' else outcome end, detail)::text;
        if r.partner is not null then
          answers := answers
            || json_build_array(r.partner, case partner_outcome when 'ok' then 'again' else partner_outcome end, null)::text;
        end if;
      end if;
    end loop;
  end if;

  if reserving <> '{}' or refused <> '{}' then
    update board_documents d
    set reserved_by = caller,
      reserved_until = case when d.board_id = any (reserving) then clock_timestamp() + reservation_lasts end
    where d.board_id = any (locked)
      and (d.board_id = any (reserving) or (d.board_id = any (refused) and d.reserved_by = caller));
  end if;

  if accepted <> '{}' then
    t := stamp();
    if cardinality(accepted) < cardinality(batch) then
      batch := array(select i from unnest(batch) as i where i.n = any (accepted));
    end if;

    -- The index contains everything up to the new position in two cases: it did so before and every change brings its
    -- rows, or a flush brings all missing rows (its author had seen the whole log).
    with given as materialized (
      select i.board,
        string_agg(substring(p_blob from i.blob_at + 1 for i.blob_bytes), ''::bytea order by i.n) filter (where i.blob_bytes > 0) as updates,
        string_agg(i.actors::text, '') filter (where i.blob_bytes > 0) as actors,
        json_agg(i.causes order by i.n) filter (where i.blob_bytes > 0) as causes,
        coalesce(sum(i.used), 0) as used,
        max(i.top_z) as top_z,
        bool_or(i.kind = 'flush') as flushed,
        bool_or(i.kind = 'edit') as edited,
        bool_or(i.reservation = 'held') as releases
      from unnest(batch) as i
      group by i.board
    ), moved as (
      update board_documents d
      set seq = d.seq + (g.updates is not null)::integer,
        api_clock = d.api_clock + g.used,
        top_z = greatest(d.top_z, g.top_z),
        indexed_seq = case
          when g.flushed or (not g.edited and d.indexed_seq = d.seq) then d.seq + (g.updates is not null)::integer
          else d.indexed_seq
        end,
        log_rows = d.log_rows + (g.updates is not null)::integer,
        log_bytes = d.log_bytes + coalesce(octet_length(g.updates), 0),
        reserved_until = case when g.releases then null else d.reserved_until end,
        changed_at = case when g.updates is not null then t else d.changed_at end
      from given g
      where d.board_id = g.board
      returning d.board_id, d.seq, d.indexed_seq, d.api_client, d.api_clock, d.top_z, d.log_rows, d.log_bytes, g.updates, g.actors, g.causes
    ), logged as (
      insert into board_updates (board_id, seq, updates, actors, causes, created_at)
      select m.board_id, m.seq, m.updates, coalesce(replace(m.actors, '}{', ','), '{}')::uuid[], m.causes, t
      from moved m
      where m.updates is not null
    )
    select json_agg(json_build_array(m.board_id, m.seq, m.indexed_seq, m.api_client, m.api_clock, m.top_z, m.log_rows, m.log_bytes))
    into heads
    from moved m;

    if p_rows is not null then
      select array_agg(v), bool_or(v.gone is not true), bool_or(v.gone is not true and v.fresh is not true), bool_or(v.gone is true)
      into card_rows, keeps, keeps_earlier, removes
      from json_populate_recordset(null::commit_row, p_rows) as v;
    end if;

    -- A statement without rows would fire the triggers, too. So would an upsert of new cards alone with those of an update.
    if keeps and not keeps_earlier then
      insert into card_index (
        board_id, card_id, workspace_id, {{card_columns}}, hash, anchors, position, op, cause, created_at, updated_at
      )
      select d.board_id, v.id, d.workspace_id, {{v.card_columns}}, v.hash, v.anchors, d.seq, i.op, i.cause, t, t
      from unnest(card_rows) as v
      join unnest(batch) as i on i.n = v.n
      join board_documents d on d.board_id = i.board
      where v.gone is not true;
    elsif keeps then
      insert into card_index as c (
        board_id, card_id, workspace_id, {{card_columns}}, hash, anchors, position, op, cause, moved_from, created_at, updated_at
      )
      select d.board_id, v.id, d.workspace_id, {{v.card_columns}}, v.hash, v.anchors, d.seq, i.op, i.cause, v.moved_from,
        case when v.moved_from is null then t
          else coalesce((select x.created_at from card_index x where x.board_id = v.moved_from and x.card_id = v.was), t)
        end, t
      from unnest(card_rows) as v
      join unnest(batch) as i on i.n = v.n
      join board_documents d on d.board_id = i.board
      where v.gone is not true
      on conflict (board_id, card_id) do update
      set ({{card_columns}}) = ({{excluded.card_columns}}),
        hash = excluded.hash, anchors = excluded.anchors, position = excluded.position,
        op = case when c.hash <> excluded.hash or c.deleted_at is not null or excluded.cause in ('move', 'rebuild') then excluded.op else c.op end,
        cause = case when c.hash <> excluded.hash or c.deleted_at is not null or excluded.cause in ('move', 'rebuild') then excluded.cause else c.cause end,
        moved_from = coalesce(excluded.moved_from, c.moved_from),
        created_at = case when excluded.cause = 'move' then excluded.created_at else c.created_at end,
        updated_at = case when c.hash <> excluded.hash or c.deleted_at is not null or excluded.cause in ('move', 'rebuild') then excluded.updated_at else c.updated_at end,
        deleted_at = null
      -- A value that was set again changes only the anchors. That is no change of the card.
      where c.position <= excluded.position and (c.hash <> excluded.hash or c.deleted_at is not null or excluded.cause in ('move', 'rebuild') or c.anchors is distinct from excluded.anchors);
    end if;

    if removes then
      -- Finds the index row of each given row by its key. A plan that was cached when the table was small would read all
      -- given rows for each card of the board, which takes minutes for an editor's 40,000 cards.
      update card_index c
      set deleted_at = t, updated_at = t, hash = '', anchors = null, position = g.seq, op = g.op, cause = g.cause
      from (
        select o.ctid as place, d.seq, i.op, i.cause
        from unnest(card_rows) as v
        join unnest(batch) as i on i.n = v.n
        join board_documents d on d.board_id = i.board
        cross join lateral (
          select x.ctid
          from card_index x
          where x.board_id = d.board_id and x.card_id = v.id and x.deleted_at is null and x.position <= d.seq
          offset 0
        ) o
        where v.gone
        offset 0
      ) g
      where c.ctid = g.place;
    end if;

    if keeps_earlier then
      select json_agg(json_build_array(w.n, w.id, (extract(epoch from c.created_at) * 1000)::bigint, (extract(epoch from c.updated_at) * 1000)::bigint))
      into times
      from (
        select v.n, v.id, i.board
        from unnest(card_rows) as v
        join unnest(batch) as i on i.n = v.n
        where i.kind = 'write' and v.fresh is not true and v.gone is not true
        offset 0
      ) w
      cross join lateral (
        select x.created_at, x.updated_at from card_index x where x.board_id = w.board and x.card_id = w.id offset 0
      ) c;
    end if;

    -- The trigger that writes the events of cards sees rows of many requests, and their ids only.
    if traces then
      update events e
      set trace = i.operation ->> 'trace'
      from unnest(batch) as i
      where e.op = i.op and i.operation ->> 'trace' is not null;
    end if;

    if p_groups is not null then
      insert into group_index as c (
        board_id, group_id, workspace_id, name, color, shape, outline, hash, position, created_at, updated_at
      )
      select d.board_id, v.id, d.workspace_id, v.name, v.color, v.shape, v.outline, v.hash, d.seq, t, t
      from json_to_recordset(p_groups)
        as v(n integer, id text, gone boolean, name text, color text, shape text, outline boolean, hash text)
      join unnest(batch) as i on i.n = v.n
      join board_documents d on d.board_id = i.board
      where v.gone is not true
      on conflict (board_id, group_id) do update
      set name = excluded.name, color = excluded.color, shape = excluded.shape, outline = excluded.outline,
        hash = excluded.hash, position = excluded.position, updated_at = excluded.updated_at, deleted_at = null
      where c.position <= excluded.position and (c.hash <> excluded.hash or c.deleted_at is not null);

      update group_index c
      set deleted_at = t, updated_at = t, hash = '', position = g.seq
      from (
        select o.ctid as place, d.seq
        from json_to_recordset(p_groups) as v(n integer, id text, gone boolean)
        join unnest(batch) as i on i.n = v.n
        join board_documents d on d.board_id = i.board
        cross join lateral (
          select x.ctid
          from group_index x
          where x.board_id = d.board_id and x.group_id = v.id and x.deleted_at is null and x.position <= d.seq
          offset 0
        ) o
        where v.gone
        offset 0
      ) g
      where c.ctid = g.place;
    end if;

    if p_removed is not null then
      insert into removed_cards (restore_token, board_id, workspace_id, card_id, state, removed_at)
      select v.token, d.board_id, d.workspace_id, v.id, substring(p_blob from v.blob_at + 1 for v.blob_bytes), t
      from json_to_recordset(p_removed) as v(n integer, token uuid, id text, blob_at integer, blob_bytes integer)
      join unnest(batch) as i on i.n = v.n
      join board_documents d on d.board_id = i.board;
    end if;

    if guests_edit or guest_writes <> '{}' then
      insert into guest_bytes as g (user_id, board_id, bytes)
      select a.account, a.board_id, sum(a.bytes)
      from (
        select i.account as account, i.board as board_id, i.blob_bytes as bytes from unnest(batch) as i where i.n = any (guest_writes)
        union all
        select i.account, i.board, v.blob_bytes
        from unnest(batch) as i
        join json_to_recordset(p_removed) as v(n integer, blob_bytes integer) on v.n = i.n
        where i.n = any (guest_writes)
        union all
        select e.key::uuid, i.board, e.value::bigint
        from unnest(batch) as i
        cross join lateral json_each_text(i.guests) e
        where i.guests is not null
      ) a
      group by a.account, a.board_id
      on conflict (user_id, board_id) do update set bytes = g.bytes + excluded.bytes;
    end if;

    if operations then
      perform audit_writes(array_agg(i.operation), array_agg(i.account), array_agg(i.board), array_agg(d.workspace_id), t)
      from unnest(batch) as i
      join board_documents d on d.board_id = i.board
      where i.operation is not null and i.blob_bytes > 0;
    end if;
    if keys then
      select json_agg(json_build_object(
        'operation', i.operation, 'account', i.account, 'made', coalesce(i.operation -> 'made', made.ids)
      )) into records
      from unnest(batch) as i
      cross join lateral (
        select json_agg(v.id) as ids
        from (
          select c.id from unnest(card_rows) as c where c.n = i.n and c.fresh
          union all
          select g.id from json_to_recordset(p_groups) as g(n integer, id text, gone boolean) where g.n = i.n and g.gone is not true
        ) v
      ) made
      where i.operation ->> 'key' is not null and i.blob_bytes > 0;
      if records is not null then
        perform keep_results(records);
      end if;
    end if;
  end if;

  if cardinality(answers) > 0 then -- the caller needs the boards' positions to build the items again
    select json_agg(json_build_array(d.board_id, d.seq, d.indexed_seq, d.api_client, d.api_clock, d.top_z, d.log_rows, d.log_bytes))
    into heads
    from board_documents d
    where d.board_id = any (locked);
  end if;

  answer := json_build_object(
    't', (extract(epoch from t) * 1000)::bigint,
    'boards', heads,
    'items', ('[' || array_to_string(answers, ',') || ']')::json,
    'times', times
  );
  -- Storing it last takes one write instead of two. If the same commit came twice, one call waits here for the other.
  insert into commits (commit_id, result) values (p_commit, answer) on conflict do nothing;
  if not found then
    raise exception 'another call has made this commit' using errcode = '40001', hint = 'Repeat the call to get its result.';
  end if;
  return answer;
end $$;

grant execute on function commit_batch to corkboard_app;
