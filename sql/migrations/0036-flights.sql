-- An event that leaves the outbox to receivers that keep up, with all of its deliveries: one row for all of them. A
-- delivery that succeeds at once is written down in the log alone, with its own id for that of the attempt. Any other one
-- lands: it becomes a row of the queue, under its id. `functions/deliveries.sql` does both.
create table webhook_flights (
  place bigint primary key default nextval('webhook_deliveries_place_seq'), -- of each of its deliveries
  workspace_id uuid not null,
  event text not null,
  payload text not null,
  webhook_ids uuid[] not null,
  delivery_ids uuid[] not null,        -- of each webhook, in the same order
  lease_until timestamptz,             -- while the outcome of some is open
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
create index webhook_flights_leased on webhook_flights (workspace_id, lease_until) where lease_until is not null;
create index webhook_flights_age on webhook_flights using brin (created_at);

alter table webhook_flights enable row level security;
alter table webhook_flights force row level security;
create policy system on webhook_flights to corkboard_system using (true) with check (true);
grant select, insert, update, delete on webhook_flights to corkboard_system;
grant usage on sequence webhook_deliveries_place_seq to corkboard_system;
create policy app_select on webhook_flights for select to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())));
grant select on webhook_flights to corkboard_app;

alter table webhook_attempts add column flight bigint; -- of a delivery that never was a row of the queue
drop index webhook_attempts_delivery;
create index webhook_attempts_delivery on webhook_attempts (delivery_id) where id <> delivery_id;

create or replace function webhook_deliveries_drop() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  delete from webhook_attempts where delivery_id in (select id from old_rows) and id <> delivery_id;
  return null;
end $$;

create or replace function webhooks_drop() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp
  set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
declare
  gone uuid[] := array(select id from old_rows);
  -- By id: one whose attempt is being written down is another version of itself by the time that its lock is free.
  ids uuid[] := array(
    select d.id from webhook_deliveries d where d.webhook_id = any (gone) and d.status = 'waiting'
    union
    select d.id from webhook_deliveries d where d.webhook_id = any (gone) and d.status = 'sending'
    union
    select a.delivery_id from webhook_attempts a where a.webhook_id = any (gone) and a.flight is null
  );
begin
  delete from webhook_deliveries where id = any (ids);
  delete from webhook_attempts where webhook_id = any (gone);
  return null;
end $$;

-- As before, also of what is, or was, in flight.
create or replace function queue_again(webhook uuid, delivery uuid, at timestamptz) returns uuid
language plpgsql volatile security definer set search_path = corkboard, pg_temp
  set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
declare
  wanted uuid := coalesce((select a.delivery_id from webhook_attempts a where a.id = delivery), delivery);
  workspace uuid;
  flown bigint;
begin
  select w.workspace_id into workspace
  from webhooks w
  where w.id = webhook and w.workspace_id in (select writable_workspaces(current_user_id()))
  for key share of w;
  if workspace is null then
    return null;
  end if;
  -- Whoever writes down its outcome meanwhile comes before or after all of this.
  select f.place into flown
  from webhook_flights f
  where f.workspace_id = workspace and f.lease_until is not null and wanted = any (f.delivery_ids)
  for update;
  if flown is null then
    select a.flight into flown from webhook_attempts a where a.id = wanted;
  end if;
  if flown is not null then
    insert into webhook_deliveries (id, place, webhook_id, workspace_id, event, payload, next_attempt_at, fence, created_at)
    overriding system value
    select wanted, f.place, webhook, f.workspace_id, f.event, f.payload, at, 1, f.created_at
    from webhook_flights f
    where f.place = flown and f.webhook_ids[array_position(f.delivery_ids, wanted)] = webhook
    on conflict (id) do nothing;
    -- The attempt that was all there was of it is one of several from now on.
    update webhook_attempts a
    set id = gen_random_uuid(), flight = null
    where a.id = wanted and a.webhook_id = webhook and a.flight is not null;
  end if;
  update webhook_deliveries d
  set status = 'waiting', attempt = 0, next_attempt_at = at, lease_until = null, fence = d.fence + 1
  where d.id = wanted and d.webhook_id = webhook;
  return case when found then wanted end;
end $$;

-- They gain parameters; functions/deliveries.sql makes them anew.
drop function if exists give_back_deliveries(uuid[], bigint[], timestamptz[]);
drop function if exists settle_successes(uuid[], uuid[], bigint[], integer[], integer[], integer[], timestamptz[]);
