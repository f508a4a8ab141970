-- The processes that serve this database, and which boards each has open on canvases: an API write on one of them asks
-- the others to show it.
create table nodes (
  node_id uuid primary key,
  seen_at timestamptz not null default now()
);

create table open_boards (
  node_id uuid not null references nodes on delete cascade,
  board_id uuid not null,
  primary key (board_id, node_id)
);
create index open_boards_node on open_boards (node_id);

do $$
declare
  t text;
begin
  foreach t in array array['nodes', 'open_boards'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy system on %I to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %I to corkboard_system', t);
  end loop;
end $$;
