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
alter table commit_pieces enable row level security;
alter table commit_pieces force row level security;
create policy system on commit_pieces to corkboard_system using (true) with check (true);
grant select, insert, delete on commit_pieces to corkboard_system;
