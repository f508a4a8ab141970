/** The trace of a request (W3C Trace Context) goes with its events to the receivers. */
import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { png } from '../api/file.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { openReceiver, type Received, type Receiver } from '../support/receiver.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeWebhook } from '../support/webhook.ts'

let service: TestService
let receiver: Receiver
let user: TestUser
let boardId: string
let webhookId: string

beforeAll(async () => {
  service = await startService({
    config: { egressAllow: ['127.0.0.1/32'], appEventPollSeconds: 1, webhookRetryWaits: [1, 1, 1, 1, 1] },
    queueTickMs: 50,
    debounceMs: 50,
  })
  receiver = await openReceiver()
})
afterAll(async () => {
  await service?.stop()
  await receiver?.close()
})
beforeEach(async () => {
  user = await service.user()
  boardId = (await user.api.post('/boards', { name: 'Board' })).body.board.id
  webhookId = await makeWebhook(service, user, receiver.url)
  receiver.received.length = 0
  receiver.answer = () => 200
})
afterEach(async () => {
  leaveAll()
  await service.admin`delete from webhooks`
})

interface Trace {
  id: string
  header: { traceparent: string }
}

function newTrace(flags = '01'): Trace {
  const id = randomBytes(16).toString('hex')
  return { id, header: { traceparent: `00-${id}-${randomBytes(8).toString('hex')}-${flags}` } }
}

const send = async (trace: Trace | null, method: string, path: string, body?: unknown) => {
  const answer = await user.api.send<any>(method, path, body, trace?.header)
  expect(answer.status).toBeLessThan(300)
  return answer.body
}

async function received(count: number): Promise<Received[]> {
  await until(() => receiver.received.length >= count, `${count} deliveries`, 20_000)
  return receiver.received
}

/** What a delivery says of its trace: event, trace id, flags. */
function traceIn({ body, headers }: Received): string {
  const [, traceId, flags] =
    /^00-([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/.exec(String(headers['traceparent'])) ?? []
  return `${body.type} ${traceId} ${flags}`
}

const parentIn = ({ headers }: Received) => String(headers['traceparent']).split('-')[2]

test('[TR1] each event carries the trace of the request that caused it', { timeout: 60_000 }, async () => {
  const expected: string[] = []
  const traced = async (event: string, method: string, path: string, body?: unknown) => {
    const trace = newTrace()
    expected.push(`${event} ${trace.id} 01`)
    return send(trace, method, path, body)
  }
  const cards = `/boards/${boardId}/cards`
  const { board: other } = await traced('board.created', 'POST', '/boards', { name: 'Other' })
  await traced('board.updated', 'PATCH', `/boards/${other.id}`, { name: 'Renamed' })
  const made = await traced('card.created', 'POST', cards, { kind: 'note' })
  const card_ids = [made.cards[0].id]
  await traced('card.updated', 'PATCH', `${cards}/${card_ids[0]}`, { title: 'Changed' })
  await traced('card.moved', 'POST', `${cards}/move`, { to_board_id: other.id, card_ids })
  await traced('card.deleted', 'DELETE', `/boards/${other.id}/cards/${card_ids[0]}`)
  await traced('board.deleted', 'DELETE', `/boards/${other.id}`)
  await traced('board.restored', 'POST', `/boards/${other.id}/restore`)
  await traced('webhook.test', 'POST', `/webhooks/${webhookId}/test`)
  const image = newTrace()
  const uploaded = await fetch(`${service.url}/api/v1/uploads?board=${boardId}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.token}`, 'content-type': 'image/png', ...image.header },
    body: png,
  })
  expect(uploaded.status).toBe(201)
  expected.push(`image.created ${image.id} 01`)
  const all = await received(expected.length)
  // A move also deletes the cards on their earlier board, by the same request.
  const moved = expected.find((one) => one.startsWith('card.moved'))!
  expect(all.map(traceIn)).toContain(moved)
  const alsoMoved = moved.replace('moved', 'deleted')
  const found = all.map(traceIn).filter((one) => one !== alsoMoved)
  expect(found.toSorted()).toEqual(expected.toSorted())
})

