-- Change feeds: whoever follows one in the order of its stamps must not pass a change that is stamped but not committed.
--
--   A writer takes a shared lock on the current second, then looks at the clock: its stamp is not before that second,
--   and the lock is released only after the change is visible.
--   A reader asks for the horizon in one statement and reads what was stamped before it in the next, whose snapshot is
--   newer (READ COMMITTED, on the primary). A writer whose lock it saw stamps at the horizon or later; one that takes
--   its lock after that look at the locks, stamps after the reader's statement began; one that had released it, is visible.
--
-- Hence: seconds are cut, never rounded, or the lock would lie after the stamp; stamps and horizon are cut to the same
-- milliseconds; locks of other databases on the server do not count, prepared transactions do.

-- The time of a change, in whole milliseconds. Take it after the row locks, or one who waits for a row holds every feed back.
create or replace function stamp() returns timestamptz
language plpgsql volatile set search_path = corkboard, pg_temp as $$
begin
  -- The lower 32 bits: as an unsigned number, which pg_locks shows, they last until 2106.
  perform pg_advisory_xact_lock_shared(1129270347, floor(extract(epoch from clock_timestamp()))::bigint::bit(32)::integer);
  return date_trunc('milliseconds', clock_timestamp());
end $$;

-- All that was stamped before this, and ever will be, is visible to the next statement.
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
