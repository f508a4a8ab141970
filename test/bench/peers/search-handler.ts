/**
 * A minimal search of cards: a Fastify route and one statement. Its answer equals that of Corkboard: it uses the same
 * trigram index, and returns cards that the account may read, in the same order, with the same excerpts. It omits
 * authentication (the account is fixed), rate limits, policies, the wait for indexing, and the limit on ranked matches.
 */
import Fastify from 'fastify'
import postgres from 'postgres'
import { excerptOf, foldQuery } from '../../../core/fold.ts'
import { announce } from './announce.ts'

const sql = postgres(process.env.BENCH_DATABASE_URL!, {
  onnotice: () => {},
  connection: { search_path: 'corkboard', role: 'corkboard_system', plan_cache_mode: 'force_generic_plan' },
})
const [account] = await sql<{ id: string }[]>`
  select w.owner_id as id from boards b join workspaces w on w.id = b.workspace_id group by 1 order by count(*) desc limit 1`

interface CardRow {
  id: string
  body: string | null
}

const app = Fastify()
app.get<{ Querystring: { q: string } }>('/search', async (request) => {
  const query = foldQuery(request.query.q)
  const { phrase, words } = query
  const rows = await sql<CardRow[]>`
    with readable as materialized (
      select id from workspaces where owner_id = ${account!.id}
      union
      select workspace_id from workspace_members where user_id = ${account!.id}
    ), matches as (
      select s.*
      from readable r
      join search_index s on search_keys(s.workspace_id, s.board_id, s.card_id, s.title, s.body) @>
        array(select g # hashtext(r.id::text) from unnest(query_grams(${phrase}, ${words}::text[])) as g)
      where s.workspace_id = r.id
      union
      select s.*
      from board_shares g
      join search_index s on search_keys(s.workspace_id, s.board_id, s.card_id, s.title, s.body) @>
        array[hashtext('board ' || g.board_id::text)]
      where g.user_id = ${account!.id}
    )
    select c.card_id as id, c.board_id, c.kind, c.title, c.body, c.updated_at
    from matches s
    join boards b on b.id = s.board_id and b.deleted_at is null
    join card_index c on c.board_id = s.board_id and c.card_id = s.card_id and c.deleted_at is null
    where position(${phrase} in s.title) > 0 or position(${phrase} in s.body) > 0
      or not exists (
        select from unnest(${words}::text[]) as w where position(w in s.title) = 0 and position(w in s.body) = 0
      )
    order by
      case
        when s.title = ${phrase} then 7
        when starts_with(s.title, ${phrase}) then 6
        when position(' ' || ${phrase} in s.title) > 0 then 5
        when position(${phrase} in s.title) > 0 then 4
        when not exists (select from unnest(${words}::text[]) as w where position(w in s.title) = 0) then 3
        when starts_with(s.body, ${phrase}) or position(' ' || ${phrase} in s.body) > 0 then 2
        when position(${phrase} in s.body) > 0 then 1
        else 0
      end desc, s.changed_at desc, s.board_id, s.card_id
    limit 101`
  const items = rows.slice(0, 100).map(({ body, ...card }) => ({
    ...card,
    excerpt: excerptOf(body ?? '', query, 300),
  }))
  return { cards: { items, has_more: rows.length > 100 } }
})

await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server)
