/** What waits for a board's lock goes on when the lock is free. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { makeBoard, makeCard } from '../api/board.ts'
import { until } from '../support/editor.ts'
import { holdLock, lockBoard } from '../support/held-lock.ts'
import { enter } from '../support/raw-client.ts'
import { serviceOfFile } from '../support/test-file.ts'

let ahead = 0
const clock = { now: () => Date.now() + ahead }
const hourMs = 3_600_000
const compactRows = 5
const { service, user } = await serviceOfFile({ nodes: 1, compactRows, clock })

const isWaiting = async (query: string) => {
  const rows = await service.admin`
    select from pg_stat_activity where wait_event_type = 'Lock' and query like ${`%${query}%`}`
  return rows.length > 0
}

test('[X131] an edit that a compaction keeps from its commit goes when the compaction ends', async () => {
  const boardId: string = (await user.api.post('/boards', { name: 'Busy' })).body.board.id
  const editor = await enter(service.url, { boardId, token: user.token })
  const document = new Y.Doc()
  document.on('update', (update: Uint8Array) => editor.update(update))
  const edit = (n: number) => document.getMap('notes').set(`edit ${n}`, n)
  const isSaved = (n: number) => until(() => editor.acknowledgements.length === n, `edit ${n} is saved`)
  const letArchive = await holdLock(
    service.admin,
    (connection) => connection`lock table history_leftovers in access exclusive mode`,
  )
  for (let n = 1; n <= compactRows; n++) {
    edit(n)
    await isSaved(n)
  }
  await until(() => isWaiting('history_leftovers'), 'the log is compacted')
  const unlock = await lockBoard(service.admin, boardId)
  await letArchive()
  await until(() => isWaiting('for update'), 'the compaction waits for the board')
  const { queue } = service.live.documents.find(boardId)!
  const backOff = queue.backOff.bind(queue)
  vi.spyOn(queue, 'backOff').mockImplementation((now) => backOff(now, { firstMs: hourMs, mostMs: hourMs }))
  edit(compactRows + 1)
  await delay(300)
  expect(editor.acknowledgements).toHaveLength(compactRows)
  await unlock()
  await isSaved(compactRows + 1)
})

test('[S21] a clock that is set back holds up no write that waits for its board', async () => {
  const { id } = await makeBoard(user)
  const release = await lockBoard(service.admin, id)
  const writing = makeCard(user, id, {})
  await until(() => service.live.queue.board(id).waitsUntil !== null, 'the board waits')
  ahead = -hourMs
  await release()
  await writing
  ahead = 0
})
