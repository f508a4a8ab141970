import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Bus } from '../../collab/bus/bus.ts'
import { Hints } from '../../collab/bus/hints.ts'
import { readSigned } from '../../collab/bus/added.ts'
import type { MessageOf, NodeMessage } from '../../collab/bus/messages.ts'
import type { Added } from '../../collab/log/log.ts'
import { openSigning } from '../../platform/secrets/signatures.ts'
import { until, openEditor } from '../support/editor.ts'
import { testSecretKey } from '../support/service.ts'
import { nodesOfFile } from '../support/test-file.ts'

const { here, user } = await nodesOfFile()

const signing = openSigning([testSecretKey], 'messages between nodes')
const update = (byte: number) => Buffer.from([byte])
/** A commit of one update, whose only byte is the position. */
const added = (seq: number): Added => ({
  after: seq - 1,
  head: { seq, indexedSeq: seq, apiClient: 2 ** 33, apiClock: 5, topZ: 1.5, logRows: 1, logBytes: 9 },
  updates: [update(seq)],
})

const tick = () => new Promise<void>((resolve) => process.nextTick(resolve))

test('[NB7] a hint is sent at once after a quiet time, then hints are gathered, the newest of each board', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const sent: NodeMessage[] = []
  const bus = {
    node: randomUUID(),
    pace: { hintMs: 10, awarenessMs: 0, hintBytes: 1000 },
    publish: (message: NodeMessage) => void sent.push(message),
  }
  const hints = new Hints(bus as unknown as Bus, signing)
  hints.add('a', added(1))
  await tick()
  expect(sent).toMatchObject([{ kind: 'hint', boards: [['a', 1]] }])
  hints.add('a', added(2))
  hints.add('b', added(1))
  hints.add('a', added(3))
  vi.advanceTimersByTime(9)
  expect(sent).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(sent.slice(1)).toMatchObject([
    {
      kind: 'hint',
      boards: [
        ['a', 3],
        ['b', 1],
      ],
    },
  ])
  vi.advanceTimersByTime(10)
  hints.add('a', added(4))
  await tick()
  expect(sent).toHaveLength(3)
  hints.stop()
  const carried = sent.map((message) => {
    const { signed } = message as MessageOf<'hint'>
    return Object.fromEntries(readSigned(signing, bus.node, signed!))
  })
  const newest = (seq: number, ...bytes: number[]) => ({
    ...added(seq),
    after: seq - bytes.length,
    updates: bytes.map(update),
  })
  expect(carried).toEqual([{ a: newest(1, 1) }, { a: newest(3, 2, 3), b: newest(1, 1) }, { a: newest(4, 4) }])
})

test('[NB9] a hint carries the updates of commits that follow each other, up to some bytes', async () => {
  const bus = { node: randomUUID(), pace: { hintMs: 60_000, hintBytes: 10 }, publish: () => undefined }
  const hints = new Hints(bus as unknown as Bus, signing)
  onTestFinished(() => hints.stop())
  hints.add('first', added(1)) // sent at once, all others are gathered
  await tick()
  hints.add('gap', added(1))
  hints.add('gap', added(3))
  hints.add('large', { ...added(1), updates: [Buffer.alloc(11)] })
  hints.add('small', added(7))
  expect(hints.replaced('gap', 3)).toBeUndefined()
  expect(hints.replaced('large', 1)).toBeUndefined()
  expect(hints.replaced('small', 6)).toBeUndefined() // a newer one waits
  const signed = hints.replaced('small', 7)!
  expect([...readSigned(signing, bus.node, signed)]).toEqual([['small', added(7)]])
  expect(hints.replaced('small', 7)).toBeUndefined()
})

test('[NB8] a hint of a position that does not exist, late or doubled, holds up no board', async () => {
  const boardId = (await user.api.post('/boards', { name: 'Hints' })).body.board.id as string
  const editor = await openEditor(here.url, { boardId, token: user.token })
  const path = `/boards/${boardId}/cards`
  const from = randomUUID()
  for (const seq of [10 ** 12, 0, 1, 1, 10 ** 12]) {
    const hint = JSON.stringify({ v: 1, kind: 'hint', from, boards: [[boardId, seq]] })
    await here.admin`select pg_notify('corkboard_nodes', ${hint})`
  }
  const transactions = async () =>
    (
      await here.admin<
        { n: number }[]
      >`select xact_commit::int as n from pg_stat_database where datname = current_database()`
    )[0]!.n
  const created = await user.api.post(path, { kind: 'note', x: 0, y: 0 })
  expect(created.status).toBe(201)
  await until(() => editor.cards.size === 1, 'the canvas has the card')
  editor.addCard('later')
  await editor.saved()
  const before = await transactions()
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect((await transactions()) - before).toBeLessThan(400)
})
