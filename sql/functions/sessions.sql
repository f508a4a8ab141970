-- Sessions for the users of a product that is built on this service. The claims of a session are JSON; SessionClaims in
-- sql/acting-session.ts describes them. A transaction that acts in a session has them in corkboard.session. A session may do
-- what its claims allow and its minter may do at this moment.

create or replace function in_session() returns boolean
language sql stable set search_path = corkboard, pg_temp as $$
  select coalesce(current_setting('corkboard.session', true), '') <> ''
$$;

-- The claims of the session in which this transaction acts as `account`, or null.
create or replace function session_of(account uuid) returns jsonb
language plpgsql stable set search_path = corkboard, pg_temp as $$
declare
  claims jsonb := nullif(current_setting('corkboard.session', true), '');
begin
  return case when (claims ->> 'account')::uuid = account and (claims ->> 'minter')::uuid <> account then claims end;
end $$;

-- Adds a session's workspace to readable_workspaces and writable_workspaces, when it opens the whole workspace. plpgsql,
-- because it returns at once without a session.
create or replace function session_workspaces(account uuid, writing boolean) returns setof uuid
language plpgsql stable rows 1 set search_path = corkboard, pg_temp as $$
declare
  claims jsonb := session_of(account);
begin
  if claims is null or claims ->> 'boards' is not null then
    return;
  end if;
  return query
    select w.id from workspaces w
    where w.id = (claims ->> 'workspace')::uuid and session_reaches(claims, w.id, writing);
end $$;

-- Adds a session's boards to readable_shared_boards and writable_shared_boards.
create or replace function session_boards(account uuid, writing boolean) returns setof uuid
language plpgsql stable rows 10 set search_path = corkboard, pg_temp as $$
declare
  claims jsonb := session_of(account);
begin
  if claims is null or claims ->> 'boards' is null or not session_reaches(claims, (claims ->> 'workspace')::uuid, writing) then
    return;
  end if;
  return query
    select b.id
    from jsonb_array_elements_text(claims -> 'boards') as c(id)
    join boards b on b.id = c.id::uuid
    where b.workspace_id = (claims ->> 'workspace')::uuid;
end $$;

-- Whether a session, and its minter at this moment, may read or write in a workspace, on the boards that it opens.
create or replace function session_reaches(claims jsonb, workspace uuid, writing boolean) returns boolean
language sql stable set search_path = corkboard, pg_temp as $$
  select workspace = (claims ->> 'workspace')::uuid and case
    when writing then claims ->> 'role' = 'editor' and workspace in (select writable_workspaces((claims ->> 'minter')::uuid))
    else workspace in (select readable_workspaces((claims ->> 'minter')::uuid))
  end
$$;

-- Like board_access, for functions that act in many sessions in one statement.
create or replace function session_access(claims jsonb, board uuid, workspace uuid) returns text
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select case
    when claims ->> 'boards' is not null and not (claims -> 'boards') ? board::text then null
    when session_reaches(claims, workspace, true) then 'write'
    when session_reaches(claims, workspace, false) then 'read'
  end
$$;

-- False when a session has expired or was ended, or when its user's, its minter's or the owner's account or its minter's
-- token has ended. plpgsql, because it keeps its plan, and open sockets ask often.
create or replace function session_is_live(claims jsonb) returns boolean
language plpgsql stable security definer set search_path = corkboard, pg_temp as $$
begin
  return (claims ->> 'expires')::timestamptz > now() and exists (
    select from tokens t
    join users m on m.id = t.user_id
    join session_users s on s.id = (claims ->> 'account')::uuid
    join users u on u.id = s.id
    join workspaces w on w.id = s.workspace_id
    join users o on o.id = w.owner_id
    where t.id = (claims ->> 'token')::uuid and t.user_id = (claims ->> 'minter')::uuid and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > now())
      and w.id = (claims ->> 'workspace')::uuid
      and m.disabled_at is null and u.disabled_at is null and o.disabled_at is null
      and not exists (
        select from ended_sessions e
        where e.workspace_id = w.id and e.ended_at >= (claims ->> 'issued')::timestamptz
          and (e.external_id is null or e.external_id = s.external_id)
          and (e.board_id is null or claims ->> 'boards' is null or (claims -> 'boards') ? e.board_id::text)
      )
  );
end $$;

-- The workspace in which the caller mints sessions: a service account in its own, an owner in the one that is given. Null
-- when the caller may not.
create or replace function minting_workspace(workspace uuid) returns uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select w.id
  from workspaces w
  where not in_session() and w.id = coalesce(workspace, (select s.workspace_id from service_accounts s where s.id = current_user_id()))
    and (
      w.owner_id = current_user_id()
      or w.id = (select s.workspace_id from service_accounts s where s.id = current_user_id() and s.retired_at is null)
        and w.id in (select writable_workspaces(current_user_id()))
    )
