/** The values of labels: each has a test that makes it move. metrics.test.ts moves the metrics. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
import { showLive } from '../../collab/boards/live.ts'
import { closeCodes } from '../../core/errors.ts'
import { makeBoard } from '../api/board.ts'
import { picture, read, upload } from '../api/file.ts'
import { cloneDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { holdLock } from '../support/held-lock.ts'
import { listen } from '../support/listener.ts'
import { scrape } from '../support/metrics.ts'
import { authFrame, connect, disconnectAll } from '../support/raw-client.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { makeWebhook } from '../support/webhook.ts'

const metricsToken = 'a-token-for-scrapes'
const testDatabase = await cloneDatabase()
const dataDir = await mkdtemp(join(tmpdir(), 'corkboard-labels-'))
const config = { dataDir, egressAllow: ['127.0.0.1/32'], webhookRetryWaits: [0, 0, 0, 0, 0], metricsToken }
const here = await startService({ testDatabase, queueTickMs: 50, config })
const there = await startService({ testDatabase, workers: false })
const user = await here.user()
const board = await makeBoard(user)
const cards = `/boards/${board.id}/cards`

afterAll(async () => {
  leaveAll()
  disconnectAll()
  await there.stop()
  await here.stop()
  await testDatabase.drop()
  await rm(dataDir, { recursive: true, force: true })
})

const note = (title = '') => ({ kind: 'note', title, x: 0, y: 0 })
const newBoard = async () => (await makeBoard(user)).id
const writeTo = async (boardId: string) => {
  const answer = await user.api.post(`/boards/${boardId}/cards`, note())
  expect(answer.status).toBe(201)
  return answer.body
}
const lockTable = (name: string) => () => {
  expect(name).toMatch(/^\w+$/)
  return holdLock(here.admin, (connection) =>
    connection.unsafe(`lock table ${name} in access exclusive mode`),
  )
}

/** A canvas of `service` whose client does not answer the close frame. */
async function hangUp(service: TestService, boardId: string): Promise<() => void> {
  const client = await connect(service.homeUrl)
  client.send(authFrame(boardId, user.token))
  await until(() => service.gateway.counts().connections > 0, 'the canvas is open')
  client.socket.pause()
  service.gateway.closeBoard(boardId, closeCodes.tryLater)
  return () => client.socket.terminate()
}

async function receiverOf(answer: Receiver['answer']): Promise<() => Promise<void>> {
  const receiver = await openReceiver(answer)
  const id = await makeWebhook(here, user, receiver.url)
  return async () => {
    await here.admin`delete from webhooks where id = ${id}`
    for (const response of receiver.hanging) response.destroy()
    await receiver.close()
  }
}

