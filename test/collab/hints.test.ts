import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Bus } from '../../collab/bus/bus.ts'
import { Hints } from '../../collab/bus/hints.ts'
import type { NodeMessage } from '../../collab/bus/messages.ts'
import { until, openEditor } from '../support/editor.ts'
import { nodesOfFile } from '../support/test-file.ts'

const { here, user } = await nodesOfFile()

const tick = () => new Promise<void>((resolve) => process.nextTick(resolve))

test('[NB7] a hint is sent at once after a quiet time, then hints are gathered, the newest of each board', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const sent: NodeMessage[] = []
  const bus = {
    pace: { hintMs: 10, awarenessMs: 0 },
    publish: (message: NodeMessage) => void sent.push(message),
  }
  const hints = new Hints(bus as unknown as Bus)
  hints.add('a', 1)
  await tick()
  expect(sent).toEqual([{ kind: 'hint', boards: [['a', 1]] }])
  hints.add('a', 2)
  hints.add('b', 1)
  hints.add('a', 3)
  vi.advanceTimersByTime(9)
  expect(sent).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(sent.slice(1)).toEqual([
    {
      kind: 'hint',
      boards: [
        ['a', 3],
        ['b', 1],
      ],
    },
  ])
  vi.advanceTimersByTime(10)
  hints.add('a', 4)
  await tick()
  expect(sent).toHaveLength(3)
  hints.stop()
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
