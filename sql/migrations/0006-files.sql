-- Files, uploads, what of the storage is used, and which files cards refer to.

-- A file that was uploaded. Its read rights are those of this row, never of the cards that name it. A card that moves to
-- another workspace takes its file along: that workspace has a row of its own for it.
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
  created_at timestamptz not null,     -- by stamp()
  -- Since when nothing refers to the file; null while something does, or nobody has looked.
  unreferenced_since timestamptz,
  -- The sweeper has decided: for everybody else the file is gone. It looks once more before it removes the bytes.
  condemned_at timestamptz,
  primary key (image_key, workspace_id),
  foreign key (board_id, workspace_id) references boards (id, workspace_id) on delete set null (board_id)
);
create index images_workspace on images (workspace_id, created_at, image_key);
create index images_board on images (board_id, created_at, image_key) where board_id is not null;
create index images_unreferenced on images (unreferenced_since) where unreferenced_since is not null;
alter table images enable row level security, force row level security;
create policy system on images to corkboard_system using (true) with check (true);
grant select, insert, update, delete on images to corkboard_system;
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
alter table uploads enable row level security, force row level security;
create policy system on uploads to corkboard_system using (true) with check (true);
grant select, insert, update, delete on uploads to corkboard_system;
create policy app_select on uploads for select to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())) or board_id in (select writable_shared_boards(current_user_id())));
grant select on uploads to corkboard_app;
create trigger uploads_usage_insert after insert on uploads
  referencing new table as new_rows for each statement execute function uploads_usage();
create trigger uploads_usage_update after update on uploads
  referencing old table as old_rows new table as new_rows for each statement execute function uploads_usage();
create trigger uploads_usage_delete after delete on uploads
  referencing old table as old_rows for each statement execute function uploads_usage();

-- Bytes by workspace, kept by triggers; an account's use is that of the workspaces it owns now.
create table storage_usage (
  workspace_id uuid primary key references workspaces on delete cascade,
  stored bigint not null default 0,
  reserved bigint not null default 0   -- for uploads under way
);
alter table storage_usage enable row level security, force row level security;
create policy system on storage_usage to corkboard_system using (true) with check (true);
grant select, insert, update, delete on storage_usage to corkboard_system;

-- Which files the cards of a board name, anywhere in them, as of the log position in file_scans. `until` is set for what
-- only a removed card names: so long it can be restored.
create table file_references (
  board_id uuid not null references board_documents on delete cascade,
  image_key text collate "C" not null,
  until timestamptz,
  primary key (board_id, image_key)
);
create index file_references_key on file_references (image_key);
alter table file_references enable row level security, force row level security;
create policy system on file_references to corkboard_system using (true) with check (true);
grant select, insert, update, delete on file_references to corkboard_system;

create table file_scans (
  board_id uuid primary key references board_documents on delete cascade,
  position bigint not null
);
alter table file_scans enable row level security, force row level security;
create policy system on file_scans to corkboard_system using (true) with check (true);
grant select, insert, update, delete on file_scans to corkboard_system;
