-- What the search reads: the words of each live card and the name of each board, folded (core/fold.ts), and an index
-- over their grams. A process fills it from card_index and boards, as `search_pending` says, within a second of a
-- change: an insert of 1,000 cards into the gram index takes 0.4 to 1.8 s, which no commit may wait for.

create table search_index (
  board_id uuid not null,
  card_id text collate "C" not null,   -- '' is the board itself
  workspace_id uuid not null,
  title text collate "C" not null,     -- folded, as the body
  body text collate "C" not null,
  changed_at timestamptz not null,     -- of the words
  primary key (board_id, card_id)
);
-- The list of what is not yet in the index of grams proper is gone through by each search: short.
create index search_index_keys on search_index
  using gin (search_keys(workspace_id, board_id, card_id, title, body)) with (gin_pending_list_limit = 512);
-- The keys of a sample are of no use to the planner, and 100 times the cost of an ordinary column.
alter index search_index_keys alter column 1 set statistics 0;
create index search_index_title on search_index (workspace_id, left(title, 64));
create index search_index_newest on search_index (workspace_id, changed_at desc);
alter table search_index enable row level security, force row level security;
create policy system on search_index to corkboard_system using (true) with check (true);
grant select, insert, update, delete on search_index to corkboard_system;

-- One row for each board and statement that changed words on it. Rows are only added and taken away, so that no commit
-- waits for the process that works them off; a card is in it with everything from `changed_at`, then `after`, on.
create table search_pending (
  id bigint generated always as identity primary key,
  board_id uuid not null,
  workspace_id uuid not null,
  changed_at timestamptz not null,
  after text collate "C" not null default ''
);
create index search_pending_board on search_pending (board_id);
-- The oldest that a workspace has pending: accounts take turns in the search index.
create index search_pending_workspace on search_pending (workspace_id, id) include (board_id);
alter table search_pending enable row level security, force row level security;
create policy system on search_pending to corkboard_system using (true) with check (true);
grant select, insert, update, delete on search_pending to corkboard_system;

-- Cards and boards whose words the index did not take, by themselves either. They are tried again when they change.
create table search_set_aside (
  board_id uuid not null,
  card_id text collate "C" not null,   -- '' is the board itself
  changed_at timestamptz not null,     -- of the card or board that failed
  error text not null,
  set_aside_at timestamptz not null default clock_timestamp(),
  primary key (board_id, card_id)
);
alter table search_set_aside enable row level security, force row level security;
create policy system on search_set_aside to corkboard_system using (true) with check (true);
grant select, insert, update, delete on search_set_aside to corkboard_system;
