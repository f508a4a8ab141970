/** Nodes that lose their lock in the database, or the way to it. */
import { expect, onTestFinished, test } from 'vitest'
import { locks } from '../../sql/locks.ts'
import { cloneDatabase } from '../support/database.ts'
import { openEditor, until } from '../support/editor.ts'
import { startService, type TestService } from '../support/service.ts'
import { swallowingProxy } from '../support/swallowing-proxy.ts'
import { forFile } from '../support/test-file.ts'

const testDatabase = await cloneDatabase()
await forFile(Promise.resolve({ close: () => testDatabase.drop() }))
const here = await startService({ testDatabase })
await forFile(Promise.resolve({ close: () => here.stop() }))
const user = await here.user()

const newBoard = async (): Promise<string> =>
  (await user.api.post('/boards', { name: 'Nodes' })).body.board.id

const writes = (boardId: string) => async (): Promise<boolean> =>
  (await user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: 0, y: 0 })).body.live

/** Ends the session that holds the node's lock. */
const endSession = ({ live }: TestService) => testDatabase.admin`
  select pg_terminate_backend(l.pid)
  from pg_locks l
  join nodes n on n.lock_number = l.objid::bigint
  where l.locktype = 'advisory' and l.classid = ${locks.node} and n.node_id = ${live.nodes.id}`

async function startThere(url: string): Promise<TestService> {
  const there = await startService({ testDatabase: { ...testDatabase, url } })
  onTestFinished(() => there.stop())
  return there
}

test('[NO3] a node that has lost its lock closes its canvases within two seconds, and opens them when it has it again', async () => {
  const there = await startThere(testDatabase.url)
  const boardId = await newBoard()
  const write = writes(boardId)
  const editor = await openEditor(there.url, { boardId, token: user.token })
  expect(await write()).toBe(true)
  await endSession(there)
  await until(() => editor.closes.length > 0, 'the canvas is closed', 2000)
  expect(editor.closes[0]!.code).toBe(1013)
  expect(there.live.nodes.isSeating).toBe(false)
  const late = await openEditor(there.url, { boardId, token: user.token, expectRefusal: true })
  expect(late.closes[0]?.code).toBe(1013)
  await until(() => there.live.nodes.isSeating, 'it has its lock again')
  await until(() => editor.provider.isSynced && late.provider.isSynced, 'the canvases are open again')
  await until(write, '`live` is true again')
  expect([editor.cards.size, late.cards.size]).toEqual([editor.cards.size, editor.cards.size])
}, 60_000)

test('[NO15] a node without its lock is not ready, and says why, until it holds the lock again', async () => {
  const there = await startThere(testDatabase.url)
  const ready = async () => {
    const answer = await fetch(`${there.url}/readyz`)
    return { status: answer.status, body: await answer.json() }
  }
  expect(await ready()).toMatchObject({ status: 200, body: { status: 'ready' } })
  await endSession(there)
  await until(async () => (await ready()).status === 503, 'it is not ready')
  expect(await ready()).toMatchObject({
    status: 503,
    body: { status: 'not ready', database: 'ok', lock: expect.stringContaining('lost') },
  })
  await until(async () => (await ready()).status === 200, 'it is ready again')
  expect(there.live.nodes.isSeating).toBe(true)
}, 60_000)

test('[NO3] all nodes do so when PostgreSQL restarts', async () => {
  const there = await startThere(testDatabase.url)
  const boardId = await newBoard()
  const write = writes(boardId)
  const editors = [
    await openEditor(here.url, { boardId, token: user.token }),
    await openEditor(there.url, { boardId, token: user.token }),
  ]
  await testDatabase.admin`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database() and application_name = 'corkboard'`
  await until(() => editors.every(({ closes }) => closes.length > 0), 'the canvases are closed', 2000)
  expect(editors.map(({ closes }) => closes[0]!.code)).toEqual([1013, 1013])
  await until(() => editors.every(({ provider }) => provider.isSynced), 'the canvases are open again')
  await until(write, '`live` is true again')
  const size = Math.max(...editors.map(({ cards }) => cards.size))
  await until(() => editors.every(({ cards }) => cards.size === size), 'both have the cards')
}, 60_000)

test('[NO4] a node that is cut off closes its canvases before the server ends its lock; meanwhile `live` is false', async () => {
  const proxy = await swallowingProxy(Number(new URL(testDatabase.url).port))
  onTestFinished(() => proxy.stop())
  const there = await startThere(proxy.through(testDatabase.url))
  const boardId = await newBoard()
  const write = writes(boardId)
  const editor = await openEditor(there.url, { boardId, token: user.token })
  proxy.silenceAll()
  const cutAt = performance.now()
  // With a Redis the node can still tell when it has no canvas any more.
  while (editor.closes.length === 0 && performance.now() - cutAt < 10_000)
    expect((await write()) && there.live.nodes.open.has(boardId)).toBe(false)
  expect(editor.closes.map(({ code }) => code)).toContain(1013)
  expect(performance.now() - cutAt).toBeLessThan(10_000)
  expect(there.live.nodes.isSeating).toBe(false)
  proxy.relay()
  await until(() => there.live.nodes.isSeating && editor.provider.isSynced, 'it is back', 20_000)
  await until(write, '`live` is true again')
  await until(() => editor.cards.size > 0, 'the canvas has what was written meanwhile')
}, 90_000)

test('[NO5] slow requests of a node stop neither its canvases, nor its heartbeat, nor its answers', async () => {
  const there = await startThere(testDatabase.url)
  const boardId = await newBoard()
  const write = writes(boardId)
  const editor = await openEditor(there.url, { boardId, token: user.token })
  const reads = Array.from({ length: 40 }, () =>
    there.database.asSystem((tx) => tx`select pg_sleep(2)`).catch(() => undefined),
  )
  const took: number[] = []
  for (let n = 1; n <= 20; n++) {
    const began = performance.now()
    expect(await write()).toBe(true)
    await until(() => editor.cards.size === n, 'the canvas has the card', 1000)
    took.push(performance.now() - began)
  }
  await Promise.all(reads)
}, 60_000)
