-- search returns boards whose name has all of p_words, and cards whose title and body have them, if the account can see them.
-- Boards come first; each kind is ordered by score. p_phrase and p_words are folded like the index (core/fold.ts).
-- A board's row has only its id: the caller reads the board under the policies. A card's row has all its shown fields.
--
-- The function belongs to corkboard_system, because under the policies of a request the planner may not use the index of
-- grams, whose operator is not leakproof. It checks access by the predicates of the policies. The account is a parameter,
-- as in commit_batch, so that a search takes one round trip.
--
-- With p_wait: if visible boards have changes that are not indexed yet, it returns some of these boards as `pending` and
-- nothing else. Their `kind` is `own` when the account owns the workspace, otherwise `other`.
--
-- Results are ordered by score, then by the latest change:
--   7 the title is the phrase   6 begins with it   5 has it at the beginning of a word   4 has it   3 has all words
--   2 the body has the phrase at the beginning of a word   1 has it   0 title and body together have all words
--
-- The index of grams gives at most p_bound matches. If there are more, p_bound titles that begin with the phrase and
-- p_bound matches among the 5 * p_bound newest cards are added. This bounds the cost of a word that is in every card.

create or replace function search(
  p_account uuid, p_boards boolean, p_cards boolean, p_phrase text, p_words text[], p_workspace uuid,
  p_bound integer, p_limit integer, p_offset bigint, p_wait boolean
) returns table (what text, board_id uuid, card_id text, kind text, title text, body text, updated_at timestamptz)
language plpgsql stable rows 100 security definer set search_path = corkboard, pg_temp
set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  workspaces uuid[] := array(
    select w from readable_workspaces(p_account) as w where p_workspace is null or w = p_workspace
  );
  -- Shared boards in workspaces that the account can't read, and these workspaces.
  shared uuid[];
  shared_workspaces uuid[];
  several boolean := cardinality(p_words) > 1;
  grams integer[] := query_grams(p_phrase, p_words);
  of_cards boolean;
  -- Candidates.
  found_boards uuid[];
  found_cards text[];
  -- Limits for each workspace and each shared board.
  looked_at integer;
  taken integer;
