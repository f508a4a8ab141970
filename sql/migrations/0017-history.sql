-- The history of boards: log rows that compaction removes from the log go to the file store. functions/history.sql keeps
-- the counters.
-- Works with: 0015

-- Who made the updates of a log row, and how: a list for each item of the commit; see CommitItem in sql/commit-call.ts.
-- Null in rows of older versions.
alter table board_updates add column causes json;
alter type commit_item add attribute causes json;

-- From when on a guest sees the board's history. Null: a guest does not see it.
alter table board_shares add column history_since timestamptz;

-- Segments: log rows that were removed from the log, as compressed files. They follow each other without a gap. A segment
-- whose predecessor does not end right before it has a base: the document before its first row.
create table board_history (
  board_id uuid not null,
  workspace_id uuid not null,
  from_seq bigint not null,            -- the first and last log row
  to_seq bigint not null,
  from_at timestamptz not null,        -- and their times
  to_at timestamptz not null,
  row_bytes bigint not null,           -- of the updates, as they were in the log
  bytes bigint not null,               -- of the file
  key text collate "C" not null unique,
  base_bytes bigint not null default 0, -- of the file with the base
  base_key text collate "C" unique,
  base_at timestamptz,                 -- from when on the board was like the base; null without one
  primary key (board_id, from_seq)
);
create index board_history_age on board_history (to_at);
create policy app_select on board_history for select to corkboard_app using (
  workspace_id in (select readable_workspaces(current_user_id()))
  or board_id in (select s.board_id from board_shares s where s.user_id = current_user_id() and s.history_since is not null)
);
grant select (board_id, workspace_id, from_seq, to_seq, from_at, to_at, bytes) on board_history to corkboard_app;

-- Files that may exist without a segment. A row is written before its file, and deleted by the transaction that inserts the
-- segment, or when the file is deleted.
create table history_leftovers (
  key text collate "C" primary key,
  added_at timestamptz not null default clock_timestamp(),
  ended boolean not null default false -- nothing may refer to the file any more
);

do $$
declare
  t regclass;
begin
  foreach t in array array['board_history', 'history_leftovers']::regclass[] loop
    execute format('alter table %s enable row level security, force row level security', t);
    execute format('create policy system on %s to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %s to corkboard_system', t);
  end loop;
end $$;

alter table board_documents add column history_bytes bigint not null default 0; -- of board_history; triggers count them
create trigger board_history_size_insert after insert on board_history
  referencing new table as new_rows for each statement execute function board_history_size();
create trigger board_history_size_update after update on board_history
  referencing old table as old_rows new table as new_rows for each statement execute function board_history_size();
create trigger board_history_size_delete after delete on board_history
  referencing old table as old_rows for each statement execute function board_history_size();

create or replace view document_sizes with (security_invoker = true) as
select d.board_id, d.workspace_id, coalesce(octet_length(d.snapshot), 0)::bigint as snapshot_bytes, d.log_bytes, d.removed_bytes,
  coalesce(octet_length(d.snapshot), 0) + d.log_bytes + d.removed_bytes + d.history_bytes as bytes,
  d.history_bytes
from board_documents d;
