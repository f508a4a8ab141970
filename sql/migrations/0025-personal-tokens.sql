-- Personal tokens as their owner makes and revokes them on the settings page: each for the caller's own account alone.
grant create on schema corkboard to corkboard_system; -- for the ownership of functions; taken back below

-- False when there is a token with this id already: a form that is sent again makes no second one.
create function create_personal_token(
  token uuid, token_name text, token_prefix text, token_hash bytea, token_scopes text[], days integer
) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if current_user_id() is null or exists (select from service_accounts where id = current_user_id()) then
    raise exception 'not a person' using errcode = '42501';
  end if;
  insert into tokens (id, user_id, name, prefix, hash, scopes, expires_at)
  values (
    token, current_user_id(), token_name, token_prefix, token_hash, token_scopes,
    date_trunc('milliseconds', clock_timestamp()) + days * interval '1 day'
  )
  on conflict (id) do nothing;
  return found;
end $$;

-- False when the caller has no such token, or it is revoked already.
create function revoke_personal_token(token uuid) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  update tokens
  set revoked_at = date_trunc('milliseconds', clock_timestamp())
  where id = token and user_id = current_user_id() and revoked_at is null;
  return found;
end $$;

do $$
declare
  f text;
begin
  foreach f in array array['create_personal_token(uuid, text, text, bytea, text[], integer)', 'revoke_personal_token(uuid)'] loop
    execute format('alter function %s owner to corkboard_system', f);
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to corkboard_app, corkboard_system', f);
  end loop;
end $$;
revoke create on schema corkboard from corkboard_system;
