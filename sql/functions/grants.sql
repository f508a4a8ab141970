-- The end of access: revoked tokens, ended sessions, disconnected applications.

create or replace function notify_revocation() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  perform pg_notify('corkboard_nodes', '{"v":1,"kind":"revoked"}');
  return null;
end $$;

create or replace function forget_rate_counter() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  delete from rate_counters where token_id = old.id;
  return null;
end $$;

-- Ends grants, and everything that was issued under them.
create or replace function end_oauth_grants(ended uuid[]) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  perform from oauth_grants g where g.id = any (ended) order by g.id for update; -- before the tokens, as the issue of a token does
  update oauth_grants set revoked_at = date_trunc('milliseconds', clock_timestamp())
  where id = any (ended) and revoked_at is null;
  update tokens set revoked_at = date_trunc('milliseconds', clock_timestamp())
  where grant_id = any (ended) and revoked_at is null;
  delete from oauth_artifacts where grant_id = any (ended);
end $$;

-- Ends the caller's grants for a client. Returns their number.
create or replace function disconnect_application(client text) returns integer
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  ended uuid[] := array(
    select g.id from oauth_grants g where g.user_id = current_user_id() and g.client_id = client and g.revoked_at is null
  );
begin
  perform end_oauth_grants(ended);
  return cardinality(ended);
end $$;

grant execute on function disconnect_application to corkboard_app;
