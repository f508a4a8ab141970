-- Change feeds. A follower reads changes in the order of their stamps. It must not pass a change that is stamped but not
-- committed yet.
--
--   A writer takes a shared lock on the current second, and then reads the clock. So its stamp is not before that second.
--   The lock is released only after the change is visible.
--   A reader gets the horizon in one statement, and reads changes before it in the next statement, whose snapshot is newer
--   (READ COMMITTED, on the primary). If it saw a writer's lock, the writer's stamp is at the horizon or later. If the
--   writer took its lock later, its stamp is after the start of the reader's statement. If the lock was already released,
--   the change is visible.
--
-- Therefore seconds are truncated, never rounded, or the lock's second could be after the stamp. Stamps and horizon are
-- truncated to milliseconds alike. Locks of other databases on the server are ignored; prepared transactions count.

-- The time of a change, in whole milliseconds. Call it after taking row locks: a writer that waits would delay all feeds.
create or replace function stamp() returns timestamptz
language plpgsql volatile set search_path = corkboard, pg_temp as $$
begin
  -- The lower 32 bits of the second. pg_locks shows them as an unsigned number, which is enough until 2106.
  perform pg_advisory_xact_lock_shared(1129270347, floor(extract(epoch from clock_timestamp()))::bigint::bit(32)::integer);
  return date_trunc('milliseconds', clock_timestamp());
end $$;

-- Every change with a stamp before this time, now or later, is visible to the next statement.
create or replace function feed_horizon() returns timestamptz
language sql volatile set search_path = corkboard, pg_temp as $$
  select least(
    date_trunc('milliseconds', statement_timestamp()),
    (
      select to_timestamp(min(l.objid::bigint))
      from pg_locks l
      where l.locktype = 'advisory' and l.classid = 1129270347 and l.objsubid = 2
        and l.database = (select d.oid from pg_database d where d.datname = current_database())
    )
  )
$$;

grant execute on function stamp, feed_horizon to corkboard_app;
