-- Tells all processes when tokens are revoked or sessions end: they forget whom tokens belong to and look at their open
-- sockets. One message for a transaction, however many it ends.
do $$ begin
  execute format('grant create on schema %I to corkboard_system', 'corkboard');
end $$;

create or replace function notify_revocation() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  perform pg_notify('corkboard_nodes', '{"kind":"revoked"}');
  return null;
end $$;
create or replace trigger tokens_revoked after update on tokens for each row
  when (old.revoked_at is null and new.revoked_at is not null)
  execute function notify_revocation();
create or replace trigger sessions_ended after delete on sessions for each row
  execute function notify_revocation();

alter function notify_revocation() owner to corkboard_system;
revoke all on function notify_revocation() from public;
grant execute on function notify_revocation() to corkboard_system, corkboard_app;
revoke create on schema corkboard from corkboard_system;
