/** Metrics on two nodes: `here` serves them behind a token, `there` on a port of its own. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { closeCodes } from '../../core/errors.ts'
import { locks } from '../../sql/locks.ts'
import { makeBoard } from '../api/board.ts'
import { png, upload } from '../api/file.ts'
import { openEditor, until } from '../support/editor.ts'
import { openEvents } from '../support/event-client.ts'
import { openList } from '../support/list-client.ts'
import { holdLock } from '../support/held-lock.ts'
import { repository } from '../support/instance.ts'
import type { Scrape } from '../support/metrics.ts'
import { startService } from '../support/service.ts'
import { spin } from '../support/worker-tasks.ts'
import {
  metricsToken,
  metricsPort,
  testDatabase,
  proxy,
  here,
  user,
  board,
  there,
  scrapeHere,
  scrapeThere,
  open,
  write,
  leave,
  startThere,
  hookTo,
  fillThreads,
  waitForLock,
  costlyUpdate,
  hangUp,
} from './metrics-scene.ts'

type Undo = (() => unknown) | void

interface Move {
  metric: string
  labels?: Record<string, string>
  /** Makes the metric grow. Returns what ends it. */
  act(): Promise<Undo> | Undo
  /** The node that tells of it. */
  from?: () => Promise<Scrape>
}

const moves: Move[] = [
  { metric: 'corkboard_sockets', act: async () => leave(await open()) },
  {
    metric: 'corkboard_sockets_unauthenticated',
    act() {
      const socket = new WebSocket(`${here.homeUrl.replace('http', 'ws')}/collab`)
      return () => socket.terminate()
    },
  },
  {
    metric: 'corkboard_event_streams',
    async act() {
      const stream = await openEvents(here.homeUrl, user)
      return () => stream.cut()
    },
  },
  {
    metric: 'corkboard_lists',
    async act() {
      const list = await openList(here.homeUrl, { name: 'account', token: user.token })
      return () => list.leave()
    },
  },
  { metric: 'corkboard_socket_closes_total', act: async () => (await open()).leave() },
  {
    metric: 'corkboard_socket_closes_total',
    labels: { code: '4403' },
    async act() {
      const editor = await open()
      here.gateway.closeBoard(board.id, closeCodes.forbidden)
      return leave(editor)
    },
  },
  {
    metric: 'corkboard_documents',
    async act() {
      const { id } = await makeBoard(user)
      return leave(await openEditor(here.homeUrl, { boardId: id, token: user.token }))
    },
  },
  {
    metric: 'corkboard_documents_bytes',
    async act() {
      await write({ body: 'long '.repeat(1000) })
      here.live.documents.sweep()
    },
  },
  {
    metric: 'corkboard_documents_memory_bytes',
    async act() {
      await write({ body: 'long '.repeat(1000) })
      here.live.documents.sweep()
    },
  },
  {
    metric: 'corkboard_log_rows',
    async act() {
      for (let n = 0; n < 10; n++) await write()
      here.live.documents.sweep()
    },
  },
  {
    metric: 'corkboard_index_lag_seconds',
    async act() {
      const editor = await open()
      editor.addCard(crypto.randomUUID())
      await until(() => here.live.documents.find(board.id)!.indexLagMs > 0, 'the edit is here')
      here.live.documents.sweep()
      return leave(editor)
    },
  },
  { metric: 'corkboard_commit_duration_seconds', labels: { result: 'committed' }, act: () => void write() },
  { metric: 'corkboard_commit_size_bytes', act: () => void write() },
  {
    metric: 'corkboard_ack_lag_seconds',
    async act() {
      const editor = await open()
      editor.addCard(crypto.randomUUID())
      await editor.saved()
      return leave(editor)
    },
  },
  { metric: 'corkboard_commit_queue_bytes', act: waitForLock },
  { metric: 'corkboard_commit_queue_writes', act: waitForLock },
  { metric: 'corkboard_update_queue_bytes', act: costlyUpdate },
  {
    metric: 'corkboard_awareness_frames_total',
    labels: { direction: 'received' },
    async act() {
      const editor = await open()
      editor.provider.setAwarenessField('cursor', { x: 1 })
      return leave(editor)
    },
  },
  {
    metric: 'corkboard_awareness_frames_total',
    labels: { direction: 'sent' },
    async act() {
      const editors = [await open(), await open()]
      for (const [x, { provider }] of editors.entries()) provider.setAwarenessField('cursor', { x })
      return () => editors.forEach((editor) => editor.leave())
    },
  },
  { metric: 'corkboard_live_false_total', labels: { reason: 'unread' }, act: hangUp },
  {
    metric: 'corkboard_database_wait_seconds',
    labels: { pool: 'request' },
    act: () => void user.api.get('/boards'),
  },
  {
    metric: 'corkboard_storage_call_duration_seconds',
    labels: { call: 'put', result: 'done' },
    async act() {
      expect((await upload(here, user, board.id, png)).status).toBe(201)
    },
  },
  { metric: 'corkboard_deliveries_total', labels: { result: 'succeeded' }, act: () => hookTo(200) },
  { metric: 'corkboard_deliveries_total', labels: { result: 'failed' }, act: () => hookTo(500) },
  { metric: 'corkboard_delivery_duration_seconds', act: () => hookTo(200) },
  { metric: 'corkboard_queue_running', labels: { queue: 'deliveries' }, act: () => hookTo(null) },
  { metric: 'corkboard_queue_running', labels: { queue: 'threads' }, act: () => fillThreads(1) },
  { metric: 'corkboard_queue_waiting', labels: { queue: 'threads' }, act: () => fillThreads(2) },
  { metric: 'corkboard_queue_refused_total', labels: { queue: 'threads' }, act: () => fillThreads(200) },
  {
    metric: 'corkboard_http_request_duration_seconds',
    labels: { method: 'GET', route: '/api/v1/boards/:id', status: '200' },
    act: () => void user.api.get(`/boards/${board.id}`),
  },
  {
    metric: 'corkboard_http_request_duration_seconds',
    labels: { route: 'unknown', status: '404' },
    act: () => void fetch(`${here.homeUrl}/${crypto.randomUUID()}`),
  },
  {
    metric: 'corkboard_search_set_aside_total',
    async act() {
      await here.admin`alter table search_index add constraint poison check (title <> 'poison')`
      await write({ title: 'poison' })
      return () => here.admin`alter table search_index drop constraint poison`
    },
  },
  { metric: 'corkboard_loop_stalls_total', act: () => void spin(400) },
  { metric: 'corkboard_loop_stall_seconds_total', act: () => void spin(400) },
  { metric: 'nodejs_eventloop_lag_max_seconds', act: () => void spin(400) },
  {
    metric: 'corkboard_feed_lag_seconds',
    act: () => holdLock(here.admin, (connection) => connection`select stamp()`),
  },
  {
    metric: 'corkboard_outbox_age_seconds',
    async act() {
      // No process takes the events of editors meanwhile.
      const release = await holdLock(
        here.admin,
        (connection) => connection`select pg_advisory_xact_lock(${locks.pickUp})`,
      )
      await here.admin`delete from events`
      await here.admin`
        insert into events (type, workspace_id, resource_type, resource_id, data, origin, occurred_at)
        values ('board.updated', ${user.workspaceId}, 'board', ${board.id}, '{}', 'app', now() - interval '1 hour')`
      return release
    },
  },
  { metric: 'corkboard_nodes', act: async () => void (await startThere()) },
  {
    metric: 'corkboard_bus_messages_total',
    labels: { result: 'sent' },
    async act() {
      const editor = await open(there!)
      expect((await write()).body.live).toBe(true)
      return leave(editor)
    },
  },
  {
    metric: 'corkboard_bus_messages_total',
    labels: { result: 'ignored' },
    act: async () => void (await here.admin`select pg_notify('corkboard_nodes', 'rubbish')`),
  },
]

