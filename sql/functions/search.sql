-- search_hits: the boards (p_cards false), or the cards, that hold all of p_words in their name, or in title and body,
-- and that the caller may see; best first. p_phrase and p_words are folded as the index is (core/fold.ts).
--
-- It belongs to corkboard_system, because under the policies of a request the planner may not use the index of grams:
-- its operator is not leakproof. What the caller may see is said by the predicates of the policies.
--
-- The order is that of the score, then what changed last:
--   7 the title is the phrase   6 begins with it   5 has it at the beginning of a word   4 has it   3 has all words
--   2 the body has the phrase at the beginning of a word   1 has it   0 title and body together have all words
--
-- p_bound matches come from the index of grams, and when there are more, p_bound of those whose title begins with the
-- phrase, and p_bound of those among the newest 10,000 cards: a word that is everywhere costs no more than this.
do $$ begin
  execute format('grant create on schema %I to corkboard_system', 'corkboard');
end $$;

create or replace function search_hits(
  p_cards boolean, p_phrase text, p_words text[], p_workspace uuid, p_bound integer, p_limit integer, p_offset bigint
) returns table (board_id uuid, card_id text)
language plpgsql stable rows 100 security definer set search_path = corkboard, pg_temp
set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  account uuid := current_user_id();
  workspaces uuid[] := array(
    select w from readable_workspaces(account) as w where p_workspace is null or w = p_workspace
  );
  -- Those of other workspaces alone.
  shared uuid[] := array(
    select b.id
    from boards b
    where b.id in (select readable_shared_boards(account))
      and b.workspace_id not in (select readable_workspaces(account))
      and (p_workspace is null or b.workspace_id = p_workspace)
  );
  grams integer[] := query_grams(p_phrase, p_words) || case when p_cards then '{}' else array[hashtext('a board')] end;
  -- What is found, by columns. In two statements: most searches find few, and need no part of the second.
  hit_scores integer[];
  hit_times timestamptz[];
  hit_boards uuid[];
  hit_cards text[];
  several boolean := cardinality(p_words) > 1;
  -- Of each workspace and each board.
  looked_at integer := 10000 / greatest(1, cardinality(workspaces) + cardinality(shared));
  taken integer := greatest(1, p_bound / greatest(1, cardinality(workspaces) + cardinality(shared)));
