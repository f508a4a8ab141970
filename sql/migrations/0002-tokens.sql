-- OAuth applications, access tokens, and rate limits.

-- Clients that registered themselves. Clients with a metadata document have no row.
-- These tables contain codes, tokens, secrets and ids of interactions only as hashes, and their contents encrypted. A copy
-- of the tables lets nobody in.
create table oauth_clients (
  client_id text primary key,
  metadata bytea not null,             -- encrypted, because it contains the client's secret
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  used_at timestamptz                  -- last consent or token, accurate to a day; null: never
);
create index oauth_clients_created on oauth_clients (created_at);

-- A consent of an account to a client. Codes and tokens are issued under it.
create table oauth_grants (
  id uuid primary key default gen_random_uuid(),
  key bytea not null unique,           -- SHA-256 of the provider's id
  payload bytea not null,              -- the provider's object, encrypted
  user_id uuid not null references users on delete cascade,
  client_id text not null,             -- of a row of oauth_clients, or the URL of the client's document
  client_name text not null default '',
  redirect_host text not null default '', -- host that got the answer: the only verified fact about a client
  scopes text[] not null check (scopes <@ array['read', 'write', 'delete']),
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  ends_at timestamptz not null,        -- when the last code or token under it ends
  revoked_at timestamptz
);
create index oauth_grants_user on oauth_grants (user_id, client_id);
create index oauth_grants_client on oauth_grants (client_id);
create index oauth_grants_end on oauth_grants (least(ends_at, revoked_at));
create policy app_select on oauth_grants for select to corkboard_app using (user_id = current_user_id());
grant select (id, user_id, client_id, client_name, redirect_host, scopes, created_at, ends_at, revoked_at) on oauth_grants
  to corkboard_app;
create trigger forget_rate_counter after delete on oauth_grants for each row execute function forget_rate_counter();

-- The provider's other objects: interactions, codes, refresh tokens, registration access tokens, payloads of access tokens.
create table oauth_artifacts (
  kind text not null,
  key bytea not null,                  -- SHA-256 of kind and id
  payload bytea not null,              -- encrypted
  grant_id uuid references oauth_grants on delete cascade,
  expires_at timestamptz,              -- null: never
  consumed_at timestamptz,             -- for objects that may be used once
  primary key (kind, key)
);
create index oauth_artifacts_grant on oauth_artifacts (grant_id);
create index oauth_artifacts_end on oauth_artifacts (expires_at);

-- Personal tokens, those of service accounts, and access tokens of connected applications.
create table tokens (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users on delete cascade,
  name text not null,
  prefix text not null,                -- the first characters, by which a user recognizes the token
  hash bytea not null unique,          -- SHA-256 of the whole token, whose 256 random bits need no salt
  scopes text[] not null check (scopes <@ array['read', 'write', 'delete']),
  rate_limit integer,                  -- requests per hour; null: the configured limit
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  expires_at timestamptz,
  last_used_at timestamptz,            -- updated at most once a minute
  revoked_at timestamptz,
  grant_id uuid references oauth_grants on delete cascade -- token of an application: tokens of a grant share a limit
);
create index tokens_user on tokens (user_id);
create index tokens_grant on tokens (grant_id) where grant_id is not null;
create policy app_select on tokens for select to corkboard_app using (user_id = current_user_id());
-- An owner sees the tokens of its service accounts. The policy of service_accounts limits the subquery.
create policy app_select_service on tokens for select to corkboard_app
  using (user_id in (select s.id from service_accounts s));
grant select on tokens to corkboard_app;
create trigger tokens_revoked after update on tokens for each row
  when (old.revoked_at is null and new.revoked_at is not null)
  execute function notify_revocation();
create trigger forget_rate_counter after delete on tokens for each row execute function forget_rate_counter();

-- Requests per token in the last hour, over all processes. A process leases some requests. When it takes the next lease, it
-- stores the times of the requests that used the last one. Requests of a lease that are not used yet count as used.
create table rate_counters (
  token_id uuid primary key -- id of a token, or of a grant for all its tokens; the row serves as a lock
);

create table rate_leases (
  id uuid primary key,
  token_id uuid not null references rate_counters on delete cascade,
  holder uuid not null,                 -- the limiter of a process, which counts its own requests itself
  permits integer not null,
  used bigint[] not null default '{}',  -- times, milliseconds since 1970, ascending
  until bigint not null,                -- end of the lease; once settled, the last of `used`
  settled boolean not null default false
);
create index rate_leases_token on rate_leases (token_id, until);
create index rate_leases_age on rate_leases (until);
