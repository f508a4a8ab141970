-- What the feeds go through. Boards by workspace: the changes of other tenants cost a follower nothing.
drop index boards_feed;
create index boards_feed on boards (workspace_id, updated_at, id);

-- Tombstones of cards are kept for 30 days.
create index card_index_tombstones on card_index (deleted_at) where deleted_at is not null;

-- Set when the purge of a board from the trash begins: it takes several transactions, and a board half gone must not
-- be restored.
alter table board_documents add column purging boolean not null default false;
grant select (purging) on board_documents to corkboard_app;

-- What an account is told is kept for 90 days.
create index notifications_age on notifications (created_at);

create index boards_trash on boards (deleted_at) where deleted_at is not null;

-- A board that is purged was deleted when it went into the trash, and its cards with it.
grant create on schema corkboard to corkboard_system; -- for the ownership of functions; taken back below

create function boards_removal_events() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  insert into events (type, workspace_id, board_id, resource_type, resource_id, data, origin, occurred_at)
  select 'board.deleted', o.workspace_id, o.id, 'board', o.id,
    jsonb_build_object('name', o.name, 'parent_board_id', o.parent_board_id, 'view', o.view, 'changed', '[]'::jsonb),
    event_origin(), date_trunc('milliseconds', clock_timestamp())
  from old_rows o
  where o.deleted_at is null;
  return null;
end $$;
drop trigger boards_events_delete on boards;
create trigger boards_events_delete after delete on boards
  referencing old table as old_rows for each statement execute function boards_removal_events();

create function card_index_removal_events() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  insert into events (type, workspace_id, board_id, resource_type, resource_id, card_ids, origin, occurred_at)
  select 'card.deleted', g.workspace_id, g.board_id, 'board', g.board_id, g.card_ids, event_origin(),
    date_trunc('milliseconds', clock_timestamp())
  from (
    select o.workspace_id, o.board_id, array_agg(o.card_id order by o.z, o.card_id) as card_ids
    from old_rows o
    where o.deleted_at is null
    group by o.workspace_id, o.board_id
  ) g
  -- With their board goes board.deleted alone.
  where (select not d.purging from boards b join board_documents d on d.board_id = b.id where b.id = g.board_id);
  return null;
end $$;
drop trigger card_index_events_delete on card_index;
create trigger card_index_events_delete after delete on card_index
  referencing old table as old_rows for each statement execute function card_index_removal_events();

do $$
declare
  f text;
begin
  foreach f in array array['boards_removal_events()', 'card_index_removal_events()'] loop
    execute format('alter function %s owner to corkboard_system', f);
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to corkboard_app, corkboard_system', f);
  end loop;
end $$;
revoke create on schema corkboard from corkboard_system;