test.each(moves)('[ME2] $metric moves', { timeout: 60_000 }, async ({ metric, labels, act }) => {
  const value = async () => (await scrapeHere()).value(metric, labels) ?? 0
  const before = await value()
  const undo = await act()
  try {
    await until(async () => (await value()) > before, `${metric} has grown from ${before}`, 20_000)
  } finally {
    await undo?.()
  }
})

test('[ME2] a node says that its Redis is out of reach', async () => {
  expect((await scrapeHere()).value('corkboard_bus_degraded')).toBe(0)
  expect((await scrapeThere()).value('corkboard_bus_degraded')).toBe(1)
})

test('[ME2] every metric of the service has a test that moves it', async () => {
  const others = ['corkboard_bus_degraded', 'corkboard_scrape_failures_total']
  const moved = new Set([...moves.map(({ metric }) => metric), ...others])
  const { types } = await scrapeHere()
  expect([...types.keys()].filter((name) => name.startsWith('corkboard_') && !moved.has(name))).toEqual([])
  expect([...moved].filter((name) => !types.has(name))).toEqual([])
})

test('[ME3] labels name no board and no account', async () => {
  const { text, samples } = await scrapeHere()
  expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/)
  const codes = samples.filter(({ name }) => name === 'corkboard_socket_closes_total')
  const socket = new WebSocket(`${here.homeUrl.replace('http', 'ws')}/collab`)
  await new Promise((resolve) => socket.once('open', resolve))
  socket.close(4999)
  const others = async () => (await scrapeHere()).value('corkboard_socket_closes_total', { code: 'other' })
  await until(async () => (await others()) !== null, 'the code of the client is counted')
  expect(codes.map(({ labels }) => labels['code'])).not.toContain('4999')
})

test('[ME1] metrics take the token, and nothing else', async () => {
  const get = (url: string, headers: Record<string, string> = {}) => fetch(`${url}/metrics`, { headers })
  for (const authorization of [
    '',
    'Bearer',
    `Bearer ${metricsToken}x`,
    metricsToken,
    `Bearer ${user.token}`,
  ]) {
    const answer = await get(here.homeUrl, { authorization })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(await answer.json()).toMatchObject({ code: 'invalid_token' })
  }
  // With a port of its own, the service's port does not serve them.
  expect((await get(there!.homeUrl)).status).toBe(404)
  expect((await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).status).toBe(404)
})

