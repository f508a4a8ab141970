-- Events. Triggers write them into the outbox in the transaction of the change: an event exists exactly when its change does.

create or replace function event_origin() returns text
language sql stable set search_path = corkboard, pg_temp as $$
  select case when current_user_id() is null then 'app' else 'api' end
$$;

create or replace function boards_events() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp set enable_nestloop = off as $$
begin
  if tg_op = 'INSERT' then
    insert into events (type, workspace_id, board_id, resource_type, resource_id, data, origin, occurred_at)
    select 'board.created', n.workspace_id, n.id, 'board', n.id,
      jsonb_build_object('name', n.name, 'parent_board_id', n.parent_board_id, 'view', n.view, 'changed', '[]'::jsonb),
      event_origin(), n.updated_at
    from new_rows n;
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

-- A purged board fires no event here: its board.deleted was fired when it went into the trash.
create or replace function boards_removal_events() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  insert into events (type, workspace_id, board_id, resource_type, resource_id, data, origin, occurred_at)
  select 'board.deleted', o.workspace_id, o.id, 'board', o.id,
    jsonb_build_object('name', o.name, 'parent_board_id', o.parent_board_id, 'view', o.view, 'changed', '[]'::jsonb),
    event_origin(), date_trunc('milliseconds', clock_timestamp())
  from old_rows o
  where o.deleted_at is null;
  return null;
end $$;

-- Events of changed cards: one for each type, board and operation. card_index_insert writes those of inserted rows. A row
-- whose `op` stays the same was written by plain SQL, not by a commit. Nested loops are off, because a cached plan may have
-- been made for one row: with 40,000 cards of an editor it would take minutes.
create or replace function card_index_events() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp set enable_nestloop = off as $$
begin
  -- An upsert fires the triggers of insert and of update, and usually has rows for one of them.
  if not exists (select from new_rows) then
    return null;
  end if;
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
          ({{n.card_columns}})
          is distinct from
          ({{o.card_columns}})
        ) then 'card.updated'
      end as type
      offset 0
    ) t
    where t.type is not null
  ) c
  group by c.type, c.workspace_id, c.board_id, c.moved_from, c.op, c.origin
  on conflict (op, board_id, type, from_board_id) where op is not null
  do update set card_ids = e.card_ids || excluded.card_ids;
  return null;
end $$;

create or replace function card_index_removal_events() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  insert into events (type, workspace_id, board_id, resource_type, resource_id, card_ids, origin, occurred_at)
  select 'card.deleted', g.workspace_id, g.board_id, 'board', g.board_id, g.card_ids, event_origin(),
    date_trunc('milliseconds', clock_timestamp())
  from (
    select o.workspace_id, o.board_id, array_agg(o.card_id order by o.z, o.card_id) as card_ids
    from old_rows o
    where o.deleted_at is null
    group by o.workspace_id, o.board_id
  ) g
  -- Cards that are purged with their board fire no event.
  where (select not d.purging from boards b join board_documents d on d.board_id = b.id where b.id = g.board_id);
  return null;
end $$;

create or replace function images_events() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  insert into events (type, workspace_id, board_id, resource_type, resource_id, data, origin, occurred_at)
  select 'image.created', n.workspace_id, n.board_id, 'image', n.image_key,
    jsonb_build_object('bytes', n.bytes, 'width', n.width, 'height', n.height, 'content_type', n.content_type),
    event_origin(), n.created_at
  from new_rows n;
  return null;
end $$;

grant execute on function event_origin to corkboard_app;

-- Tells an account that it got access to a workspace or board, or another role; or, without a role, that its access
-- ended. Only the journal gets these events, because webhooks are those of a workspace.
create or replace function tell_access(account uuid, workspace uuid, board uuid, new_role text) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
declare
  kind text := case when new_role is null then 'access.ended' else 'access.granted' end;
begin
  -- Neither the account nor the workspace is being deleted.
  if not exists (select from users u where u.id = account) or not exists (select from workspaces w where w.id = workspace) then
    return;
  end if;
  insert into event_journal (at, workspace_id, board_id, account_id, type, payload)
  select s.at, workspace, board, account, kind, json_build_object(
    'type', kind,
    'resource', json_build_object('type', case when board is null then 'workspace' else 'board' end, 'id', coalesce(board, workspace)),
    'workspace', json_build_object('id', workspace),
    'board', case when board is not null then json_build_object('id', board) end,
    'data', json_build_object('role', new_role),
    'occurred_at', to_char(s.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  )::text
  from (select stamp() as at offset 0) s;
end $$;

create or replace function tell_member_access() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    perform tell_access(old.user_id, old.workspace_id, null, null);
  elsif tg_op = 'INSERT' or new.role <> old.role then
    perform tell_access(new.user_id, new.workspace_id, null, new.role);
  end if;
  return null;
end $$;

create or replace function tell_owner_access() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  perform tell_access(new.owner_id, new.id, null, 'owner');
  return null;
end $$;

create or replace function tell_share_access() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
declare
  share record;
begin
  if tg_op = 'DELETE' then
    share := old;
  else
    share := new;
  end if;
  if tg_op <> 'UPDATE' or new.role <> old.role then
    perform tell_access(
      share.user_id, (select b.workspace_id from boards b where b.id = share.board_id), share.board_id,
      case when tg_op <> 'DELETE' then share.role end
    );
  end if;
  return null;
end $$;
