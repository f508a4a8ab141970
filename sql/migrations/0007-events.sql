-- Events, webhooks and their deliveries, and notifications.
--
--   change → trigger → events (the outbox) → webhook_deliveries (the queue, and what succeeded) → webhook_attempts (what failed)
--
-- An event is written by a trigger, in the transaction of its change: it is there exactly when the change is.

-- The outbox. A row is deleted in the transaction that makes its deliveries. Nobody goes by a position in it: a row
-- whose transaction commits late is found when it is there.
create table events (
  id bigint generated always as identity primary key, -- per board in the order of the changes
  type text not null,
  workspace_id uuid not null,
  board_id uuid,
  from_board_id uuid,                  -- of card.moved: where the cards were
  resource_type text not null check (resource_type in ('board', 'image')),
  resource_id text not null,
  data jsonb,                          -- of boards and files
  card_ids text[],                     -- of cards: all of them; in the order of z, id
  op uuid,                             -- the API request or the flush; null for plain SQL and for boards
  origin text not null check (origin in ('api', 'app')),
  occurred_at timestamptz not null     -- whole milliseconds
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_scale_factor = 0.5);
create index events_api on events (id) where origin = 'api';
create index events_app on events (board_id, id) where origin = 'app';
-- One operation on a board is one event of a type, whatever number of statements it takes.
create unique index events_op on events (op, board_id, type, from_board_id) nulls not distinct where op is not null;
alter table events enable row level security, force row level security;
create policy system on events to corkboard_system using (true) with check (true);
grant select, insert, update, delete on events to corkboard_system;

-- Webhooks, and the log of each, are for writers of the workspace. Requests write secrets and never read them.
create table webhooks (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces on delete cascade,
  created_by uuid default current_user_id() references users on delete set null, -- it lives by this account's rights
  url text not null,
  events text[] not null check (cardinality(events) > 0), -- names, or '*'
  name text not null default '',
  active boolean not null default true,
  disabled_reason text,                -- set when the service switched it off
  failures integer not null default 0, -- consecutive, over all its deliveries
  secret bytea not null,               -- encrypted with the key of the configuration
  previous_secret bytea,               -- the one before, which also signs until then
  previous_secret_until timestamptz,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
create index webhooks_workspace on webhooks (workspace_id, created_at, id);
alter table webhooks enable row level security, force row level security;
create policy system on webhooks to corkboard_system using (true) with check (true);
grant select, insert, update, delete on webhooks to corkboard_system;
create policy app_all on webhooks to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())))
  with check (workspace_id in (select writable_workspaces(current_user_id())));
grant select (id, workspace_id, created_by, url, events, name, active, disabled_reason, failures, previous_secret_until, created_at, updated_at)
  on webhooks to corkboard_app;
grant insert (id, workspace_id, url, events, name, secret) on webhooks to corkboard_app;
grant update (url, events, name, active) on webhooks to corkboard_app;
grant delete on webhooks to corkboard_app;
create trigger webhooks_stamp before update on webhooks for each row execute function webhooks_stamp();
create trigger webhooks_enable before update of active on webhooks for each row when (new.active) execute function webhooks_enable();
create trigger webhooks_drop after delete on webhooks
  referencing old table as old_rows for each statement execute function webhooks_drop();

-- Deliveries and their log have no foreign keys. The service alone writes them, each with the row that it belongs to
-- locked: what a foreign key would look up, row by row, is certain. Triggers remove them with their webhook.

-- What deliveries send: one row for each event, whatever number of webhooks gets it.
create table webhook_payloads (
  place bigint generated always as identity primary key, -- per board in the order of the changes
  workspace_id uuid not null,
  event text not null,
  payload text not null,               -- exactly what is sent and signed
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
create index webhook_payloads_age on webhook_payloads using brin (created_at);
alter table webhook_payloads enable row level security, force row level security;
create policy system on webhook_payloads to corkboard_system using (true) with check (true);
grant select, insert, update, delete on webhook_payloads to corkboard_system;
create policy app_select on webhook_payloads for select to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())));
grant select on webhook_payloads to corkboard_app;
grant usage on sequence webhook_payloads_place_seq to corkboard_system;

