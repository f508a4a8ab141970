-- Webhooks, and the operations of requests on the queue of deliveries.

create or replace function webhooks_stamp() returns trigger
language plpgsql set search_path = corkboard, pg_temp as $$
begin
  if (new.url, new.events, new.name, new.active) is distinct from (old.url, old.events, old.name, old.active) then
    new.updated_at := date_trunc('milliseconds', clock_timestamp());
  end if;
  return new;
end $$;

-- Switching a webhook on clears its failure state, even if it was on. If the creator may no longer write in the workspace,
-- the caller becomes the creator.
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

-- The caller's access to a webhook: 'write' for writers of the workspace, 'read' for other members (may only know that it
-- exists), or null.
create or replace function webhook_access(webhook uuid) returns text
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select case
    when w.workspace_id in (select writable_workspaces(current_user_id())) then 'write'
    when w.workspace_id in (select readable_workspaces(current_user_id())) then 'read'
  end
  from webhooks w
  where w.id = webhook
$$;

-- Queues a delivery for a webhook, even if it is off. Locks the webhook, so that it is not deleted meanwhile. Null when the
-- caller has no such webhook.
create or replace function queue_delivery(webhook uuid, event_type text, payload_text text, at timestamptz) returns uuid
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  with held as materialized (
    select w.id, w.workspace_id
    from webhooks w
    where w.id = webhook and w.workspace_id in (select writable_workspaces(current_user_id()))
    for key share of w
  ), payload as (
    insert into webhook_payloads (workspace_id, event, payload)
    select workspace_id, event_type, payload_text from held
    returning place
  )
  insert into webhook_deliveries (place, webhook_id, workspace_id, next_attempt_at)
  select p.place, h.id, h.workspace_id, at
  from held h
  cross join payload p
  returning id
$$;

-- Gives a delivery six new attempts. `delivery` is its id, or the id of one of its attempts. An attempt in flight will be
-- logged without effect. Null when the webhook has no such delivery, or the caller no such webhook.
create or replace function queue_again(webhook uuid, delivery uuid, at timestamptz) returns uuid
language plpgsql volatile security definer set search_path = corkboard, pg_temp
  set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
declare
  wanted uuid := coalesce((select a.delivery_id from webhook_attempts a where a.id = delivery), delivery);
begin
  perform from webhooks w
  where w.id = webhook and w.workspace_id in (select writable_workspaces(current_user_id()))
  for key share of w;
  if not found then
    return null;
  end if;
  perform from webhook_deliveries d where d.id = wanted and d.webhook_id = webhook for update;
  if not found then
    return null;
  end if;
  -- Moves the successful attempt into the log, because other attempts follow.
  insert into webhook_attempts (
    delivery_id, place, webhook_id, workspace_id, attempt, attempts_left, status, status_code, duration_ms, attempted_at
  )
  select d.id, d.place, d.webhook_id, d.workspace_id, d.attempt, 0, 'succeeded', d.status_code, d.duration_ms, d.attempted_at
  from webhook_deliveries d
  where d.id = wanted and d.status = 'succeeded';
  update webhook_deliveries d
  set status = 'waiting', attempt = 0, next_attempt_at = at, lease_until = null, fence = d.fence + 1,
    status_code = null, duration_ms = null, attempted_at = null
  where d.id = wanted;
  return wanted;
end $$;

-- Replaces the secret. The previous one also signs until `until`. Null when the caller has no such webhook.
create or replace function rotate_webhook_secret(webhook uuid, fresh bytea, until timestamptz) returns boolean
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  update webhooks w
  set secret = fresh, previous_secret = w.secret, previous_secret_until = until
  where w.id = webhook and w.workspace_id in (select writable_workspaces(current_user_id()))
  returning true
$$;

-- Deletes the deliveries of a deleted webhook. It finds them by the index of their state, or by their attempts if they were
-- given up. An index by webhook alone would cost a write for every delivery.
create or replace function webhooks_drop() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp
  set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
declare
  gone uuid[] := array(select id from old_rows);
  -- By id, because a row whose outcome is being recorded has another version when its lock is released.
  ids uuid[] := array(
    select d.id from webhook_deliveries d where d.webhook_id = any (gone) and d.status = 'waiting'
    union
    select d.id from webhook_deliveries d where d.webhook_id = any (gone) and d.status = 'sending'
    union
    select d.id from webhook_deliveries d where d.webhook_id = any (gone) and d.status = 'succeeded'
    union
    select a.delivery_id from webhook_attempts a where a.webhook_id = any (gone)
  );
begin
  delete from webhook_deliveries where id = any (ids);
  return null;
end $$;

create or replace function webhook_deliveries_drop() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  delete from webhook_attempts where delivery_id in (select id from old_rows);
  return null;
end $$;

grant execute on function webhook_access, queue_delivery, queue_again, rotate_webhook_secret to corkboard_app;
