-- Boards, and the shares that open one board to one account.
create table boards (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces,
  parent_board_id uuid,
  name text not null check (char_length(name) between 1 and 200),
  view text not null default 'canvas' check (view in ('canvas', 'list')),
  scheduled_date date,
  scheduled_end date,
  day_label text check (char_length(day_label) <= 200),
  sched_status text not null default 'draft' check (sched_status in ('draft', 'published', 'cancelled')),
  sched_version integer not null default 0,
  sched_published_at timestamptz,
  props jsonb,
  identifiers jsonb not null default '[]',
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (id, workspace_id),
  -- a parent is in the same workspace
  foreign key (parent_board_id, workspace_id) references boards (id, workspace_id) on delete set null (parent_board_id),
  check (parent_board_id <> id),
  check (scheduled_end is null or scheduled_end >= scheduled_date),
  check (scheduled_end is null or scheduled_date is not null)
);
create index boards_workspace on boards (workspace_id, created_at, id);
create index boards_parent on boards (parent_board_id) where parent_board_id is not null;
create index boards_feed on boards (updated_at, id);

create table board_shares (
  board_id uuid not null references boards on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('editor', 'viewer')),
  primary key (user_id, board_id)
);
create index board_shares_board on board_shares (board_id);

-- The time of a change, in whole milliseconds. Whoever follows a feed must not pass a change that is stamped but not
-- committed: the shared lock on the current second tells readers how far back such a change can lie. Take it after
-- the row locks, or one who waits for a row holds every feed back.
create function stamp() returns timestamptz
language plpgsql volatile set search_path = corkboard, pg_temp as $$
begin
  perform pg_advisory_xact_lock_shared(1129270347, extract(epoch from clock_timestamp())::integer);
  return date_trunc('milliseconds', clock_timestamp());
end $$;

create function boards_stamp() returns trigger
language plpgsql set search_path = corkboard, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    new.updated_at := stamp();
    new.created_at := coalesce(new.created_at, new.updated_at);
  elsif new is distinct from old then
    new.updated_at := stamp();
  end if;
  return new;
end $$;
create trigger boards_stamp before insert or update on boards for each row execute function boards_stamp();
