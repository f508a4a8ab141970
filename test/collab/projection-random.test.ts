/**
 * Random edits, API writes and flushes on three nodes, whose commits wait or lose their answers.
 * `ROUNDS=200 SEED=7 npm test -- test/collab/projection-random.test.ts` for more.
 */
import { afterAll, expect, test } from 'vitest'
import { verifyBoard } from '../../collab/log/verify.ts'
import { Random } from '../crash/random.ts'
import { cloneDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { connectionLost, gatedDatabase } from '../support/gated-database.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'

const rounds = Number(process.env['ROUNDS'] ?? 20)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

const testDatabase = await cloneDatabase()
const databases = [0, 1, 2].map(() => gatedDatabase(testDatabase.url))
const nodes: TestService[] = []
for (const database of databases) nodes.push(await startService({ testDatabase, database, debounceMs: 60 }))
const user = await nodes[0]!.user()

afterAll(async () => {
  leaveAll()
  for (const node of nodes) await node.stop()
  for (const database of databases) await database.close()
  await testDatabase.drop()
})

test(
  `[IX10] after each of ${rounds} rounds (SEED=${seed}) an index that is complete by its position equals the document, and it becomes complete`,
  { timeout: 60_000 + rounds * 5000 },
  async () => {
    const random = new Random(seed)
    const boardId = (await user.api.post('/boards', { name: 'Random' })).body.board.id
    const at = nodes.map((node, n) => ({ node, database: databases[n]! }))
    const places = await Promise.all(
      at.map(async ({ node, database }) => ({
        database,
        queue: node.live.queue,
        editor: await openEditor(node.url, { boardId, token: user.token }),
        api: new ApiClient(node.url, user.token),
      })),
    )
    const cards = Array.from({ length: 12 }, (_, n) => `card-${n}`)
    const writes = new Set<Promise<unknown>>()
    const step = () => {
      const { database, queue, editor, api } = random.pick(places)
      const id = random.pick(cards)
      const kind = random.next()
      if (kind < 0.5) {
        if (!editor.cards.has(id)) editor.addCard(id)
        else if (random.chance(0.2)) editor.cards.delete(id)
        else editor.cards.get(id)!.set('x', random.between(0, 1000))
      } else if (kind < 0.65) {
        const write = random.chance(0.5)
          ? api.patch(`/boards/${boardId}/cards/${id}`, { title: `T ${random.between(0, 1000)}` })
          : api.post(`/boards/${boardId}/cards`, { kind: 'note', x: 0, y: 0 })
        writes.add(write.finally(() => writes.delete(write)))
      } else if (kind < 0.8) void queue.flush(boardId)
      else if (kind < 0.87) database.hold()
      else if (kind < 0.94) database.release()
      else if (kind < 0.97) database.next(() => Promise.reject(connectionLost()))
      else
        database.next(async (call, commit) => {
          await commit(call)
          throw connectionLost()
        })
    }
    const differences = () => verifyBoard(nodes[0]!.database, boardId, { waitMs: 0 })
    for (let round = 0; round < rounds; round++) {
      for (let n = random.between(5, 40); n > 0; n--) {
        step()
        if (random.chance(0.5)) await new Promise((resolve) => setTimeout(resolve, random.between(0, 60)))
      }
      for (const { database } of places) database.release()
      await Promise.all([...writes, ...places.map(({ editor }) => editor.saved(30_000))])
      const found = await differences()
      if (!found.some(({ fault }) => fault === 'behind')) expect(found).toEqual([])
      if (random.chance(0.2))
        await until(async () => (await differences()).length === 0, 'the index is complete', 30_000)
    }
    await until(async () => (await differences()).length === 0, 'the index is complete', 30_000)
    const outstanding = () => nodes.some(({ live }) => live.documents.find(boardId)?.outstanding)
    await until(() => !outstanding(), 'no node has anything left to write', 30_000)
    expect(await differences()).toEqual([])
  },
)
