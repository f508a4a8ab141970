-- The quick way through commit_batch (commit.sql), for a commit of new cards alone. commit_batch takes some 25 statements,
-- and each costs 20 to 60 µs before it does any work. This function takes three.
--
-- Every item of the batch has `creates`; sql/commit-call.ts says what that means. `locked`: the boards that the caller has
-- locked. `keys`: some of the requests have an idempotency key. Returns null, and has written nothing, when an item may not
-- be accepted, or needs a closer look: its account writes as a guest, its board is not locked, is in the trash or has
-- changed, or its owner's cards are counted. Then commit_batch decides each item. `batch` is a commit_item[], a type that
-- does not exist yet when functions are made.
create or replace function commit_creates(
  p_commit uuid, p_free_cap integer, p_blob bytea, p_rows json, batch anyarray, locked uuid[], keys boolean
) returns json
language plpgsql volatile set search_path = corkboard, pg_temp
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  accepted boolean;
  t timestamptz;
  answer json;
begin
  -- One query per account, as in commit_batch. Clocks of one board follow each other.
  with writers as materialized (
    select a.account, array(select writable_workspaces(a.account)) as writable
    from (select distinct i.account from unnest(batch) as i) a
  )
  select bool_and(coalesce(
    i.board = any (locked) and b.workspace_id = any (s.writable) and b.deleted_at is null and i.clock = d.api_clock + i.earlier
      and (i.seen is null or i.seen = d.seq) and (p_free_cap is null or u.tier <> 'free'),
    false
  )) into accepted
  from (
    select i.board, i.account, i.clock, i.seen,
      coalesce(sum(i.used) over (partition by i.board order by i.n rows between unbounded preceding and 1 preceding), 0) as earlier
    from unnest(batch) as i
  ) i
  left join writers s on s.account = i.account
  left join board_documents d on d.board_id = i.board
  left join boards b on b.id = i.board
  left join workspaces w on w.id = b.workspace_id
  left join users u on u.id = w.owner_id;
  if not accepted then
    return null;
  end if;

  t := stamp();
  perform set_config('corkboard.creates', 'on', true); -- the statement does the work of the triggers on card_index itself
  with items as materialized (
    select i.*, o.trace, o.action, o.token_id, o.service_account_id, o.client_id, o.method, o.path, o.status, o.request_id,
      case when u.id is not null then o.display_name end as display_name,
      case when u.id is not null then o.ip else '' end as ip,
      o.resources #>> '{0,type}' as resource_type, (o.resources #>> '{0,board}')::uuid as resource_board,
      coalesce(o.resources #>> '{0,ids,0}', i.board::text) as resource_id
    from unnest(batch) as i
    left join lateral json_to_record(i.operation) as o(
      trace text, action text, display_name text, token_id uuid, service_account_id uuid, client_id text, method text,
      path text, status integer, request_id text, ip text, resources json
    ) on true
    left join users u on u.id = i.account
  ), given as materialized (
    select i.board,
      string_agg(substring(p_blob from i.blob_at + 1 for i.blob_bytes), ''::bytea order by i.n) as updates,
      array_agg(i.account order by i.n) as actors,
      json_agg(i.causes order by i.n) as causes,
      sum(i.used) as used,
      sum(i.adds) as adds,
      max(i.top_z) as top_z
    from items i
    group by i.board
  ), moved as (
    update board_documents d
    set seq = d.seq + 1,
      api_clock = d.api_clock + g.used,
      top_z = greatest(d.top_z, g.top_z),
      indexed_seq = d.indexed_seq + (d.indexed_seq = d.seq)::integer,
      log_rows = d.log_rows + 1,
      log_bytes = d.log_bytes + octet_length(g.updates),
      card_count = d.card_count + g.adds,
      changed_at = t
    from given g
    where d.board_id = g.board
    returning d.board_id, d.workspace_id, d.seq, d.indexed_seq, d.api_client, d.api_clock, d.top_z, d.log_rows, d.log_bytes,
      g.updates, g.actors, g.causes
  ), logged as (
    insert into board_updates (board_id, seq, updates, actors, causes, created_at)
    select m.board_id, m.seq, m.updates, m.actors, m.causes, t
    from moved m
  ), cards as (
    insert into card_index (
      board_id, card_id, workspace_id, {{card_columns}}, hash, anchors, position, op, cause, created_at, updated_at
    )
    select m.board_id, v.id, m.workspace_id, {{v.card_columns}}, v.hash, v.anchors, m.seq, i.op, i.cause, t, t
    from json_populate_recordset(null::commit_row, p_rows) as v
    join items i on i.n = v.n
    join moved m on m.board_id = i.board
    returning board_id, workspace_id, card_id, z, op
  ), told as (
    insert into events (type, workspace_id, board_id, resource_type, resource_id, card_ids, op, origin, occurred_at, trace)
    select 'card.created', c.workspace_id, c.board_id, 'board', c.board_id, c.card_ids, c.op, 'api', t, i.trace
    from (
      select c.op, c.board_id, c.workspace_id, array_agg(c.card_id order by c.z, c.card_id) as card_ids
      from cards c
      group by c.op, c.board_id, c.workspace_id
    ) c
    join items i on i.op = c.op
    order by i.n
  ), pending as (
    insert into search_pending (board_id, workspace_id, changed_at)
    select m.board_id, m.workspace_id, t
    from moved m
  ), audited as ( -- as audit_writes does
    insert into audit_operations (
      occurred_at, action, user_id, display_name, token_id, service_account_id, client_id, method, path, status,
      workspace_id, board_id, resource_type, resource_ids, request_id, ip
    )
    select t, i.action, i.account, i.display_name, i.token_id, i.service_account_id, i.client_id, i.method, i.path, i.status,
      m.workspace_id, case when i.resource_type <> 'board' then coalesce(i.resource_board, i.board) end, i.resource_type,
      array[i.resource_id], i.request_id, i.ip
    from items i
    join moved m on m.board_id = i.board
    where i.operation is not null
    order by i.n
  )
  insert into commits (commit_id, result)
  select p_commit, json_build_object(
    't', (extract(epoch from t) * 1000)::bigint,
    'boards', json_agg(json_build_array(m.board_id, m.seq, m.indexed_seq, m.api_client, m.api_clock, m.top_z, m.log_rows, m.log_bytes)),
    'items', '[]'::json,
    'times', null
  )
  from moved m
  on conflict do nothing
  returning result into answer;
  perform set_config('corkboard.creates', '', true);
  if keys then
    perform keep_results((
      select json_agg(json_build_object('operation', i.operation, 'account', i.account, 'made', coalesce(i.operation -> 'made', v.ids)))
      from unnest(batch) as i
      left join (
        select v.n, json_agg(v.id order by v.place) as ids
        from rows from (json_to_recordset(p_rows) as (n integer, id text)) with ordinality as v(n, id, place)
        group by v.n
      ) v on v.n = i.n
      where i.operation ->> 'key' is not null
    ));
  end if;
  if answer is null then
    raise exception 'another call has made this commit' using errcode = '40001', hint = 'Repeat the call to get its result.';
  end if;
  return answer;
end $$;
