-- Boards, shares of a board with an account, and identifiers of boards.

create table boards (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces,
  parent_board_id uuid,
  name text not null check (char_length(name) between 1 and 200),
  view text not null default 'canvas' check (view in ('canvas', 'list')),
  scheduled_date date,
  scheduled_end date,
  day_label text check (char_length(day_label) <= 200),
  sched_status text not null default 'draft' check (sched_status in ('draft', 'published', 'cancelled')),
  sched_version integer not null default 0,
  sched_published_at timestamptz,
  props jsonb,
  identifiers jsonb not null default '[]',
  deleted_at timestamptz,
  created_at timestamptz not null,     -- both times are set by stamp()
  updated_at timestamptz not null,
  unique (id, workspace_id),
  -- a parent must be in the same workspace
  foreign key (parent_board_id, workspace_id) references boards (id, workspace_id) on delete set null (parent_board_id),
  check (parent_board_id <> id),
  check (scheduled_end is null or scheduled_end >= scheduled_date),
  check (scheduled_end is null or scheduled_date is not null)
);
create index boards_workspace on boards (workspace_id, created_at, id);
create index boards_parent on boards (parent_board_id) where parent_board_id is not null;
-- By workspace, so that a follower reads no changes of other tenants.
create index boards_feed on boards (workspace_id, updated_at, id);
create index boards_trash on boards (deleted_at) where deleted_at is not null;
-- Lists the trash of a workspace without reading its live boards.
create index boards_trashed on boards (workspace_id, created_at, id) where deleted_at is not null;
create policy app_select on boards for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or id in (select readable_shared_boards(current_user_id())));
create policy app_insert on boards for insert to corkboard_app
  with check (workspace_id in (select writable_workspaces(current_user_id())));
create policy app_update on boards for update to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())) or id in (select writable_shared_boards(current_user_id())))
  with check (workspace_id in (select writable_workspaces(current_user_id())) or id in (select writable_shared_boards(current_user_id())));
grant select on boards to corkboard_app;
grant insert (workspace_id, parent_board_id, name, view, scheduled_date, scheduled_end, day_label, props, identifiers) on boards to corkboard_app;
grant update (parent_board_id, name, view, scheduled_date, scheduled_end, day_label, props, identifiers, deleted_at) on boards to corkboard_app;

create trigger boards_stamp before insert or update on boards for each row execute function boards_stamp();
create trigger boards_guard before update on boards for each row execute function boards_guard();
create trigger boards_open_document after insert on boards
  referencing new table as new_rows for each statement execute function boards_open_document();
create trigger boards_insert_identifiers after insert on boards
  referencing new table as new_rows for each statement execute function boards_insert_identifiers();
create trigger boards_update_identifiers after update on boards
  for each row
  when (new.identifiers <> old.identifiers
        or (new.deleted_at is null) <> (old.deleted_at is null) and new.identifiers <> '[]')
  execute function boards_update_identifiers();
create trigger boards_notify after update on boards for each row
  when (
    old.sched_status <> 'draft' and new.sched_status <> 'draft' and new.deleted_at is null
    and (old.scheduled_date, old.scheduled_end, old.day_label) is distinct from (new.scheduled_date, new.scheduled_end, new.day_label)
  )
  execute function boards_notify();
create trigger boards_events_insert after insert on boards
  referencing new table as new_rows for each statement execute function boards_events();
create trigger boards_events_update after update on boards
  referencing old table as old_rows new table as new_rows for each statement execute function boards_events();
create trigger boards_events_delete after delete on boards
  referencing old table as old_rows for each statement execute function boards_removal_events();
create trigger boards_search_insert after insert on boards
  referencing new table as new_rows for each statement execute function boards_search();
create trigger boards_search_update after update on boards
  referencing old table as old_rows new table as new_rows for each statement execute function boards_search();
create trigger boards_search_delete after delete on boards
  referencing old table as old_rows for each statement execute function boards_search();

create table board_shares (
  board_id uuid not null references boards on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('editor', 'viewer')),
  primary key (user_id, board_id)
);
create index board_shares_board on board_shares (board_id);
create policy app_select on board_shares for select to corkboard_app using (user_id = current_user_id());
grant select on board_shares to corkboard_app;

-- The identifiers of live boards as rows, for look-up. Triggers keep them equal to boards.identifiers. An identifier is
-- unique in its workspace. A violation reveals nothing, because only writers of the workspace set identifiers, and they see
-- all its boards.
create table board_identifiers (
  workspace_id uuid not null,
  scope text collate "C" not null,
  value text collate "C" not null,
  board_id uuid not null references boards on delete cascade,
  primary key (workspace_id, scope, value)
);
create index board_identifiers_board on board_identifiers (board_id);
create policy app_select on board_identifiers for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
grant select on board_identifiers to corkboard_app;
