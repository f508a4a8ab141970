-- The document of a board: the append-only log is the truth, the snapshot a prefix of it merged, the card index a
-- projection of it.

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
  changed_at timestamptz not null
);
alter table board_documents alter column snapshot set storage external;

-- One row for each board and commit.
create table board_updates (
  board_id uuid not null references board_documents on delete cascade,
  seq bigint not null,
  updates bytea not null,              -- Yjs updates (V1), each after its length as four bytes, big-endian
  actors uuid[] not null,              -- the users whose updates these are
  created_at timestamptz not null,
  primary key (board_id, seq)
);

-- The row-per-card mirror. A removed card leaves a tombstone (deleted_at).
create table card_index (
  board_id uuid not null references board_documents on delete cascade,
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
  hash text not null,                  -- of the whole card, what only the editor knows included
  position bigint not null,            -- the log position this row was projected at
  op uuid not null,                    -- the API request or the flush that wrote it
  cause text not null check (cause in ('api', 'editor', 'move', 'rebuild')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (board_id, card_id)
);
create index card_index_live on card_index (board_id, card_id) where deleted_at is null;
create index card_index_feed on card_index (board_id, updated_at, card_id);

-- The mirror of the groups.
create table group_index (
  board_id uuid not null references board_documents on delete cascade,
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

-- What a removed card was, whole, as a Yjs update that holds it in the root map `card`; for 30 days.
create table removed_cards (
  restore_token uuid primary key,
  board_id uuid not null references board_documents on delete cascade,
  workspace_id uuid not null,
  card_id text collate "C" not null,
  state bytea not null,
  removed_at timestamptz not null
);
create index removed_cards_age on removed_cards (removed_at);

-- Every commit with its result, so that one whose answer was lost can be asked again and is done once.
create table commits (
  commit_id uuid primary key,
  result json,
  created_at timestamptz not null default now()
);
create index commits_age on commits (created_at);

create function boards_open_document() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  insert into board_documents (board_id, workspace_id, api_client, changed_at)
  values (new.id, new.workspace_id, (2::bigint ^ 32)::bigint + 1 + floor(random() * ((2::bigint ^ 52)::bigint))::bigint, clock_timestamp());
  return null;
end $$;
create trigger boards_open_document after insert on boards for each row execute function boards_open_document();

-- The counter of live cards, for the card cap and for trees.
create function card_index_count() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    update board_documents d
    set card_count = d.card_count + n.delta
    from (
      select board_id, count(*) as delta from new_rows where deleted_at is null group by board_id
    ) n
    where d.board_id = n.board_id;
  elsif tg_op = 'DELETE' then
    update board_documents d
    set card_count = d.card_count - n.delta
    from (
      select board_id, count(*) as delta from old_rows where deleted_at is null group by board_id
    ) n
    where d.board_id = n.board_id;
  else
    update board_documents d
    set card_count = d.card_count + n.delta
    from (
      select board_id, sum(delta) as delta
      from (
        select board_id, 1 as delta from new_rows where deleted_at is null
        union all
        select board_id, -1 from old_rows where deleted_at is null
      ) c
      group by board_id
      having sum(delta) <> 0
    ) n
    where d.board_id = n.board_id;
  end if;
  return null;
end $$;
create trigger card_index_count_insert after insert on card_index
  referencing new table as new_rows for each statement execute function card_index_count();
create trigger card_index_count_update after update on card_index
  referencing old table as old_rows new table as new_rows for each statement execute function card_index_count();
create trigger card_index_count_delete after delete on card_index
  referencing old table as old_rows for each statement execute function card_index_count();
