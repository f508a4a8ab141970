-- Events, webhooks and their deliveries; the tables of files and of notifications.
--
--   change → trigger → events (the outbox) → webhook_deliveries (the queue) → webhook_attempts (the log)
--
-- An event is written by a trigger, in the transaction of its change: it is there exactly when the change is.
grant create on schema corkboard to corkboard_system; -- for the ownership of functions; taken back below

-- A file that was uploaded. Its read rights are those of this row, never of the cards that name it.
create table images (
  image_key text collate "C" primary key,
  workspace_id uuid not null references workspaces,
  board_id uuid,
  content_type text not null,
  bytes bigint check (bytes >= 0),
  width integer,
  height integer,
  file_name text,
  created_by uuid default current_user_id() references users on delete set null,
  created_at timestamptz not null,
  foreign key (board_id, workspace_id) references boards (id, workspace_id) on delete set null (board_id)
);
create index images_workspace on images (workspace_id, created_at, image_key);
create index images_board on images (board_id, created_at, image_key) where board_id is not null;

create function images_stamp() returns trigger
language plpgsql set search_path = corkboard, pg_temp as $$
begin
  new.created_at := stamp();
  return new;
end $$;
create trigger images_stamp before insert on images for each row execute function images_stamp();

-- What an account is told; one row for each account.
create table notifications (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users on delete cascade,
  workspace_id uuid references workspaces on delete cascade,
  board_id uuid,                       -- may be gone
  type text not null,
  data jsonb not null default '{}',
  created_at timestamptz not null,
  read_at timestamptz
);
create index notifications_user on notifications (user_id, created_at, id);
create index notifications_workspace on notifications (workspace_id) where workspace_id is not null;

create function notifications_stamp() returns trigger
language plpgsql set search_path = corkboard, pg_temp as $$
begin
  new.created_at := stamp();
  return new;
end $$;
create trigger notifications_stamp before insert on notifications for each row execute function notifications_stamp();

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

create function webhooks_stamp() returns trigger
language plpgsql set search_path = corkboard, pg_temp as $$
begin
  if (new.url, new.events, new.name, new.active) is distinct from (old.url, old.events, old.name, old.active) then
    new.updated_at := date_trunc('milliseconds', clock_timestamp());
  end if;
  return new;
end $$;
create trigger webhooks_stamp before update on webhooks for each row execute function webhooks_stamp();

-- Whoever switches a webhook on clears its failure state, also when it is on, and answers for it when its creator no
-- longer can.
create function webhooks_enable() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  if not old.active or current_user_id() is not null then
    new.failures := 0;
    new.disabled_reason := null;
  end if;
  if current_user_id() is not null
     and (new.created_by is null or new.workspace_id not in (select writable_workspaces(new.created_by))) then
    new.created_by := current_user_id();
  end if;
  return new;
end $$;
create trigger webhooks_enable before update of active on webhooks for each row when (new.active) execute function webhooks_enable();

-- The queue: one row for each event and webhook. `id` is what receivers see, over all attempts.
create table webhook_deliveries (
  id uuid primary key default gen_random_uuid(),
  place bigint generated always as identity, -- per board in the order of the changes
  webhook_id uuid not null references webhooks on delete cascade,
  workspace_id uuid not null,
  event text not null,
  payload text not null,               -- exactly what is sent and signed
  status text not null default 'waiting' check (status in ('waiting', 'sending', 'succeeded', 'given_up')),
  attempt integer not null default 0,  -- attempts that ended, of the six; a redelivery starts again at 0
  next_attempt_at timestamptz,         -- while it waits
  lease_until timestamptz,             -- while it is being sent; then another process may take it
  fence bigint not null default 0,     -- grows with each claim: who lost the lease changes nothing
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  check ((status = 'waiting') = (next_attempt_at is not null)),
  check ((status = 'sending') = (lease_until is not null))
);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at, place) where status = 'waiting';
create index webhook_deliveries_leased on webhook_deliveries (lease_until) where status = 'sending';
create index webhook_deliveries_log on webhook_deliveries (webhook_id, created_at, id);
create index webhook_deliveries_age on webhook_deliveries (created_at);

