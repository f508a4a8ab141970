/** Measures webhook deliveries: the latency after the API's answer, and the number per second. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import postgres from 'postgres'
import { Agent, Pool, request } from 'undici'
import type { ApiAddress, DeliverManyJob, DeliverOneJob } from './jobs.ts'
import { Latencies } from './latencies.ts'

/** About as long as the payload of a card event. */
const body = JSON.stringify({
  type: 'card.created',
  resource: { type: 'board', id: '00000000-0000-4000-8000-000000000000' },
  workspace: { id: '00000000-0000-4000-8000-000000000000' },
  board: { id: '00000000-0000-4000-8000-000000000000' },
  data: { count: 1, card_ids: ['0123456789abcdef'] },
  occurred_at: '2030-01-01T00:00:00.000Z',
})
const headers = { 'content-type': 'application/json' }

/**
 * Measures one delivery at a time, from the API's answer to the arrival. Without an API it measures a bare POST over a
 * new connection. The first tenth is warm-up.
 */
export async function deliverOne(job: DeliverOneJob): Promise<{ p50Ms: number }> {
  let arrived: (atMs: number) => void = () => {}
  const server = createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      arrived(performance.now())
      response.writeHead(200).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const remove = job.api ? await makeWebhooks(job.api, url, 1) : null
  const latencies = new Latencies()
  const warmUp = Math.ceil(job.count / 10)
  try {
    for (let turn = -warmUp; turn < job.count; turn++) {
      const arrival = new Promise<number>((resolve) => (arrived = resolve))
      if (job.api) {
        await post(job.api, `/boards/${job.board}/cards`, card(turn + warmUp))
        const answeredMs = performance.now()
        latencies.record((await arrival) - answeredMs)
      } else {
        const startMs = performance.now()
        const { body: answer } = await request(url, { method: 'POST', headers, body, reset: true })
        await answer.dump()
        latencies.record(performance.now() - startMs)
      }
      if (turn < 0) latencies.clear()
    }
  } finally {
    await remove?.()
    await close(server)
  }
  return { p50Ms: latencies.percentile(0.5) }
}

/**
 * Measures `events × webhooks` deliveries, from their cause to the last arrival. The reference sends as many bare
 * POSTs. If cards cause the events, it creates the same cards meanwhile.
 */
export async function deliverMany(job: DeliverManyJob): Promise<{ perSecond: number }> {
  const total = job.events * job.webhooks
  await request(job.receiver, { method: 'DELETE' })
  const isLoop = job.sender === 'loop'
  const remove = isLoop ? null : await makeWebhooks(job.api, job.receiver, job.webhooks)
  const queued = job.outbox && !isLoop ? await queueEvents(job.outbox, job.board, job.events - 1) : null
  const startMs = performance.now()
  try {
    await queued?.()
    // An event of a request wakes the workers, so that they do not wait for the next poll of the outbox.
    const cards = queued ? 1 : job.outbox ? 0 : job.events
    await Promise.all([
      causeEvents(job.api, job.board, cards),
      isLoop ? postAll(job.receiver, total, job.connections) : null,
    ])
    // One long request instead of polling, which would slow down the measured work.
    const { body: answer } = await request(new URL(String(total), job.receiver), { headersTimeout: 60_000 })
    await answer.dump()
    return { perSecond: (total / (performance.now() - startMs)) * 1000 }
  } finally {
    await remove?.()
  }
}

async function causeEvents(api: ApiAddress, board: string, events: number): Promise<void> {
  let sent = 0
  const loop = async () => {
    while (sent < events) await post(api, `/boards/${board}/cards`, card(sent++))
  }
  await Promise.all(Array.from({ length: 4 }, loop))
}

/** Inserts events as requests would, in an open transaction. @returns a function that commits it */
async function queueEvents(databaseUrl: string, board: string, events: number): Promise<() => Promise<void>> {
  const sql = postgres(databaseUrl, { max: 1, connection: { search_path: 'corkboard' } })
  const connection = await sql.reserve()
  await connection`begin`
  await connection`
    insert into events (type, workspace_id, board_id, resource_type, resource_id, card_ids, op, origin, occurred_at)
    select 'card.created', b.workspace_id, b.id, 'board', b.id, array['0123456789abcdef'], gen_random_uuid(), 'api',
      date_trunc('milliseconds', clock_timestamp())
    from boards b, generate_series(1, ${events}::integer)
    where b.id = ${board}`
  return async () => {
    await connection`commit`
    connection.release()
    await sql.end()
  }
}

async function postAll(receiver: string, total: number, connections: number): Promise<void> {
  const pool = new Pool(new URL(receiver).origin, { connections, pipelining: 1 })
  let sent = 0
  const loop = async () => {
    while (sent++ < total) {
      const { body: answer } = await pool.request({ method: 'POST', path: '/', headers, body })
      await answer.dump()
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
  await pool.destroy()
}

/** @returns a function that removes them */
async function makeWebhooks(api: ApiAddress, url: string, count: number): Promise<() => Promise<void>> {
  const { workspaces } = await call<{ workspaces: { id: string }[] }>(api, 'GET', '/workspaces')
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const fields = { workspace_id: workspaces[0]!.id, url, events: ['card.created'] }
    const { webhook } = await call<{ webhook: { id: string } }>(api, 'POST', '/webhooks', fields)
    ids.push(webhook.id)
  }
  return async () => {
    for (const id of ids) await call(api, 'DELETE', `/webhooks/${id}`)
  }
}

const agent = new Agent({ pipelining: 1 })

async function call<Answer>(
  api: ApiAddress,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  fields?: unknown,
): Promise<Answer> {
  const { statusCode, body: answer } = await request(api.root + path, {
    method,
    headers: { authorization: `Bearer ${api.token}`, ...(fields ? headers : {}) },
    body: fields ? JSON.stringify(fields) : null,
    dispatcher: agent,
  })
  if (statusCode >= 300) throw new Error(`${method} ${path} answered ${statusCode}: ${await answer.text()}`)
  return (await answer.json()) as Answer
}

const post = (api: ApiAddress, path: string, fields: unknown) => call(api, 'POST', path, fields)

const card = (index: number) => ({
  kind: 'note',
  title: `Scene ${index}`,
  x: (index % 100) * 300,
  y: Math.floor(index / 100) * 200,
})

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
