-- What fills the search index: the grams of texts, and the triggers that say which boards have new words.

-- The grams of a text: what stands in it of two characters, and of three without a space. Not distinct; the index is.
-- By characters, whatever the script: pg_trgm has grams for what the locale calls letters alone, and none of two.
-- `salt` makes them those of one workspace.
create or replace function text_grams(folded text, salt integer) returns integer[]
language sql immutable parallel safe set search_path = corkboard, pg_temp as $$
  select coalesce(
    array_agg(hashtext(x || y) # salt) || array_agg(hashtext(x || y || z) # salt) filter (where x <> ' ' and y <> ' ' and z <> ' '),
    '{}'
  )
  from (select string_to_array(folded, null)) as s(c), unnest(c[:cardinality(c) - 1], c[2:], c[3:]) as g(x, y, z)
$$;

create or replace function search_keys(workspace uuid, board uuid, card text, title text, body text) returns integer[]
language sql immutable parallel safe set search_path = corkboard, pg_temp as $$
  select text_grams(title || E'\n' || body, hashtext(workspace::text))
    || hashtext('board ' || board::text) -- for its guests
    || case when card = '' then array[hashtext('a board') # hashtext(workspace::text)] else '{}' end
$$;

-- What a text must have all of to hold these words, without salt. Of words of one character alone, the words as they
-- stand together. A loop: as a query it took 0.2 ms, a fifth of a search.
create or replace function query_grams(phrase text, words text[]) returns integer[]
language plpgsql immutable parallel safe set search_path = corkboard, pg_temp as $$
declare
  word text;
  gram text;
  grams integer[] := '{}';
begin
  foreach word in array words loop
    if char_length(word) = 2 then
      grams := grams || hashtext(word);
    end if;
    for i in 1 .. char_length(word) - 2 loop
      gram := substr(word, i, 3);
      if position(' ' in gram) = 0 then
        grams := grams || hashtext(gram);
      end if;
    end loop;
  end loop;
  return case when grams <> '{}' then grams else text_grams(phrase, 0) end;
end $$;

-- As for events: a kept plan of nested loops over transition tables would go through all old rows for each new one.
create or replace function card_index_search() returns trigger
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

create or replace function boards_search() returns trigger
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