begin
  with scopes as materialized (
    select w as id, grams || hashtext('workspace ' || w::text) as keys from unnest(workspaces) as w
    union all
    select b, grams || hashtext('board ' || b::text) from unnest(shared) as b
  ), found as materialized (
    select s.board_id, s.card_id, s.title, s.body, s.changed_at
    from scopes
    cross join lateral (
      select x.*
      from search_index x
      where search_keys(x.workspace_id, x.board_id, x.card_id, x.title, x.body) @> scopes.keys
      offset 0
    ) s
    join boards b on b.id = s.board_id and b.deleted_at is null
    where (s.card_id <> '') = p_cards
      and scopes.id in (s.workspace_id, s.board_id)
      and (
        position(p_phrase in s.title) > 0 or position(p_phrase in s.body) > 0
        or several and not exists (
          select from unnest(p_words) as w where position(w in s.title) = 0 and position(w in s.body) = 0
        )
      )
    limit p_bound + 1
  )
  select array_agg(r.score), array_agg(r.changed_at), array_agg(r.board_id), array_agg(r.card_id)
  into hit_scores, hit_times, hit_boards, hit_cards
  from (
    select c.board_id, c.card_id, c.changed_at,
      case
        when c.title = p_phrase then 7
        when starts_with(c.title, p_phrase) then 6
        when position(' ' || p_phrase in c.title) > 0 then 5
        when position(p_phrase in c.title) > 0 then 4
        when several and not exists (select from unnest(p_words) as w where position(w in c.title) = 0) then 3
        when starts_with(c.body, p_phrase) or position(' ' || p_phrase in c.body) > 0 then 2
        when position(p_phrase in c.body) > 0 then 1
        else 0
      end as score
    from found c
  ) r;

  if cardinality(hit_scores) > p_bound then
    select hit_scores || array_agg(r.score), hit_times || array_agg(r.changed_at), hit_boards || array_agg(r.board_id), hit_cards || array_agg(r.card_id)
    into hit_scores, hit_times, hit_boards, hit_cards
    from (
      select c.board_id, c.card_id, c.changed_at,
        case
          when c.title = p_phrase then 7
          when starts_with(c.title, p_phrase) then 6
          when position(' ' || p_phrase in c.title) > 0 then 5
          when position(p_phrase in c.title) > 0 then 4
          when several and not exists (select from unnest(p_words) as w where position(w in c.title) = 0) then 3
          when starts_with(c.body, p_phrase) or position(' ' || p_phrase in c.body) > 0 then 2
          when position(p_phrase in c.body) > 0 then 1
          else 0
        end as score
      from (
        select s.board_id, s.card_id, s.title, s.body, s.changed_at
        from unnest(workspaces) as scope
        cross join lateral (
          select x.*
          from search_index x
          where x.workspace_id = scope
            and left(x.title, 64) >= left(p_phrase, 64) and left(x.title, 64) < left(p_phrase, 64) || chr(1114111)
            and (x.card_id <> '') = p_cards and starts_with(x.title, p_phrase)
          limit taken
        ) s
        union all
        select s.board_id, s.card_id, s.title, s.body, s.changed_at
        from unnest(workspaces) as scope
        cross join lateral (
          select n.*
          from (select x.* from search_index x where x.workspace_id = scope order by x.changed_at desc limit looked_at) n
          where p_cards and n.card_id <> '' and (
            position(p_phrase in n.title) > 0 or position(p_phrase in n.body) > 0
            or several and not exists (
              select from unnest(p_words) as w where position(w in n.title) = 0 and position(w in n.body) = 0
            )
          )
          limit taken
        ) s
        union all
        select s.board_id, s.card_id, s.title, s.body, s.changed_at
        from unnest(shared) as scope
        cross join lateral (
          select n.*
          from (select x.* from search_index x where x.board_id = scope limit looked_at) n
          where p_cards and n.card_id <> '' and (
            position(p_phrase in n.title) > 0 or position(p_phrase in n.body) > 0
            or several and not exists (
              select from unnest(p_words) as w where position(w in n.title) = 0 and position(w in n.body) = 0
            )
          )
          limit taken
        ) s
      ) c
    ) r;
  end if;

  return query
  select r.board_id, r.card_id
  from (
    select distinct h.score, h.changed_at, h.board_id, h.card_id
    from unnest(hit_scores, hit_times, hit_boards, hit_cards) as h(score, changed_at, board_id, card_id)
  ) r
  cross join lateral (
    select from boards b where b.id = r.board_id and b.deleted_at is null offset 0
  ) live_board
  cross join lateral (
    select from card_index c where c.board_id = r.board_id and c.card_id = r.card_id and c.deleted_at is null
    union all
    select where not p_cards
    offset 0
  ) live_card
  order by r.score desc, r.changed_at desc, r.board_id, r.card_id
  limit p_limit offset p_offset;
end $$;

-- Boards that the caller may see and whose words are not all in the index yet; some of them.
create or replace function search_waits(p_workspace uuid) returns setof uuid
language sql stable security definer set search_path = corkboard, pg_temp set enable_seqscan = off as $$
  select distinct p.board_id
  from (
    select board_id, workspace_id from search_pending where workspace_id in (select readable_workspaces(current_user_id()))
    union all
    select board_id, workspace_id from search_pending where board_id in (select readable_shared_boards(current_user_id()))
  ) p
  where p_workspace is null or p.workspace_id = p_workspace
  limit 1000
$$;

do $$
declare
  f text;
begin
  foreach f in array array['search_hits(boolean, text, text[], uuid, integer, integer, bigint)', 'search_waits(uuid)'] loop
    execute format('alter function %s owner to corkboard_system', f);
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to corkboard_app, corkboard_system', f);
  end loop;
end $$;
revoke create on schema corkboard from corkboard_system;
