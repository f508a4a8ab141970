/** Logs that take too long to load or to compact: their boards are refused, and other boards do not wait. */
import { afterAll, afterEach, expect, test } from 'vitest'
import { frame } from '../../collab/log/log.ts'
import { makeBoard } from '../api/board.ts'
import { costlyUpdates } from '../support/crafted-updates.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { processFaults } from '../support/process-faults.ts'
import { startService } from '../support/service.ts'

// Its indexes are not verified at the end: what is in these logs can't be held against an index in reasonable time.
const service = await startService({
  debounceMs: 50,
  loading: { maxLoadSteps: 2_000_000, cutMs: 3000 },
  compactMs: 3000,
  compactRows: 20,
})
const user = await service.user()
afterEach(leaveAll)
afterAll(async () => {
  await service.stop()
  expect(processFaults()).toEqual([])
})

/** As a log may be that was written before updates were metered. */
async function writeCostlyLog(boardId: string, count: number): Promise<void> {
  const [base, costly] = costlyUpdates(count)
  await service.admin`
    with document as (
      update board_documents set seq = seq + 1, log_rows = log_rows + 1 where board_id = ${boardId} returning seq
    )
    insert into board_updates (board_id, seq, updates, actors, created_at)
    select ${boardId}, seq, ${Buffer.concat(frame([base, costly]))}, '{}', now() from document`
}

test('[X55] a board whose log takes too long is refused without another attempt, and others open', async () => {
  const { id: boardId } = await makeBoard(user)
  await writeCostlyLog(boardId, 4000)
  const refused = await user.api.patch(`/boards/${boardId}/cards/none`, { title: 'x' })
  expect([refused.status, refused.body.error?.code ?? refused.body.code]).toEqual([
    503,
    'session_unavailable',
  ])
  const again = await user.api.patch(`/boards/${boardId}/cards/none`, { title: 'x' })
  expect(again.status).toBe(503)
  const fine = await openEditor(service.url, { boardId: (await makeBoard(user)).id, token: user.token })
  fine.addCard('fine')
  await fine.saved()
})

test('[X56] a log that takes too long to compact is set aside, and others are compacted', async () => {
  const { id: costly } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: costly, token: user.token })
  await writeCostlyLog(costly, 8000)
  const other = await service.user()
  const { id: plainId } = await makeBoard(other)
  const plain = await openEditor(service.url, { boardId: plainId, token: other.token })
  for (let n = 0; n < 25; n++) {
    editor.addCard(`c${n}`)
    await editor.saved()
  }
  for (let n = 0; n < 25; n++) {
    plain.addCard(`c${n}`)
    await plain.saved()
  }
  await until(
    async () => {
      const [row] = await service.admin`select snapshot_seq from board_documents where board_id = ${plainId}`
      return Number(row!['snapshot_seq']) > 0
    },
    'the other log is compacted',
    30_000,
  )
  const [row] = await service.admin`select snapshot_seq from board_documents where board_id = ${costly}`
  expect(Number(row!['snapshot_seq'])).toBe(0)
})
