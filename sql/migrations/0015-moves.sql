-- What commit_batch takes besides: writes of two boards that go together, rows of cards that come from another board, and
-- identifiers that no other card of the board may carry; see functions/commit.sql.
alter type commit_item add attribute w integer;
alter type commit_item add attribute claims jsonb;
alter type commit_row add attribute moved_from uuid;
alter type commit_row add attribute was text;
