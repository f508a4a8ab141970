import { compare, rowOf } from '../compare.ts'
import type { Measure, Row } from '../bench.ts'
import type { Throughput } from '../load/jobs.ts'
import { formatNumber } from '../table.ts'
import { withTables } from '../tables.ts'
import { describeThroughput } from './describe.ts'

const waiting = 100_000
const boards = 1000
const connections = 32

/** Cost of API writes while many events of editors on many boards wait in the outbox. None of the events is due. */
export const outbox: Measure = {
  name: 'outbox',
  summary: 'POST of one card with 100,000 events waiting, against an empty outbox',
  needsCorkboard: true,
  run: (bench) =>
    withTables(bench, async (sql): Promise<Row[]> => {
      const corkboard = await bench.corkboard()
      const board = await corkboard.createBoards(1)
      const write = (): Promise<Throughput> =>
        bench.load.run('requests', {
          api: corkboard.api,
          requests: [{ method: 'POST', path: `/boards/${board[0]}/cards`, cards: 1 }],
          connections,
          until: { seconds: bench.seconds },
        })
      const prepare = async (count: number) => {
        await sql.begin(async (tx) => {
          await tx`set local role corkboard_system`
          await tx`delete from events where origin = 'app'`
          await tx`
          with ids as materialized (select array_agg(gen_random_uuid()) as boards from generate_series(1, ${boards}::integer))
          insert into events (type, workspace_id, board_id, resource_type, resource_id, card_ids, op, origin, occurred_at)
          select 'card.updated', ids.boards[1], ids.boards[1 + n % ${boards}::integer], 'board', 'b', array['a', 'b', 'c'],
            gen_random_uuid(), 'app', date_trunc('milliseconds', now() + interval '1 day')
          from ids, generate_series(1, ${count}::integer) n`
        })
        await sql`vacuum (analyze) events` // removes the rows that the bench itself deleted
      }
      const name = `POST of one card, ${formatNumber(waiting)} events waiting`
      const compared = await compare(
        bench,
        name,
        { subject: () => prepare(waiting).then(write), reference: () => prepare(0).then(write) },
        describeThroughput,
      )
      return [
        rowOf(compared, (run) => run.p50Ms, {
          name,
          unit: 'ms p50',
          referenceName: 'an empty outbox',
          target: { atMost: 1.1 },
        }),
      ]
    }),
}
