-- The queue of deliveries. Each function is one call in autocommit. Sequential scans are off, because a plan that was made
-- and cached when a table was small would read the whole table later, too.

-- Claims deliveries that are due, under a lease. The longest wait goes first; webhooks that fail go last.
--   p_busy, p_counts  webhooks, and how many of their p_per_webhook slots are taken; a negative count allows more
--   p_room            how many may be claimed in all
--   p_failing_room    how many of these may go to webhooks whose last delivery failed (one each)
-- A row without a delivery names a webhook whose due deliveries may not be sent: it is off, or its creator may no longer
-- write in the workspace.
-- `create or replace` can't add a column to the result. Nodes of earlier versions don't read `trace`.
drop function if exists claim_deliveries(
  timestamptz, timestamptz, uuid[], integer[], integer, integer, integer, text
);
create function claim_deliveries(
  p_now timestamptz, p_lease_until timestamptz, p_busy uuid[], p_counts integer[],
  p_per_webhook integer, p_room integer, p_failing_room integer, p_test_event text
) returns table (
  webhook_id uuid, id uuid, place bigint, event text, payload text, attempt integer, fence bigint, due_at timestamptz,
  url text, secret bytea, previous_secret bytea, failures integer, trace text
)
language plpgsql volatile set search_path = corkboard, pg_temp
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  w record;
  share integer;
  ids uuid[] := '{}';
  shares integer[] := '{}';
  troubled uuid[] := '{}';
begin
  -- If the database fails before this is on disk, the deliveries are due at once, not after the lease.
  perform set_config('synchronous_commit', 'off', true);
  for w in
    with recursive waiting as (
      (select d.webhook_id from webhook_deliveries d where d.status = 'waiting' order by d.webhook_id limit 1)
      union all
      select n.webhook_id
      from waiting v
      cross join lateral (
        select d.webhook_id
        from webhook_deliveries d
        where d.status = 'waiting' and d.webhook_id > v.webhook_id
        order by d.webhook_id
        limit 1
      ) n
    ), due as materialized (
      select h.id, h.active, h.failures, h.workspace_id, h.created_by, x.next_attempt_at, coalesce(b.count, 0) as busy
      from waiting v
      cross join lateral (
        select d.next_attempt_at
        from webhook_deliveries d
        where d.webhook_id = v.webhook_id and d.status = 'waiting' and d.next_attempt_at <= p_now
        order by d.next_attempt_at
        limit 1
      ) x
      join webhooks h on h.id = v.webhook_id
      left join unnest(p_busy, p_counts) as b(id, count) on b.id = v.webhook_id
      where coalesce(b.count, 0) < p_per_webhook
    ), rights as materialized (
      select r.workspace_id, r.created_by
      from (select distinct d.workspace_id, d.created_by from due d where d.created_by is not null) r
      where r.workspace_id in (select writable_workspaces(r.created_by))
    )
    select d.*,
      exists (select from rights r where r.workspace_id = d.workspace_id and r.created_by = d.created_by) as permitted
    from due d
    order by d.failures > 0, d.next_attempt_at
    limit 1000
  loop
    if not w.active or not w.permitted then
      troubled := troubled || w.id;
      continue when w.active;
    end if;
    share := least(case when w.failures > 0 then 1 - greatest(w.busy, 0) else p_per_webhook - w.busy end, p_room);
    if w.failures > 0 then
      share := least(share, p_failing_room);
    end if;
    continue when share <= 0;
    ids := ids || w.id;
    shares := shares || share;
    p_room := p_room - share;
    if w.failures > 0 then
      p_failing_room := p_failing_room - share;
    end if;
  end loop;

  if ids <> '{}' then
    return query
    with taken as materialized (
      select x.spot, x.next_attempt_at
      from unnest(ids, shares) as s(webhook_id, count)
      join webhooks h on h.id = s.webhook_id
      cross join lateral (
        select d.ctid as spot, d.next_attempt_at
        from webhook_deliveries d
        where d.webhook_id = s.webhook_id and d.status = 'waiting' and d.next_attempt_at <= p_now
          and (h.active or exists (
            select from webhook_payloads p where p.place = d.place and p.event = p_test_event
          ))
        order by d.next_attempt_at, d.place
        limit s.count
        for update skip locked
      ) x
    ), claimed as (
      update webhook_deliveries d
      set status = 'sending', next_attempt_at = null, lease_until = p_lease_until, fence = d.fence + 1
      from taken t
      where d.ctid = t.spot
      returning d.webhook_id, d.id, d.place, d.attempt, d.fence, t.next_attempt_at
    )
    select c.webhook_id, c.id, c.place, p.event, p.payload, c.attempt, c.fence, c.next_attempt_at, h.url, h.secret,
      case when h.previous_secret_until > p_now then h.previous_secret end, h.failures, p.trace
    from claimed c
    join webhook_payloads p on p.place = c.place
    join webhooks h on h.id = c.webhook_id;
  end if;
  foreach webhook_id in array troubled loop
    return next; -- its other columns are null
  end loop;
