-- Named versions of boards, and cards whose past was expunged. functions/versions.sql writes versions.
-- Works with: 0015

-- Each has a file with the whole document, so it does not depend on segments, whose retention ends.
create table board_versions (
  id uuid primary key default gen_random_uuid(),
  board_id uuid not null,
  workspace_id uuid not null,
  name text not null,
  position bigint not null,            -- of the board's log
  at timestamptz not null,             -- the moment that was named
  changed_at timestamptz,              -- when the board had become like this; null when unknown
  key text collate "C" not null unique,
  bytes bigint not null,               -- of the file
  created_by uuid not null,            -- without a foreign key: the id stays when the account is erased
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
create index board_versions_board on board_versions (board_id, at, id);
create policy app_select on board_versions for select to corkboard_app using (
  workspace_id in (select readable_workspaces(current_user_id()))
  or board_id in (
    select s.board_id from board_shares s
    where s.user_id = current_user_id() and s.board_id = board_versions.board_id and s.history_since <= at
  )
);
create policy app_update on board_versions for update to corkboard_app using (
  board_access(current_user_id(), board_id, workspace_id) = 'write'
);
create policy app_delete on board_versions for delete to corkboard_app using (
  board_access(current_user_id(), board_id, workspace_id) = 'write'
);
grant select (id, board_id, workspace_id, name, position, at, changed_at, bytes, created_by, created_at) on board_versions to corkboard_app;
grant update (name), delete on board_versions to corkboard_app;
create trigger board_versions_size_insert after insert on board_versions
  referencing new table as new_rows for each statement execute function board_history_size();
create trigger board_versions_size_update after update on board_versions
  referencing old table as old_rows new table as new_rows for each statement execute function board_history_size();
create trigger board_versions_size_delete after delete on board_versions
  referencing old table as old_rows for each statement execute function board_history_size();

-- Files that the cards of a version name.
create table version_files (
  version_id uuid not null references board_versions on delete cascade,
  board_id uuid not null,
  image_key text collate "C" not null,
  primary key (version_id, image_key)
);
create index version_files_key on version_files (image_key);

do $$
declare
  t regclass;
begin
  foreach t in array array['board_versions', 'version_files']::regclass[] loop
    execute format('alter table %s enable row level security, force row level security', t);
    execute format('create policy system on %s to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %s to corkboard_system', t);
  end loop;
end $$;

-- The past of a card was removed from the segments up to this one. The document after this segment is not what they
-- replay to, so the next segment has a base.
alter table board_history add column expunged boolean not null default false;