-- The log: one row for each attempt. Its payload is that of its delivery.
create table webhook_attempts (
  id uuid primary key default gen_random_uuid(),
  delivery_id uuid not null references webhook_deliveries on delete cascade,
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

-- Where a card came from, in the row that a move makes on its target (cause 'move', the operation's op). The tombstones
-- that it leaves on the sources have cause 'move' too, and fire nothing.
alter table card_index add column moved_from uuid;

-- ---- the triggers

create function event_origin() returns text
language sql stable set search_path = corkboard, pg_temp as $$
  select case when current_user_id() is null then 'app' else 'api' end
$$;

create function boards_events() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp set enable_nestloop = off as $$
begin
  if tg_op = 'INSERT' then
    insert into events (type, workspace_id, board_id, resource_type, resource_id, data, origin, occurred_at)
    select 'board.created', n.workspace_id, n.id, 'board', n.id,
      jsonb_build_object('name', n.name, 'parent_board_id', n.parent_board_id, 'view', n.view, 'changed', '[]'::jsonb),
      event_origin(), n.updated_at
    from new_rows n;
  elsif tg_op = 'DELETE' then
    insert into events (type, workspace_id, board_id, resource_type, resource_id, data, origin, occurred_at)
    select 'board.deleted', o.workspace_id, o.id, 'board', o.id,
      jsonb_build_object('name', o.name, 'parent_board_id', o.parent_board_id, 'view', o.view, 'changed', '[]'::jsonb),
      event_origin(), date_trunc('milliseconds', clock_timestamp())
    from old_rows o;
  else
    insert into events (type, workspace_id, board_id, resource_type, resource_id, data, origin, occurred_at)
    select e.type, n.workspace_id, n.id, 'board', n.id,
      jsonb_build_object('name', n.name, 'parent_board_id', n.parent_board_id, 'view', n.view, 'changed', e.changed),
      event_origin(), n.updated_at
    from new_rows n
    join old_rows o on o.id = n.id
    cross join lateral (
      values
        ('board.updated',
          to_jsonb(array_remove(array[
            case when n.name <> o.name then 'name' end,
            case when n.view <> o.view then 'view' end,
            case when n.parent_board_id is distinct from o.parent_board_id then 'parent_board_id' end
          ], null))),
        ('board.deleted', case when n.deleted_at is not null and o.deleted_at is null then '["deleted"]'::jsonb end),
        ('board.restored', case when n.deleted_at is null and o.deleted_at is not null then '["deleted"]'::jsonb end)
    ) as e(type, changed)
    where jsonb_array_length(e.changed) > 0;
  end if;
  return null;
end $$;
create trigger boards_events_insert after insert on boards
  referencing new table as new_rows for each statement execute function boards_events();
create trigger boards_events_update after update on boards
  referencing old table as old_rows new table as new_rows for each statement execute function boards_events();
create trigger boards_events_delete after delete on boards
  referencing old table as old_rows for each statement execute function boards_events();

-- Card events, one for each type, board and operation. A row that keeps its op was not written by a commit but by plain
-- SQL. A kept plan may date from a statement of one row: nested loops over transition tables would take minutes for an
-- editor's 40,000 cards.
create function card_index_events() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp set enable_nestloop = off as $$
begin
  -- A commit's one statement fires both triggers, and mostly has rows for one of them.
  if tg_op <> 'DELETE' then
    if not exists (select from new_rows) then
      return null;
    end if;
  end if;
  if tg_op = 'INSERT' then
    insert into events as e (type, workspace_id, board_id, from_board_id, resource_type, resource_id, card_ids, op, origin, occurred_at)
    select c.type, c.workspace_id, c.board_id, c.moved_from, 'board', c.board_id,
      array_agg(c.card_id order by c.z, c.card_id), c.op, c.origin, max(c.updated_at)
    from (
      select case when n.cause = 'move' then 'card.moved' else 'card.created' end as type,
        n.workspace_id, n.board_id, case when n.cause = 'move' then n.moved_from end as moved_from, n.card_id, n.z, n.op,
        case when n.cause = 'editor' then 'app' else 'api' end as origin,
        date_trunc('milliseconds', least(n.updated_at, clock_timestamp())) as updated_at
      from new_rows n
      where n.deleted_at is null and n.cause <> 'rebuild'
    ) c
    group by c.type, c.workspace_id, c.board_id, c.moved_from, c.op, c.origin
    on conflict (op, board_id, type, from_board_id) where op is not null
    do update set card_ids = e.card_ids || excluded.card_ids;
  elsif tg_op = 'DELETE' then
    -- With their board goes board.deleted alone.
    insert into events (type, workspace_id, board_id, resource_type, resource_id, card_ids, origin, occurred_at)
    select 'card.deleted', g.workspace_id, g.board_id, 'board', g.board_id, g.card_ids, event_origin(),
      date_trunc('milliseconds', clock_timestamp())
    from (
      select o.workspace_id, o.board_id, array_agg(o.card_id order by o.z, o.card_id) as card_ids
      from old_rows o
      where o.deleted_at is null
      group by o.workspace_id, o.board_id
    ) g
    where (select true from boards b where b.id = g.board_id);
  else
    insert into events as e (type, workspace_id, board_id, from_board_id, resource_type, resource_id, card_ids, op, origin, occurred_at)
    select c.type, c.workspace_id, c.board_id, c.moved_from, 'board', c.board_id,
      array_agg(c.card_id order by c.z, c.card_id), c.op, c.origin, max(c.updated_at)
    from (
      select t.type, n.workspace_id, n.board_id, case when t.type = 'card.moved' then n.moved_from end as moved_from,
        n.card_id, n.z, case when w.committed then n.op end as op,
        case when not w.committed then event_origin() when n.cause = 'editor' then 'app' else 'api' end as origin,
        date_trunc('milliseconds', case when w.committed then least(n.updated_at, clock_timestamp()) else clock_timestamp() end) as updated_at
      from new_rows n
      join old_rows o on o.board_id = n.board_id and o.card_id = n.card_id
      cross join lateral (select n.op <> o.op as committed offset 0) w
      cross join lateral (
        select case
          when w.committed and n.cause = 'rebuild' then null
          when w.committed and n.cause = 'move' then case when n.deleted_at is null then 'card.moved' end
          when n.deleted_at is not null then case when o.deleted_at is null then 'card.deleted' end
          when o.deleted_at is not null then 'card.created'
          when n.hash <> o.hash then 'card.updated'
          when not w.committed and (
            (n.kind, n.title, n.body, n.x, n.y, n.w, n.h, n.z, n.rotation, n.group_id, n.image_key, n.file_key, n.poster_key, n.url, n.identifiers)
            is distinct from
            (o.kind, o.title, o.body, o.x, o.y, o.w, o.h, o.z, o.rotation, o.group_id, o.image_key, o.file_key, o.poster_key, o.url, o.identifiers)
          ) then 'card.updated'
        end as type
        offset 0
      ) t
      where t.type is not null
    ) c
    group by c.type, c.workspace_id, c.board_id, c.moved_from, c.op, c.origin
    on conflict (op, board_id, type, from_board_id) where op is not null
    do update set card_ids = e.card_ids || excluded.card_ids;
  end if;
  return null;
end $$;
create trigger card_index_events_insert after insert on card_index
  referencing new table as new_rows for each statement execute function card_index_events();
create trigger card_index_events_update after update on card_index
  referencing old table as old_rows new table as new_rows for each statement execute function card_index_events();
create trigger card_index_events_delete after delete on card_index
  referencing old table as old_rows for each statement execute function card_index_events();

create function images_events() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  insert into events (type, workspace_id, board_id, resource_type, resource_id, data, origin, occurred_at)
  select 'image.created', n.workspace_id, n.board_id, 'image', n.image_key,
    jsonb_build_object('bytes', n.bytes, 'width', n.width, 'height', n.height, 'content_type', n.content_type),
    event_origin(), n.created_at
  from new_rows n;
  return null;
end $$;
create trigger images_events after insert on images
  referencing new table as new_rows for each statement execute function images_events();

-- ---- what requests may do with the queue, as writers of the webhook's workspace

-- Queues a delivery for one webhook, active or not. Null when the caller has no such webhook.
create function queue_delivery(webhook uuid, event_type text, payload_text text, at timestamptz) returns uuid
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  insert into webhook_deliveries (webhook_id, workspace_id, event, payload, next_attempt_at)
  select w.id, w.workspace_id, event_type, payload_text, at
  from webhooks w
  where w.id = webhook and w.workspace_id in (select writable_workspaces(current_user_id()))
  returning id
$$;

-- Gives a delivery, named by its own id or that of one of its attempts, six new attempts. An attempt that is under way
-- is logged but decides nothing. Null when the caller has no such delivery of this webhook.
create function queue_again(webhook uuid, delivery uuid, at timestamptz) returns uuid
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  update webhook_deliveries d
  set status = 'waiting', attempt = 0, next_attempt_at = at, lease_until = null, fence = d.fence + 1
  where d.webhook_id = webhook
    and d.id = coalesce((select a.delivery_id from webhook_attempts a where a.id = delivery), delivery)
    and d.workspace_id in (select writable_workspaces(current_user_id()))
  returning d.id
$$;

-- The secret so far also signs until then. False when the caller has no such webhook.
create function rotate_webhook_secret(webhook uuid, fresh bytea, until timestamptz) returns boolean
language sql volatile security definer set search_path = corkboard, pg_temp as $$
  with rotated as (
    update webhooks w
    set secret = fresh, previous_secret = w.secret, previous_secret_until = until
    where w.id = webhook and w.workspace_id in (select writable_workspaces(current_user_id()))
    returning w.id
  )
  select exists (select from rotated)
$$;

-- ---- rights

do $$
declare
  t text;
  f text;
begin
  foreach t in array array['images', 'notifications', 'events', 'webhooks', 'webhook_deliveries', 'webhook_attempts'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy system on %I to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %I to corkboard_system', t);
  end loop;
  foreach f in array array['boards_events()', 'card_index_events()', 'images_events()', 'webhooks_enable()',
                           'queue_delivery(uuid, text, text, timestamptz)', 'queue_again(uuid, uuid, timestamptz)',
                           'rotate_webhook_secret(uuid, bytea, timestamptz)'] loop
    execute format('alter function %s owner to corkboard_system', f);
  end loop;
  foreach f in array array['boards_events()', 'card_index_events()', 'images_events()', 'webhooks_enable()', 'webhooks_stamp()', 'images_stamp()',
                           'notifications_stamp()', 'event_origin()', 'queue_delivery(uuid, text, text, timestamptz)',
                           'queue_again(uuid, uuid, timestamptz)', 'rotate_webhook_secret(uuid, bytea, timestamptz)'] loop
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to corkboard_app, corkboard_system', f);
  end loop;
end $$;
revoke create on schema corkboard from corkboard_system;

create policy app_select on images for select to corkboard_app
  using (workspace_id in (select readable_workspaces(current_user_id())) or board_id in (select readable_shared_boards(current_user_id())));
create policy app_insert on images for insert to corkboard_app
  with check (
    created_by = current_user_id()
    and (workspace_id in (select writable_workspaces(current_user_id())) or board_id in (select writable_shared_boards(current_user_id())))
  );
grant select on images to corkboard_app;
grant insert (image_key, workspace_id, board_id, content_type, bytes, width, height, file_name) on images to corkboard_app;

create policy app_select on notifications for select to corkboard_app using (user_id = current_user_id());
grant select on notifications to corkboard_app;

-- Webhooks and their log are for writers of the workspace. Secrets are written by requests, never read.
create policy app_all on webhooks to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())))
  with check (workspace_id in (select writable_workspaces(current_user_id())));
grant select (id, workspace_id, created_by, url, events, name, active, disabled_reason, failures, previous_secret_until, created_at, updated_at)
  on webhooks to corkboard_app;
grant insert (id, workspace_id, url, events, name, secret) on webhooks to corkboard_app;
grant update (url, events, name, active) on webhooks to corkboard_app;
grant delete on webhooks to corkboard_app;

create policy app_select on webhook_deliveries for select to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())));
grant select on webhook_deliveries to corkboard_app;

create policy app_select on webhook_attempts for select to corkboard_app
  using (workspace_id in (select writable_workspaces(current_user_id())));
grant select on webhook_attempts to corkboard_app;
