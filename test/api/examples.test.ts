/**
 * The examples of the API description, from a run of every operation. `npm run examples` writes them anew, to
 * api/description/examples.json.
 */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operationId } from '../../api/description/operation.ts'
import { routes } from '../../api/routes.ts'
import { eventTypes, testEvent } from '../../core/events.ts'
import { publishBoard } from '../../sql/boards/schedule.ts'
import { allAttempts } from '../support/deliveries.ts'
import { until } from '../support/editor.ts'
import { schemaCompiler } from '../support/description.ts'
import { Recorder } from '../support/examples.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { openSite, serves, type Site } from '../support/site.ts'
import { png } from './file.ts'

const file = new URL('../../api/description/examples.json', import.meta.url)

let service: TestService
let receiver: Receiver
let site: Site

beforeAll(async () => {
  service = await startService({
    config: { egressAllow: ['127.0.0.1/32'], rateLimitPerHour: 1000 },
    queueTickMs: 20,
  })
  receiver = await openReceiver()
  site = await openSite()
})
afterAll(async () => {
  await site.close()
  await receiver.close()
  await service.stop()
})

test('[OA26] the examples of the description are what a run of every operation sends and gets', async () => {
  const recorder = new Recorder()
  const user = await service.user({ name: 'Anna' })
  const colleague = await service.user({ name: 'Ben' })
  await service.member(user.workspaceId, colleague, 'editor')
  const send = (operation: string, sent?: Parameters<Recorder['send']>[2]) =>
    recorder.send(user, operation, sent)

  const { workspaces } = await send('GET /workspaces')
  const workspace: string = workspaces[0].id
  const { webhook } = await send('POST /webhooks', {
    body: { workspace_id: workspace, url: `${receiver.url}/hook`, events: ['*'], name: 'Build pipeline' },
  })
  const hook = { path: { id: webhook.id } }

  const { board } = await send('POST /boards', {
    body: { name: 'Lighthouse', workspace_id: workspace, scheduled_date: '2026-05-01', day_label: 'Day 1' },
  })
  const on = { id: board.id as string }
  const { board: second } = (await user.api.post('/boards', { name: 'Harbour', workspace_id: workspace }))
    .body
  await send('GET /boards', { query: { workspace, limit: 10 } })
  await send('GET /boards/:id', { path: on })
  await send('PATCH /boards/:id', { path: { id: second.id }, body: { name: 'Harbour at dusk' } })
  await send('POST /boards/move', { body: { board_ids: [second.id], parent_board_id: board.id } })
  await send('GET /boards/tree', { query: { root: board.id, depth: 2 } })

  const { cards } = await send('POST /boards/:id/cards', {
    path: on,
    body: {
      kind: 'note',
      title: 'Scout the tower',
      body: 'Morning light, before the ferry comes.',
      color: '#ffd966',
      identifiers: [{ scope: 'shotgrid', value: 'Shot 1842' }],
    },
  })
  const card = { ...on, cardId: cards[0].id as string }
  const { cards: more } = (
    await user.api.post(`/boards/${board.id}/cards`, {
      cards: [
        { kind: 'note', title: 'Call the keeper' },
        { kind: 'note', title: 'Rent a boat' },
      ],
    })
  ).body
  const [keeper, boat] = more.map(({ id }: { id: string }) => id) as [string, string]
  await send('GET /boards/:id/cards', { path: on, query: { limit: 1 } })
  await send('GET /boards/:id/cards/:cardId', { path: card })
  await send('PATCH /boards/:id/cards/:cardId', { path: card, body: { title: 'Scout the tower at dawn' } })
  await send('PATCH /boards/:id/cards', { path: on, body: { cards: [{ id: keeper, color: '#9fc5e8' }] } })
  await send('POST /boards/:id/arrange', { path: on, body: { layout: 'grid', card_ids: [keeper, boat] } })
  await send('GET /boards/:id/history', { path: on, query: { limit: 1 } })
  await send('GET /boards/:id/cards/:cardId/history', { path: card, query: { limit: 1 } })
  await send('GET /boards/:id/diff', { path: on, query: { from: '2', to: '3' } })
  await send('POST /boards/:id/restore-to', { path: on, body: { as_of: '4', card_ids: [keeper] } })
  const patched = await user.api.patch(`/boards/${board.id}/cards/${keeper}`, {
    title: 'Write to the keeper',
  })
  await send('POST /boards/:id/undo', {
    path: on,
    body: { request_id: patched.headers.get('x-request-id') },
  })
  await send('PUT /boards/:id/presence', {
    path: on,
    body: { state: { cursor: { x: 120, y: 80 } }, ttl_seconds: 60 },
  })
  await send('GET /boards/:id/presence', { path: on })
  await send('DELETE /boards/:id/presence', { path: on })
  const { version } = await send('POST /boards/:id/versions', {
    path: on,
    body: { name: 'Before the scout' },
  })
  const versioned = { ...on, versionId: version.id as string }
  await send('GET /boards/:id/versions', { path: on, query: { limit: 1 } })
  await send('PATCH /boards/:id/versions/:versionId', { path: versioned, body: { name: 'Approved' } })
  await send('DELETE /boards/:id/versions/:versionId', { path: versioned })
  await send('POST /boards/:id/cards/move', { path: on, body: { to_board_id: second.id, card_ids: [boat] } })

  const { group } = await send('POST /boards/:id/groups', {
    path: on,
    body: { name: 'Permits', shape: 'hug' },
  })
  const grouped = { ...on, groupId: group.id as string }
  await send('GET /boards/:id/groups', { path: on })
  await send('PATCH /boards/:id/groups/:groupId', { path: grouped, body: { color: '#b6d7a8' } })
  await send('DELETE /boards/:id/groups/:groupId', { path: grouped })

  await send('GET /search', { query: { q: 'scout tower' } })
  await send('GET /resolve', { query: { scope: 'shotgrid', value: 'Shot 1842' } })
  site.pages.set('/tides', serves('<title>Tides in May</title>', 'text/html'))
  await send('POST /boards/:id/import', { path: on, body: { items: [{ url: `${site.url}/tides` }] } })

  const uploaded = await fetch(`${service.url}/api/v1/uploads?board=${board.id}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.token}`, 'content-type': 'image/png' },
    body: png as Buffer<ArrayBuffer>,
  })
  const image = (await uploaded.json()) as { image_key: string }
  recorder.keep('POST /uploads', { query: { board: board.id }, status: uploaded.status, answer: image })
  await send('GET /images', { query: { board: board.id } })
  await send('GET /images/:key', { path: { key: image.image_key }, query: { w: '320', format: 'webp' } })

  const { images } = await send('POST /images/urls', {
    body: { images: [{ image_key: image.image_key, w: 320 }] },
  })
  const signed = new URL(images[0].url).searchParams
  recorder.replaced.set(signed.get('signature')!, '4vJ9uYQ2mWcT7xkN0bRzLhP3dGfAe8sVoI6wKqUyXtE')
  recorder.replaced.set(`expires=${signed.get('expires')}`, 'expires=1772449200')

  site.pages.set('/tower.png', serves(png, 'image/png'))
  await send('POST /uploads/from-url', { query: { board: board.id }, body: { url: `${site.url}/tower.png` } })

  const { key, upload_id } = await send('POST /uploads/multipart', {
    query: { board: board.id },
    body: { bytes: 1000, filename: 'tower.mov', content_type: 'video/quicktime' },
  })
  recorder.replaced.set(upload_id, 'VXBsb2FkIGlkIG9mIHRoZSBzdG9yZQ')
  const session = { board_id: board.id as string, key, upload_id }
  const { urls } = await send('POST /uploads/multipart/parts', { body: { ...session, part_numbers: [1] } })
  recorder.replaced.set(urls['1'], 'https://corkboard.example/uploads/parts?part=1&signature=…')
  const put = await fetch(urls['1'], { method: 'PUT', body: Buffer.alloc(1000) })
  const parts = [{ part_number: 1, etag: put.headers.get('etag')! }]
  await send('POST /uploads/multipart/complete', { body: { ...session, parts } })
  const begun = await user.api.post(`/uploads/multipart?board=${board.id}`, { bytes: 1000 })
  const other = { board_id: board.id as string, key: begun.body.key, upload_id: begun.body.upload_id }
  recorder.replaced.set(other.upload_id, 'QW5vdGhlciB1cGxvYWQgaWQ')
  await send('POST /uploads/multipart/abort', { body: other })

  await send('GET /boards/:id/export', { path: { id: second.id }, query: { format: 'json' } })
  await send('DELETE /boards/:id/cards/:cardId', { path: card })
  await send('DELETE /boards/:id/cards/:cardId/history', { path: card })
  await send('DELETE /boards/:id/cards', { path: on, body: { card_ids: [keeper] } })
  await send('DELETE /boards/:id', { path: { id: second.id } })
  await send('POST /boards/:id/restore', { path: { id: second.id } })
  await send('DELETE /boards', { body: { board_ids: [second.id] } })

  await service.database.asUser(colleague.userId, (tx) => publishBoard(tx, board.id))
  await colleague.api.patch(`/boards/${board.id}`, { scheduled_date: '2026-05-02' })
  const { notifications } = await send('GET /notifications', { query: { limit: 1 } })
  await send('POST /notifications/read', { body: { ids: [notifications[0].id] } })
  const { entries } = await send('GET /audit', { query: { limit: 1 } })
  for (const end of ['"', '|']) recorder.replaced.set(`${end}${entries[0].id}"`, `${end}48211"`)
  await send('GET /me')
  await send('GET /events', { query: { workspace, type: 'board.created,board.updated' } })
  await send('GET /')
  await send('POST /mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'ping' },
    headers: { accept: 'application/json, text/event-stream' },
  })

  const { service_account: account } = await send('POST /service-accounts', {
    body: { workspace_id: workspace, name: 'Nightly sync', scopes: ['read', 'write'], ttl_days: 90 },
  })
  const robot = { id: account.id as string }
  await send('GET /service-accounts', { query: { workspace } })
  const { token } = await send('POST /service-accounts/:id/tokens', {
    path: robot,
    body: { name: 'Staging' },
  })
  await send('GET /service-accounts/:id/tokens', { path: robot, query: { limit: 1 } })
  await send('DELETE /service-accounts/:id/tokens/:tokenId', { path: { ...robot, tokenId: token.id } })
  await send('DELETE /service-accounts/:id', { path: robot })

  const { invitation, url: link } = await send('POST /workspaces/:id/invitations', {
    path: { id: workspace },
    body: { email: 'cleo@example.com', role: 'viewer', board_id: board.id },
  })
  const code = 'J9xW2m4YbQpTz7Kc0vLs5RfHd8NgAe1UiOoEt3Xy6Bw'
  recorder.replaced.set(new URL(link).searchParams.get('code')!, code)
  await send('GET /workspaces/:id/invitations', { path: { id: workspace } })
  const invited = { id: workspace, invitationId: invitation.id }
  await send('DELETE /workspaces/:id/invitations/:invitationId', { path: invited })

  const { body: offered } = await colleague.api.post<any>(
    `/workspaces/${colleague.workspaceId}/invitations`,
    {
      role: 'viewer',
    },
  )
  const acceptedCode = new URL(offered.url).searchParams.get('code')!
  recorder.replaced.set(acceptedCode, code)
  await send('POST /invitations/accept', { body: { code: acceptedCode } })

  const people = { id: workspace, userId: colleague.userId }
  await send('GET /workspaces/:id/members', { path: { id: workspace } })
  await send('PATCH /workspaces/:id/members/:userId', { path: people, body: { role: 'viewer' } })
  const shared = { ...on, userId: colleague.userId }
  await send('POST /boards/:id/shares', {
    path: on,
    body: { user_id: colleague.userId, role: 'viewer', history: true },
  })
  await send('GET /boards/:id/shares', { path: on })
  await send('PATCH /boards/:id/shares/:userId', { path: shared, body: { role: 'editor' } })
  const { link: guestLink, token: linkToken } = await send('POST /boards/:id/links', {
    path: on,
    body: { role: 'editor', name: 'For the crew', expires_at: '2126-03-02T09:30:00.000Z' },
  })
  recorder.replaced.set(linkToken, 'q8Zt3nKx1Wc6RmBv0YdLs4PfHj7GaEu2iOoTe9Xy5Ck')
  await send('POST /links/open', { body: { token: linkToken, name: 'Dora' } })
  await send('GET /boards/:id/links', { path: on })
  await send('DELETE /boards/:id/links/:linkId', { path: { ...on, linkId: guestLink.id } })
  await send('DELETE /boards/:id/shares/:userId', { path: shared })
  await send('DELETE /workspaces/:id/members/:userId', { path: people })
  const open = { board_ids: [board.id], role: 'editor', ttl_seconds: 3600 }
  await send('POST /sessions', { body: { ...open, user: { id: 'u-17', name: 'Mia', color: '#ffd966' } } })
  await send('DELETE /sessions', { body: { workspace_id: workspace, user_id: 'u-17' } })

  const arrived = (event: string) => receiver.received.find(({ body }) => body.type === event)
  const { delivery } = await send('POST /webhooks/:id/test', hook)
  await until(() => [...eventTypes, testEvent].every(arrived), 'a delivery of every event is there', 20_000)
  const isLogged = async () =>
    (await service.admin`select from ${allAttempts(service.admin)} a where delivery_id = ${delivery.id}`)
      .length > 0
  await until(isLogged, 'the test is in the log', 20_000)
  await send('GET /webhooks', { query: { workspace } })
  await send('GET /webhooks/:id/deliveries', { ...hook, query: { limit: 1 } })
  await send('POST /webhooks/:id/deliveries/:deliveryId/redeliver', {
    path: { ...hook.path, deliveryId: delivery.id },
  })
  await send('PATCH /webhooks/:id', { ...hook, body: { events: ['card.created', 'card.updated'] } })
  await send('POST /webhooks/:id/rotate-secret', hook)
  await send('DELETE /webhooks/:id', hook)

  const earliest = (event: string) =>
    receiver.received
      .map(({ body }) => body)
      .filter(({ type }) => type === event)
      .toSorted((a, b) => (a.occurred_at < b.occurred_at ? -1 : 1))[0]
  const events = Object.fromEntries([...eventTypes, testEvent].map((event) => [event, earliest(event)]))
  recorder.replaced.set(receiver.url, 'https://hooks.example')
  recorder.replaced.set(site.url, 'https://tides.example')
  recorder.replaced.set(service.url, 'https://corkboard.example')
  await expect(recorder.text(events)).toMatchFileSnapshot(file.pathname)
}, 120_000)

