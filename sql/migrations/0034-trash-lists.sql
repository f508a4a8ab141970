-- The trash of a workspace is listed without going through its live boards.
create index boards_trashed on boards (workspace_id, created_at, id) where deleted_at is not null;
