-- Foreign identifiers as rows, for look-up. Boards and cards hold them as JSON; triggers keep these rows equal to it.
grant create on schema corkboard to corkboard_system; -- for the ownership of functions; taken back below

-- Of live boards. One board of a workspace carries an identifier: only writers of the workspace give boards
-- identifiers, and they see all its boards, so that a violation reveals nothing.
create table board_identifiers (
  workspace_id uuid not null,
  scope text collate "C" not null,
  value text collate "C" not null,
  board_id uuid not null references boards on delete cascade,
  primary key (workspace_id, scope, value)
);
create index board_identifiers_board on board_identifiers (board_id);

-- Of live cards in the index. Not unique: an editor can paste a duplicate.
create table card_identifiers (
  board_id uuid not null,
  card_id text collate "C" not null,
  workspace_id uuid not null,
  scope text collate "C" not null,
  value text collate "C" not null,
  primary key (board_id, card_id, scope, value),
  foreign key (board_id, card_id) references card_index on delete cascade
);
-- The workspace before anything else of a row: a common value has rows of many tenants, and a look-up reads its own.
create index card_identifiers_value on card_identifiers (scope, value, workspace_id);
create index card_identifiers_board_value on card_identifiers (board_id, scope, value);

create function boards_insert_identifiers() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  if exists (select from new_rows where identifiers <> '[]') then
    insert into board_identifiers (workspace_id, scope, value, board_id)
    select distinct n.workspace_id, i.scope, i.value, n.id
    from new_rows n
    cross join lateral jsonb_to_recordset(n.identifiers) as i(scope text, value text)
    where n.deleted_at is null;
  end if;
  return null;
end $$;

create function boards_update_identifiers() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  delete from board_identifiers where board_id = new.id;
  if new.deleted_at is null then
    insert into board_identifiers (workspace_id, scope, value, board_id)
    select distinct new.workspace_id, i.scope, i.value, new.id
    from jsonb_to_recordset(new.identifiers) as i(scope text, value text);
  end if;
  return null;
end $$;

-- Most cards carry none, and a commit must not pay for those that do. An index row that only moves on the board keeps
-- its identifiers: what is not in both is written.
create function card_index_identify() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    if not exists (select from new_rows where identifiers <> '[]') then
      return null;
    end if;
    insert into card_identifiers (board_id, card_id, workspace_id, scope, value)
    select distinct n.board_id, n.card_id, n.workspace_id, i.scope, i.value
    from new_rows n
    cross join lateral jsonb_to_recordset(n.identifiers) as i(scope text, value text)
    where n.deleted_at is null and n.identifiers <> '[]';
    return null;
  end if;

  if not exists (select from old_rows where identifiers <> '[]') and not exists (select from new_rows where identifiers <> '[]') then
    return null;
  end if;
  delete from card_identifiers c
  using (
    select o.place
    from (
      select n.board_id, n.card_id, i.scope, i.value
      from old_rows n
      cross join lateral jsonb_to_recordset(n.identifiers) as i(scope text, value text)
      where n.deleted_at is null and n.identifiers <> '[]'
      except
      select n.board_id, n.card_id, i.scope, i.value
      from new_rows n
      cross join lateral jsonb_to_recordset(n.identifiers) as i(scope text, value text)
      where n.deleted_at is null and n.identifiers <> '[]'
    ) gone
    cross join lateral (
      select x.ctid as place
      from card_identifiers x
      where x.board_id = gone.board_id and x.card_id = gone.card_id and x.scope = gone.scope and x.value = gone.value
      offset 0
    ) o
    offset 0
  ) g
  where c.ctid = g.place;
  insert into card_identifiers (board_id, card_id, workspace_id, scope, value)
  select n.board_id, n.card_id, n.workspace_id, i.scope, i.value
  from new_rows n
  cross join lateral jsonb_to_recordset(n.identifiers) as i(scope text, value text)
  where n.deleted_at is null and n.identifiers <> '[]'
  except
  select n.board_id, n.card_id, n.workspace_id, i.scope, i.value
  from old_rows n
  cross join lateral jsonb_to_recordset(n.identifiers) as i(scope text, value text)
  where n.deleted_at is null and n.identifiers <> '[]';
  return null;
