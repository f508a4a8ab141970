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

-- Gives a delivery, named by its own id or that of one of its attempts, six new attempts. An attempt that is under way is
-- logged but decides nothing. Null when the caller has no such delivery of this webhook.
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
  -- The attempt that succeeded is one of several from now on.
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

-- Each delivery of a webhook is in the index of its state, or was given up and has an attempt: no further index has to be
-- written with every delivery, to be read when a webhook is deleted.
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
