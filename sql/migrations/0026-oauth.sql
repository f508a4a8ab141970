-- Applications that people connect. What a client could use to get in (codes, tokens, secrets, the ids of interactions) is
-- here by its hash, and what belongs to it encrypted: a copy of these tables lets nobody in.
grant create on schema corkboard to corkboard_system; -- for the ownership of functions; taken back below

-- Clients that registered themselves. Those that are known by their metadata document have no row.
create table oauth_clients (
  client_id text primary key,
  metadata bytea not null,             -- encrypted: it holds the client's secret
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  used_at timestamptz                  -- when it last got consent or a token, to the day; null: never
);
create index oauth_clients_created on oauth_clients (created_at);

-- What an account has allowed a client once: the family of the codes and tokens that are issued under it.
create table oauth_grants (
  id uuid primary key default gen_random_uuid(),
  key bytea not null unique,           -- SHA-256 of the id by which the provider knows it
  payload bytea not null,              -- encrypted: what the provider keeps of it
  user_id uuid not null references users on delete cascade,
  client_id text not null,             -- a client's row, or the URL of its document
  client_name text not null default '',
  redirect_host text not null default '', -- where the answer went: all that is known for sure of a client
  scopes text[] not null check (scopes <@ array['read', 'write', 'delete']),
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  ends_at timestamptz not null,        -- when the last of what was issued under it ends
  revoked_at timestamptz
);
create index oauth_grants_user on oauth_grants (user_id, client_id);
create index oauth_grants_client on oauth_grants (client_id);
create index oauth_grants_end on oauth_grants (least(ends_at, revoked_at));

-- All else that the provider keeps: interactions, codes, refresh tokens, registration access tokens, payloads of access
-- tokens.
create table oauth_artifacts (
  kind text not null,
  key bytea not null,                  -- SHA-256 of kind and id
  payload bytea not null,              -- encrypted
  grant_id uuid references oauth_grants on delete cascade,
  expires_at timestamptz,              -- null: never
  consumed_at timestamptz,             -- of what may be used once
  primary key (kind, key)
);
create index oauth_artifacts_grant on oauth_artifacts (grant_id);
create index oauth_artifacts_end on oauth_artifacts (expires_at);

-- An access token is a token like others. Those of one grant share an hour of requests.
alter table tokens add column grant_id uuid references oauth_grants on delete cascade;
create index tokens_grant on tokens (grant_id) where grant_id is not null;
alter table rate_counters drop constraint rate_counters_token_id_fkey; -- it counts by token, or by grant

create function forget_rate_counter() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  delete from rate_counters where token_id = old.id;
  return null;
end $$;
create trigger forget_rate_counter after delete on tokens for each row execute function forget_rate_counter();
create trigger forget_rate_counter after delete on oauth_grants for each row execute function forget_rate_counter();

do $$
declare
  t text;
begin
  foreach t in array array['oauth_clients', 'oauth_grants', 'oauth_artifacts'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy system on %I to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %I to corkboard_system', t);
  end loop;
end $$;
create policy app_select on oauth_grants for select to corkboard_app using (user_id = current_user_id());
grant select (id, user_id, client_id, client_name, redirect_host, scopes, created_at, ends_at, revoked_at) on oauth_grants
  to corkboard_app;

-- The end of grants: nothing that was issued under them is good any more.
create function end_oauth_grants(ended uuid[]) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  perform from oauth_grants g where g.id = any (ended) order by g.id for update; -- before their tokens, as issuing does
  update oauth_grants set revoked_at = date_trunc('milliseconds', clock_timestamp())
  where id = any (ended) and revoked_at is null;
  update tokens set revoked_at = date_trunc('milliseconds', clock_timestamp())
  where grant_id = any (ended) and revoked_at is null;
  delete from oauth_artifacts where grant_id = any (ended);
end $$;

-- All that the caller has allowed a client; how many grants that was.
create function disconnect_application(client text) returns integer
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  ended uuid[];
begin
  ended := array(
    select g.id from oauth_grants g where g.user_id = current_user_id() and g.client_id = client and g.revoked_at is null
  );
  perform end_oauth_grants(ended);
  return cardinality(ended);
end $$;

do $$
declare
  f text;
begin
  foreach f in array array['forget_rate_counter()', 'end_oauth_grants(uuid[])', 'disconnect_application(text)'] loop
    execute format('alter function %s owner to corkboard_system', f);
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to corkboard_system', f);
  end loop;
  grant execute on function disconnect_application(text) to corkboard_app;
end $$;
revoke create on schema corkboard from corkboard_system;
