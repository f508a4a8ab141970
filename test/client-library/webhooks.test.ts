/** The client as a receiver of real deliveries, while the secret is rotated, and of forged ones. */
import { createServer } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import {
  createClient,
  createHandler,
  signForTest,
  verifyWebhook,
  WebhookError,
  type WebhookEvent,
} from '../../client/index.ts'
import { until } from '../support/editor.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({
  config: { egressAllow: ['127.0.0.1/32'] },
  queueTickMs: 20,
})
const client = createClient({ url: service.url, token: user.token })
const event: WebhookEvent = {
  type: 'card.created',
  resource: { type: 'board', id: 'cb4aec88-9ac8-48d5-8812-a44cc47d1c10' },
  workspace: { id: 'cd3d4eb4-85fd-495f-87e5-62af6c692c12' },
  board: { id: 'cb4aec88-9ac8-48d5-8812-a44cc47d1c10' },
  data: { count: 1, card_ids: ['tllbZBuQ2PDVzQCr'] },
  occurred_at: '2026-03-02T09:30:00.000Z',
}
const url = 'https://example.com/hook'

test('[LB10] a handler takes real deliveries, with the new and with the previous secret of a rotation', async () => {
  const secrets: string[] = []
  const received: string[] = []
  const errors: unknown[] = []
  const handle = createHandler({
    secret: () => secrets,
    onEvent: ({ type }, deliveryId) => void received.push(`${type} ${deliveryId.length}`),
    onError: (error) => errors.push(error),
  })
  const server = createServer((request, response) => {
    void (async () => {
      const body = Buffer.concat(await request.toArray())
      const headers = new Headers(request.headers as Record<string, string>)
      const answer = await handle(new Request(url, { method: 'POST', headers, body }))
      response.writeHead(answer.status).end()
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => server.close())
  const { port } = server.address() as { port: number }
  const made = await client.request('POST /webhooks', {
    body: { workspace_id: user.workspaceId, url: `http://127.0.0.1:${port}`, events: ['*'] },
  })
  const path = { id: made.webhook.id }
  const test = () => client.request('POST /webhooks/{id}/test', { path })
  secrets.push(made.secret)
  await test()
  await until(() => received.length === 1, 'a delivery with the first secret')
  const rotated = await client.request('POST /webhooks/{id}/rotate-secret', { path })
  await test()
  await until(() => received.length === 2, 'the receiver still has the previous secret')
  secrets.splice(0, 1, rotated.secret)
  await test()
  await until(() => received.length === 3, 'the receiver has the new secret')
  expect(received).toEqual(Array.from({ length: 3 }, () => 'webhook.test 36'))
  expect(errors).toEqual([])
})

test('[LB10] what is forged, changed, too old or signed by another secret is refused', async () => {
  const signed = await signForTest(url, event, ['whsec_new', 'whsec_old'])
  const body = await signed.clone().text()
  const headers = (changes: Record<string, string>) => {
    const changed = new Headers(signed.headers)
    for (const [name, value] of Object.entries(changes)) changed.set(name, value)
    return changed
  }
  expect(await verifyWebhook({ headers: signed.headers, body }, 'whsec_old')).toEqual(event)
  expect(await verifyWebhook({ headers: signed.headers, body }, ['whsec_other', 'whsec_new'])).toEqual(event)
  const first = new Headers(signed.headers)
  first.delete('x-service-signatures')
  expect(await verifyWebhook({ headers: first, body }, 'whsec_new')).toEqual(event)
  const refused: [Headers, string, string][] = [
    [signed.headers, body, 'whsec_other'],
    [signed.headers, body.replace('created', 'deleted'), 'whsec_new'],
    [headers({ 'x-service-request-timestamp': '1' }), body, 'whsec_new'],
    [headers({ 'x-service-request-timestamp': 'now' }), body, 'whsec_new'],
    [headers({ 'x-service-signatures': 'v0=00,,v0=zz' }), body, 'whsec_new'],
    [new Headers(), body, 'whsec_new'],
  ]
  for (const [given, text, secret] of refused)
    await expect(verifyWebhook({ headers: given, body: text }, secret)).rejects.toThrow(WebhookError)
  const late = Date.now() + 301_000
  await expect(verifyWebhook({ headers: signed.headers, body }, 'whsec_new', late)).rejects.toThrow('clock')
})

test('[LB10] a handler answers 401 to what is forged, 405 to what is no POST, and 500 when it fails', async () => {
  const errors: unknown[] = []
  let fails = false
  const handle = createHandler({
    secret: 'whsec_a',
    onEvent: () => {
      if (fails) throw new Error('no disk')
    },
    onError: (error) => errors.push(String(error)),
  })
  const status = async (request: Request | Promise<Request>) => (await handle(await request)).status
  expect(await status(new Request(url))).toBe(405)
  expect(await status(signForTest(url, event, 'whsec_b'))).toBe(401)
  expect(await status(signForTest(url, event, 'whsec_a'))).toBe(204)
  fails = true
  expect(await status(signForTest(url, event, 'whsec_a'))).toBe(500)
  expect(errors).toEqual([expect.stringContaining('No signature'), 'Error: no disk'])
})
