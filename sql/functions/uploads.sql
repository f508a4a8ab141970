-- Uploads, and the storage that an account uses.
--
-- Locks, in this order: the owner's row in users, a row of uploads, a row of storage_usage.

create or replace function uploads_usage() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  if tg_op <> 'INSERT' then
    update storage_usage u set reserved = u.reserved - o.bytes
    from (select workspace_id, sum(bytes) as bytes from old_rows where state <> 'stored' group by workspace_id) o
    where u.workspace_id = o.workspace_id;
  end if;
  if tg_op <> 'DELETE' then
    insert into storage_usage as u (workspace_id, reserved)
    select workspace_id, sum(bytes) from new_rows where state <> 'stored' group by workspace_id
    on conflict (workspace_id) do update set reserved = u.reserved + excluded.reserved;
  end if;
  return null;
end $$;

-- Bytes that an account uses: stored files, and reservations of uploads in progress.
create or replace function owner_storage(owner uuid) returns bigint
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select coalesce(sum(u.stored + u.reserved), 0)::bigint
  from workspaces w
  join storage_usage u on u.workspace_id = w.id
  where w.owner_id = owner
$$;

create or replace function my_storage() returns bigint
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select owner_storage(current_user_id())
$$;

-- Null when the caller may write on a board; otherwise the reason: missing, forbidden or trash.
create or replace function board_write_fault(board uuid) returns text
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select case
    when b.access is null then 'missing'
    when b.access <> 'write' then 'forbidden'
    when b.trashed then 'trash'
  end
  from (values (true)) as always
  left join lateral (
    select board_access(current_user_id(), id, workspace_id) as access, deleted_at is not null as trashed
    from boards
    where id = board
  ) b on true
$$;

-- Reserves the bytes of an upload. The owner's row is locked meanwhile, so that the quota is never exceeded. `fault`:
-- missing, forbidden, trash, plan (multipart uploads need the tier pro) or full.
create or replace function begin_upload(
  board uuid, key text, type text, size bigint, size_of_part bigint,
  free_bytes bigint, pro_bytes bigint, expiry timestamptz
) returns table (fault text, used bigint, quota bigint)
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  owner users;
  workspace uuid;
begin
  fault := board_write_fault(board);
  if fault is null then
    select w.id into workspace from boards b join workspaces w on w.id = b.workspace_id where b.id = board;
    select u.* into owner from users u where u.id = (select w.owner_id from workspaces w where w.id = workspace) for no key update;
    if size_of_part is not null and owner.tier <> 'pro' then
      fault := 'plan';
    else
      -- A separate statement, which sees what was committed during the wait for the lock.
      used := owner_storage(owner.id);
      quota := case when owner.tier = 'pro' then pro_bytes else free_bytes end;
      if used + size > quota then
        fault := 'full';
      else
        used := used + size;
        insert into uploads (image_key, workspace_id, board_id, content_type, bytes, part_size, created_by, expires_at)
        values (key, workspace, board, type, size, size_of_part, current_user_id(), expiry);
      end if;
    end if;
  end if;
  return next;
end $$;

-- Makes the row of an uploaded file. A repeated call finds the row of the first. `fault`: missing, forbidden, trash, or
-- gone when the upload has ended.
create or replace function finish_upload(key text, type text, image_width integer, image_height integer, now timestamptz)
returns table (fault text, bytes bigint, width integer, height integer)
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  found_upload uploads;
begin
  select u.* into found_upload from uploads u where u.image_key = key for update;
  if found_upload.image_key is null or found_upload.state = 'ending' or (found_upload.state = 'open' and found_upload.expires_at <= now) then
    fault := 'gone';
  else
    fault := board_write_fault(found_upload.board_id);
  end if;
  if fault is not null then
    return next;
    return;
  end if;
  if found_upload.state = 'open' then
    insert into images (image_key, workspace_id, board_id, content_type, bytes, width, height, created_by)
    values (key, found_upload.workspace_id, found_upload.board_id, type, found_upload.bytes, image_width, image_height,
            current_user_id());
    if found_upload.part_size is null then
      delete from uploads u where u.image_key = key;
    else
      update uploads u set state = 'stored' where u.image_key = key;
    end if;
  end if;
  return query select null::text, i.bytes, i.width, i.height from images i
    where i.image_key = key and i.workspace_id = found_upload.workspace_id;
end $$;

-- Ends an upload, so that it can't be completed any more. Only writers of the board and the account that began the upload
-- may end it. Returns no row when it does not exist or is stored.
create or replace function end_upload(key text) returns table (upload_id text)
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  update uploads u
  set state = 'ending'
  where u.image_key = key and u.state <> 'stored'
    and (u.created_by = current_user_id() or board_access(current_user_id(), u.board_id, u.workspace_id) = 'write')
  returning u.upload_id
$$;

-- Stores the file store's id of a multipart upload.
create or replace function name_upload(key text, upload text) returns boolean
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  update uploads u set upload_id = upload
  where u.image_key = key and u.state = 'open' and u.upload_id is null and u.part_size is not null
    and u.created_by = current_user_id()
  returning true
$$;

-- Deletes an upload whose bytes are deleted, which frees its reservation.
create or replace function forget_upload(key text) returns void
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  delete from uploads u
  where u.image_key = key and u.state = 'ending'
    and (u.created_by = current_user_id() or board_access(current_user_id(), u.board_id, u.workspace_id) = 'write')
$$;

grant execute on function my_storage, board_write_fault, begin_upload, finish_upload, end_upload, name_upload,
  forget_upload to corkboard_app;
