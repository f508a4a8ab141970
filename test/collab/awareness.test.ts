import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import * as decoding from 'lib0/decoding'
import { openEditor, until } from '../support/editor.ts'
import { awarenessFrame, enter, frame, type, type RawClient } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({
  bounds: {
    awarenessTickMs: 400,
    crowdSockets: 4,
    awarenessRate: { perSecond: 5, burst: 20 },
    maxBoardStateBytes: 40_000,
    renewWithinMs: 2000,
    keepAliveMs: 900,
  },
})

afterEach(() => everybodyGone(service))

const newBoard = async (): Promise<string> =>
  (await user.api.post('/boards', { name: 'Crowd' })).body.board.id

const entry = (client: number, clock: number, value: unknown) => ({
  client,
  clock,
  state: JSON.stringify(value),
})

type Seen = Map<number, unknown>

/** A state as its client sent it. */
function withoutStamp(state: Record<string, unknown> | null): unknown {
  if (!state) return null
  const { account: _account, readOnly: _readOnly, agent: _agent, ...own } = state
  return own
}

/** The states that each frame brought; frames of nobody left out. */
const framesOf = (client: RawClient): Seen[] =>
  client
    .received(type.awareness)
    .map(({ content }) => {
      const decoder = decoding.createDecoder(decoding.readVarUint8Array(decoding.createDecoder(content)))
      const seen: Seen = new Map()
      for (let left = decoding.readVarUint(decoder); left > 0; left--) {
        const id = decoding.readVarUint(decoder)
        decoding.readVarUint(decoder)
        seen.set(id, withoutStamp(JSON.parse(decoding.readVarString(decoder))))
      }
      return seen
    })
    .filter((seen) => seen.size > 0)

test('[X70] the states of a tick go out as one frame, of each client the newest; the first one goes at once', async () => {
  const boardId = await newBoard()
  const watcher = await enter(service.url, { boardId, token: user.token })
  const one = await enter(service.url, { boardId, token: user.token })
  const two = await enter(service.url, { boardId, token: user.token })
  one.send(awarenessFrame(boardId, [entry(1, 1, { at: 0 })]))
  await until(() => framesOf(watcher).length === 1, 'the first one', 10_000)
  for (let n = 1; n <= 4; n++) {
    one.send(awarenessFrame(boardId, [entry(1, 1 + n, { at: n })]))
    two.send(awarenessFrame(boardId, [entry(2, n, { at: n })]))
  }
  await until(() => framesOf(watcher).some((seen) => seen.has(2)), 'the next tick')
  expect(framesOf(watcher)).toEqual([
    new Map([[1, { at: 0 }]]),
    new Map([
      [1, { at: 4 }],
      [2, { at: 4 }],
    ]),
  ])
  expect(framesOf(one).at(0)?.has(2)).toBe(true) // what it says itself is no news to it
})

test('[X128] a board with many sockets gets its frames half as often', async () => {
  const boardId = await newBoard()
  const frames = async (): Promise<number> => {
    const watcher = await enter(service.url, { boardId, token: user.token })
    const mover = await enter(service.url, { boardId, token: user.token })
    for (let n = 1; n <= 40; n++) {
      mover.send(awarenessFrame(boardId, [entry(1, (clock += 1), { at: clock })]))
      await delay(100)
    }
    return framesOf(watcher).length
  }
  let clock = 0
  const few = await frames()
  for (let n = 1; n <= 2; n++) await enter(service.url, { boardId, token: user.token })
  const many = await frames()
  expect(many).toBeLessThanOrEqual(7) // 4 s in steps of 0.8 s, one at once
  expect(few).toBeGreaterThan(many)
})

test('[AW18] who joins, or asks, gets all states in one frame', async () => {
  const boardId = await newBoard()
  const one = await enter(service.url, { boardId, token: user.token })
  one.send(
    awarenessFrame(boardId, [entry(1, 1, { name: 'One' }), entry(2, 1, { name: 'Two' }), entry(3, 1, {})]),
  )
  await until(() => service.counts().states === 3, 'they are there')
  const all = new Map<number, unknown>([
    [1, { name: 'One' }],
    [2, { name: 'Two' }],
    [3, {}],
  ])
  const late = await enter(service.url, { boardId, token: user.token })
  await until(() => framesOf(late).length > 0, 'all states')
  expect(framesOf(late)[0]).toEqual(all)
  const before = framesOf(one).length
  one.send(frame(boardId, type.queryAwareness))
  await until(() => framesOf(one).length > before, 'an answer')
  expect(framesOf(one).at(-1)).toEqual(all)
  one.send(awarenessFrame(boardId, [entry(2, 2, null)]))
  await until(() => framesOf(late).some((seen) => seen.get(2) === null), 'one of them is taken back')
})

test('[X71] above its account’s rate the newest state is kept and sent later; edits on the socket pass it', async () => {
  const boardId = await newBoard()
  const other = await service.user()
  await service.share(boardId, other, 'editor')
  const watcher = await openEditor(service.url, { boardId, token: user.token })
  const loud = await openEditor(service.url, { boardId, token: other.token })
  const seen = () => watcher.provider.awareness!.getStates().get(loud.document.clientID)?.['at']
  for (let n = 1; n <= 200; n++) loud.provider.setAwarenessField('at', n)
  loud.addCard('edited')
  await loud.saved()
  expect(seen()).not.toBe(200)
  await until(() => seen() === 200, 'the newest comes')
  loud.leave()
  await until(() => seen() === undefined, 'it has left')
})

test('[X73] bytes that are no JSON in UTF-8 reach nobody, and close their sender', async () => {
  const boardId = await newBoard()
  const watcher = await openEditor(service.url, { boardId, token: user.token })
  for (const bad of ['{"a":"\u0001"}', '"', '{"a":"Q"}', '\ufeff{}']) {
    const client = await enter(service.url, { boardId, token: user.token })
    const bytes = awarenessFrame(boardId, [{ client: 7, clock: 1, state: bad }])
    const at = bytes.indexOf('Q'.charCodeAt(0))
    if (at >= 0 && bad.includes('Q')) bytes[at] = 0xff
    client.send(bytes)
    expect([bad, await client.untilClosed()]).toEqual([bad, 4400])
  }
  expect(watcher.provider.awareness!.getStates().has(7)).toBe(false)
  expect(watcher.closes).toEqual([])
})

test('[X72] a state that is not renewed in time is gone, and a board keeps a bounded number of bytes', async () => {
  const boardId = await newBoard()
  const watcher = await enter(service.url, { boardId, token: user.token })
  const silent = await enter(service.url, { boardId, token: user.token })
  const large = 'x'.repeat(15_000)
  silent.send(
    awarenessFrame(
      boardId,
      [1, 2, 3].map((client) => entry(client, 1, { large })),
    ),
  )
  await until(() => service.counts().states === 2, 'two of three have room')
  await until(() => framesOf(watcher).some((seen) => seen.get(1) === null), 'the first is gone')
  await until(() => service.counts().states === 0, 'both are gone')
  expect(silent.closed).toBeNull()
})
