-- A write that names files of other workspaces gives the workspace of its board rows of its own for them, in its commit;
-- see functions/files.sql.
alter type commit_item add attribute files json; -- of a write: {keys, free, pro}, the quotas in bytes

drop function foreign_files(text[]); -- named_files says more
