-- Links that give a board to whoever has them, and the guests who opened one. functions/links.sql writes the links. A copy
-- of the tables lets nobody in: the secret of a link is stored as SHA-256, its password as argon2id.
-- Works with: 0017
create table board_links (
  id uuid primary key default gen_random_uuid(),
  board_id uuid not null references boards on delete cascade,
  name text check (char_length(name) between 1 and 200),
  role text not null check (role in ('editor', 'viewer')),
  hash bytea not null unique,
  phc text,                            -- of the password; null without one
  has_password boolean not null generated always as (phc is not null) stored,
  history_since timestamptz,           -- from when on guests see the board's history; null: they do not
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  expires_at timestamptz,              -- null: never
  uses integer not null default 0,     -- guests who came by it
  last_used_at timestamptz,
  ended_at timestamptz                 -- deleted by the owner. The row stays as long as its guests have names
);
create index board_links_board on board_links (board_id, created_at, id);
create policy app_select on board_links for select to corkboard_app using (owns_board(board_id));
grant select (id, board_id, name, role, has_password, history_since, created_at, expires_at, uses, last_used_at, ended_at) on board_links
  to corkboard_app;

-- Guests: accounts that nobody signs in as. Each has one token. It sees the board of its link and nothing else, by the
-- predicates of functions/access.sql. Deleting a guest deletes its account, and with it its name.
create table guests (
  id uuid primary key references users on delete cascade, -- the account that it acts as
  link_id uuid not null references board_links on delete cascade,
  ends_at timestamptz not null         -- when its token ends
);
create index guests_link on guests (link_id);
create index guests_age on guests (ends_at);
create policy app_select on guests for select to corkboard_app
  using (id = current_user_id() or link_id in (select l.id from board_links l));
grant select on guests to corkboard_app;
create trigger guests_ended after delete on guests for each row execute function delete_guest_account();

do $$
declare
  t regclass;
begin
  foreach t in array array['board_links', 'guests']::regclass[] loop
    execute format('alter table %s enable row level security, force row level security', t);
    execute format('create policy system on %s to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %s to corkboard_system', t);
  end loop;
end $$;

-- What guests may do now: the access predicates read it beside board_shares.
create view guest_rights with (security_invoker = true) as
select g.id as user_id, l.board_id, l.role, l.history_since
from guests g
join board_links l on l.id = g.link_id
where l.ended_at is null and (l.expires_at is null or l.expires_at > now());
grant select on guest_rights to corkboard_system;

alter policy app_select on board_history using (
  workspace_id in (select readable_workspaces(current_user_id()))
  or board_id in (select historic_shared_boards(current_user_id()))
);