-- The queue, and the log of what succeeded: one row for each event and webhook, from the moment the event leaves the
-- outbox. `id` is what receivers see, over all attempts. workers/deliveries/delivery.ts has the table of the states.
create table webhook_deliveries (
  id uuid primary key default gen_random_uuid(),
  place bigint not null,               -- of its payload
  webhook_id uuid not null,
  workspace_id uuid not null,
  status text not null default 'waiting' check (status in ('waiting', 'sending', 'succeeded', 'given_up')),
  attempt integer not null default 0,  -- attempts that ended, of the six; a redelivery starts again at 0
  next_attempt_at timestamptz,         -- while it waits
  lease_until timestamptz,             -- while it is being sent; then another process may take it
  fence bigint not null default 0,     -- grows with each claim: who lost the lease changes nothing
  status_code integer,                 -- this and the next two: of the attempt that succeeded
  duration_ms integer,
  attempted_at timestamptz,
  check ((status = 'waiting') = (next_attempt_at is not null)),
  check ((status = 'sending') = (lease_until is not null)),
  check ((status = 'succeeded') = (attempted_at is not null))
);
-- A delivery is written twice, each time into the indexes of its state and into the key: no others.
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at, place) where status = 'waiting';
create index webhook_deliveries_leased on webhook_deliveries (lease_until) where status = 'sending';
create index webhook_deliveries_log on webhook_deliveries (webhook_id, attempted_at, id) where status = 'succeeded';
create index webhook_deliveries_age on webhook_deliveries using brin (place);
alter table webhook_deliveries enable row level security, force row level security;
create policy system on webhook_deliveries to corkboard_system using (true) with check (true);
grant select, insert, update, delete on webhook_deliveries to corkboard_system;
create policy app_select on webhook_deliveries for select to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())));
grant select on webhook_deliveries to corkboard_app;
create trigger webhook_deliveries_drop after delete on webhook_deliveries
  referencing old table as old_rows for each statement execute function webhook_deliveries_drop();

-- The log of all other attempts: those that failed, were interrupted or given up, or decided nothing because the
-- delivery had been queued again.
create table webhook_attempts (
  id uuid primary key default gen_random_uuid(),
  delivery_id uuid not null,
  place bigint not null,               -- of its payload
  webhook_id uuid not null,
  workspace_id uuid not null,
  attempt integer not null,            -- 1 to 6
  attempts_left integer not null,
  -- failed: another attempt follows. given_up: none does; without a duration nothing was sent either
  status text not null check (status in ('succeeded', 'failed', 'given_up')),
  status_code integer,
  duration_ms integer,
  error text,
  attempted_at timestamptz not null
);
create index webhook_attempts_log on webhook_attempts (webhook_id, attempted_at, id);
create index webhook_attempts_delivery on webhook_attempts (delivery_id);
alter table webhook_attempts enable row level security, force row level security;
create policy system on webhook_attempts to corkboard_system using (true) with check (true);
grant select, insert, update, delete on webhook_attempts to corkboard_system;
create policy app_select on webhook_attempts for select to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())));
grant select on webhook_attempts to corkboard_app;

-- What an account is told; one row for each account. Kept for 90 days.
create table notifications (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users on delete cascade,
  workspace_id uuid references workspaces on delete cascade,
  board_id uuid,                       -- may be gone
  type text not null,
  data jsonb not null default '{}',
  created_at timestamptz not null,     -- by stamp()
  read_at timestamptz
);
create index notifications_user on notifications (user_id, created_at, id);
create index notifications_workspace on notifications (workspace_id) where workspace_id is not null;
create index notifications_age on notifications (created_at);
alter table notifications enable row level security, force row level security;
create policy system on notifications to corkboard_system using (true) with check (true);
grant select, insert, update, delete on notifications to corkboard_system;
create policy app_select on notifications for select to corkboard_app using (user_id = current_user_id());
grant select on notifications to corkboard_app;
create trigger notifications_stamp before insert on notifications for each row execute function notifications_stamp();
