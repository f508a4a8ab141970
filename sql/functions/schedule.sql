-- Schedules of boards: publishing, cancelling, and notifications of changes.

-- Locks a board to publish or cancel it. Only writers of its workspace may do that.
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

-- Makes a new version of the call sheet, also after a change or a cancellation.
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

create or replace function notifications_stamp() returns trigger
language plpgsql set search_path = corkboard, pg_temp as $$
begin
  new.created_at := stamp();
  return new;
end $$;

-- Notifies the accounts that can read the board, except the author of the change, in its transaction. A transaction can list
-- boards to change without notifications in corkboard.quiet_boards, comma-separated. After the commit the processes learn of
-- the new rows, and send them to open sockets.
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
    perform pg_notify('corkboard_nodes', json_build_object('v', 1, 'kind', 'notified', 'rows', r.rows)::text);
  end loop;
  return null;
end $$;

grant execute on function publish_board, cancel_board to corkboard_app;
