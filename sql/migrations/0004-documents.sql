-- The documents of boards. The append-only log is the truth; a snapshot is a merged prefix of it, and the card index
-- (0005-cards.sql) a projection. Only commit_batch and compaction write the log and the snapshot.

-- One row for each board: its lock, counters and snapshot.
create table board_documents (
  board_id uuid primary key references boards on delete cascade,
  workspace_id uuid not null,          -- that of the board, which never changes; for the policies
  seq bigint not null default 0,       -- position of the latest log row
  api_client bigint not null,          -- the API's Yjs client id, 2^32 < id < 2^53
  api_clock bigint not null default 0, -- the next clock of that client
  top_z double precision not null default 0, -- the highest z that any card of the index has had
  snapshot bytea,                      -- V2 encoding of all log rows up to snapshot_seq
  snapshot_seq bigint not null default 0,
  indexed_seq bigint not null default 0, -- the card index contains everything up to this position
  card_count integer not null default 0, -- live cards in the index; a trigger counts them
  log_rows integer not null default 0,  -- log rows after the snapshot, and their bytes; they trigger compaction
  log_bytes bigint not null default 0,
  changed_at timestamptz not null,
  -- The purge of the board has begun. It takes several transactions, and a board that is partly deleted must not be
  -- restored.
  purging boolean not null default false,
  removed_bytes bigint not null default 0 -- of removed_cards; triggers count them
);
alter table board_documents alter column snapshot set storage external;
create index board_documents_workspace on board_documents (workspace_id);
create policy app_select on board_documents for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
grant select (board_id, workspace_id, card_count, purging) on board_documents to corkboard_app;
create trigger board_documents_drop after delete on board_documents
  referencing old table as old_rows for each statement execute function board_documents_drop();

-- Bytes of each board by kind, and their sum. No other place adds them up. octet_length does not read the whole snapshot.
create view document_sizes with (security_invoker = true) as
select d.board_id, d.workspace_id, coalesce(octet_length(d.snapshot), 0)::bigint as snapshot_bytes, d.log_bytes, d.removed_bytes,
  coalesce(octet_length(d.snapshot), 0) + d.log_bytes + d.removed_bytes as bytes
from board_documents d;
grant select on document_sizes to corkboard_system;

-- The tables below, and those of 0005-cards.sql, have no foreign key to board_documents. Their writers hold the lock of the
-- document's row, so a check of the key always succeeds, and would take a quarter of the time of a commit of 50 boards.
-- The trigger board_documents_drop deletes their rows with the document.

-- The log: one row for each board and commit.
create table board_updates (
  board_id uuid not null,
  seq bigint not null,
  updates bytea not null,              -- Yjs updates (V1), each preceded by its length (4 bytes, big-endian)
  actors uuid[] not null,              -- the users who made the updates
  created_at timestamptz not null,
  primary key (board_id, seq)
);

-- Removed cards, for 30 days. `state` is a Yjs update that contains the whole card in the root map `card`.
create table removed_cards (
  restore_token uuid primary key,
  board_id uuid not null,
  workspace_id uuid not null,
  card_id text collate "C" not null,
  state bytea not null,
  removed_at timestamptz not null
);
create index removed_cards_age on removed_cards (removed_at);
create policy app_select on removed_cards for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
grant select on removed_cards to corkboard_app;
create trigger removed_cards_size_insert after insert on removed_cards
  referencing new table as new_rows for each statement execute function removed_cards_size();
create trigger removed_cards_size_delete after delete on removed_cards
  referencing old table as old_rows for each statement execute function removed_cards_size();

-- Bytes that guests, writers who are not members of the workspace, have added to a board. When the board shrinks, each
-- guest's bytes shrink in proportion. So their sum never exceeds the board's size.
create table guest_bytes (
  user_id uuid not null,
  board_id uuid not null,
  bytes bigint not null,
  primary key (user_id, board_id)
);
create index guest_bytes_board on guest_bytes (board_id);

-- The items and card rows that commit_batch takes as JSON. CommitItem in sql/commit-call.ts describes the fields of an
-- item, CardRow in collab/canvas/project.ts those of a row.
create type commit_item as (
  n integer, board uuid, kind text, op uuid, cause text, account uuid, actors uuid[], blob_at integer, blob_bytes integer,
  clock bigint, used integer, seen bigint, adds integer, top_z double precision, partner integer, claims jsonb,
  operation json, files json, room json, is_full boolean, guests json
);
create type commit_row as (
  n integer, id text, gone boolean, fresh boolean, kind text, title text, body text,
  x double precision, y double precision, w double precision, h double precision, z double precision,
  rotation double precision, group_id text, image_key text, file_key text, poster_key text, url text,
  identifiers jsonb, hash text, moved_from uuid, was text
);

-- The results of commits. A call whose answer was lost is repeated, and finds the result here.
create table commits (
  commit_id uuid primary key,
  result json,
  created_at timestamptz not null default now()
);
create index commits_age on commits (created_at);

-- Pieces of a large call of commit_batch, which are sent before it. The commit deletes them. Unlogged: after a crash the
-- caller sends them again.
create unlogged table commit_pieces (
  commit_id uuid not null,
  part text not null check (part in ('blob', 'rows', 'groups', 'removed')),
  n integer not null,
  bytes bytea not null,
  sent_at timestamptz not null default now(),
  primary key (commit_id, part, n)
);
-- Pieces exist for about a second. Compressing them would take longer.
alter table commit_pieces alter column bytes set storage external;
create index commit_pieces_sent on commit_pieces (sent_at);