end $$;

-- Puts back deliveries that were claimed but not sent, due as before.
create or replace function give_back_deliveries(p_ids uuid[], p_fences bigint[], p_due timestamptz[]) returns void
language plpgsql volatile set search_path = corkboard, pg_temp
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  update webhook_deliveries d
  set status = 'waiting', next_attempt_at = h.due, lease_until = null
  from (
    select x.spot, g.due
    from unnest(p_ids, p_fences, p_due) as g(id, fence, due)
    cross join lateral (
      select y.ctid as spot
      from webhook_deliveries y
      where y.id = g.id and y.status = 'sending' and y.fence = g.fence
      for update skip locked
    ) x
  ) h
  where d.ctid = h.spot;
end $$;

-- Records successful attempts in the rows of their deliveries. Returns the deliveries that it left out, usually none: their
-- rows are deleted, or their lease was lost. A repeated call returns the same and changes nothing.
create or replace function record_successes(
  p_webhooks uuid[], p_ids uuid[], p_fences bigint[], p_attempts integer[], p_status_codes integer[],
  p_durations integer[], p_attempted_at bigint[]
) returns setof uuid
language plpgsql volatile set search_path = corkboard, pg_temp
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  -- If the database fails before this is on disk, within half a second at most, the lease lapses. The attempt is then
  -- logged as interrupted, and the delivery is sent again with its id, as after a failure of the service.
  perform set_config('synchronous_commit', 'off', true);
  -- Webhooks first, then deliveries, in the order of ids, as for the deletion of a webhook: else they could deadlock.
  perform from webhooks w where w.id = any (p_webhooks) order by w.id for key share;
  update webhooks
  set failures = 0
  where id in (select w.id from webhooks w where w.id = any (p_webhooks) and w.failures <> 0 order by w.id for no key update);
  return query
  with recorded as (
    update webhook_deliveries d
    set status = 'succeeded', attempt = e.attempt, lease_until = null, status_code = e.status_code,
      duration_ms = e.duration_ms, attempted_at = to_timestamp(e.attempted_at / 1000.0)
    -- Matches by id: with `status` the planner would use the index of deliveries being sent, full of dead entries.
    from unnest(p_ids, p_fences, p_attempts, p_status_codes, p_durations, p_attempted_at)
      as e(id, fence, attempt, status_code, duration_ms, attempted_at)
    where d.id = e.id and d.fence = e.fence and d.lease_until is not null
    returning d.id
  )
  select e.id
  from unnest(p_ids, p_fences) as e(id, fence)
  where e.id not in (select r.id from recorded r)
    and not exists (
      select from webhook_deliveries d where d.id = e.id and d.status = 'succeeded' and d.fence = e.fence
    );
end $$;
