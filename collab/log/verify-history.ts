/** Verifies that the segments of a board's history follow each other up to the snapshot. */
import type { Database } from '../../sql/database.ts'
import type { Difference } from './difference.ts'

interface Span {
  from_seq: number
  to_seq: number
  based: boolean
}

/**
 * A segment may begin anywhere when it has a base: history begins anew after the retention, or after a cut by an older
 * version.
 */
export async function verifyHistory(database: Database, boardId: string): Promise<Difference[]> {
  const spans = await database.asSystem(
    (tx) => tx<Span[]>`
      select h.from_seq, h.to_seq, h.base_key is not null as based from board_history h where h.board_id = ${boardId}
      union all
      select d.snapshot_seq + 1, d.snapshot_seq + 1, false from board_documents d
      where d.board_id = ${boardId} and exists (select from board_history h where h.board_id = d.board_id)
      order by from_seq`,
  )
  let expected = 1
  return spans.flatMap(({ from_seq, to_seq, based }): Difference[] => {
    const [before, isRight] = [expected, from_seq === expected || (based && from_seq > expected)]
    expected = to_seq + 1
    const fault = from_seq < before ? 'extra' : 'missing'
    return isRight ? [] : [{ boardId, what: 'history', id: `${before}-${from_seq}`, fault, detail: '' }]
  })
}
