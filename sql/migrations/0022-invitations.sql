-- Invitations to a workspace or to one of its boards. functions/people.sql and functions/invitations.sql write what they
-- change. A copy of the table lets nobody in: codes of 256 random bits are stored as SHA-256.
-- Works with: 0017
create table invitations (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces on delete cascade,
  board_id uuid,                       -- null: to the whole workspace
  email text,                          -- only the account with this address may accept. Null: whoever has the link
  role text not null check (role in ('owner', 'editor', 'viewer')), -- owner: transfers the workspace
  history boolean not null default false, -- a board: also its history, from the acceptance on
  hash bytea not null unique,
  invited_by uuid not null references users on delete cascade, -- the invitation is valid while this account owns the workspace
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  expires_at timestamptz not null,
  ended_at timestamptz,                -- accepted or revoked. The row stays for an hour, to count
  foreign key (board_id, workspace_id) references boards (id, workspace_id) on delete cascade,
  check (role <> 'owner' or board_id is null and email is not null)
);
create index invitations_workspace on invitations (workspace_id, created_at, id);
create index invitations_inviter on invitations (invited_by, created_at);
create index invitations_board on invitations (board_id) where board_id is not null;
create policy app_select on invitations for select to corkboard_app
  using (workspace_id in (select owned_workspaces(current_user_id())));
grant select (id, workspace_id, board_id, email, role, history, created_at, expires_at, ended_at) on invitations to corkboard_app;

alter table invitations enable row level security, force row level security;
create policy system on invitations to corkboard_system using (true) with check (true);
grant select, insert, update, delete on invitations to corkboard_system;
