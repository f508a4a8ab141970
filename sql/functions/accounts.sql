-- Personal workspaces, service accounts and personal tokens.

-- The caller's default workspace for new boards: the workspace of a session or of a service account, or a person's personal
-- workspace, which is made on demand.
create or replace function personal_workspace() returns uuid
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  found_id uuid;
begin
  if in_session() then
    return session_of(current_user_id()) ->> 'workspace';
  end if;
  select workspace_id into found_id from service_accounts where id = current_user_id();
  if found then
    return found_id;
  end if;
  if exists (select from guests where id = current_user_id()) then
    raise exception 'a guest has no workspace' using errcode = '42501';
  end if;
  insert into workspaces (name, owner_id, personal)
  select coalesce(u.display_name, 'Personal'), u.id, true from users u where u.id = current_user_id()
  on conflict (owner_id) where personal do nothing;
  select id into found_id from workspaces where owner_id = current_user_id() and personal;
  return found_id;
end $$;

-- The caller's access to a service account: 'write', 'read' (may only know that it exists) or null.
create or replace function service_account_access(account uuid) returns text
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select case
    when s.workspace_id in (select owned_workspaces(current_user_id())) then 'write'
    when s.workspace_id in (select readable_workspaces(current_user_id())) then 'read'
  end
  from service_accounts s
  where s.id = account
$$;

create or replace function create_service_account(account uuid, workspace uuid, account_name text, requests_per_hour integer) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if workspace not in (select owned_workspaces(current_user_id())) then
    raise exception 'only the owner of the workspace may manage its service accounts' using errcode = '42501';
  end if;
  -- No mail can reach this address, because the domain `invalid` is reserved (RFC 2606).
  insert into users (id, email, display_name) values (account, account || '@service-accounts.invalid', account_name);
  insert into service_accounts (id, workspace_id, name, rate_limit) values (account, workspace, account_name, requests_per_hour);
  insert into workspace_members (workspace_id, user_id, role) values (workspace, account, 'editor');
end $$;

-- Null when the account is retired. Waits for a retirement in progress, so that no token is made after it.
create or replace function mint_service_token(
  account uuid, token_name text, token_prefix text, token_hash bytea, token_scopes text[], requests_per_hour integer, days integer
) returns uuid
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  made uuid;
  own_limit integer;
begin
  if service_account_access(account) is distinct from 'write' then
    raise exception 'only the owner of the workspace may manage its service accounts' using errcode = '42501';
  end if;
  select s.rate_limit into own_limit from service_accounts s where s.id = account and s.retired_at is null for update;
  if not found then
    return null;
  end if;
  insert into tokens (user_id, name, prefix, hash, scopes, rate_limit, expires_at)
  values (
    account, token_name, token_prefix, token_hash, token_scopes, coalesce(requests_per_hour, own_limit),
    date_trunc('milliseconds', clock_timestamp()) + days * interval '1 day'
  )
  returning id into made;
  return made;
end $$;

-- Ends the account's tokens and its membership, which closes its sockets.
create or replace function retire_service_account(account uuid) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if service_account_access(account) is distinct from 'write' then
    raise exception 'only the owner of the workspace may manage its service accounts' using errcode = '42501';
  end if;
  update service_accounts set retired_at = date_trunc('milliseconds', clock_timestamp()) where id = account and retired_at is null;
  update tokens set revoked_at = date_trunc('milliseconds', clock_timestamp()) where user_id = account and revoked_at is null;
  delete from workspace_members where user_id = account;
end $$;

-- False when the account has no such token.
create or replace function revoke_service_token(account uuid, token uuid) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if service_account_access(account) is distinct from 'write' then
    raise exception 'only the owner of the workspace may manage its service accounts' using errcode = '42501';
  end if;
  update tokens
  set revoked_at = coalesce(revoked_at, date_trunc('milliseconds', clock_timestamp()))
  where id = token and user_id = account;
  return found;
end $$;

-- False when a token with this id exists: a form that is sent twice makes one token.
create or replace function create_personal_token(
  token uuid, token_name text, token_prefix text, token_hash bytea, token_scopes text[], days integer
) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if current_user_id() is null or exists (select from service_accounts where id = current_user_id()) then
    raise exception 'only a person may make a personal token' using errcode = '42501';
  end if;
  insert into tokens (id, user_id, name, prefix, hash, scopes, expires_at)
  values (
    token, current_user_id(), token_name, token_prefix, token_hash, token_scopes,
    date_trunc('milliseconds', clock_timestamp()) + days * interval '1 day'
  )
  on conflict (id) do nothing;
  return found;
end $$;

-- False when the caller has no such token, or it is already revoked.
create or replace function revoke_personal_token(token uuid) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  update tokens
  set revoked_at = date_trunc('milliseconds', clock_timestamp())
  where id = token and user_id = current_user_id() and revoked_at is null;
  return found;
end $$;

grant execute on function personal_workspace, service_account_access, create_service_account, mint_service_token,
  retire_service_account, revoke_service_token, create_personal_token, revoke_personal_token to corkboard_app;
