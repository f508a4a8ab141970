-- The end of access reaches every node with the commit of the change: of memberships, shares and boards as of tokens.
-- Works with: 0010
create trigger workspace_members_ended after update or delete on workspace_members for each row execute function notify_revocation();
create trigger workspaces_transferred after update on workspaces for each row
  when (old.owner_id <> new.owner_id)
  execute function notify_revocation();
create trigger board_shares_ended after update or delete on board_shares for each row execute function notify_revocation();
create trigger boards_ended after update on boards for each row
  when (old.deleted_at is null and new.deleted_at is not null)
  execute function notify_revocation();
