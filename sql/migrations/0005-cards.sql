-- The card index: the cards and groups of all boards, and the identifiers of cards.

-- One row for each card. A removed card leaves a tombstone (deleted_at) for 30 days.
create table card_index (
  board_id uuid not null,
  card_id text collate "C" not null,
  workspace_id uuid not null,
  kind text not null,
  title text,
  body text,
  x double precision not null,
  y double precision not null,
  w double precision not null,
  h double precision not null,
  z double precision not null,
  rotation double precision not null,
  group_id text,
  image_key text,
  file_key text,
  poster_key text,
  url text,
  identifiers jsonb not null default '[]',
  hash text not null,                  -- of the whole card, with the fields that only editors know
  position bigint not null,            -- the log position at which this row was projected
  op uuid not null,                    -- the API request or the flush that wrote it
  cause text not null check (cause in ('api', 'editor', 'move', 'rebuild')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  -- The source board of a moved card. A move writes a row on the target and a tombstone on the source, both with cause
  -- 'move'. The tombstone fires no event.
  moved_from uuid,
  primary key (board_id, card_id)
);
create index card_index_live on card_index (board_id, card_id) where deleted_at is null;
create index card_index_feed on card_index (board_id, updated_at, card_id);
create index card_index_tombstones on card_index (deleted_at) where deleted_at is not null;
create policy app_select on card_index for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
grant select on card_index to corkboard_app;

create trigger card_index_count_insert after insert on card_index
  referencing new table as new_rows for each statement execute function card_index_count();
create trigger card_index_count_update after update on card_index
  referencing old table as old_rows new table as new_rows for each statement execute function card_index_count();
create trigger card_index_count_delete after delete on card_index
  referencing old table as old_rows for each statement execute function card_index_count();
create trigger card_index_identify_insert after insert on card_index
  referencing new table as new_rows for each statement execute function card_index_identify();
create trigger card_index_identify_update after update on card_index
  referencing old table as old_rows new table as new_rows for each statement execute function card_index_identify();
create trigger card_index_events_insert after insert on card_index
  referencing new table as new_rows for each statement execute function card_index_events();
create trigger card_index_events_update after update on card_index
  referencing old table as old_rows new table as new_rows for each statement execute function card_index_events();
create trigger card_index_events_delete after delete on card_index
  referencing old table as old_rows for each statement execute function card_index_removal_events();
create trigger card_index_search_insert after insert on card_index
  referencing new table as new_rows for each statement execute function card_index_search();
create trigger card_index_search_update after update on card_index
  referencing old table as old_rows new table as new_rows for each statement execute function card_index_search();
create trigger card_index_search_delete after delete on card_index
  referencing old table as old_rows for each statement execute function card_index_search();

-- One row for each group.
create table group_index (
  board_id uuid not null,
  group_id text collate "C" not null,
  workspace_id uuid not null,
  name text not null,
  color text,
  shape text not null,
  outline boolean not null,
  hash text not null,
  position bigint not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (board_id, group_id)
);
create policy app_select on group_index for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
grant select on group_index to corkboard_app;

-- The identifiers of live cards as rows, for look-up. Triggers keep them equal to card_index.identifiers. They are not
-- unique, because an editor can paste a duplicate.
create table card_identifiers (
  board_id uuid not null,
  card_id text collate "C" not null,
  workspace_id uuid not null,
  scope text collate "C" not null,
  value text collate "C" not null,
  primary key (board_id, card_id, scope, value),
  foreign key (board_id, card_id) references card_index on delete cascade
);
-- With the workspace, because many tenants may use the same value, and a look-up reads only its own rows.
create index card_identifiers_value on card_identifiers (scope, value, workspace_id);
create index card_identifiers_board_value on card_identifiers (board_id, scope, value);
create policy app_select on card_identifiers for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
grant select on card_identifiers to corkboard_app;
