/** Large boards that are shown without a document, when the document can't be built, or the database does not answer. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { frame } from '../../collab/log/log.ts'
import { makeBoard, makeCards } from '../api/board.ts'
import { costlyUpdates } from '../support/crafted-updates.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { connectionLost } from '../support/gated-database.ts'
import type { TestService, TestUser } from '../support/service.ts'
import { forFile, gatedServiceOfFile } from '../support/test-file.ts'
import { startService } from '../support/service.ts'

const { service, database, user } = await gatedServiceOfFile()
const startFor = async (options: Parameters<typeof startService>[0]) => {
  const started = await startService(options)
  await forFile(Promise.resolve({ close: () => started.stop() }))
  return { service: started, user: await started.user() }
}
const cardCount = 900
const costly = await startFor({ loading: { maxLoadSteps: 200_000 } })
const short = await startFor({ memory: { totalBytes: 3_000_000 } })

afterEach(leaveAll)

/** A board whose log has more than a megabyte, with an editor who is shown it without a document. */
async function openLarge(
  on: { service: TestService; user: TestUser },
  { reconnect = true, then = async (_id: string): Promise<unknown> => undefined } = {},
) {
  const { id } = await makeBoard(on.user)
  const bodies = Array.from({ length: cardCount }, (_, n) => ({
    title: `Card ${n}`,
    body: `${n} `.repeat(400),
  }))
  const cards = await makeCards(on.user, id, bodies)
  await then(id)
  const editor = await openEditor(on.service.url, { boardId: id, token: on.user.token, reconnect })
  expect(on.service.inMemory(id).map((board) => board.isBuilt)).toEqual([false])
  expect(editor.cards.size).toBe(cardCount)
  return { id, cards, editor }
}

/** As a log may be that was written before updates were metered. */
async function addCostly(boardId: string): Promise<void> {
  const updates = Buffer.concat(frame(costlyUpdates(1500)))
  await costly.service.admin`
    with document as (
      update board_documents set seq = seq + 1, indexed_seq = seq + 1, log_rows = log_rows + 1
      where board_id = ${boardId} returning seq
    )
    insert into board_updates (board_id, seq, updates, actors, created_at)
    select ${boardId}, seq, ${updates}, '{}', now() from document`
}

test('[X123] an edit waits while the log can not be read, and is acknowledged afterwards', async () => {
  const { id, editor } = await openLarge({ service, user })
  database.afterSystem = () => Promise.reject(connectionLost())
  editor.addCard('waits')
  await delay(500)
  expect([editor.provider.unsyncedChanges > 0, editor.closes]).toEqual([true, []])
  database.afterSystem = null
  await editor.saved()
  expect((await user.api.get(`/boards/${id}/cards/waits`)).status).toBe(200)
})

test('[X123] when the document takes too long to build, its canvases are closed, and the edit is not acknowledged', async () => {
  const { id, cards, editor } = await openLarge(costly, { reconnect: false, then: addCostly })
  editor.addCard('late')
  await until(() => editor.closes.length > 0, 'the canvas is closed')
  expect(editor.closes[0]!.code).toBe(1013)
  expect(editor.provider.unsyncedChanges).toBeGreaterThan(0)
  const { api } = costly.user
  const refused = await api.patch(`/boards/${id}/cards/${cards[0]!.id}`, { body: 'x' })
  expect([refused.status, refused.body.code]).toEqual([503, 'session_unavailable'])
  expect(refused.body.error).toContain('too long to open')
  const { id: other } = await makeBoard(costly.user)
  const fine = await openEditor(costly.service.url, { boardId: other, token: costly.user.token })
  fine.addCard('fine')
  await fine.saved()
})

test('[X123] when the document does not fit into memory, its canvases are closed, and what was acknowledged is there', async () => {
  const { id, editor } = await openLarge(short, { reconnect: false })
  editor.addCard('large')
  await until(() => editor.closes.length > 0, 'the canvas is closed')
  expect(editor.closes[0]).toEqual({
    code: 1013,
    reason: 'the open boards of this account take too much memory',
  })
  const again = await openEditor(short.service.url, { boardId: id, token: short.user.token })
  expect(again.cards.size).toBe(cardCount)
})
