import type { Sql } from 'postgres'
import { rowOf, type Compared } from '../compare.ts'
import type { Bench, CardServer, Measure, Row } from '../bench.ts'
import type { ApiRequest } from '../load/jobs.ts'
import { formatNumber } from '../table.ts'
import { withTables } from '../tables.ts'

const small = 1_000
const large = { cards: 1_000_000, boards: 100_000 }
const requestsPerRun = 300

/** Cost of a page of a change feed with many rows, compared with few rows. */
export const feeds: Measure = {
  name: 'feeds',
  summary: 'a page of the change feeds among 1,000,000 cards and 100,000 boards',
  needsCorkboard: true,
  run: (bench) =>
    withTables(bench, async (sql) => {
      const corkboard = await bench.corkboard()
      const [few, many] = (await corkboard.createBoards(2)) as [string, string]
      bench.progress(`filling the index of a board with ${formatNumber(large.cards)} cards`)
      await fillCards(sql, few, small)
      await fillCards(sql, many, large.cards)
      bench.progress(`filling a workspace with ${formatNumber(large.boards)} boards`)
      const [littleSpace, largeSpace] = [
        await fillBoards(sql, few, small),
        await fillBoards(sql, few, large.boards),
      ]
      await sql`analyze card_index, boards`
      return [
        await comparePages(
          bench,
          corkboard,
          'cards',
          large.cards,
          cardPage(many, large.cards),
          cardPage(few, small),
        ),
        await comparePages(
          bench,
          corkboard,
          'boards',
          large.boards,
          boardPage(largeSpace, large.boards),
          boardPage(littleSpace, small),
        ),
      ]
    }),
}

async function comparePages(
  bench: Bench,
  corkboard: CardServer,
  what: string,
  count: number,
  first: ApiRequest,
  second: ApiRequest,
): Promise<Row> {
  const compared: Compared<number> = { subject: [], reference: [] }
  for (let run = 0; run < bench.runs; run++) {
    const { firstP50Ms, secondP50Ms } = await bench.load.run('alternate', {
      api: corkboard.api,
      first,
      second,
      count: requestsPerRun,
    })
    compared.subject.push(firstP50Ms)
    compared.reference.push(secondP50Ms)
    bench.progress(
      `feed of ${what}, run ${run + 1} of ${bench.runs}: p50 ${formatNumber(firstP50Ms)} ms of many, ${formatNumber(secondP50Ms)} ms of few`,
    )
  }
  return rowOf(compared, (p50Ms) => p50Ms, {
    name: `feed page of ${what}, ${formatNumber(count)}`,
    unit: 'ms p50',
    referenceName: `of ${formatNumber(small)}`,
    target: { atMost: 1.2 },
  })
}

const start = Date.parse('2026-01-01T00:00:00Z')
const middle = (count: number) => new Date(start + count / 2).toISOString()

const cardPage = (board: string, count: number): ApiRequest => ({
  method: 'GET',
  path: `/boards/${board}/cards?source=index&deleted=1&since=${middle(count)}&limit=100`,
  cards: 0,
})
const boardPage = (workspace: string, count: number): ApiRequest => ({
  method: 'GET',
  path: `/boards?workspace=${workspace}&deleted=1&since=${middle(count)}&limit=100`,
  cards: 0,
})

/** Inserts one card for each millisecond. */
async function fillCards(sql: Sql, board: string, count: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`alter table card_index disable trigger user`
    await tx`
      insert into card_index (board_id, card_id, workspace_id, kind, title, x, y, w, h, z, rotation, hash, position, op, cause, created_at, updated_at)
      select b.id, md5(n::text), b.workspace_id, 'note', 'Card ' || n, 0, 0, 280, 180, n, 0, '', 0, gen_random_uuid(), 'api', t.at, t.at
      from boards b, generate_series(1, ${count}::integer) n,
        lateral (select ${new Date(start)}::timestamptz + n * interval '1 millisecond' as at) t
      where b.id = ${board}`
    await tx`alter table card_index enable trigger user`
  })
}

/** Makes a workspace of the same owner, with one board for each millisecond. */
async function fillBoards(sql: Sql, board: string, count: number): Promise<string> {
  return sql.begin(async (tx) => {
    const [workspace] = await tx<{ id: string }[]>`
      insert into workspaces (name, owner_id)
      select 'Bench', w.owner_id from boards b join workspaces w on w.id = b.workspace_id where b.id = ${board}
      returning id`
    await tx`alter table boards disable trigger user`
    await tx`
      insert into boards (workspace_id, name, created_at, updated_at)
      select ${workspace!.id}, 'Board ' || n, t.at, t.at
      from generate_series(1, ${count}::integer) n,
        lateral (select ${new Date(start)}::timestamptz + n * interval '1 millisecond' as at) t`
    await tx`alter table boards enable trigger user`
    return workspace!.id
  })
}
