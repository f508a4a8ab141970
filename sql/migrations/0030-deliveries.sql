-- Deliveries and their log are written by the service alone, each with the row that it hangs on locked: what a foreign
-- key would look up, row by row, is certain. What hung on the keys, that these rows go with their webhook, is done here.
alter table webhook_deliveries drop constraint webhook_deliveries_webhook_id_fkey;
alter table webhook_attempts drop constraint webhook_attempts_delivery_id_fkey;

create function webhooks_drop() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  delete from webhook_deliveries where webhook_id in (select id from old_rows);
  return null;
end $$;
create trigger webhooks_drop after delete on webhooks
  referencing old table as old_rows for each statement execute function webhooks_drop();

create function webhook_deliveries_drop() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  delete from webhook_attempts where delivery_id in (select id from old_rows);
  return null;
end $$;
create trigger webhook_deliveries_drop after delete on webhook_deliveries
  referencing old table as old_rows for each statement execute function webhook_deliveries_drop();

grant create on schema corkboard to corkboard_system; -- for the ownership of functions; taken back below
alter function webhooks_drop() owner to corkboard_system;
alter function webhook_deliveries_drop() owner to corkboard_system;
revoke all on function webhooks_drop() from public;
revoke all on function webhook_deliveries_drop() from public;

-- As before, but that it holds the webhook against deletion.
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
alter function queue_delivery(uuid, text, text, timestamptz) owner to corkboard_system;
revoke create on schema corkboard from corkboard_system;

-- A delivery is written three times, each time into all of the indexes. Rows are added in the order of their age, and
-- only whole webhooks are looked up.
drop index webhook_deliveries_log;
create index webhook_deliveries_webhook on webhook_deliveries (webhook_id);
drop index webhook_deliveries_age;
create index webhook_deliveries_age on webhook_deliveries using brin (created_at);

-- It gains a column; functions/deliveries.sql makes it anew.
drop function if exists claim_deliveries(timestamptz, timestamptz, uuid[], integer[], integer, integer, integer, text);