test('[ME1] without a setting there are no metrics', async () => {
  const service = await startService({ testDatabase, workers: false })
  onTestFinished(() => service.stop())
  for (const headers of [{}, { authorization: `Bearer ${metricsToken}` }, { authorization: 'Bearer ' }])
    expect((await fetch(`${service.homeUrl}/metrics`, { headers })).status).toBe(404)
})

const promtool = (args: string[], input = '') =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const child = execFile('/usr/bin/promtool', args, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    )
    child.stdin!.end(input)
  })

test('[ME4] promtool accepts the metrics and the alerts', async () => {
  const { text } = await scrapeHere()
  expect(await promtool(['check', 'metrics'], text)).toEqual({ code: 0, output: '' })
  expect((await promtool(['check', 'metrics'], `${text}corkboard_x{ 1\n`)).code).not.toBe(0)
  const rules = await promtool(['check', 'rules', join(repository, 'deploy/alerts.yaml')])
  expect(rules).toMatchObject({ code: 0, output: expect.stringMatching(/SUCCESS: \d+ rules found/) })
})

const named = /\b(?:corkboard|nodejs|process)_[a-z0-9_]+/g

test('[ME5] the alerts and the dashboard name only metrics that are exported', async () => {
  const exported = (await scrapeHere()).names
  for (const file of ['alerts.yaml', 'dashboard.json']) {
    const text = await readFile(join(repository, 'deploy', file), 'utf8')
    const expressions = [...text.matchAll(/^\s*"?expr"?: ?(.*)$/gm)].map(([, expression]) => expression!)
    expect(expressions.length).toBeGreaterThan(5)
    const names = expressions.flatMap((expression) => expression.match(named) ?? [])
    expect(names.filter((name) => !exported.includes(name))).toEqual([])
    expect(expressions.filter((expression) => !expression.match(named))).toEqual([])
  }
})

test('[ME5] docs/operations.md lists every metric with its type and labels', async () => {
  const guide = await readFile(join(repository, 'docs/operations.md'), 'utf8')
  const rows = [...guide.matchAll(/^\| `(corkboard_\w+)` +\| (\w+) +\| (.*?) +\|/gm)]
  const listed = rows.map(([, name, type, labels]) => `${name} ${type} ${labels!.replaceAll('`', '')}`)
  const { types, samples } = await scrapeHere()
  const labelsOf = (name: string) => {
    const found = samples.find((sample) => sample.name.replace(/_bucket$/, '') === name)
    return Object.keys(found?.labels ?? {}).filter((label) => label !== 'le')
  }
  const exported = [...types].filter(([name]) => name.startsWith('corkboard_'))
  const expected = exported.map(([name, type]) => `${name} ${type} ${labelsOf(name).join(', ') || '–'}`)
  expect(listed.toSorted()).toEqual(expected.toSorted())
})

/** Boards in memory for the comparison. */
const manyBoards = Number(process.env['METRICS_BOARDS'] ?? 300)

test('[ME7] boards in memory do not make a scrape slower', { timeout: 600_000 }, async () => {
  const cost = async () => {
    const before = process.cpuUsage()
    for (let n = 0; n < 40; n++) await scrapeHere()
    const { user: inUser, system } = process.cpuUsage(before)
    return (inUser + system) / 40_000
  }
  await cost()
  const few = Math.min(await cost(), await cost())
  const { workspaceId } = user
  const ids = await here.admin<{ id: string }[]>`
    insert into boards (workspace_id, name) select ${workspaceId}, 'Board ' || n from generate_series(1, ${manyBoards}) n returning id`
  const leases = []
  for (const { id } of ids) leases.push(await here.live.documents.lease(id))
  expect((await scrapeHere()).value('corkboard_documents')).toBeGreaterThanOrEqual(manyBoards)
  const many = Math.min(await cost(), await cost())
  for (const lease of leases) lease.release()
  expect(many).toBeLessThan(few * 1.5 + 1)
})

test('[ME2, ME6] a scrape does not wait for a database that is silent', { timeout: 60_000 }, async () => {
  await until(
    async () => (await scrapeThere()).value('corkboard_feed_lag_seconds') !== null,
    'it is there while the database answers',
  )
  const editor = await open(there!)
  proxy.silenceAll()
  expect((await write()).body.live).toBe(false)
  expect((await scrapeHere()).value('corkboard_live_false_total', { reason: 'other_node' })).toBe(1)
  await until(async () => {
    const startedAt = performance.now()
    const found = await scrapeThere()
    expect(performance.now() - startedAt).toBeLessThan(4000)
    if (found.value('corkboard_scrape_failures_total') === 0) return false
    expect(found.value('corkboard_feed_lag_seconds')).toBeNull()
    expect(found.value('corkboard_outbox_age_seconds')).toBeNull()
    expect(found.value('corkboard_sockets')).not.toBeNull()
    return true
  }, 'a scrape without the figures of the database')
  editor.leave()
})
