-- What the feeds go through. Boards by workspace: the changes of other tenants cost a follower nothing.
drop index boards_feed;
create index boards_feed on boards (workspace_id, updated_at, id);

-- Tombstones of cards are kept for 30 days.
create index card_index_tombstones on card_index (deleted_at) where deleted_at is not null;

-- Set when the purge of a board from the trash begins: it takes several transactions, and a board half gone must not
-- be restored.
alter table board_documents add column purging boolean not null default false;
grant select (purging) on board_documents to corkboard_app;
