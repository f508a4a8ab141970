-- Live lists: how many people are on each board, and events for one account alone.
-- Works with: 0017

-- The accounts of people with the board open on a canvas of the node, as of its last heartbeat. Null: not known.
alter table open_boards add column people uuid[];

-- Set: only this account is told, as of what it may open. `type` is then one of accessEvents in core/events.ts.
alter table event_journal add column account_id uuid references users on delete cascade;
create index event_journal_account on event_journal (account_id) where account_id is not null;

create trigger workspace_members_told after insert or update or delete on workspace_members
  for each row execute function tell_member_access();
create trigger workspaces_told after update on workspaces for each row
  when (old.owner_id <> new.owner_id)
  execute function tell_owner_access();
create trigger board_shares_told after insert or update or delete on board_shares
  for each row execute function tell_share_access();
