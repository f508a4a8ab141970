-- Accounts, workspaces and sign-in.
--
-- The end of 0009-operations.sql forces row-level security on every table. A table of a later file has to do so itself.

create table users (
  id uuid primary key default gen_random_uuid(),
  email text not null,
  display_name text,
  tier text not null default 'free' check (tier in ('free', 'pro')),
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
create unique index users_email on users (lower(email));
create policy app_select on users for select to corkboard_app using (id = current_user_id());
grant select on users to corkboard_app;

create table workspaces (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  owner_id uuid not null references users, -- the one owner, whose plan applies
  personal boolean not null default false,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
create unique index workspaces_personal on workspaces (owner_id) where personal;
create index workspaces_owner on workspaces (owner_id);
create policy app_select on workspaces for select to corkboard_app
  using (id in (select readable_workspaces(current_user_id())));
create policy app_update on workspaces for update to corkboard_app
  using (owner_id = current_user_id()) with check (owner_id = current_user_id());
grant select on workspaces to corkboard_app;

-- Members besides the owner, who has no row here.
create table workspace_members (
  workspace_id uuid not null references workspaces on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('editor', 'viewer')),
  primary key (user_id, workspace_id)
);
create index workspace_members_workspace on workspace_members (workspace_id);
create policy app_select on workspace_members for select to corkboard_app
  using (user_id = current_user_id() or workspace_id in (select owned_workspaces(current_user_id())));
grant select on workspace_members to corkboard_app;

-- Service accounts: users of one workspace that nobody signs in as. Each is an editor by its membership, so the access
-- predicates need no case for it. The workspace's owner manages it, only by the functions of functions/accounts.sql.
create table service_accounts (
  id uuid primary key references users on delete cascade, -- the account that it acts as
  workspace_id uuid not null references workspaces on delete cascade,
  name text not null check (char_length(name) between 1 and 200),
  rate_limit integer check (rate_limit between 1 and 100000), -- requests per hour for tokens without a limit of their own
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  retired_at timestamptz
);
create index service_accounts_workspace on service_accounts (workspace_id, created_at, id);
create policy app_select on service_accounts for select to corkboard_app
  using (workspace_id in (select owned_workspaces(current_user_id())));
grant select on service_accounts to corkboard_app;

-- Sign-in: passwords, sessions, one-time links, and limits on guessing. A copy of these tables lets nobody in: secrets of
-- 256 random bits are stored as SHA-256, passwords as argon2id.

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
  last_seen_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()), -- updated at most once a minute
  expires_at timestamptz not null,     -- grows with last_seen_at, up to a fixed limit after created_at
  ip text not null,
  user_agent text
);
create index sessions_user on sessions (user_id);
create index sessions_age on sessions (expires_at);
create policy app_select on sessions for select to corkboard_app using (user_id = current_user_id());
grant select (id, user_id, created_at, last_seen_at, expires_at, ip, user_agent) on sessions to corkboard_app;
create trigger sessions_ended after delete on sessions for each row execute function notify_revocation();

-- An account has one link: a new one replaces it.
create table sign_in_links (
  user_id uuid primary key references users on delete cascade,
  hash bytea not null unique,          -- of the link's code
  expires_at timestamptz not null
);

-- One row for each address, account or browser with failed sign-ins: the time up to which its allowance is used. An
-- attempt adds an interval to it. It may be ahead of now by as many intervals as a burst has attempts.
create table sign_in_allowances (
  bucket bytea primary key,            -- SHA-256, because names of buckets contain typed e-mail addresses
  used_until timestamptz not null
);
create index sign_in_allowances_age on sign_in_allowances (used_until);
