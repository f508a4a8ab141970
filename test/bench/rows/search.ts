import { isDeepStrictEqual } from 'node:util'
import type { Sql } from 'postgres'
import type { Bench, Measure, Row } from '../bench.ts'
import { compare, rowOf } from '../compare.ts'
import type { ApiAddress, ApiRequest } from '../load/jobs.ts'
import { formatNumber } from '../table.ts'
import { withTables } from '../tables.ts'

const fewCards = 1_000
const manyCards = Number(process.env.BENCH_SEARCH_CARDS ?? 1_000_000)
const boards = 500
const requestsPerRun = 300
/** Warm-up until the code of both sides is compiled and each connection has cached its plans. */
const warmUpRequests = 1_500
/** A word in 20 of the first 1,000 cards and in no other card. */
const rareWord = 'quartzite'

/**
 * A search that finds 20 cards. The reference is one statement behind a bare Fastify route (peers/search-handler.ts).
 * Both get requests over HTTP. First the measure checks that their answers are equal.
 */
export const search: Measure = {
  name: 'search',
  summary:
    'a selective search among 1,000,000 cards, against one among 1,000 and against the bare SQL behind a route',
  needsCorkboard: true,
  run: (bench) =>
    withTables(bench, async (sql): Promise<Row[]> => {
      const corkboard = await bench.corkboard()
      const ids = await corkboard.createBoards(boards)
      const bare = await bench.searchHandler()
      await fill(sql, ids, 1, fewCards)
      const few = await searches(bench, corkboard.api, bare.api, fewCards)
      bench.progress(`writing ${formatNumber(manyCards)} cards and their search index`)
      await fill(sql, ids, fewCards + 1, manyCards)
      const many = await searches(bench, corkboard.api, bare.api, manyCards)
      const name = (cards: number) => `selective search, ${formatNumber(cards)} cards`
      const unit = 'ms p50'
      const figure = (p50Ms: number) => p50Ms
      return [
        rowOf({ subject: many.subject, reference: few.subject }, figure, {
          name: name(manyCards),
          unit,
          referenceName: `among ${formatNumber(fewCards)}`,
          target: { atMost: 3 },
        }),
        rowOf(many, figure, {
          name: name(manyCards),
          unit,
          referenceName: 'bare SQL',
          target: { atMost: 1.5 },
        }),
        rowOf(few, figure, {
          name: name(fewCards),
          unit,
          referenceName: 'bare SQL',
          target: { atMost: 1.5 },
        }),
      ]
    }),
}

const path = `/search?kind=card&q=${rareWord}`

async function searches(bench: Bench, corkboard: ApiAddress, bare: ApiAddress, cards: number) {
  await requireSameAnswer(corkboard, bare)
  const p50Ms = async (api: ApiAddress, count: number) => {
    const requests: ApiRequest[] = [{ method: 'GET', path, cards: 0 }]
    return (await bench.load.run('requests', { api, requests, connections: 1, until: { count } })).p50Ms
  }
  for (const api of [corkboard, bare]) await p50Ms(api, warmUpRequests)
  return compare(
    bench,
    `search among ${formatNumber(cards)} cards`,
    { subject: () => p50Ms(corkboard, requestsPerRun), reference: () => p50Ms(bare, requestsPerRun) },
    (ms) => `p50 ${formatNumber(ms)} ms`,
  )
}

async function requireSameAnswer(corkboard: ApiAddress, bare: ApiAddress): Promise<void> {
  const cardsOf = async ({ root, token }: ApiAddress) => {
    const response = await fetch(root + path, { headers: { authorization: `Bearer ${token}` } })
    if (response.status !== 200) throw new Error(`the search answered ${response.status}`)
    return ((await response.json()) as { cards: { items: object[]; has_more: boolean } }).cards
  }
  const [cards, expected] = [await cardsOf(corkboard), await cardsOf(bare)]
  if (expected.items.length !== 20) throw new Error(`the bare SQL finds ${expected.items.length} cards`)
  if (!isDeepStrictEqual(cards.items, expected.items) || cards.has_more !== expected.has_more)
    throw new Error('the search and the bare SQL answer differently')
}

/**
 * The words of 20 in about, of a vocabulary of 20,000, some of them frequent. As the workers would write it, in bulk.
 */
async function fill(sql: Sql, boardIds: string[], from: number, to: number): Promise<void> {
  const index = await sql<{ text: string }[]>`
    select pg_get_indexdef('search_index_keys'::regclass) as text`
  const word = `translate(substr(md5(floor(power(random(), 2) * 20000 + 0 * g)::text), 1, 3 + floor(random() * 6)::integer), '0123456789', 'etaoinshrl')`
  const words = (count: number) =>
    `(select string_agg(${word}, ' ') from generate_series(1, ${count} + 0 * i) as g)`
  await sql.begin(async (tx) => {
    // The indexer uses the same order.
    await tx`lock table search_pending, search_index in access exclusive mode`
    await tx`drop index search_index_keys`
    await tx`alter table card_index disable trigger user`
    await tx`set local role corkboard_system`
    await tx`delete from search_pending`
    await tx.unsafe(
      `insert into card_index (board_id, card_id, workspace_id, kind, title, body, x, y, w, h, z, rotation, hash, position, op, cause, created_at, updated_at)
       select b.id, 'bench' || i, b.workspace_id, 'note', ${words(3)}, ${words(17)} || case when i <= 1000 and i % 50 = 7 then ' ${rareWord}' else '' end,
         0, 0, 280, 180, 0, 0, '', 0, '00000000-0000-4000-8000-000000000000', 'api', now(), now() - (i % 1000000) * interval '1 second'
       from generate_series(${from}, ${to}) as i
       join unnest($1::uuid[]) with ordinality as p(id, at) on p.at = 1 + i % ${boardIds.length}
       join boards b on b.id = p.id`,
      [boardIds],
    )
    await tx`
      insert into search_index (board_id, card_id, workspace_id, title, body, changed_at)
      select board_id, card_id, workspace_id, title, body, updated_at from card_index where card_id like 'bench%'
      on conflict do nothing`
    await tx`reset role`
    await tx`alter table card_index enable trigger user`
    await tx`set local maintenance_work_mem = '512MB'`
    await tx`set local max_parallel_maintenance_workers = 2`
    await tx.unsafe(index[0]!.text)
    await tx`alter index search_index_keys alter column 1 set statistics 0`
  })
  await sql`vacuum analyze search_index`
  await sql`analyze`
}
