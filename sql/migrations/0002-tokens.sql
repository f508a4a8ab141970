-- Applications that people connect, access tokens, and the requests that a token has left.

-- Clients that registered themselves. Those that are known by their metadata document have no row.
-- What a client could use to get in (codes, tokens, secrets, the ids of interactions) is in these tables by its hash, and
-- what belongs to it encrypted: a copy of them lets nobody in.
create table oauth_clients (
  client_id text primary key,
  metadata bytea not null,             -- encrypted: it holds the client's secret
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  used_at timestamptz                  -- when it last got consent or a token, to the day; null: never
);
create index oauth_clients_created on oauth_clients (created_at);
alter table oauth_clients enable row level security, force row level security;
create policy system on oauth_clients to corkboard_system using (true) with check (true);
grant select, insert, update, delete on oauth_clients to corkboard_system;

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
alter table oauth_grants enable row level security, force row level security;
create policy system on oauth_grants to corkboard_system using (true) with check (true);
grant select, insert, update, delete on oauth_grants to corkboard_system;
create policy app_select on oauth_grants for select to corkboard_app using (user_id = current_user_id());
grant select (id, user_id, client_id, client_name, redirect_host, scopes, created_at, ends_at, revoked_at) on oauth_grants
  to corkboard_app;
create trigger forget_rate_counter after delete on oauth_grants for each row execute function forget_rate_counter();

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
alter table oauth_artifacts enable row level security, force row level security;
create policy system on oauth_artifacts to corkboard_system using (true) with check (true);
grant select, insert, update, delete on oauth_artifacts to corkboard_system;

-- Personal tokens, those of service accounts, and access tokens of connected applications.
create table tokens (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users on delete cascade,
  name text not null,
  prefix text not null,                -- the first characters, to recognise a token by
  hash bytea not null unique,          -- SHA-256 of the whole token; 256 random bits need no salt
  scopes text[] not null check (scopes <@ array['read', 'write', 'delete']),
  rate_limit integer,                  -- requests per hour; null takes the configured one
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  expires_at timestamptz,
  last_used_at timestamptz,            -- coarse: written at most once a minute
  revoked_at timestamptz,
  grant_id uuid references oauth_grants on delete cascade -- of an application's: the grant's tokens share an hour of requests
);
create index tokens_user on tokens (user_id);
create index tokens_grant on tokens (grant_id) where grant_id is not null;
alter table tokens enable row level security, force row level security;
create policy system on tokens to corkboard_system using (true) with check (true);
grant select, insert, update, delete on tokens to corkboard_system;
create policy app_select on tokens for select to corkboard_app using (user_id = current_user_id());
-- Tokens of service accounts are for the owner to see; the subquery goes by the policy of that table.
create policy app_select_service on tokens for select to corkboard_app
  using (user_id in (select s.id from service_accounts s));
grant select on tokens to corkboard_app;
create trigger tokens_revoked after update on tokens for each row
  when (old.revoked_at is null and new.revoked_at is not null)
  execute function notify_revocation();
create trigger forget_rate_counter after delete on tokens for each row execute function forget_rate_counter();

-- Requests of the last hour per token, over all processes. A process takes a lease of some requests, and writes the times
-- of those that it let through when it takes the next one; what a lease may still let through counts as let through.
create table rate_counters (
  token_id uuid primary key -- a token's, or a grant's for all of its tokens; the row is the lock
);
alter table rate_counters enable row level security, force row level security;
create policy system on rate_counters to corkboard_system using (true) with check (true);
grant select, insert, update, delete on rate_counters to corkboard_system;

create table rate_leases (
  id uuid primary key,
  token_id uuid not null references rate_counters on delete cascade,
  holder uuid not null,                 -- the part of a process that knows what it has let through itself
  permits integer not null,
  used bigint[] not null default '{}',  -- times, milliseconds since 1970, ascending
  until bigint not null,                -- nothing is let through under it any more from then on; settled: its last time
  settled boolean not null default false
);
create index rate_leases_token on rate_leases (token_id, until);
create index rate_leases_age on rate_leases (until);
alter table rate_leases enable row level security, force row level security;
create policy system on rate_leases to corkboard_system using (true) with check (true);
grant select, insert, update, delete on rate_leases to corkboard_system;
