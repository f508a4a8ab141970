/** Which node writes the index rows of edits, when several have the board open. */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { verifyBoard } from '../../collab/log/verify.ts'
import { cloneDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import type { CommitCall } from '../../sql/database.ts'
import { gatedDatabase, type GatedDatabase } from '../support/gated-database.ts'
import { startService, type TestService } from '../support/service.ts'

/** A database that records which index rows of editors' cards each commit has written. */
function recording(url: string): GatedDatabase & { written: string[]; sent: string[] } {
  const database = gatedDatabase(url)
  const written: string[] = []
  const sent: string[] = []
  return {
    ...database,
    written,
    sent,
    async commit(call, options) {
      const rows = flushedRows(call)
      sent.push(...rows.map(({ id }) => id))
      const answer = await database.commit(call, options)
      const { items } = answer as { items: [n: number, outcome: string][] }
      written.push(...rows.filter(({ n }) => !items.some(([refused]) => refused === n)).map(({ id }) => id))
      return answer
    },
  }
}

function flushedRows({ items, rows }: CommitCall): { n: number; id: string }[] {
  const sent = JSON.parse(items) as { n: number; kind: string }[]
  const flushes = new Set(sent.flatMap(({ n, kind }) => (kind === 'flush' || kind === 'part' ? n : [])))
  return (
    (JSON.parse(String(rows)) as { n: number; id: string }[] | null)?.filter(({ n }) => flushes.has(n)) ?? []
  )
}

const testDatabase = await cloneDatabase()
const databases = [0, 1, 2].map(() => recording(testDatabase.url))
const nodes: TestService[] = []
for (const database of databases) nodes.push(await startService({ testDatabase, database }))
const user = await nodes[0]!.user()

let boardId: string
let editors: Editor[]

beforeEach(async () => {
  leaveAll()
  boardId = (await user.api.post('/boards', { name: 'Projection' })).body.board.id
  editors = await Promise.all(nodes.map(({ url }) => openEditor(url, { boardId, token: user.token })))
  for (const { written, sent } of databases) written.length = sent.length = 0
})

afterAll(async () => {
  leaveAll()
  for (const node of nodes) await node.stop()
  for (const database of databases) await database.close()
  await testDatabase.drop()
})

async function isWhole(): Promise<boolean> {
  const [head] = await testDatabase.admin`
    select indexed_seq = seq as whole from board_documents where board_id = ${boardId}`
  return Boolean(head!['whole'])
}

const differences = () => verifyBoard(nodes[0]!.database, boardId, { waitMs: 0 })

const outstanding = () => nodes.some(({ live }) => live.documents.find(boardId)?.outstanding)

test('[IX6] the node that took an edit writes its index row; the others that show it write nothing', async () => {
  const [own, ...others] = databases
  for (let n = 0; n < 4; n++) {
    const id = `card-${n}`
    const madeAt = performance.now()
    editors[0]!.addCard(id)
    await until(() => editors[1]!.cards.has(id) && editors[2]!.cards.has(id), 'the others show it')
    await until(isWhole, 'it is indexed')
    const isSlow = performance.now() - madeAt > 2500 // on a busy machine; then others may take it over
    await until(() => !outstanding(), 'no node has anything left to write')
    if (!isSlow) {
      expect(own!.written).toEqual([id])
      for (const { sent } of others) expect(sent).toEqual([])
    }
    for (const { written, sent } of databases) written.length = sent.length = 0
  }
  expect(await differences()).toEqual([])
})

test('[IX8] when the node that took an edit writes nothing more, another that has the board open does within 5 s', async () => {
  editors[0]!.addCard('taken')
  await editors[0]!.saved()
  databases[0]!.hold()
  const heldAt = performance.now()
  await until(() => editors[1]!.cards.has('taken'), 'the others show it')
  await until(isWhole, 'it is indexed by another node', 5000)
  expect(performance.now() - heldAt).toBeGreaterThan(1000)
  expect(await differences()).toEqual([])
  databases[0]!.release()
  await until(() => !outstanding(), 'no node has anything left to write')
  expect(await differences()).toEqual([])
})