test('[OA27] deliveries have the body and the headers that the description has of their event', async () => {
  const { webhooks, ...description }: any = await (await fetch(`${service.url}/api/v1/openapi.json`)).json()
  const compile = schemaCompiler(description)
  expect(Object.keys(webhooks)).toEqual([...eventTypes, testEvent])
  expect(new Set(receiver.received.map(({ body }) => body.type))).toEqual(new Set(Object.keys(webhooks)))
  for (const { body, headers } of receiver.received) {
    const { parameters, requestBody } = webhooks[body.type].post
    const validate = compile(requestBody.content['application/json'].schema)
    expect([body.type, validate(body), validate.errors]).toEqual([body.type, true, null])
    for (const { name, required } of parameters)
      if (required) expect([name, headers[name.toLowerCase()]]).toEqual([name, expect.any(String)])
  }
})

test('[OA25] every operation and every event has an example, which its schemas take', async () => {
  const description: any = await (await fetch(`${service.url}/api/v1/openapi.json`)).json()
  const compile = schemaCompiler(description)
  const { operations } = JSON.parse(await readFile(file, 'utf8'))
  const holds = (schema: object, value: unknown, where: string) => {
    const validate = compile(schema)
    expect([where, validate(value), validate.errors]).toEqual([where, true, null])
  }
  for (const route of routes) {
    const id = operationId(route)
    const example = operations[id]
    expect(example, id).toBeDefined()
    const described = description.paths[route.path.replace(/:(\w+)/g, '{$1}')][route.method.toLowerCase()]
    for (const { in: place, name, schema, required, example: shown } of described.parameters) {
      if (place === 'header') continue
      if (required) expect(shown, `${id} ${name}`).toBeDefined()
      if (shown !== undefined) holds(schema, shown, `${id} ${name}`)
    }
    const body = described.requestBody?.content['application/json']
    if (body) {
      expect(body.example, id).toBeDefined()
      holds(body.schema, body.example, `${id} body`)
    }
    const answer = described.responses[example.status].content
    expect(answer, id).toBeDefined()
    const json = answer['application/json']
    if (!json) continue
    expect(json.example, id).toBeDefined()
    holds(json.schema, json.example, `${id} answer`)
  }
  for (const [path, item] of Object.entries<any>(description.paths))
    for (const [method, { responses }] of Object.entries<any>(item))
      for (const [status, { content }] of Object.entries<any>(responses)) {
        const json = status < '300' && content?.['application/json']
        if (json)
          expect([method, path, status, json.example]).toEqual([method, path, status, expect.anything()])
      }
  for (const [event, { post }] of Object.entries<any>(description.webhooks)) {
    const { schema, example } = post.requestBody.content['application/json']
    holds(schema, example, event)
  }
  expect(Object.keys(description.webhooks)).toEqual([...eventTypes, testEvent])
})
