-- A node reserves a board for the time in which it builds an item that others overtook (functions/commit.sql).
-- Works with: 0010
alter table board_documents
  add column reserved_by uuid,               -- `node` of the items that may be written
  add column reserved_until timestamptz;
alter type commit_item add attribute node uuid, add attribute reservation text;
