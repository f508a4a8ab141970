-- Files, uploads, used storage, and references of cards to files.

-- Uploaded files. A file may be read by those who may read this row, whichever cards name it. When a card moves to another
-- workspace, that workspace gets a row of its own for the file.
create table images (
  image_key text collate "C" not null,
  workspace_id uuid not null references workspaces,
  board_id uuid,
  content_type text not null,
  bytes bigint check (bytes >= 0),
  width integer,
  height integer,
  file_name text,
  created_by uuid default current_user_id() references users on delete set null,
  created_at timestamptz not null,     -- set by stamp()
  -- Time since which nothing refers to the file. Null while something does, or before the first check.
  unreferenced_since timestamptz,
  -- From this time the file is hidden from everybody but the reclaiming of files, which checks once more before it deletes
  -- the bytes.
  condemned_at timestamptz,
  primary key (image_key, workspace_id),
  foreign key (board_id, workspace_id) references boards (id, workspace_id) on delete set null (board_id)
);
create index images_workspace on images (workspace_id, created_at, image_key);
create index images_board on images (board_id, created_at, image_key) where board_id is not null;
create index images_unreferenced on images (unreferenced_since) where unreferenced_since is not null;
create policy app_select on images for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
create policy app_insert on images for insert to corkboard_app
  with check (
    created_by = current_user_id()
    and (workspace_id in (select writable_workspaces(current_user_id())) or board_id in (select writable_shared_boards(current_user_id())))
  );
create policy condemned on images as restrictive for select to corkboard_app using (condemned_at is null);
grant select on images to corkboard_app;
grant insert (image_key, workspace_id, board_id, content_type, bytes, width, height, file_name) on images to corkboard_app;
create trigger images_stamp before insert on images for each row execute function images_stamp();
create trigger images_events after insert on images
  referencing new table as new_rows for each statement execute function images_events();
create trigger images_usage_insert after insert on images
  referencing new table as new_rows for each statement execute function images_usage();
create trigger images_usage_delete after delete on images
  referencing old table as old_rows for each statement execute function images_usage();

-- Uploads in progress. A row reserves its bytes in the quota, so that the quota is never exceeded. It also tells that the
-- store may have bytes without a row in images.
create table uploads (
  image_key text collate "C" primary key,
  upload_id text,                      -- the store's id of a multipart upload
  workspace_id uuid not null references workspaces on delete cascade,
  board_id uuid not null,
  content_type text not null,
  bytes bigint not null check (bytes >= 0),
  part_size bigint,                    -- null: one request sends the whole file
  -- stored: the row in images exists, and answers a repeated completion
  -- ending: the upload can't be completed any more, and its bytes are being deleted
  state text not null default 'open' check (state in ('open', 'stored', 'ending')),
  created_by uuid references users on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index uploads_expiry on uploads (expires_at);
create index uploads_workspace on uploads (workspace_id);
create policy app_select on uploads for select to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())) or board_id in (select writable_shared_boards(current_user_id())));
grant select on uploads to corkboard_app;
create trigger uploads_usage_insert after insert on uploads
  referencing new table as new_rows for each statement execute function uploads_usage();
create trigger uploads_usage_update after update on uploads
  referencing old table as old_rows new table as new_rows for each statement execute function uploads_usage();
create trigger uploads_usage_delete after delete on uploads
  referencing old table as old_rows for each statement execute function uploads_usage();

-- Bytes by workspace, counted by triggers. An account uses the bytes of all workspaces that it owns.
create table storage_usage (
  workspace_id uuid primary key references workspaces on delete cascade,
  stored bigint not null default 0,
  reserved bigint not null default 0   -- for uploads in progress
);

-- Files that cards of a board name in any field, as of the log position in file_scans. `until` is set when only a removed
-- card names the file: the card can be restored until then.
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
