-- What the search reads: the words of each live card and the name of each board, folded (core/fold.ts), and an index
-- over their grams. A process fills it from card_index and boards, as `search_pending` says, within a second of a
-- change: an insert of 1,000 cards into the gram index takes 0.4 to 1.8 s, which no commit may wait for.

create table search_index (
  board_id uuid not null,
  card_id text collate "C" not null,   -- '' is the board itself
  workspace_id uuid not null,
  title text collate "C" not null,     -- folded, as the body
  body text collate "C" not null,
  changed_at timestamptz not null,     -- of the words
  primary key (board_id, card_id)
);

-- One row for each board and statement that changed words on it. Rows are only added and taken away, so that no commit
-- waits for the process that works them off; a card is in it with everything from `changed_at`, then `after`, on.
create table search_pending (
  id bigint generated always as identity primary key,
  board_id uuid not null,
  workspace_id uuid not null,
  changed_at timestamptz not null,
  after text collate "C" not null default ''
);
create index search_pending_board on search_pending (board_id);
create index search_pending_workspace on search_pending (workspace_id, board_id);

-- The grams of a text: what stands in it of two characters, and of three without a space. Not distinct; the index is.
-- By characters, whatever the script: pg_trgm has grams for what the locale calls letters alone, and none of two.
create function text_grams(folded text) returns integer[]
language sql immutable parallel safe set search_path = corkboard, pg_temp as $$
  select coalesce(
    array_agg(hashtext(x || y)) || array_agg(hashtext(x || y || z)) filter (where x <> ' ' and y <> ' ' and z <> ' '), '{}'
  )
  from (select string_to_array(folded, null)) as s(c), unnest(c[:cardinality(c) - 1], c[2:], c[3:]) as g(x, y, z)
$$;

-- Where a row belongs is a key like its grams, so that one condition finds what a reader of a workspace or a guest of a
-- board may see, whatever else the table holds.
create function search_keys(workspace uuid, board uuid, card text, title text, body text) returns integer[]
language sql immutable parallel safe set search_path = corkboard, pg_temp as $$
  select text_grams(title || E'\n' || body)
    || hashtext('workspace ' || workspace::text) || hashtext('board ' || board::text)
    || case when card = '' then array[hashtext('a board')] else '{}' end
$$;

-- What a text must have all of to hold these words. Of words of one character alone, the words as they stand together.
create function query_grams(phrase text, words text[]) returns integer[]
language sql immutable parallel safe set search_path = corkboard, pg_temp as $$
  select case when found.keys <> '{}' then found.keys else text_grams(phrase) end
  from (
    select array(
      select distinct k.gram
      from unnest(words) as w(word)
      cross join lateral (
        select hashtext(word) as gram where char_length(word) = 2
        union all
        select hashtext(substr(word, i, 3))
        from generate_series(1, char_length(word) - 2) as i
        where position(' ' in substr(word, i, 3)) = 0
      ) k
    ) as keys
  ) found
$$;

-- The list of what is not yet in the index of grams proper is gone through by each search: short.
create index search_index_keys on search_index
  using gin (search_keys(workspace_id, board_id, card_id, title, body)) with (gin_pending_list_limit = 512);
create index search_index_title on search_index (workspace_id, left(title, 64));
create index search_index_newest on search_index (workspace_id, changed_at desc);
-- The keys of a sample are of no use to the planner, and 100 times the cost of an ordinary column.
alter index search_index_keys alter column 1 set statistics 0;

-- As for events: a kept plan of nested loops over transition tables would go through all old rows for each new one.
create function card_index_search() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp set enable_nestloop = off as $$
begin
  -- A commit's one statement fires both triggers, and mostly has rows for one of them.
  if tg_op <> 'DELETE' then
    if not exists (select from new_rows) then
      return null;
    end if;
  end if;
  if tg_op = 'UPDATE' then
    insert into search_pending (board_id, workspace_id, changed_at)
    select n.board_id, n.workspace_id, min(n.updated_at)
    from new_rows n
    join old_rows o on o.board_id = n.board_id and o.card_id = n.card_id
    where n.title is distinct from o.title or n.body is distinct from o.body
      or (n.deleted_at is null) <> (o.deleted_at is null)
    group by n.board_id, n.workspace_id;
  elsif tg_op = 'INSERT' then
    insert into search_pending (board_id, workspace_id, changed_at)
    select board_id, workspace_id, min(updated_at) from new_rows group by board_id, workspace_id;
  else
    insert into search_pending (board_id, workspace_id, changed_at)
    select board_id, workspace_id, clock_timestamp() from old_rows group by board_id, workspace_id;
  end if;
  return null;
end $$;
create trigger card_index_search_insert after insert on card_index
  referencing new table as new_rows for each statement execute function card_index_search();
create trigger card_index_search_update after update on card_index
  referencing old table as old_rows new table as new_rows for each statement execute function card_index_search();
create trigger card_index_search_delete after delete on card_index
  referencing old table as old_rows for each statement execute function card_index_search();

create function boards_search() returns trigger
language plpgsql security definer set search_path = corkboard, pg_temp as $$
begin
  if tg_op = 'UPDATE' then
    insert into search_pending (board_id, workspace_id, changed_at)
    select n.id, n.workspace_id, n.updated_at
    from new_rows n
    join old_rows o on o.id = n.id
    where n.name <> o.name;
  elsif tg_op = 'INSERT' then
    insert into search_pending (board_id, workspace_id, changed_at)
    select id, workspace_id, updated_at from new_rows;
  else
    insert into search_pending (board_id, workspace_id, changed_at)
    select id, workspace_id, clock_timestamp() from old_rows;
  end if;
  return null;
end $$;
create trigger boards_search_insert after insert on boards
  referencing new table as new_rows for each statement execute function boards_search();
create trigger boards_search_update after update on boards
  referencing old table as old_rows new table as new_rows for each statement execute function boards_search();
create trigger boards_search_delete after delete on boards
  referencing old table as old_rows for each statement execute function boards_search();

grant create on schema corkboard to corkboard_system; -- for the ownership of functions; taken back below
do $$
declare
  t text;
  f text;
begin
  foreach t in array array['search_index', 'search_pending'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy system on %I to corkboard_system using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %I to corkboard_system', t);
  end loop;
  foreach f in array array['card_index_search()', 'boards_search()'] loop
    execute format('alter function %s owner to corkboard_system', f);
  end loop;
  foreach f in array array['card_index_search()', 'boards_search()', 'text_grams(text)', 'query_grams(text, text[])',
                           'search_keys(uuid, uuid, text, text, text)'] loop
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to corkboard_system', f);
  end loop;
end $$;
revoke create on schema corkboard from corkboard_system;

-- What is there already. The migrating role sees no row of a table under forced policies: as the service does.
do $$
declare
  before text := current_setting('role');
begin
  set local role corkboard_system;
  insert into search_pending (board_id, workspace_id, changed_at)
  select id, workspace_id, timestamptz '1970-01-01' from boards;
  perform set_config('role', before, true);
end $$;