begin
  select coalesce(array_agg(b.id), '{}'), coalesce(array_agg(b.workspace_id), '{}')
  into shared, shared_workspaces
  from readable_shared_boards(p_account) as s(id)
  cross join lateral (select b.id, b.workspace_id from boards b where b.id = s.id offset 0) b
  where b.workspace_id <> all (workspaces) and (p_workspace is null or b.workspace_id = p_workspace);
  looked_at := 5 * p_bound / greatest(1, cardinality(workspaces) + cardinality(shared));
  taken := greatest(1, p_bound / greatest(1, cardinality(workspaces) + cardinality(shared)));

  if p_wait then
    return query
    select distinct 'pending', p.board_id, null::text, p.kind, null::text, null::text, null::timestamptz
    from (
      select x.board_id, case when own.id is null then 'other' else 'own' end as kind
      from unnest(workspaces) as scope
      left join owned_workspaces(p_account) as own(id) on own.id = scope
      cross join lateral (select x.board_id from search_pending x where x.workspace_id = scope offset 0) x
      union all
      select x.board_id, 'other'
      from unnest(shared) as scope
      cross join lateral (select x.board_id from search_pending x where x.board_id = scope limit 1) x
    ) p
    limit 1000;
    if found then
      return;
    end if;
  end if;

  foreach of_cards in array array_remove(array[case when p_boards then false end, case when p_cards then true end], null) loop
    with scopes as materialized (
      select p.id, array(select g # hashtext(p.workspace_id::text) from unnest(grams) as g) || p.others
        || case when of_cards then '{}' else array[hashtext('a board') # hashtext(p.workspace_id::text)] end as keys
      from (
        select w as id, w as workspace_id, '{}'::integer[] as others from unnest(workspaces) as w
        union all
        select s.id, s.workspace_id, array[hashtext('board ' || s.id::text)]
        from unnest(shared, shared_workspaces) as s(id, workspace_id)
      ) p
    )
    select array_agg(f.board_id), array_agg(f.card_id)
    into found_boards, found_cards
    from (
      select s.board_id, s.card_id
      from scopes
      cross join lateral (
        select x.*
        from search_index x
        where search_keys(x.workspace_id, x.board_id, x.card_id, x.title, x.body) @> scopes.keys
        offset 0
      ) s
      cross join lateral (select from boards b where b.id = s.board_id and b.deleted_at is null offset 0) live_board
      where (s.card_id <> '') = of_cards
        and scopes.id in (s.workspace_id, s.board_id)
        and (
          position(p_phrase in s.title) > 0 or position(p_phrase in s.body) > 0
          or several and not exists (
            select from unnest(p_words) as w where position(w in s.title) = 0 and position(w in s.body) = 0
          )
        )
      limit p_bound + 1
    ) f;
    continue when found_boards is null;

    -- A separate statement, because most searches find few matches and skip it.
    if cardinality(found_boards) > p_bound then
      select found_boards || array_agg(s.board_id), found_cards || array_agg(s.card_id)
      into found_boards, found_cards
      from (
        select s.board_id, s.card_id
        from unnest(workspaces) as scope
        cross join lateral (
          select x.board_id, x.card_id
          from search_index x
          where x.workspace_id = scope
            and left(x.title, 64) >= left(p_phrase, 64) and left(x.title, 64) < left(p_phrase, 64) || chr(1114111)
            and (x.card_id <> '') = of_cards and starts_with(x.title, p_phrase)
          limit taken
        ) s
        union
        select s.board_id, s.card_id
        from (
          select w as workspace, null::uuid as board from unnest(workspaces) as w
          union all
          select null, b from unnest(shared) as b
        ) scope
        cross join lateral (
          select n.board_id, n.card_id
          from (
            (select x.* from search_index x where x.workspace_id = scope.workspace order by x.changed_at desc limit looked_at)
            union all
            (select x.* from search_index x where x.board_id = scope.board limit looked_at)
          ) n
          where of_cards and n.card_id <> '' and (
            position(p_phrase in n.title) > 0 or position(p_phrase in n.body) > 0
            or several and not exists (
              select from unnest(p_words) as w where position(w in n.title) = 0 and position(w in n.body) = 0
            )
          )
          limit taken
        ) s
      ) s
      cross join lateral (select from boards b where b.id = s.board_id and b.deleted_at is null offset 0) live_board;
    end if;

    return query
    select case when of_cards then 'card' else 'board' end, r.board_id, r.card_id, r.kind, r.title, r.body, r.updated_at
    from (
      select c.*, s.changed_at,
        case
          when s.title = p_phrase then 7
          when starts_with(s.title, p_phrase) then 6
          when position(' ' || p_phrase in s.title) > 0 then 5
          when position(p_phrase in s.title) > 0 then 4
          when several and not exists (select from unnest(p_words) as w where position(w in s.title) = 0) then 3
          when starts_with(s.body, p_phrase) or position(' ' || p_phrase in s.body) > 0 then 2
          when position(p_phrase in s.body) > 0 then 1
          else 0
        end as score
      from (select distinct * from unnest(found_boards, found_cards) as f(board_id, card_id)) f
      cross join lateral (
        select x.title, x.body, x.changed_at
        from search_index x
        where x.board_id = f.board_id and x.card_id = f.card_id
        offset 0
      ) s
      cross join lateral (
        select f.board_id, c.card_id, c.kind, c.title, c.body, c.updated_at
        from card_index c
        where of_cards and c.board_id = f.board_id and c.card_id = f.card_id and c.deleted_at is null
        union all
        select f.board_id, '', null, null, null, null where not of_cards
        offset 0
      ) c
    ) r
    order by r.score desc, r.changed_at desc, r.board_id, r.card_id
    limit p_limit offset p_offset;
  end loop;
end $$;

grant execute on function search to corkboard_app;
