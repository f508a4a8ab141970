/** A process that stops: first it says so, then it closes what is open. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { closeSpread } from '../../collab/gateway/close-spread.ts'
import { findEmbedded } from '../../sql/embedded/embedded.ts'
import { makeBoard } from '../api/board.ts'
import { cloneDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import { freePort } from '../support/free-port.ts'
import { ApiClient } from '../support/http.ts'
import { startInstance, testDataDir, type Instance } from '../support/instance.ts'
import { startService, testSecretKey } from '../support/service.ts'

const runsFor = { timeout: 90_000 }

const ready = async ({ url }: { url: string }) => {
  const answer = await fetch(`${url}/readyz`)
  return { status: answer.status, body: (await answer.json()) as { status: string } }
}

test('[O57] a service that has stopped leaves no document and no timer in its process', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timers()
  const service = await startService({ nodes: 1 })
  const user = await service.user()
  const { id } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  editor.addCard('c', { kind: 'note', title: 'typed' })
  await editor.saved()
  leaveAll()
  const [board] = service.inMemory(id)
  expect(board!.document.isDestroyed).toBe(false)
  await service.stop()
  expect(board!.document.isDestroyed).toBe(true)
  expect(service.inMemory(id)).toEqual([])
  await until(() => timers() <= before, 'no timer of it is left')
})

test(
  '[CG4] before a stop readyz says 503 while all is served; then sockets are closed, and what was acknowledged is stored',
  runsFor,
  async () => {
    const testDatabase = await cloneDatabase()
    const right = await startService({ testDatabase })
    onTestFinished(async () => {
      leaveAll()
      await right.stop()
      await testDatabase.drop()
    })
    const user = await right.user()
    const board = await makeBoard(user)
    const leaving = await startInstance(await testDataDir(), {
      DATABASE_URL: testDatabase.url,
      SECRET_KEY: testSecretKey,
      DRAIN_SECONDS: '6',
    })
    const api = new ApiClient(leaving.url, user.token)
    const open = () => openEditor(leaving.url, { boardId: board.id, token: user.token, reconnect: false })
    const before = await open()
    leaving.signal('SIGTERM')
    const since = performance.now()
    await until(async () => (await ready(leaving)).status === 503, 'readyz says 503')
    expect((await ready(leaving)).body).toEqual({ status: 'stopping' })
    const during = await open()
    before.addCard('before')
    during.addCard('during')
    expect(
      (await api.post(`/boards/${board.id}/cards`, { id: 'api', kind: 'note', x: 0, y: 0 })).status,
    ).toBe(201)
    await Promise.all([before.saved(), during.saved()])
    expect(before.closes).toEqual([])
    await until(() => [before, during].every(({ closes }) => closes.length > 0), 'the sockets are closed')
    expect(performance.now() - since).toBeGreaterThan(5900)
    for (const { closes } of [before, during]) expect(closes[0]).toMatchObject({ code: 1012 })
    const { code, stderr } = await leaving.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { body } = await user.api.get(`/boards/${board.id}/cards`)
    expect(body.cards.map(({ id }: { id: string }) => id)).toEqual(
      expect.arrayContaining(['before', 'during']),
    )
    expect(body.cards).toHaveLength(3)
  },
)

test('[CG5] 50 sockets are closed at once, ten thousand over five seconds, and more in no longer time', async () => {
  const run = async (count: number, withinMs: number) => {
    const times: number[] = []
    const begun = performance.now()
    const close = (code: number) => {
      expect(code).toBe(1012)
      times.push(performance.now() - begun)
    }
    await closeSpread(
      Array.from({ length: count }, () => ({ close })),
      { atOnce: 50, pauseMs: 5, withinMs },
    )
    return times
  }
  const few = await run(50, 5000)
  expect(few).toHaveLength(50)
  expect(few.at(-1)).toBeLessThan(50)
  const some = await run(90, 5000)
  expect(some.at(-1)).toBeGreaterThan(190)
  const many = await run(10_050, 1000)
  expect(many).toHaveLength(10_050)
  expect(many.at(-1)).toBeGreaterThan(990)
  for (const quarter of [1, 2, 3]) {
    const closed = many.filter((at) => at < quarter * 250).length - 50
    expect(closed).toBeLessThan(quarter * 2500 + 1)
  }
})

test('[CG5, CG6] editors that are not closed yet go on, and stock editors come back to what the others did', async () => {
  const testDatabase = await cloneDatabase()
  const options = { testDatabase, config: { port: await freePort() } }
  const closing = { atOnce: 1, pauseMs: 300, withinMs: 5000 }
  const before = await startService({ ...options, bounds: { closing } })
  const user = await before.user()
  const board = await makeBoard(user)
  const editors: Editor[] = []
  for (let n = 0; n < 4; n++)
    editors.push(await openEditor(before.url, { boardId: board.id, token: user.token }))
  const last = editors.at(-1)!
  const stopped = before.stop()
  await until(() => editors[0]!.closes.length > 0, 'the first is closed')
  last.addCard('late')
  await last.saved()
  expect(last.closes).toEqual([])
  await stopped
  for (const { closes } of editors) expect(closes[0]).toMatchObject({ code: 1012 })
  const [first] = editors
  first!.addCard('offline')
  const after = await startService(options)
  onTestFinished(async () => {
    leaveAll()
    await after.stop()
    await testDatabase.drop()
  })
  for (const editor of editors)
    await until(
      () => editor.provider.isSynced && ['late', 'offline'].every((id) => editor.cards.has(id)),
      'the editor is back',
    )
  await first!.saved()
})

test('[CG12] a request whose end arrives while the service closes is answered', runsFor, async () => {
  const testDatabase = await cloneDatabase()
  onTestFinished(() => testDatabase.drop())
  const service = await startService({ testDatabase })
  const user = await service.user()
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(`GET /api/v1 HTTP/1.1\r\nhost: ${hostname}\r\n`) // its answer has the service's address
  await fetch(`${service.url}/healthz`) // the server has read what came before
  const stopped = service.stop()
  await until(() => !service.app.server.listening, 'it closes')
  socket.write(`authorization: Bearer ${user.token}\r\n\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString().split('\r\n')[0]).toBe('HTTP/1.1 200 OK')
  await stopped
})

test(
  '[CG7] a second signal ends the process at once; one that npm passes on as well counts once',
  runsFor,
  async () => {
    const stopping = async (instance: Instance) => {
      await until(async () => (await ready(instance)).status === 503, 'readyz says 503')
    }
    const dataDir = await testDataDir()
    const patient = await startInstance(dataDir, { DRAIN_SECONDS: '60' })
    patient.signal('SIGTERM')
    await stopping(patient)
    await delay(500)
    const since = performance.now()
    patient.signal('SIGTERM')
    expect((await patient.ended).code).toBe(143)
    expect(performance.now() - since).toBeLessThan(10_000)
    await until(async () => (await findEmbedded(dataDir)) === null, 'PostgreSQL has ended')

    const twice = await startInstance(dataDir, { DRAIN_SECONDS: '1' })
    twice.signal('SIGINT')
    twice.signal('SIGINT')
    const { code, stderr } = await twice.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) })
  },
)