$$;

-- Issues a session to a user of a workspace, who is made by the first one. `fault`: forbidden; or full, when the owner has
-- `live` users with a session.
-- Locks: that of the owner's sessions, then the rows of the user.
create or replace function mint_session(
  workspace uuid, p_external_id text, user_name text, user_color text, user_avatar text, seconds integer, minter_token uuid,
  history_of uuid[], free_live integer, pro_live integer
) returns table (fault text, live integer, account uuid, issued text, expires text)
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  owner users;
  is_live boolean;
  began timestamptz;
  ends timestamptz;
  utc constant text := 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';
begin
  if minting_workspace(workspace) is null then
    fault := 'forbidden';
    return next;
    return;
  end if;
  select u.* into owner from users u join workspaces w on w.owner_id = u.id where w.id = workspace;
  perform pg_advisory_xact_lock(1129270354, hashtext(owner.id::text));
  began := clock_timestamp();
  select s.id, s.live_until > began into account, is_live
  from session_users s where s.workspace_id = workspace and s.external_id = p_external_id;
  if is_live is not true then
    select count(*) into live
    from workspaces w join session_users s on s.workspace_id = w.id
    where w.owner_id = owner.id and s.live_until > began;
    if live >= (case owner.tier when 'pro' then pro_live else free_live end) then
      fault := 'full';
      return next;
      return;
    end if;
  end if;
  select least(date_trunc('milliseconds', began) + seconds * interval '1 second', t.expires_at) into ends
  from tokens t where t.id = minter_token and t.user_id = current_user_id();
  if account is null then
    account := gen_random_uuid();
    -- No mail can reach this address, because the domain `invalid` is reserved (RFC 2606).
    insert into users (id, email, display_name) values (account, account || '@sessions.invalid', user_name);
    insert into session_users (id, workspace_id, external_id, color, avatar_url, minted_by, live_until)
    values (account, workspace, p_external_id, user_color, user_avatar, current_user_id(), ends);
  else
    update users u set display_name = user_name where u.id = account and u.display_name is distinct from user_name;
    update session_users s
    set color = user_color, avatar_url = user_avatar, minted_by = current_user_id(), live_until = greatest(s.live_until, ends)
    where s.id = account;
  end if;
  insert into session_history (user_id, place_id, since)
  select account, place, began from unnest(history_of) as place
  on conflict do nothing;
  issued := to_char(began at time zone 'UTC', utc);
  expires := to_char(ends at time zone 'UTC', utc);
  return next;
end $$;

-- Ends the sessions of a user, those that open a board, or those to which both applies, that were issued before now. Returns
-- false when the caller may not.
create or replace function end_sessions(workspace uuid, p_external_id text, board uuid) returns boolean
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  if minting_workspace(workspace) is null then
    return false;
  end if;
  delete from session_history h
  using session_users s
  where s.id = h.user_id and s.workspace_id = workspace
    and (p_external_id is null or s.external_id = p_external_id)
    and (board is null or h.place_id in (board, workspace));
  if board is null then
    update session_users s set live_until = clock_timestamp() where s.workspace_id = workspace and s.external_id = p_external_id;
  end if;
  insert into ended_sessions as e (workspace_id, external_id, board_id, ended_at)
  values (workspace, p_external_id, board, clock_timestamp())
  on conflict (workspace_id, external_id, board_id) do update set ended_at = greatest(e.ended_at, excluded.ended_at);
  return true;
end $$;

-- When sessions of a user were last ended, in microseconds. 0: not within the life of a session. A session of one board ends
-- with those of that board. A session of several boards ends whole with any of them; board is null, and any board counts.
create or replace function sessions_ended(account uuid, board uuid) returns bigint
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select coalesce(max(extract(epoch from e.ended_at) * 1000000), 0)::bigint
  from session_users s
  join ended_sessions e on e.workspace_id = s.workspace_id
  where s.id = account and (e.external_id = s.external_id or (e.external_id is null and (board is null or e.board_id = board)))
$$;

-- An account has at most 100 live tokens, besides those of connected applications.
create or replace function bound_live_tokens() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  -- Of two that make the hundredth token, one waits. An advisory lock, because a row lock counts as a write.
  perform pg_advisory_xact_lock(1129270355, hashtext(new.user_id::text));
  if (
    select count(*) from tokens t
    where t.user_id = new.user_id and t.grant_id is null and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
  ) >= 100 then
    raise exception 'This account has 100 live tokens, which is the most. Revoke one of them first.' using errcode = 'CB402';
  end if;
  return new;
end $$;

grant execute on function in_session, minting_workspace, mint_session, end_sessions, sessions_ended to corkboard_app;
