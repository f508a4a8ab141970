-- How people sign in: passwords, sessions, one-time links, and what bounds the guessing. A dump of these tables opens
-- nothing: secrets of 256 random bits are kept as their SHA-256, passwords as argon2id.

create table passwords (
  user_id uuid primary key references users on delete cascade,
  phc text not null,                   -- $argon2id$v=19$m=…,t=…,p=…$salt$hash
  changed_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);

create table sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users on delete cascade,
  hash bytea not null unique,          -- of the cookie's value
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  last_seen_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()), -- coarse: once a minute
  expires_at timestamptz not null,     -- moves on with last_seen_at, to an end that does not move
  ip text not null,
  user_agent text
);
create index sessions_user on sessions (user_id);
create index sessions_age on sessions (expires_at);

-- The newest link of an account is its only one.
create table sign_in_links (
  user_id uuid primary key references users on delete cascade,
  hash bytea not null unique,          -- of the link's code
  expires_at timestamptz not null
);

-- A row for each address, account or browser that somebody failed to sign in from: the time up to which its allowance
-- is used up. An attempt moves it on by a step; it may be ahead of now by so many steps as a burst has.
create table sign_in_allowances (
  bucket bytea primary key,            -- SHA-256: e-mail addresses that are typed here belong to nobody, or to somebody
  used_until timestamptz not null
);
create index sign_in_allowances_age on sign_in_allowances (used_until);

do $$
declare
  t text;
begin
  foreach t in array array['passwords', 'sessions', 'sign_in_links', 'sign_in_allowances'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy system on %I to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %I to corkboard_system', t);
  end loop;
end $$;

create policy app_select on sessions for select to corkboard_app using (user_id = current_user_id());
grant select (id, user_id, created_at, last_seen_at, expires_at, ip, user_agent) on sessions to corkboard_app;