test(
  '[TR1] requests that one commit writes keep their own traces, and files that come along have them, too',
  { timeout: 60_000 },
  async () => {
    const owner = await service.user()
    await service.member(owner.workspaceId, user, 'editor')
    const { board: elsewhere } = (await owner.api.post('/boards', { name: 'Elsewhere' })).body
    const { image_key } = await fetch(`${service.url}/api/v1/uploads?board=${boardId}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.token}`, 'content-type': 'image/png' },
      body: png,
    }).then((answer) => answer.json() as any)
    await received(1)
    receiver.received.length = 0
    await makeWebhook(service, owner, `${receiver.url}/owner`)
    const traces = Array.from({ length: 12 }, () => newTrace())
    const ids = new Map<string, string>()
    await Promise.all(
      traces.map(async (trace, n) => {
        // Every third one has no trace.
        const own = n % 3 === 0 ? null : trace
        const { cards } = await send(own, 'POST', `/boards/${boardId}/cards`, { kind: 'note' })
        ids.set(cards[0].id, String(own?.id))
      }),
    )
    const withFile = newTrace()
    await send(withFile, 'POST', `/boards/${elsewhere.id}/cards`, { kind: 'image', image_key })
    const all = await received(traces.length + 2)
    const mine = all.filter(({ path }) => path === '/')
    expect(new Map(mine.map((one) => [one.body.data['card_ids'][0], traceIn(one).split(' ')[1]]))).toEqual(
      ids,
    )
    const theirs = all.filter(({ path }) => path === '/owner').map(traceIn)
    expect(theirs.toSorted()).toEqual([`card.created ${withFile.id} 01`, `image.created ${withFile.id} 01`])
  },
)

test('[TR1] each attempt has a parent id of its own', { timeout: 60_000 }, async () => {
  receiver.answer = (_request, nth) => (nth === 1 ? 500 : 200)
  const trace = newTrace('02')
  await send(trace, 'PATCH', `/boards/${boardId}`, { name: 'Tried twice' })
  const [first, second] = await received(2)
  expect(second!.deliveryId).toBe(first!.deliveryId)
  await user.api.post(`/webhooks/${webhookId}/deliveries/${first!.deliveryId}/redeliver`, undefined, {
    ...newTrace().header,
  })
  const all = await received(3)
  expect(new Set(all.map(traceIn))).toEqual(new Set([`board.updated ${trace.id} 02`]))
  const parents = [trace.header.traceparent.split('-')[2], ...all.map(parentIn)]
  expect(new Set(parents).size).toBe(4)
})

test('[TR1] flags that the standard does not know are not passed on', async () => {
  const trace = newTrace('fd')
  await send(trace, 'PATCH', `/boards/${boardId}`, { name: 'Flags' })
  expect((await received(1)).map(traceIn)).toEqual([`board.updated ${trace.id} 01`])
})

test('[TR2] without a trace, receivers get no traceparent', { timeout: 60_000 }, async () => {
  const malformed = [
    '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later',
    'rubbish',
  ]
  // On the same connection as a request with a trace, which must leave nothing behind.
  await send(newTrace(), 'PATCH', `/boards/${boardId}`, { name: 'Traced' })
  await received(1)
  receiver.received.length = 0
  for (const [n, traceparent] of malformed.entries())
    await send({ id: '', header: { traceparent } }, 'PATCH', `/boards/${boardId}`, { name: `Name ${n}` })
  await send(null, 'POST', `/boards/${boardId}/cards`, { kind: 'note' })
  const editor = await openEditor(service.url, { boardId, token: user.token })
  editor.addCard('edited')
  await editor.saved()
  await service.admin`update boards set name = 'by SQL' where id = ${boardId}`
  const all = await received(malformed.length + 3)
  expect(all.map(({ body }) => body.type)).toContain('card.created')
  for (const { headers } of all) expect(headers).not.toHaveProperty('traceparent')
})
