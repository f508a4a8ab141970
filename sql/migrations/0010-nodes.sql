-- A node is alive while a session of its own holds its advisory lock (functions/nodes.sql).
-- Works with no older code
create sequence node_locks as integer cycle;
grant usage on sequence node_locks to corkboard_system;

alter table nodes
  add column lock_number integer,      -- second key of the lock; null for a node of a version without locks
  add column lost_at timestamptz;      -- when another node noticed that the lock is not held any more
