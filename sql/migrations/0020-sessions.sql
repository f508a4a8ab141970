-- Sessions for the users of a product that is built on this service. A session has no row: its token carries its rights and
-- a signature (api/sessions). functions/sessions.sql decides on them.
-- Works with: 0015

-- The users of sessions. Each is an account that nobody signs in as, like a service account; users has its name. It has no
-- rights of its own: all rights are those of a session.
create table session_users (
  id uuid primary key references users on delete cascade, -- the account that it acts as
  workspace_id uuid not null references workspaces on delete cascade,
  external_id text collate "C" not null check (char_length(external_id) between 1 and 200), -- the product's id of the user
  color text,
  avatar_url text,
  minted_by uuid not null,             -- the account that minted its latest session
  live_until timestamptz not null,     -- when the last of its sessions expires
  unique (workspace_id, external_id)
);
create index session_users_live on session_users (workspace_id, live_until);
create trigger forget_rate_counter after delete on session_users for each row execute function forget_rate_counter();

-- Sessions that ended early: those of a user, those that open a board, or those to which both applies, that were issued
-- before this time.
create table ended_sessions (
  workspace_id uuid not null references workspaces on delete cascade,
  external_id text collate "C",
  board_id uuid,
  ended_at timestamptz not null,
  check (external_id is not null or board_id is not null),
  unique nulls not distinct (workspace_id, external_id, board_id)
);
create index ended_sessions_age on ended_sessions (ended_at);
create trigger sessions_ended after insert or update on ended_sessions for each row execute function notify_revocation();

-- From when on a user of sessions sees the history of a board, or of a workspace.
create table session_history (
  user_id uuid not null references session_users on delete cascade,
  place_id uuid not null,              -- the board, or the workspace
  since timestamptz not null,
  primary key (user_id, place_id)
);

do $$
declare
  t regclass;
begin
  foreach t in array array['session_users', 'ended_sessions', 'session_history']::regclass[] loop
    execute format('alter table %s enable row level security, force row level security', t);
    execute format('create policy system on %s to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %s to corkboard_system', t);
  end loop;

  -- No session reaches these, whatever workspace it opens.
  foreach t in array array[
    'webhooks', 'webhook_deliveries', 'webhook_payloads', 'service_accounts', 'tokens', 'board_history'
  ]::regclass[] loop
    execute format('create policy no_session on %s as restrictive to corkboard_app using ((select not in_session()))', t);
  end loop;
end $$;

alter type commit_item add attribute session jsonb;

create trigger tokens_bound before insert on tokens for each row
  when (new.grant_id is null)
  execute function bound_live_tokens();