/** Begins a request with a large body, and sends half of it. */
function halfABody(): () => void {
  const sent = httpRequest(`${here.homeUrl}/api/v1${cards}`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${user.token}`, 'content-type': 'application/json' },
      'content-length': 4_000_000,
    },
  })
  sent.on('error', () => undefined)
  sent.write('['.padEnd(2_000_000))
  return () => sent.destroy()
}

/** A request that is under way while the table is locked. */
async function whileLocked(table: string, begin: () => Promise<unknown>): Promise<() => Promise<void>> {
  const release = await lockTable(table)()
  const answer = begin()
  return async () => {
    await release()
    await answer
  }
}

type Undo = (() => unknown) | void
interface Move {
  metric: string
  labels: Record<string, string>
  act(): Promise<Undo> | Undo
}

const liveFalse = (reason: string, act: () => Promise<Undo>): Move => ({
  metric: 'corkboard_live_false_total',
  labels: { reason },
  act,
})
const running = (queue: string, act: Move['act']): Move => ({
  metric: 'corkboard_queue_running',
  labels: { queue },
  act,
})

const moves: Move[] = [
  liveFalse('loading', async () => {
    const boardId = await newBoard()
    const hold = here.live.nodes.open.hold(boardId)
    here.live.documents.sweep()
    expect((await writeTo(boardId)).live).toBe(false)
    return () => hold.end()
  }),
  liveFalse('behind', async () => {
    const boardId = await newBoard()
    const editor = await openEditor(here.homeUrl, { boardId, token: user.token })
    // A position that the log does not have yet, as when its commit is not visible here.
    expect(await showLive(here.live, boardId, 1000)).toBe(false)
    return () => editor.leave()
  }),
  liveFalse('missed', async () => {
    const boardId = await newBoard()
    const editor = await openEditor(here.homeUrl, { boardId, token: user.token })
    await writeTo(boardId)
    here.live.documents.find(boardId)!.missed()
    expect(await showLive(here.live, boardId, 1)).toBe(false)
    return () => editor.leave()
  }),
  liveFalse('other_node', async () => {
    const boardId = await newBoard()
    const undo = await hangUp(there, boardId)
    expect((await writeTo(boardId)).live).toBe(false)
    return undo
  }),
  {
    metric: 'corkboard_commit_duration_seconds',
    labels: { kind: 'large', result: 'committed' },
    act: async () => {
      const many = Array.from({ length: 1000 }, () => note())
      expect((await user.api.post(cards, { cards: many })).status).toBe(201)
    },
  },
  {
    metric: 'corkboard_commit_duration_seconds',
    labels: { kind: 'small', result: 'failed' },
    act: async () => {
      await here.admin`alter table card_index add constraint poison check (title <> 'poison')`
      expect((await user.api.post(cards, note('poison'))).status).toBe(500)
      return () => here.admin`alter table card_index drop constraint poison`
    },
  },
  {
    metric: 'corkboard_deliveries_total',
    labels: { result: 'given_up' },
    act: async () => {
      const undo = await receiverOf(() => 500)
      await writeTo(board.id)
      return undo
    },
  },
  {
    metric: 'corkboard_bus_messages_total',
    labels: { result: 'received' },
    act: async () => {
      const editor = await openEditor(there.homeUrl, { boardId: board.id, token: user.token })
      expect((await writeTo(board.id)).live).toBe(true)
      return () => editor.leave()
    },
  },
  {
    metric: 'corkboard_bus_messages_total',
    labels: { result: 'lost' },
    act: async () => {
      const editor = await openEditor(there.homeUrl, { boardId: board.id, token: user.token })
      await here.admin`revoke execute on function pg_notify from public`
      await user.api.post(cards, note())
      return async () => {
        await here.admin`grant execute on function pg_notify to public`
        editor.leave()
      }
    },
  },
  {
    metric: 'corkboard_database_wait_seconds',
    labels: { pool: 'background' },
    act: () => void here.database.asSystem((tx) => tx`select 1`, 'background'),
  },
  {
    metric: 'corkboard_database_wait_seconds',
    labels: { pool: 'probe' },
    act: () => void fetch(`${here.homeUrl}/readyz`),
  },
  {
    metric: 'corkboard_storage_call_duration_seconds',
    labels: { call: 'put', result: 'aborted' },
    act: async () => {
      const broken = Readable.from(
        (async function* () {
          yield Buffer.alloc(1000)
          throw new Error('the sender broke off')
        })(),
      )
      const put = here.files.put('broken', broken, { bytes: 2000, contentType: 'text/plain' })
      await expect(put).rejects.toThrow('broke off')
    },
  },
  {
    metric: 'corkboard_storage_call_duration_seconds',
    labels: { call: 'put', result: 'failed' },
    act: async () => {
      const files = join(dataDir, 'files')
      await rename(files, `${files}.away`)
      await writeFile(files, 'a file instead of the folder')
      expect((await upload(here, user, board.id)).status).toBe(503)
      return async () => {
        await rm(files)
        await rename(`${files}.away`, files)
      }
    },
  },
  {
    metric: 'corkboard_queue_waiting',
    labels: { queue: 'deliveries' },
    act: async () => {
      // Deliveries of a receiver that answers quickly are claimed ahead.
      const undo = await receiverOf((_request, nth) => (nth <= 100 ? 200 : null))
      await here.admin`
        insert into events (type, workspace_id, board_id, resource_type, resource_id, data, origin, occurred_at)
        select 'board.updated', ${user.workspaceId}, ${board.id}, 'board', ${board.id}, '{}', 'api',
          clock_timestamp() + interval '1 second'
        from generate_series(1, 600)`
      return undo
    },
  },
  running('large_bodies', halfABody),
  running('searches', () => whileLocked('search_index', () => user.api.get('/search?q=words'))),
  running('search_index', async () => {
    const release = await lockTable('search_index')()
    await writeTo(board.id)
    const answer = user.api.get('/search?q=words')
    return async () => {
      await release()
      await answer
    }
  }),
  running('exports', async () => {
    const boardId = await newBoard()
    await writeTo(boardId)
    here.live.documents.sweep()
    return whileLocked('board_updates', () => user.api.get(`/boards/${boardId}/export`))
  }),
  running('large_commits', async () => {
    await writeTo(board.id) // its document is in memory: loading it would wait for the lock
    return whileLocked('board_updates', () =>
      user.api.post(cards, { cards: Array.from({ length: 1000 }, () => note()) }),
    )
  }),
  running('compaction', () => whileLocked('board_updates', async () => here.compactor.want([board.id]))),
  running('fetches', async () => {
    const sockets: Socket[] = []
    const source = await listen((socket) => void sockets.push(socket))
    const url = `http://127.0.0.1:${source.port}/a.png`
    const answer = user.api.post(`/uploads/from-url?board=${board.id}`, { url })
    return async () => {
      for (const socket of sockets) socket.destroy()
      expect((await answer).status).toBe(502)
    }
  }),
  running('resizes', async () => {
    const large = await picture(6000, 6000).png().toBuffer()
    const { body } = await upload(here, user, board.id, large)
    const answer = read(here, user, `${body.image_key}?w=1920`)
    return () => answer
  }),
]

