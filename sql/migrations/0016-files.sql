-- Uploads, what of the storage is used, and which files cards refer to.
--
-- Locks, in this order: the owner's row in users, a row of uploads, a row of storage_usage.
grant create on schema corkboard to corkboard_system; -- for the ownership of functions; taken back below

-- A card that moves to another workspace takes its file along: that workspace has a row of its own for it.
alter table images drop constraint images_pkey;
alter table images add primary key (image_key, workspace_id);
-- Since when nothing refers to the file; null while something does, or nobody has looked.
alter table images add column unreferenced_since timestamptz;
-- The sweeper has decided: for everybody else the file is gone. It looks once more before it removes the bytes.
alter table images add column condemned_at timestamptz;
create index images_unreferenced on images (unreferenced_since) where unreferenced_since is not null;

-- What is under way. The row holds the place for its bytes in the quota, so that it is never exceeded, and says that
-- bytes without a row in images may be there.
create table uploads (
  image_key text collate "C" primary key,
  upload_id text,                      -- of an upload in parts: the store's own id
  workspace_id uuid not null references workspaces on delete cascade,
  board_id uuid not null,
  content_type text not null,
  bytes bigint not null check (bytes >= 0),
  part_size bigint,                    -- null: it is sent in one request
  -- stored: the row in images is there, and a repeated completion is answered from it
  -- ending: nobody may complete it any more; its bytes are being thrown away
  state text not null default 'open' check (state in ('open', 'stored', 'ending')),
  created_by uuid references users on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index uploads_expiry on uploads (expires_at);
create index uploads_workspace on uploads (workspace_id);

-- Bytes by workspace, kept by triggers; an account's use is that of the workspaces it owns now.
create table storage_usage (
  workspace_id uuid primary key references workspaces on delete cascade,
  stored bigint not null default 0,
  reserved bigint not null default 0
);

-- Which files the cards of a board name, anywhere in them, as of the log position in file_scans. `until` is set for what
-- only a removed card names: so long it can be restored.
create table file_references (
  board_id uuid not null references board_documents on delete cascade,
  image_key text collate "C" not null,
  until timestamptz,
  primary key (board_id, image_key)
);
create index file_references_key on file_references (image_key);
create table file_scans (
  board_id uuid primary key references board_documents on delete cascade,
  position bigint not null
);

create function images_usage() returns trigger
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
create trigger images_usage_insert after insert on images
  referencing new table as new_rows for each statement execute function images_usage();
create trigger images_usage_delete after delete on images
  referencing old table as old_rows for each statement execute function images_usage();

create function uploads_usage() returns trigger
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
create trigger uploads_usage_insert after insert on uploads
  referencing new table as new_rows for each statement execute function uploads_usage();
create trigger uploads_usage_update after update on uploads
  referencing old table as old_rows new table as new_rows for each statement execute function uploads_usage();
create trigger uploads_usage_delete after delete on uploads
  referencing old table as old_rows for each statement execute function uploads_usage();

insert into storage_usage (workspace_id, stored)
select workspace_id, sum(coalesce(bytes, 0)) from images group by workspace_id;

-- What an account uses: what is stored, and what is promised to uploads under way.
create function owner_storage(owner uuid) returns bigint
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select coalesce(sum(u.stored + u.reserved), 0)::bigint
  from workspaces w
  join storage_usage u on u.workspace_id = w.id
  where w.owner_id = owner
$$;

create function my_storage() returns bigint
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select owner_storage(current_user_id())
$$;

-- Whether the caller may write on a board: null, or why not.
create function board_write_fault(board uuid) returns text
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

-- Holds a place for the bytes of an upload, exactly: the owner's row is locked while it is decided. `fault`: missing,
-- forbidden, trash, plan (uploads in parts are for the tier pro) or full.
create function begin_upload(
  board uuid, key text, type text, size bigint, size_of_part bigint,
  free_bytes bigint, pro_bytes bigint, expiry timestamptz
) returns table (fault text, used bigint, quota bigint)
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  problem text := board_write_fault(board);
  owner users;
  workspace uuid;
  taken bigint;
  allowed bigint;
begin
  if problem is not null then
    return query select problem, null::bigint, null::bigint;
    return;
  end if;
  select w.id into workspace from boards b join workspaces w on w.id = b.workspace_id where b.id = board;
  select u.* into owner from users u where u.id = (select w.owner_id from workspaces w where w.id = workspace) for no key update;
  if size_of_part is not null and owner.tier <> 'pro' then
    return query select 'plan', null::bigint, null::bigint;
    return;
  end if;
  -- A statement of its own: it sees what was committed while the lock was waited for.
  taken := owner_storage(owner.id);
  allowed := case when owner.tier = 'pro' then pro_bytes else free_bytes end;
  if taken + size > allowed then
    return query select 'full', taken, allowed;
    return;
  end if;
  insert into uploads (image_key, workspace_id, board_id, content_type, bytes, part_size, created_by, expires_at)
  values (key, workspace, board, type, size, size_of_part, current_user_id(), expiry);
  return query select null::text, taken + size, allowed;
end $$;

-- The bytes are there: the file gets its row. `fault`: missing, forbidden, trash, or gone when the upload has ended.
-- A repeated call finds the row of the first.
create function finish_upload(key text, type text, image_width integer, image_height integer, now timestamptz)
returns table (fault text, bytes bigint, width integer, height integer)
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  found_upload uploads;
  problem text;
begin
  select u.* into found_upload from uploads u where u.image_key = key for update;
  if found_upload.image_key is null or found_upload.state = 'ending' or (found_upload.state = 'open' and found_upload.expires_at <= now) then
    return query select 'gone', null::bigint, null::integer, null::integer;
    return;
  end if;
  problem := board_write_fault(found_upload.board_id);
  if problem is not null then
    return query select problem, null::bigint, null::integer, null::integer;
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

-- Nobody can complete the upload from now on. No row when there is none, or it is stored. For writers of its board, and
-- for who began it and has lost that right.
create function end_upload(key text) returns table (upload_id text)
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  update uploads u
  set state = 'ending'
  where u.image_key = key and u.state <> 'stored'
    and (u.created_by = current_user_id() or board_access(current_user_id(), u.board_id, u.workspace_id) = 'write')
  returning u.upload_id
$$;

-- The store's id of an upload in parts, once the store has given it.
create function name_upload(key text, upload text) returns boolean
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  update uploads u set upload_id = upload
  where u.image_key = key and u.state = 'open' and u.upload_id is null and u.part_size is not null
    and u.created_by = current_user_id()
  returning true
$$;

-- Its bytes are gone: the place is free again.
create function forget_upload(key text) returns void
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  delete from uploads u
  where u.image_key = key and u.state = 'ending'
    and (u.created_by = current_user_id() or board_access(current_user_id(), u.board_id, u.workspace_id) = 'write')
$$;

-- Which of these keys are files that the caller cannot read. One that is no file at all is not among them.
create function foreign_files(keys text[]) returns setof text
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select k.key
  from unnest(keys) as k(key)
  where exists (select from images i where i.image_key = k.key and i.condemned_at is null)
    and not exists (
      select from images i
      where i.image_key = k.key and i.condemned_at is null
        and (i.workspace_id in (select readable_workspaces(current_user_id()))
          or i.board_id in (select readable_shared_boards(current_user_id())))
    )
$$;

do $$
declare
  t text;
  f text;
begin
  foreach t in array array['uploads', 'storage_usage', 'file_references', 'file_scans'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy system on %I to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %I to corkboard_system', t);
  end loop;
  foreach f in array array['images_usage()', 'uploads_usage()', 'owner_storage(uuid)', 'my_storage()', 'board_write_fault(uuid)',
                           'begin_upload(uuid, text, text, bigint, bigint, bigint, bigint, timestamptz)', 'name_upload(text, text)',
                           'finish_upload(text, text, integer, integer, timestamptz)', 'end_upload(text)', 'forget_upload(text)',
                           'foreign_files(text[])'] loop
    execute format('alter function %s owner to corkboard_system', f);
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to corkboard_app, corkboard_system', f);
  end loop;
end $$;
revoke execute on function owner_storage(uuid) from corkboard_app; -- it looks for any account that is named
revoke create on schema corkboard from corkboard_system;

create policy condemned on images as restrictive for select to corkboard_app using (condemned_at is null);

create policy app_select on uploads for select to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())) or board_id in (select writable_shared_boards(current_user_id())));
grant select on uploads to corkboard_app;
