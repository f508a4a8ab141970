-- The processes that serve this database (nodes), and which boards each has open on canvases.
--
-- A node is alive while a session of its own holds its advisory lock. The lock ends with the process. A paused process
-- keeps it, as it keeps its sockets. A node that loses its lock closes its canvases within two seconds. So a node counts
-- as showing its boards for three seconds after another one has noticed that its lock is gone.

create or replace function node_may_show(lock_number integer, lost_at timestamptz, seen_at timestamptz) returns boolean
language sql volatile set search_path = corkboard, pg_temp as $$
  select case
    when lock_number is null then seen_at > clock_timestamp() - interval '10 seconds' -- of a version without locks
    else lost_at is null or lost_at > clock_timestamp() - interval '3 seconds'
  end
$$;

create or replace function node_lock_is_held(number integer) returns boolean
language sql volatile set search_path = corkboard, pg_temp as $$
  select exists (
    select
    from pg_locks l
    where l.locktype = 'advisory' and l.classid = 1129270353 and l.objid = number::bigint::oid and l.objsubid = 2 and l.granted
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
  )
$$;

-- Registers a node, and takes its lock for the session. The number of the lock is new each time: an earlier session of the
-- node may hold the earlier lock for as long as the server does not notice that its client is gone. The caller has closed
-- the canvases that it had open before.
create or replace function register_node(p_node uuid) returns integer
language plpgsql volatile set search_path = corkboard, pg_temp as $$
declare
  number integer := nextval('node_locks');
begin
  perform pg_advisory_lock(1129270353, number);
  delete from open_boards where node_id = p_node;
  insert into nodes (node_id, lock_number) values (p_node, number)
  on conflict (node_id) do update set lock_number = excluded.lock_number, lost_at = null, seen_at = now();
  return number;
end $$;

-- The heartbeat of a node, in the session that holds its lock.
--   p_boards     boards that the node has open. Its rows in open_boards become equal to them
--   others       other nodes that may have canvases open
--   elsewhere    the boards that these have open
--   lost         nodes whose lock was found to be gone by this call; no later call returns them
create or replace function beat_node(p_node uuid, p_lock integer, p_boards uuid[], out others uuid[], out elsewhere uuid[], out lost uuid[])
language plpgsql volatile set search_path = corkboard, pg_temp as $$
declare
  r record;
begin
  insert into nodes (node_id, lock_number) values (p_node, p_lock)
  on conflict (node_id) do update set lock_number = excluded.lock_number, lost_at = null, seen_at = now();
  delete from open_boards o
  where o.node_id = p_node and not exists (select from unnest(p_boards) as b where b = o.board_id);
  insert into open_boards (node_id, board_id) select p_node, b from unnest(p_boards) as b
  on conflict do nothing;

  -- The row is read before the lock is looked at: a node takes its lock before it writes its row. Should the node
  -- register again in between, its number has changed, and the update finds no row.
  lost := '{}';
  for r in
    select n.node_id, n.lock_number from nodes n
    where n.node_id <> p_node and n.lock_number is not null and n.lost_at is null
  loop
    if not node_lock_is_held(r.lock_number) then
      update nodes n set lost_at = clock_timestamp()
      where n.node_id = r.node_id and n.lock_number = r.lock_number and n.lost_at is null;
      if found then
        lost := lost || r.node_id;
      end if;
    end if;
  end loop;
  delete from nodes n
  where n.node_id <> p_node
    and (n.lost_at < now() - interval '1 minute' or (n.lock_number is null and n.seen_at < now() - interval '1 minute'));

  others := array(
    select n.node_id from nodes n
    where n.node_id <> p_node and node_may_show(n.lock_number, n.lost_at, n.seen_at)
  );
  elsewhere := array(select distinct o.board_id from open_boards o where o.node_id = any (others));
end $$;

-- The other nodes that may have the board open on a canvas.
create or replace function nodes_showing(p_board uuid, p_node uuid) returns setof uuid
language sql volatile set search_path = corkboard, pg_temp as $$
  select n.node_id
  from open_boards o
  join nodes n on n.node_id = o.node_id
  where o.board_id = p_board and o.node_id <> p_node and node_may_show(n.lock_number, n.lost_at, n.seen_at)
$$;
