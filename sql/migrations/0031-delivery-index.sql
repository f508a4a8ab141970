-- Of a webhook's deliveries those that wait or are being sent are in the indexes of the queue, and all others have an
-- attempt in the log: no index of their own has to be written with every delivery, to be read when a webhook is deleted.
grant create on schema corkboard to corkboard_system; -- for the ownership of the function; taken back below
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
    select a.delivery_id from webhook_attempts a where a.webhook_id = any (gone)
  );
begin
  delete from webhook_deliveries where id = any (ids);
  return null;
end $$;
alter function webhooks_drop() owner to corkboard_system;
revoke all on function webhooks_drop() from public;
revoke create on schema corkboard from corkboard_system;

drop index webhook_deliveries_webhook;
