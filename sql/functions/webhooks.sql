-- Webhooks, and what requests may do with the queue of deliveries as writers of the webhook's workspace.

create or replace function webhooks_stamp() returns trigger
language plpgsql set search_path = corkboard, pg_temp as $$
begin
  if (new.url, new.events, new.name, new.active) is distinct from (old.url, old.events, old.name, old.active) then
    new.updated_at := date_trunc('milliseconds', clock_timestamp());
  end if;
  return new;
end $$;

-- Whoever switches a webhook on clears its failure state, also when it is on, and answers for it when its creator no
-- longer can.
create or replace function webhooks_enable() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  if not old.active or current_user_id() is not null then
    new.failures := 0;
    new.disabled_reason := null;
  end if;
  if current_user_id() is not null
     and (new.created_by is null or new.workspace_id not in (select writable_workspaces(new.created_by))) then
    new.created_by := current_user_id();
  end if;
  return new;
end $$;

-- Webhooks are for writers of their workspace; its other members may know that one is there, and are told that it is not
-- theirs to manage: 'write', 'read' (nothing but knowing of it) or null.
create or replace function webhook_access(webhook uuid) returns text
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select case
    when w.workspace_id in (select writable_workspaces(current_user_id())) then 'write'
    when w.workspace_id in (select readable_workspaces(current_user_id())) then 'read'
  end
  from webhooks w
  where w.id = webhook
$$;

-- Queues a delivery for one webhook, active or not, and holds the webhook against deletion. Null when the caller has no
-- such webhook.
create or replace function queue_delivery(webhook uuid, event_type text, payload_text text, at timestamptz) returns uuid
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  with held as materialized (
    select w.id, w.workspace_id
    from webhooks w
    where w.id = webhook and w.workspace_id in (select writable_workspaces(current_user_id()))
    for key share of w
  )
  insert into webhook_deliveries (webhook_id, workspace_id, event, payload, next_attempt_at)
  select id, workspace_id, event_type, payload_text, at
  from held
  returning id
$$;

-- Gives a delivery, named by its own id or that of one of its attempts, six new attempts; also one that is in flight, or
-- was. An attempt that is under way is logged but decides nothing. Null when the caller has no such delivery of this
-- webhook.
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

-- The secret so far also signs until then. False when the caller has no such webhook.
create or replace function rotate_webhook_secret(webhook uuid, fresh bytea, until timestamptz) returns boolean
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  with rotated as (
    update webhooks w
    set secret = fresh, previous_secret = w.secret, previous_secret_until = until
    where w.id = webhook and w.workspace_id in (select writable_workspaces(current_user_id()))
    returning w.id
  )
  select exists (select from rotated)
$$;

-- Of a webhook's deliveries those that wait or are being sent are in the indexes of the queue, and all others have an
-- attempt in the log: no index of their own has to be written with every delivery, to be read when a webhook is deleted.
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

create or replace function webhook_deliveries_drop() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  delete from webhook_attempts where delivery_id in (select id from old_rows) and id <> delivery_id;
  return null;
end $$;

grant execute on function webhook_access, queue_delivery, queue_again, rotate_webhook_secret to corkboard_app;