/** What each call of the store takes here. */
const calls: Record<string, unknown[]> = {
  put: ['an-object', Readable.from([Buffer.from('bytes')]), { bytes: 5, contentType: 'text/plain' }],
  head: ['an-object'],
  get: ['an-object'],
  remove: [['an-object']],
  beginMultipart: ['large', 'text/plain'],
  tidy: [],
}

test('[ME2] calls of the store are counted by their names', async () => {
  const count = async (call: string) =>
    (await scrape(here.homeUrl, metricsToken)).value('corkboard_storage_call_duration_seconds', {
      ...{ call, result: 'done' },
    }) ?? 0
  const store = here.files as unknown as Record<string, (...given: unknown[]) => Promise<any>>
  const counted = async (call: string, work: () => Promise<unknown>) => {
    const before = await count(call)
    const result = await work()
    expect([call, await count(call)]).toEqual([call, before + 1])
    return result
  }
  let uploadId = ''
  for (const [call, given] of Object.entries(calls)) {
    const result = (await counted(call, () => store[call]!(...given))) as any
    if (call === 'get') result.destroy()
    if (call === 'beginMultipart') uploadId = result
  }
  const { signParts, complete, abort } = here.files
  await counted('signParts', () => signParts('large', uploadId, [{ partNumber: 1, bytes: 5 }], 60))
  await counted('complete', () => complete('large', uploadId, [{ partNumber: 1, etag: 'x' }]))
  await counted('abort', () => abort('large', uploadId))
  await counted('list', async () => {
    for await (const _ of here.files.list());
  })
})

test.each(moves)('[ME2] $metric moves with $labels', { timeout: 60_000 }, async ({ metric, labels, act }) => {
  const value = async () => (await scrape(here.homeUrl, metricsToken)).value(metric, labels) ?? 0
  const before = await value()
  const undo = await act()
  try {
    await until(async () => (await value()) > before, `${metric} has grown from ${before}`, 20_000)
  } finally {
    await undo?.()
  }
})
