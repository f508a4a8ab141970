/** The least that searches cards: a Fastify route and one query over the index of grams, with no rights and no ranking. */
import Fastify from 'fastify'
import postgres from 'postgres'
import { announce } from './announce.ts'

const sql = postgres(process.env.BENCH_DATABASE_URL!, {
  onnotice: () => {},
  connection: { search_path: 'corkboard', role: 'corkboard_system' },
})

const app = Fastify()
app.get<{ Querystring: { q: string } }>('/search', async (request) => {
  const { q } = request.query
  const cards = await sql`
    select c.card_id as id, c.board_id, c.kind, c.title, left(c.body, 300) as excerpt, c.updated_at
    from search_index s
    join card_index c on c.board_id = s.board_id and c.card_id = s.card_id
    where search_keys(s.workspace_id, s.board_id, s.card_id, s.title, s.body) @> query_grams(${q}, array[${q}])
      and (position(${q} in s.title) > 0 or position(${q} in s.body) > 0)
    order by c.updated_at desc
    limit 101`
  return { cards }
})

await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server)
