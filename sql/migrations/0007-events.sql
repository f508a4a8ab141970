-- Events, webhooks and their deliveries, and notifications.
--
--   change → trigger → events (the outbox) → webhook_deliveries (the queue, and successes) → webhook_attempts (failures)
--
-- A trigger writes an event in the transaction of its change, so the event exists exactly when the change does.

-- The outbox. The transaction that makes an event's deliveries deletes its row. Readers keep no position, so they also find
-- rows whose transactions commit late.
create table events (
  id bigint generated always as identity primary key, -- in the order of the changes of a board
  type text not null,
  workspace_id uuid not null,
  board_id uuid,
  from_board_id uuid,                  -- for card.moved: the source board
  resource_type text not null check (resource_type in ('board', 'image')),
  resource_id text not null,
  data jsonb,                          -- for boards and files
  card_ids text[],                     -- for cards: all ids, in the order of z, id
  op uuid,                             -- the API request or flush; null for plain SQL and for boards
  origin text not null check (origin in ('api', 'app')),
  occurred_at timestamptz not null     -- whole milliseconds
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_scale_factor = 0.5);
create index events_api on events (id) where origin = 'api';
create index events_app on events (board_id, id) where origin = 'app';
-- One operation on a board makes one event of each type, even if it takes several statements.
create unique index events_op on events (op, board_id, type, from_board_id) nulls not distinct where op is not null;

-- Webhooks. Writers of the workspace see them and their logs. Requests write secrets but can't read them.
create table webhooks (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces on delete cascade,
  created_by uuid default current_user_id() references users on delete set null, -- deliveries stop when this account may not write
  url text not null,
  events text[] not null check (cardinality(events) > 0), -- names, or '*'
  name text not null default '',
  active boolean not null default true,
  disabled_reason text,                -- set when the service has switched it off
  failures integer not null default 0, -- failed attempts in a row, over all its deliveries
  secret bytea not null,               -- encrypted with SECRET_KEY
  previous_secret bytea,               -- the secret before it, which also signs until previous_secret_until
  previous_secret_until timestamptz,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
create index webhooks_workspace on webhooks (workspace_id, created_at, id);
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

-- Deliveries and attempts have no foreign keys. Only the service writes them, with the parent row locked, so a check would
-- always succeed. Triggers delete them with their webhook.

-- The bodies of deliveries: one row for each event, also when several webhooks get it.
create table webhook_payloads (
  place bigint generated always as identity primary key, -- in the order of the changes of a board
  workspace_id uuid not null,
  event text not null,
  payload text not null,               -- the exact text that is signed and sent
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
);
create index webhook_payloads_age on webhook_payloads using brin (created_at);
create policy app_select on webhook_payloads for select to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())));
grant select on webhook_payloads to corkboard_app;
grant usage on sequence webhook_payloads_place_seq to corkboard_system;

-- The queue, and the log of successes: one row for each event and webhook, from the moment the event leaves the outbox.
-- Receivers see `id`, which is the same for all attempts. workers/deliveries/delivery.ts lists the states.
create table webhook_deliveries (
  id uuid primary key default gen_random_uuid(),
  place bigint not null,               -- of its payload
  webhook_id uuid not null,
  workspace_id uuid not null,
  status text not null default 'waiting' check (status in ('waiting', 'sending', 'succeeded', 'given_up')),
  attempt integer not null default 0,  -- number of attempts that ended, of six; a redelivery starts at 0 again
  next_attempt_at timestamptz,         -- set while it waits
  lease_until timestamptz,             -- set while it is sent; after this time another process may take it
  fence bigint not null default 0,     -- grows with each claim, so a holder that lost its lease changes nothing
  status_code integer,                 -- this and the next two belong to the successful attempt
  duration_ms integer,
  attempted_at timestamptz,
  check ((status = 'waiting') = (next_attempt_at is not null)),
  check ((status = 'sending') = (lease_until is not null)),
  check ((status = 'succeeded') = (attempted_at is not null))
);
-- Each delivery is written twice, so there are few indexes: the key, and one for each state.
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at, place) where status = 'waiting';
create index webhook_deliveries_leased on webhook_deliveries (lease_until) where status = 'sending';
create index webhook_deliveries_log on webhook_deliveries (webhook_id, attempted_at, id) where status = 'succeeded';
create index webhook_deliveries_age on webhook_deliveries using brin (place);
create policy app_select on webhook_deliveries for select to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())));
grant select on webhook_deliveries to corkboard_app;
create trigger webhook_deliveries_drop after delete on webhook_deliveries
  referencing old table as old_rows for each statement execute function webhook_deliveries_drop();

-- The log of all other attempts: attempts that failed, were interrupted or given up, and attempts without effect because
-- the delivery had been queued again.
create table webhook_attempts (
  id uuid primary key default gen_random_uuid(),
  delivery_id uuid not null,
  place bigint not null,               -- of its payload
  webhook_id uuid not null,
  workspace_id uuid not null,
  attempt integer not null,            -- 1 to 6
  attempts_left integer not null,
  -- failed: another attempt follows. given_up: no other follows; without a duration, nothing was sent
  status text not null check (status in ('succeeded', 'failed', 'given_up')),
  status_code integer,
  duration_ms integer,
  error text,
  attempted_at timestamptz not null
);
create index webhook_attempts_log on webhook_attempts (webhook_id, attempted_at, id);
create index webhook_attempts_delivery on webhook_attempts (delivery_id);
create policy app_select on webhook_attempts for select to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())));
grant select on webhook_attempts to corkboard_app;

-- Notifications, kept for 90 days. An event has one row for each account that it concerns.
create table notifications (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users on delete cascade,
  workspace_id uuid references workspaces on delete cascade,
  board_id uuid,                       -- the board may be deleted
  type text not null,
  data jsonb not null default '{}',
  created_at timestamptz not null,     -- set by stamp()
  read_at timestamptz
);
create index notifications_user on notifications (user_id, created_at, id);
create index notifications_workspace on notifications (workspace_id) where workspace_id is not null;
create index notifications_age on notifications (created_at);
create policy app_select on notifications for select to corkboard_app using (user_id = current_user_id());
grant select on notifications to corkboard_app;
create trigger notifications_stamp before insert on notifications for each row execute function notifications_stamp();
