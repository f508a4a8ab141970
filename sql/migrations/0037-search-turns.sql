-- The oldest that a workspace has pending: accounts take turns in the search index.
drop index search_pending_workspace;
create index search_pending_workspace on search_pending (workspace_id, id) include (board_id);

-- Cards and boards whose words the index did not take, by themselves either. They are tried again when they change.
create table search_set_aside (
  board_id uuid not null,
  card_id text collate "C" not null,   -- '' is the board itself
  changed_at timestamptz not null,     -- of the card or board that failed
  error text not null,
  set_aside_at timestamptz not null default clock_timestamp(),
  primary key (board_id, card_id)
);
alter table search_set_aside enable row level security;
alter table search_set_aside force row level security;
create policy system on search_set_aside to corkboard_system using (true) with check (true);
grant select, insert, update, delete on search_set_aside to corkboard_system;
