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

const textOf = (client: { received(type: number): { content: Uint8Array }[] }): string =>
  client
    .received(type.awareness)
    .map(({ content }) => Buffer.from(content).toString())
    .join()
