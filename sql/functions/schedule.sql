-- The schedule of boards: published, cancelled, and whom a change is told to.
do $$ begin
  execute format('grant create on schema %I to corkboard_system', 'corkboard');
end $$;

-- Holds a board still that the caller may publish or cancel: a writer of its workspace, as for deleting it.
create or replace function lock_schedule(board uuid) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  found_board boards;
begin
  perform lock_board(board);
  select b.* into found_board from boards b where b.id = board for update;
  if not found or board_access(current_user_id(), board, found_board.workspace_id) is null then
    raise exception using errcode = 'no_data_found', message = format('There is no board %s that this account can see.', board);
  end if;
  if found_board.workspace_id not in (select writable_workspaces(current_user_id())) then
    raise exception using errcode = 'insufficient_privilege', message = 'Only a writer of the workspace publishes and cancels its boards.';
  end if;
  if found_board.deleted_at is not null then
    raise exception using errcode = 'object_not_in_prerequisite_state', message = 'The board is in the trash.';
  end if;
end $$;

-- A new version of the call sheet; again after a change or a cancel likewise.
create or replace function publish_board(board uuid)
returns table (sched_status text, sched_version integer, sched_published_at timestamptz)
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  perform lock_schedule(board);
  return query
    update boards b
    set sched_status = 'published', sched_version = b.sched_version + 1, sched_published_at = stamp()
    where b.id = board
    returning b.sched_status, b.sched_version, b.sched_published_at;
end $$;

create or replace function cancel_board(board uuid)
returns table (sched_status text, sched_version integer, sched_published_at timestamptz)
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  perform lock_schedule(board);
  return query
    update boards b
    set sched_status = 'cancelled'
    where b.id = board
    returning b.sched_status, b.sched_version, b.sched_published_at;
end $$;

-- Who can read a board: board_access the other way round.
create or replace function board_readers(board uuid, workspace uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp as $$
  select owner_id from workspaces where id = workspace
  union
  select user_id from workspace_members where workspace_id = workspace
  union
  select user_id from board_shares where board_id = board
$$;

-- Tells everybody who can read the board, but for who made the change, in the transaction of the change. A writer names
-- boards that are to be changed quietly in corkboard.quiet_boards, comma-separated, for its transaction. The processes
-- hear of the new rows when they are committed, and bring them to open sockets.
create or replace function boards_notify() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
declare
  r record;
begin
  if new.id::text = any (string_to_array(current_setting('corkboard.quiet_boards', true), ',')) then
    return null;
  end if;
  for r in
    with told as (
      insert into notifications (user_id, workspace_id, board_id, type, data)
      select reader.id, new.workspace_id, new.id, 'schedule.changed', jsonb_build_object(
        'name', new.name, 'sched_status', new.sched_status, 'sched_version', new.sched_version,
        'scheduled_date', new.scheduled_date, 'scheduled_end', new.scheduled_end, 'day_label', new.day_label,
        'before', jsonb_build_object(
          'scheduled_date', old.scheduled_date, 'scheduled_end', old.scheduled_end, 'day_label', old.day_label
        ),
        'actor', (select jsonb_build_object('user_id', u.id, 'display_name', u.display_name) from users u where u.id = current_user_id())
      )
      from board_readers(new.id, new.workspace_id) as reader(id)
      where reader.id is distinct from current_user_id()
      returning user_id, id
    ), numbered as (
      select told.*, row_number() over () / 80 as message from told -- NOTIFY takes 8,000 bytes
    )
    select json_agg(json_build_array(n.user_id, n.id)) as rows from numbered n group by n.message
  loop
    perform pg_notify('corkboard_nodes', json_build_object('kind', 'notified', 'rows', r.rows)::text);
  end loop;
  return null;
end $$;
create or replace trigger boards_notify after update on boards for each row
  when (
    old.sched_status <> 'draft' and new.sched_status <> 'draft' and new.deleted_at is null
    and (old.scheduled_date, old.scheduled_end, old.day_label) is distinct from (new.scheduled_date, new.scheduled_end, new.day_label)
  )
  execute function boards_notify();

do $$
declare
  f text;
begin
  foreach f in array array['lock_schedule(uuid)', 'publish_board(uuid)', 'cancel_board(uuid)', 'board_readers(uuid, uuid)', 'boards_notify()'] loop
    execute format('alter function %s owner to corkboard_system', f);
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to corkboard_system', f);
  end loop;
  foreach f in array array['publish_board(uuid)', 'cancel_board(uuid)', 'boards_notify()'] loop
    execute format('grant execute on function %s to corkboard_app', f);
  end loop;
end $$;
revoke create on schema corkboard from corkboard_system;
