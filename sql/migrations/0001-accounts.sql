-- Accounts, workspaces, and how people sign in.

create table users (
  id uuid primary key default gen_random_uuid(),
  email text not null,
  display_name text,
  tier text not null default 'free' check (tier in ('free', 'pro')),
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
create unique index users_email on users (lower(email));
alter table users enable row level security, force row level security;
create policy system on users to corkboard_system using (true) with check (true);
grant select, insert, update, delete on users to corkboard_system;
create policy app_select on users for select to corkboard_app using (id = current_user_id());
grant select on users to corkboard_app;

create table workspaces (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  owner_id uuid not null references users, -- exactly one owner, who pays
  personal boolean not null default false,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
create unique index workspaces_personal on workspaces (owner_id) where personal;
create index workspaces_owner on workspaces (owner_id);
alter table workspaces enable row level security, force row level security;
create policy system on workspaces to corkboard_system using (true) with check (true);
grant select, insert, update, delete on workspaces to corkboard_system;
create policy app_select on workspaces for select to corkboard_app
  using (id in (select readable_workspaces(current_user_id())));
create policy app_update on workspaces for update to corkboard_app
  using (owner_id = current_user_id()) with check (owner_id = current_user_id());
grant select on workspaces to corkboard_app;

-- The owner is not a row here.
create table workspace_members (
  workspace_id uuid not null references workspaces on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('editor', 'viewer')),
  primary key (user_id, workspace_id)
);
create index workspace_members_workspace on workspace_members (workspace_id);
alter table workspace_members enable row level security, force row level security;
create policy system on workspace_members to corkboard_system using (true) with check (true);
grant select, insert, update, delete on workspace_members to corkboard_system;
create policy app_select on workspace_members for select to corkboard_app
  using (user_id = current_user_id() or workspace_id in (select owned_workspaces(current_user_id())));
grant select on workspace_members to corkboard_app;

-- Service accounts: users of one workspace that nobody signs in as. Each is an editor by its membership, so that every
-- predicate knows it without a word; the workspace's owner manages it, by functions alone (functions/accounts.sql).
create table service_accounts (
  id uuid primary key references users on delete cascade, -- the account that it acts as
  workspace_id uuid not null references workspaces on delete cascade,
  name text not null check (char_length(name) between 1 and 200),
  rate_limit integer check (rate_limit between 1 and 100000), -- of tokens that are minted without one
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  retired_at timestamptz
);
create index service_accounts_workspace on service_accounts (workspace_id, created_at, id);
alter table service_accounts enable row level security, force row level security;
create policy system on service_accounts to corkboard_system using (true) with check (true);
grant select, insert, update, delete on service_accounts to corkboard_system;
create policy app_select on service_accounts for select to corkboard_app
  using (workspace_id in (select owned_workspaces(current_user_id())));
grant select on service_accounts to corkboard_app;

-- How people sign in: passwords, sessions, one-time links, and what bounds the guessing. A dump of these tables opens
-- nothing: secrets of 256 random bits are kept as their SHA-256, passwords as argon2id.

create table passwords (
  user_id uuid primary key references users on delete cascade,
  phc text not null,                   -- $argon2id$v=19$m=…,t=…,p=…$salt$hash
  changed_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
alter table passwords enable row level security, force row level security;
create policy system on passwords to corkboard_system using (true) with check (true);
grant select, insert, update, delete on passwords to corkboard_system;

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
alter table sessions enable row level security, force row level security;
create policy system on sessions to corkboard_system using (true) with check (true);
grant select, insert, update, delete on sessions to corkboard_system;
create policy app_select on sessions for select to corkboard_app using (user_id = current_user_id());
grant select (id, user_id, created_at, last_seen_at, expires_at, ip, user_agent) on sessions to corkboard_app;
create trigger sessions_ended after delete on sessions for each row execute function notify_revocation();

-- The newest link of an account is its only one.
create table sign_in_links (
  user_id uuid primary key references users on delete cascade,
  hash bytea not null unique,          -- of the link's code
  expires_at timestamptz not null
);
alter table sign_in_links enable row level security, force row level security;
create policy system on sign_in_links to corkboard_system using (true) with check (true);
grant select, insert, update, delete on sign_in_links to corkboard_system;

-- A row for each address, account or browser that somebody failed to sign in from: the time up to which its allowance
-- is used up. An attempt moves it on by a step; it may be ahead of now by so many steps as a burst has.
create table sign_in_allowances (
  bucket bytea primary key,            -- SHA-256: e-mail addresses that are typed here belong to nobody, or to somebody
  used_until timestamptz not null
);
create index sign_in_allowances_age on sign_in_allowances (used_until);
alter table sign_in_allowances enable row level security, force row level security;
create policy system on sign_in_allowances to corkboard_system using (true) with check (true);
grant select, insert, update, delete on sign_in_allowances to corkboard_system;
