import { afterEach, expect, test, vi } from 'vitest'
import { until } from '../support/editor.ts'
import { awarenessFrame, enter, type } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile()

afterEach(async () => {
  vi.restoreAllMocks()
  await everybodyGone(service)
})

const state = (clock: number, value: object) => ({ client: 7, clock, state: JSON.stringify(value) })

test('[X102] awareness that nobody else sees sets no timer, and who joins gets its newest state', async () => {
  const boardId: string = (await user.api.post('/boards', { name: 'Alone' })).body.board.id
  const one = await enter(service.url, { boardId, token: user.token })
  const timers = vi.spyOn(globalThis, 'setTimeout')
  for (let n = 1; n <= 50; n++) one.send(awarenessFrame(boardId, [state(n, { at: n })]))
  one.update(new Uint8Array([0, 0])) // its acknowledgement follows the reading of all of them
  await until(() => one.acknowledgements.length === 1, 'all are read')
  const ticks = timers.mock.calls.filter(([work]) => String(work).includes('tick(room)'))
  expect(ticks).toEqual([])
  timers.mockRestore()
  const other = await enter(service.url, { boardId, token: user.token })
  await until(() => textOf(other).includes('"at":50'), 'it has the newest')
  one.send(awarenessFrame(boardId, [state(51, { at: 51 })]))
  await until(() => textOf(other).includes('"at":51'), 'and the next one')
})

test('[X104] states that are only renewed go out together within 4 s', async () => {
  const boardId: string = (await user.api.post('/boards', { name: 'Renewed' })).body.board.id
  const one = await enter(service.url, { boardId, token: user.token })
  const other = await enter(service.url, { boardId, token: user.token })
  const framesOf = () => other.received(type.awareness).length
  one.send(awarenessFrame(boardId, [state(1, { at: 1 })]))
  await until(() => textOf(other).includes('"at":1'), 'it is shown')
  const before = framesOf()
  const sentAt = performance.now()
  for (let clock = 2; clock <= 5; clock++) one.send(awarenessFrame(boardId, [state(clock, { at: 1 })]))
  await until(() => framesOf() > before, 'the renewals come')
  expect(performance.now() - sentAt).toBeGreaterThan(2000)
  expect(framesOf()).toBe(before + 1)
  // They go along with a change.
  one.send(awarenessFrame(boardId, [state(6, { at: 1 })]))
  one.send(awarenessFrame(boardId, [state(7, { at: 2 })]))
  await until(() => textOf(other).includes('"at":2'), 'the change comes', 1500)
})

const textOf = (client: { received(type: number): { content: Uint8Array }[] }): string =>
  client
    .received(type.awareness)
    .map(({ content }) => Buffer.from(content).toString())
    .join()
