-- The document of a board: the append-only log is the truth, the snapshot a prefix of it merged. The card index
-- (0005-cards.sql) is a projection of it. commit_batch alone writes here.

-- One row a board: its lock, its counters, its snapshot.
create table board_documents (
  board_id uuid primary key references boards on delete cascade,
  workspace_id uuid not null,          -- the board's, which never changes; for the policies
  seq bigint not null default 0,       -- position of the newest log row
  api_client bigint not null,          -- the Yjs client id under which the API writes, 2^32 < id < 2^53
  api_clock bigint not null default 0, -- and its next clock
  top_z double precision not null default 0, -- no card that the index ever held is above this
  snapshot bytea,                      -- V2 encoding of all log rows up to snapshot_seq
  snapshot_seq bigint not null default 0,
  indexed_seq bigint not null default 0, -- the card index holds everything up to here
  card_count integer not null default 0, -- live cards in the index; kept by a trigger
  log_rows integer not null default 0,  -- log rows after the snapshot, and their bytes: when to compact
  log_bytes bigint not null default 0,
  changed_at timestamptz not null,
  -- The purge of the board from the trash has begun. It takes several transactions, and a board half gone must not be
  -- restored.
  purging boolean not null default false,
  removed_bytes bigint not null default 0 -- of removed_cards; kept by triggers
);
alter table board_documents alter column snapshot set storage external;
create index board_documents_workspace on board_documents (workspace_id);
alter table board_documents enable row level security, force row level security;
create policy system on board_documents to corkboard_system using (true) with check (true);
grant select, insert, update, delete on board_documents to corkboard_system;
create policy app_select on board_documents for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
grant select (board_id, workspace_id, card_count, purging) on board_documents to corkboard_app;
create trigger board_documents_drop after delete on board_documents
  referencing old table as old_rows for each statement execute function board_documents_drop();

-- Bytes of each board by kind, and their sum. The only place where the kinds are added up. octet_length reads the length
-- of a snapshot without reading the snapshot.
create view document_sizes with (security_invoker = true) as
select d.board_id, d.workspace_id, coalesce(octet_length(d.snapshot), 0)::bigint as snapshot_bytes, d.log_bytes, d.removed_bytes,
  coalesce(octet_length(d.snapshot), 0) + d.log_bytes + d.removed_bytes as bytes
from board_documents d;
grant select on document_sizes to corkboard_system;

-- The tables below, and those of 0005-cards.sql, have no foreign key to their document. They are written under the lock of
-- its row, so that the look-up of a key, row by row, would find what is certain, and cost a commit of 50 boards a quarter
-- of its time. The trigger board_documents_drop removes their rows with their document.

-- One row for each board and commit.
create table board_updates (
  board_id uuid not null,
  seq bigint not null,
  updates bytea not null,              -- Yjs updates (V1), each after its length as four bytes, big-endian
  actors uuid[] not null,              -- the users whose updates these are
  created_at timestamptz not null,
  primary key (board_id, seq)
);
alter table board_updates enable row level security, force row level security;
create policy system on board_updates to corkboard_system using (true) with check (true);
grant select, insert, update, delete on board_updates to corkboard_system;

-- What a removed card was, whole, as a Yjs update that holds it in the root map `card`; for 30 days.
create table removed_cards (
  restore_token uuid primary key,
  board_id uuid not null,
  workspace_id uuid not null,
  card_id text collate "C" not null,
  state bytea not null,
  removed_at timestamptz not null
);
create index removed_cards_age on removed_cards (removed_at);
alter table removed_cards enable row level security, force row level security;
create policy system on removed_cards to corkboard_system using (true) with check (true);
grant select, insert, update, delete on removed_cards to corkboard_system;
create policy app_select on removed_cards for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
grant select on removed_cards to corkboard_app;
create trigger removed_cards_size_insert after insert on removed_cards
  referencing new table as new_rows for each statement execute function removed_cards_size();
create trigger removed_cards_size_delete after delete on removed_cards
  referencing old table as old_rows for each statement execute function removed_cards_size();

-- What writers who are not members of the workspace have added to a board. When the board gets smaller, each guest's
-- part gets smaller in proportion, so that the parts together never exceed the board's size.
create table guest_bytes (
  user_id uuid not null,
  board_id uuid not null,
  bytes bigint not null,
  primary key (user_id, board_id)
);
create index guest_bytes_board on guest_bytes (board_id);
alter table guest_bytes enable row level security, force row level security;
create policy system on guest_bytes to corkboard_system using (true) with check (true);
grant select, insert, update, delete on guest_bytes to corkboard_system;

-- What commit_batch takes, item by item and row by row. Its JSON is read into these once. CommitItem in sql/commit-call.ts
-- says what the fields of an item mean; CardRow in collab/canvas/project.ts has those of a row.
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

-- Every commit with its result, so that one whose answer was lost can be asked again and is done once.
create table commits (
  commit_id uuid primary key,
  result json,
  created_at timestamptz not null default now()
);
create index commits_age on commits (created_at);
alter table commits enable row level security, force row level security;
create policy system on commits to corkboard_system using (true) with check (true);
grant select, insert, update, delete on commits to corkboard_system;

-- Pieces of a large call of commit_batch, which are sent ahead of it. Its commit removes them. Unlogged: who calls it sends
-- them again after a crash.
create unlogged table commit_pieces (
  commit_id uuid not null,
  part text not null check (part in ('blob', 'rows', 'groups', 'removed')),
  n integer not null,
  bytes bytea not null,
  sent_at timestamptz not null default now(),
  primary key (commit_id, part, n)
);
-- They live for a second: compressing them would take longer.
alter table commit_pieces alter column bytes set storage external;
create index commit_pieces_sent on commit_pieces (sent_at);
alter table commit_pieces enable row level security, force row level security;
create policy system on commit_pieces to corkboard_system using (true) with check (true);
grant select, insert, delete on commit_pieces to corkboard_system;
