/** The index and the log when other processes write, or something has damaged the log. */
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { verifyBoard } from '../../collab/log/verify.ts'
import { makeBoard, makeCards } from '../api/board.ts'
import { cloneDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { connectionLost, gatedDatabase } from '../support/gated-database.ts'
import { startService } from '../support/service.ts'

const testDatabase = await cloneDatabase()
const [nearDatabase, farDatabase] = [gatedDatabase(testDatabase.url), gatedDatabase(testDatabase.url)]
const near = await startService({ testDatabase, database: nearDatabase })
const far = await startService({ testDatabase, database: farDatabase })
const user = await near.user()
afterAll(async () => {
  leaveAll()
  await far.stop()
  await near.stop()
  await farDatabase.close()
  await nearDatabase.close()
  await testDatabase.drop()
})

test('[IX5] an edit that another process commits while the board loads gets its index row from whoever flushes', async () => {
  const { id: boardId } = await makeBoard(user)
  const elsewhere = await openEditor(far.url, { boardId, token: user.token })
  nearDatabase.afterSystem = async (result) => {
    // The load has read the log; meanwhile the other process commits an edit, and then never writes its row.
    if (!Array.isArray(result) || !result[0]?.head) return
    nearDatabase.afterSystem = null
    elsewhere.addCard('late')
    await elsewhere.saved()
    farDatabase.hold()
  }
  const editor = await openEditor(near.url, { boardId, token: user.token })
  expect(nearDatabase.afterSystem).toBeNull()
  editor.addCard('own')
  await editor.saved()
  await until(async () => {
    const { body } = await user.api.get(`/boards/${boardId}/cards?source=index`)
    return body.cards.some((card: { id: string }) => card.id === 'own')
  }, 'the index has the own card')
  expect(await verifyBoard(near.database, boardId, { waitMs: 0 })).toEqual([])
  farDatabase.release()
})

test('[IX11] a document that can’t catch up is 503, and does not hang', { timeout: 40_000 }, async () => {
  const { id: boardId } = await makeBoard(user)
  await makeCards(user, boardId, [{ title: 'One' }])
  await openEditor(near.url, { boardId, token: user.token })
  // The log can't be read when another process commits more than a message carries.
  const { callAsSystem } = nearDatabase
  nearDatabase.callAsSystem = (call, pool) =>
    pool === 'follow' ? Promise.reject(connectionLost()) : callAsSystem(call, pool)
  onTestFinished(() => void (nearDatabase.callAsSystem = callAsSystem))
  const elsewhere = await openEditor(far.url, { boardId, token: user.token })
  elsewhere.addCard('two', { title: 'x'.repeat(10_000) })
  await elsewhere.saved()
  const startMs = performance.now()
  const answer = await user.api.get(`/boards/${boardId}/cards`)
  expect([answer.status, answer.body['code']]).toEqual([503, 'session_unavailable'])
  expect(performance.now() - startMs).toBeLessThan(15_000)
})

test('[IX4] a log that is damaged is not compacted, and the log of the service says so', async () => {
  const { admin, compactor } = near
  const damages: [string, (id: string) => Promise<unknown>][] = [
    ['missing', (id) => admin`delete from board_updates where board_id = ${id} and seq = 2`],
    [
      'cut',
      (id) =>
        admin`update board_updates set updates = substring(updates for 20) where board_id = ${id} and seq = 2`,
    ],
    [
      'changed',
      (id) =>
        admin`update board_updates set updates = set_byte(updates, 4, 255) where board_id = ${id} and seq = 2`,
    ],
  ]
  for (const [name, damage] of damages) {
    const { id } = await makeBoard(user)
    for (const title of ['A', 'B', 'C']) await makeCards(user, id, [{ title }])
    await damage(id)
    const log = () => admin`select seq, updates from board_updates where board_id = ${id} order by seq`
    const before = await log()
    await expect(compactor.compact(id), name).rejects.toThrow(/damaged/)
    expect([name, await log()]).toEqual([name, before])
    const [head] = await admin`select snapshot_seq from board_documents where board_id = ${id}`
    expect([name, Number(head!['snapshot_seq'])]).toEqual([name, 0])
  }
})
