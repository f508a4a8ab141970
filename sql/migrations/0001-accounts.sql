-- Roles, accounts, workspaces and tokens.
--
-- Two roles without login do all the work, whatever role owns the tables:
--   corkboard_app     a request: sees what the policies give to the user in corkboard.user_id
--   corkboard_system  the document log, the workers, and the owner of the functions that must see more than
--                     one user: the access predicates and commit_batch. It has policies of its own, no bypass.
do $$
declare
  role_name text;
begin
  foreach role_name in array array['corkboard_app', 'corkboard_system'] loop
    begin
      if not exists (select from pg_roles where rolname = role_name) then
        execute format('create role %I nologin nosuperuser nobypassrls nocreatedb nocreaterole', role_name);
      end if;
    exception when duplicate_object or unique_violation then null; -- roles are shared by all databases of a server
    end;
    if not pg_has_role(current_user, role_name, 'member') or not (select rolsuper from pg_roles where rolname = current_user) then
      begin
        execute format('grant %I to %I', role_name, current_user);
      exception when unique_violation or sqlstate 'XX000' then null; -- granted at the same moment from another database
      end;
    end if;
  end loop;
end $$;

grant usage on schema corkboard to corkboard_app, corkboard_system;

create table users (
  id uuid primary key default gen_random_uuid(),
  email text not null,
  display_name text,
  tier text not null default 'free' check (tier in ('free', 'pro')),
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
create unique index users_email on users (lower(email));

create table workspaces (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  owner_id uuid not null references users, -- exactly one owner, who pays
  personal boolean not null default false,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
create unique index workspaces_personal on workspaces (owner_id) where personal;
create index workspaces_owner on workspaces (owner_id);

-- The owner is not a row here.
create table workspace_members (
  workspace_id uuid not null references workspaces on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('editor', 'viewer')),
  primary key (user_id, workspace_id)
);
create index workspace_members_workspace on workspace_members (workspace_id);

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
  revoked_at timestamptz
);
create index tokens_user on tokens (user_id);
