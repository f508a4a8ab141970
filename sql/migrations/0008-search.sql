-- The search index: the folded words (core/fold.ts) of each live card and the name of each board, with an index over their
-- grams. A worker fills it within a second of a change, as `search_pending` says. Commits don't, because an insert of 1,000
-- cards into the gram index takes 0.4 to 1.8 s.

create table search_index (
  board_id uuid not null,
  card_id text collate "C" not null,   -- '' for the board itself
  workspace_id uuid not null,
  title text collate "C" not null,     -- folded, like the body
  body text collate "C" not null,
  changed_at timestamptz not null,     -- time of the change of the words
  primary key (board_id, card_id)
);
-- Each search reads the index's list of pending entries, so the list must be short.
create index search_index_keys on search_index
  using gin (search_keys(workspace_id, board_id, card_id, title, body)) with (gin_pending_list_limit = 512);
-- Statistics on the keys cost 100 times those of an ordinary column, and the planner gains nothing from them.
alter index search_index_keys alter column 1 set statistics 0;
create index search_index_title on search_index (workspace_id, left(title, 64));
create index search_index_newest on search_index (workspace_id, changed_at desc);

-- Changes that are not indexed yet: one row for each board and statement that changed words. A row covers the board's cards
-- in the order of time and id, from `changed_at` and `after` on. Rows are never updated, so no commit waits for the worker.
create table search_pending (
  id bigint generated always as identity primary key,
  board_id uuid not null,
  workspace_id uuid not null,
  changed_at timestamptz not null,
  after text collate "C" not null default ''
);
create index search_pending_board on search_pending (board_id);
-- Finds the oldest row of each workspace, because accounts take turns.
create index search_pending_workspace on search_pending (workspace_id, id) include (board_id);

-- Cards and boards that could not be indexed, even alone. They are tried again when they change.
create table search_set_aside (
  board_id uuid not null,
  card_id text collate "C" not null,   -- '' for the board itself
  changed_at timestamptz not null,     -- the version of the card or board that failed
  error text not null,
  set_aside_at timestamptz not null default clock_timestamp(),
  primary key (board_id, card_id)
);