end $$;

-- Identifiers belong to the workspace as well: who sees only a part of it could learn from a refusal what the rest carries.
create or replace function boards_guard() returns trigger
language plpgsql set search_path = corkboard, pg_temp as $$
begin
  if (new.parent_board_id is distinct from old.parent_board_id or new.deleted_at is distinct from old.deleted_at
      or new.workspace_id is distinct from old.workspace_id or new.id is distinct from old.id
      or new.identifiers is distinct from old.identifiers)
     and current_user = 'corkboard_app'
     and old.workspace_id not in (select writable_workspaces(current_user_id())) then
    raise exception using errcode = 'insufficient_privilege',
      message = 'only a writer of the workspace moves, deletes, restores or identifies its boards';
  end if;
  return new;
end $$;

-- As lock_board, of many; in the order in which commit_batch goes.
create function lock_boards(p_boards uuid[]) returns void
language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
begin
  perform from board_documents d
  where d.board_id = any (p_boards)
    and (d.workspace_id in (select writable_workspaces(current_user_id()))
         or d.board_id in (select writable_shared_boards(current_user_id())))
  order by d.board_id
  for update;
end $$;

do $$
declare
  t text;
  f text;
begin
  foreach t in array array['board_identifiers', 'card_identifiers'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy system on %I to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %I to corkboard_system', t);
    execute format(
      'create policy app_select on %I for select to corkboard_app
         using (workspace_id in (select readable_workspaces(current_user_id()))
                or board_id in (select readable_shared_boards(current_user_id())))', t);
    execute format('grant select on %I to corkboard_app', t);
  end loop;
  foreach f in array array['boards_insert_identifiers()', 'boards_update_identifiers()', 'card_index_identify()', 'lock_boards(uuid[])'] loop
    execute format('alter function %s owner to corkboard_system', f);
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to corkboard_app, corkboard_system', f);
  end loop;
end $$;

revoke create on schema corkboard from corkboard_system;

-- What was there before; forced policies hide it from the tables' owner. Of two boards that carry the same identifier, the older one keeps it.
set local role corkboard_system;
with carried as (
  select b.id, i.identifier, i.at,
    row_number() over (partition by b.workspace_id, i.identifier order by b.created_at, b.id, i.at) as turn
  from boards b
  cross join lateral jsonb_array_elements(b.identifiers) with ordinality as i(identifier, at)
  where b.deleted_at is null
), kept as (
  select id, coalesce(jsonb_agg(identifier order by at) filter (where turn = 1), '[]') as identifiers
  from carried
  group by id
  having max(turn) > 1
)
update boards b
set identifiers = k.identifiers
from kept k
where b.id = k.id;

insert into board_identifiers (workspace_id, scope, value, board_id)
select b.workspace_id, i.scope, i.value, b.id
from boards b
cross join lateral jsonb_to_recordset(b.identifiers) as i(scope text, value text)
where b.deleted_at is null;

insert into card_identifiers (board_id, card_id, workspace_id, scope, value)
select distinct c.board_id, c.card_id, c.workspace_id, i.scope, i.value
from card_index c
cross join lateral jsonb_to_recordset(c.identifiers) as i(scope text, value text)
where c.deleted_at is null;

reset role;

create trigger boards_insert_identifiers after insert on boards
  referencing new table as new_rows for each statement execute function boards_insert_identifiers();
create trigger boards_update_identifiers after update on boards
  for each row
  when (new.identifiers <> old.identifiers
        or (new.deleted_at is null) <> (old.deleted_at is null) and new.identifiers <> '[]')
  execute function boards_update_identifiers();
create trigger card_index_identify_insert after insert on card_index
  referencing new table as new_rows for each statement execute function card_index_identify();
create trigger card_index_identify_update after update on card_index
  referencing old table as old_rows new table as new_rows for each statement execute function card_index_identify();
