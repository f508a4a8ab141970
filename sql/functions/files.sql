-- Files that cards name, and the workspaces that have them. A file has a row in each of these workspaces, but its bytes are
-- stored once.

create or replace function images_stamp() returns trigger
language plpgsql set search_path = corkboard, pg_temp as $$
begin
  new.created_at := stamp();
  return new;
end $$;

create or replace function images_usage() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  if tg_op <> 'INSERT' then
    update storage_usage u set stored = u.stored - o.bytes
    from (select workspace_id, sum(coalesce(bytes, 0)) as bytes from old_rows group by workspace_id) o
    where u.workspace_id = o.workspace_id;
  end if;
  if tg_op <> 'DELETE' then
    insert into storage_usage as u (workspace_id, stored)
    select workspace_id, sum(coalesce(bytes, 0)) from new_rows group by workspace_id
    on conflict (workspace_id) do update set stored = u.stored + excluded.stored;
  end if;
  return null;
end $$;

-- Returns the files that a card on this board can't name as they are. `dead`: the file does not exist, or the caller can't
-- read it. `away`: the caller can read it, but the board's workspace doesn't have it.
create or replace function named_files(keys text[], board uuid) returns table (key text, standing text)
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select k.key, case when f.readable then 'away' else 'dead' end
  from unnest(keys) as k(key)
  cross join lateral (
    select
      bool_or(i.workspace_id in (select readable_workspaces(current_user_id()))
        or i.board_id in (select readable_shared_boards(current_user_id()))) as readable,
      bool_or(i.workspace_id = (select b.workspace_id from boards b where b.id = board)) as here
    from images i
    where i.image_key = k.key and i.condemned_at is null
  ) f
  where f.readable is not true or not f.here
$$;

-- Gives the board's workspace a row for each of these files that the account can read and the workspace doesn't have. Their
-- bytes count towards the owner's quota, like an upload.
--   ok       done, or nothing to do
--   busy     another transaction holds the owner's row
--   storage  refused; detail: [used, quota, bytes of these files]
-- Locks the owner's row without waiting, then the row of storage_usage.
create or replace function take_files(p_board uuid, p_account uuid, p_files json, out outcome text, out detail json)
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  place uuid;
  owner users;
  taken images[];
  size bigint;
  used bigint;
  quota bigint;
begin
  outcome := 'ok';
  select b.workspace_id into place from boards b where b.id = p_board;
  taken := array(
    select f
    from (select distinct v.key from json_array_elements_text(p_files -> 'keys') as v(key)) k
    cross join lateral (
      select i
      from images i
      where i.image_key = k.key and i.condemned_at is null
        and (i.workspace_id in (select readable_workspaces(p_account)) or i.board_id in (select readable_shared_boards(p_account)))
      limit 1
    ) as one(f)
    where not exists (
      select from images i where i.image_key = k.key and i.workspace_id = place and i.condemned_at is null
    )
  );
  if taken = '{}' then
    return;
  end if;
  select u.* into owner
  from users u
  where u.id = (select w.owner_id from workspaces w where w.id = place)
  for no key update skip locked;
  if not found then
    outcome := 'busy';
    return;
  end if;
  -- A condemned row of the workspace is already counted. It becomes valid again.
  select coalesce(sum(f.bytes), 0) into size
  from unnest(taken) as f
  where not exists (select from images i where i.image_key = f.image_key and i.workspace_id = place);
  used := owner_storage(owner.id);
  quota := case when owner.tier = 'pro' then (p_files ->> 'pro')::bigint else (p_files ->> 'free')::bigint end;
  if size > 0 and used + size > quota then
    outcome := 'storage';
    detail := json_build_array(used, quota, size);
    return;
  end if;
  perform set_config('corkboard.user_id', p_account::text, true); -- the author of the event
  insert into images (image_key, workspace_id, board_id, content_type, bytes, width, height, file_name, created_by)
  select f.image_key, place, p_board, f.content_type, f.bytes, f.width, f.height, f.file_name, p_account
  from unnest(taken) as f
  on conflict (image_key, workspace_id) do update set condemned_at = null, unreferenced_since = null;
  perform set_config('corkboard.user_id', '', true);
end $$;

-- The file of a signed URL, when the account for which it was signed may still read it. `agent_id`: the service account
-- that it is.
create or replace function signed_file(key text, account uuid)
returns table (
  image_key text, content_type text, bytes bigint, width integer, height integer, workspace_id uuid, board_id uuid,
  reader_name text, agent_id uuid
)
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select i.image_key, i.content_type, i.bytes, i.width, i.height, i.workspace_id, i.board_id, u.display_name, a.id
  from users u
  left join service_accounts a on a.id = u.id
  join images i on i.image_key = key and i.condemned_at is null
  where u.id = account and u.disabled_at is null
    and (
      i.workspace_id in (select readable_workspaces(account))
      or i.board_id in (select readable_shared_boards(account))
    )
  limit 1
$$;

-- The same for a URL that a session asked for. It works while the token of the minter does, and until sessions of the user,
-- or of its board, are ended after `ended`; see sessions_ended(). Later sessions of the user do not bring it back. `agent_id`: the service
-- account that minted the session.
create or replace function signed_session_file(key text, account uuid, minter_token uuid, ended bigint, board uuid)
returns table (
  image_key text, content_type text, bytes bigint, width integer, height integer, workspace_id uuid, board_id uuid,
  reader_name text, agent_id uuid
)
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select i.image_key, i.content_type, i.bytes, i.width, i.height, i.workspace_id, i.board_id, u.display_name, a.id
  from session_users s
  join users u on u.id = s.id and u.disabled_at is null
  join workspaces w on w.id = s.workspace_id
  join users o on o.id = w.owner_id and o.disabled_at is null
  join tokens t on t.id = minter_token and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
  join users m on m.id = t.user_id and m.disabled_at is null
  left join service_accounts a on a.id = m.id
  join images i on i.image_key = key and i.workspace_id = w.id and i.condemned_at is null
  where s.id = account and w.id in (select readable_workspaces(m.id)) and sessions_ended(account, board) <= ended
  limit 1
$$;

grant execute on function named_files to corkboard_app;
