-- The journal of events, which `GET /events` reads. The transaction that takes events out of the outbox appends them
-- (workers/deliveries/journal.ts), as webhooks get them. They are read below feed_horizon(), in the order of the key.
-- Works with: 0017

create table event_journal (
  at timestamptz not null,             -- set by stamp(), when the event was appended
  place bigint generated always as identity, -- in the order of the changes of a board
  workspace_id uuid not null,
  board_id uuid,
  type text not null,
  payload text not null,               -- the exact text that is sent
  primary key (at, place)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_scale_factor = 0.5);
alter table event_journal enable row level security, force row level security;
create policy system on event_journal to corkboard_system using (true) with check (true);
grant select, insert, update, delete on event_journal to corkboard_system;
