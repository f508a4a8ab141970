/** What an edit and a write cost when another node has the board open: messages and reads of the log. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Bus } from '../../collab/bus/bus.ts'
import { Hints } from '../../collab/bus/hints.ts'
import { news, tail } from '../../collab/log/log.ts'
import { openSigning } from '../../platform/secrets/signatures.ts'
import { makeBoard } from '../api/board.ts'
import { openEditor, until } from '../support/editor.ts'
import { testSecretKey } from '../support/service.ts'
import { nodesOfFile } from '../support/test-file.ts'

// The test reads the messages on the channel of NOTIFY.
const { here, there, user } = await nodesOfFile({ config: { redisUrl: null } })
const { database } = here.live

async function write(boardId: string, body: string): Promise<void> {
  const written = await user.api.post(`/boards/${boardId}/cards`, { kind: 'note', body, x: 0, y: 0 })
  expect([written.status, written.body.live]).toEqual([201, true])
}

test('[N40] a write of a board that another node has open sends one question and gets one answer, and sends no hint', async () => {
  const { id } = await makeBoard(user)
  const editor = await openEditor(there.url, { boardId: id, token: user.token })
  await until(() => here.live.nodes.isElsewhere(id), 'this node knows it')
  const kinds: string[] = []
  const { unlisten } = await here.admin.listen('corkboard_nodes', (text) => {
    if (text.includes(id)) kinds.push((JSON.parse(text.split('\n')[0]!) as { kind: string }).kind)
  })
  onTestFinished(() => unlisten())
  for (let n = 1; n <= 5; n++) {
    await write(id, `card ${n}`)
    expect(editor.cards.size).toBe(n)
  }
  await here.admin`select pg_notify('corkboard_nodes', ${`{"kind":"end ${id}"}`})`
  await until(() => kinds.includes(`end ${id}`), 'all messages have come')
  expect(kinds.filter((kind) => ['hint', 'show', 'shown'].includes(kind))).toEqual(
    Array.from({ length: 5 }, () => ['show', 'shown']).flat(),
  )
})

test('[N41] a short read of the log finds what a long one finds, or leaves it to that', async () => {
  const { id } = await makeBoard(user)
  for (let n = 1; n <= 40; n++) await write(id, n === 20 ? 'x'.repeat(20_000) : `card ${n}`)
  const last = (await tail(database, id, 0))!.seq
  const short: number[] = []
  const compare = async (from: number) => {
    const [found, whole] = [await news(database, id, from), await tail(database, id, from, 'follow')]
    if (!found) return
    short.push(from)
    expect(whole).toMatchObject(found)
  }
  for (let from = 0; from <= last; from++) await compare(from)
  expect(short).toEqual(Array.from({ length: 21 }, (_, n) => last - 20 + n)) // up to the large row
  await here.admin`delete from board_updates where board_id = ${id} and seq = ${last - 2}`
  expect(await news(database, id, last - 3)).toBeNull()
  expect(await news(database, id, last - 2)).not.toBeNull()
  expect(await news(database, randomUUID(), 0)).toBeNull()
})

test('[N41] a board whose log was merged is read in the long way', async () => {
  const { id } = await makeBoard(user)
  for (let n = 1; n <= 3; n++) await write(id, `card ${n}`)
  await here.compactor.compact(id)
  const { seq, snapshotSeq } = (await tail(database, id, 0))!
  expect(snapshotSeq).toBe(seq)
  expect(await news(database, id, seq - 1)).toBeNull()
  expect(await news(database, id, seq)).toMatchObject({ seq, updates: [] })
})

test('[N42] a hint after a quiet time leaves no timer behind', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const sent: unknown[] = []
  const bus = { pace: { hintMs: 10, awarenessMs: 0 }, publish: (message: unknown) => void sent.push(message) }
  const hints = new Hints(bus as unknown as Bus, openSigning([testSecretKey], 'messages between nodes'))
  const head = { seq: 1, indexedSeq: 1, apiClient: 0, apiClock: 0, topZ: 0, logRows: 1, logBytes: 9 }
  hints.add('a', { after: 0, head, updates: [] })
  await new Promise<void>((resolve) => process.nextTick(resolve))
  expect(sent).toHaveLength(1)
  expect(vi.getTimerCount()).toBe(0)
})
