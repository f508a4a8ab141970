/** HTTP as such: headers of every answer, methods, paths, and what tells nothing of invisible things. */
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { routes } from '../../api/routes.ts'
import { addDeliveries } from '../support/deliveries.ts'
import type { TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeWebhook } from '../support/webhook.ts'
import { makeBoard, makeCard, nowhere, type Problem } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false })
const board = await makeBoard(user)

const base = () => `${service.url}/api/v1`
const bearer = () => ({ authorization: `Bearer ${user.token}` })
const json = { 'content-type': 'application/json' }
const exposed = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'idempotent-replay',
  'x-request-id',
  'etag',
  'x-unknown-fields',
  'preference-applied',
  'www-authenticate',
]

/** Every way in which a request can end before its handler, and after. */
const endings: [what: string, status: number, send: () => Promise<Response>][] = [
  ['success', 200, () => fetch(`${base()}/me`, { headers: bearer() })],
  ['no token', 401, () => fetch(`${base()}/me`)],
  ['unknown route', 404, () => fetch(`${base()}/nothing`, { headers: bearer() })],
  ['unknown method', 405, () => fetch(`${base()}/me`, { method: 'PUT', headers: bearer() })],
  ['unknown board', 404, () => fetch(`${base()}/boards/${nowhere}`, { headers: bearer() })],
  ['bad path', 400, () => fetch(`${base()}/boards/x`, { headers: bearer() })],
  ['bad query', 400, () => fetch(`${base()}/boards?limit=x`, { headers: bearer() })],
  ['malformed path', 400, () => fetch(`${base()}/boards/%zz`, { headers: bearer() })],
  [
    'bad JSON',
    400,
    () => fetch(`${base()}/boards`, { method: 'POST', body: '{', headers: { ...bearer(), ...json } }),
  ],
  ['not JSON', 415, () => fetch(`${base()}/boards`, { method: 'POST', body: 'x', headers: bearer() })],
  [
    'big body',
    413,
    () =>
      fetch(`${base()}/boards`, {
        method: 'POST',
        body: ' '.repeat(1024 * 1024 + 1),
        headers: { ...bearer(), ...json },
      }),
  ],
  ['description', 200, () => fetch(`${base()}/openapi.json`)],
]

test('[E1] a preflight needs no token and allows the methods and headers that clients send', async () => {
  for (const path of ['/boards', `/boards/${nowhere}/cards`, '/openapi.json', '/nothing']) {
    const answer = await fetch(base() + path, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://example.test',
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization,content-type,idempotency-key',
      },
    })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    const list = (name: string) => (answer.headers.get(name) ?? '').toLowerCase().split(/, */)
    expect(list('access-control-allow-methods')).toEqual(
      expect.arrayContaining(['get', 'post', 'patch', 'delete']),
    )
    expect(list('access-control-allow-headers')).toEqual(
      expect.arrayContaining(['authorization', 'content-type', 'idempotency-key']),
    )
  }
})

test('[E2] every answer can be read by a page of any origin, with the headers that are of use', async () => {
  for (const [what, status, send] of endings) {
    const answer = await send()
    expect([what, answer.status]).toEqual([what, status])
    expect(answer.headers.get('access-control-allow-origin'), what).toBe('*')
    expect(answer.headers.get('access-control-expose-headers')?.split(/, */), what).toEqual(exposed)
  }
})

test('[E3] every answer carries x-request-id: a new one, or the one that was sent if it is plain', async () => {
  const seen = new Set<string>()
  for (const [what, , send] of endings) {
    const id = (await send()).headers.get('x-request-id')
    expect(id, what).toMatch(/^[0-9a-f-]{36}$/)
    seen.add(id!)
  }
  expect(seen.size).toBe(endings.length)
  const sent = async (id: string) =>
    (await fetch(`${base()}/me`, { headers: { ...bearer(), 'x-request-id': id } })).headers.get(
      'x-request-id',
    )
  expect(await sent('trace-42_a')).toBe('trace-42_a')
  expect(await sent('a b')).toMatch(/^[0-9a-f-]{36}$/)
  expect(await sent('x'.repeat(101))).toMatch(/^[0-9a-f-]{36}$/)
})

test('[E4] every answer carries the rate-limit figures, and every request counts, errors too', async () => {
  let before: number | null = null
  for (const [what, , send] of endings) {
    const { headers } = await send()
    expect(Number(headers.get('x-ratelimit-limit')), what).toBe(100_000_000)
    expect(Number(headers.get('x-ratelimit-reset')), what).toBeGreaterThan(Date.now() / 1000)
    const remaining = Number(headers.get('x-ratelimit-remaining'))
    if (what !== 'no token' && what !== 'description') {
      if (before !== null) expect(remaining, what).toBe(before - 1)
      before = remaining
    }
    expect(headers.get('retry-after'), what).toBeNull()
  }
})

test('[E5] an error is {error, code} as JSON, and nothing else', async () => {
  for (const [what, status, send] of endings) {
    if (status < 400) continue
    const answer = await send()
    expect(answer.headers.get('content-type'), what).toMatch(/^application\/json/)
    expect(await answer.json(), what).toEqual({ error: expect.any(String), code: expect.any(String) })
  }
})

test('[E5] so is that of a request that is no HTTP, or too long for it', async () => {
  const { hostname, port } = new URL(service.url)
  const answered = async (requests: string) => {
    const socket = connect(Number(port), hostname)
    socket.write(requests)
    return text(socket)
  }
  const cases: [request: string, status: number, says: RegExp][] = [
    ['GET /api/v1/search?q=café HTTP/1.1\r\nhost: x\r\n\r\n', 400, /Percent-encode/],
    ['FOO / HTTP/1.1\r\nhost: x\r\n\r\n', 400, /known method/],
    [`GET /api/v1/me?x=${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431, /at most 16 KB/],
  ]
  const before = 'GET /api/v1/me HTTP/1.1\r\nhost: x\r\n\r\n'
  for (const [request, status, says] of cases)
    for (const requests of [request, before + request]) {
      const answers = await answered(requests)
      const [head = '', body = ''] = answers
        .slice(answers.lastIndexOf(`HTTP/1.1 ${status}`))
        .split('\r\n\r\n')
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      expect(head).toMatch(/^x-request-id: [0-9a-f-]{36}$/m)
      expect(JSON.parse(body)).toEqual({ error: expect.stringMatching(says), code: 'bad_request' })
    }
})

const samplePath = (path: string) =>
  (path === '/' ? '' : path).replace(':id', board.id).replace(':cardId', 'a')

test('[E10] a known path with another method is 405 with Allow', async () => {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']
  for (const path of [...new Set(routes.map((route) => route.path)), '/openapi.json']) {
    const allowed = routes.filter((route) => route.path === path).map(({ method }) => method as string)
    if (path === '/openapi.json') allowed.push('GET')
    if (allowed.includes('GET')) allowed.push('HEAD')
    for (const method of methods.filter((one) => !allowed.includes(one))) {
      for (const slash of ['', '/']) {
        const answer = await fetch(base() + samplePath(path) + slash, { method, headers: bearer() })
        expect([method, path, answer.status]).toEqual([method, path, 405])
        expect(answer.headers.get('allow')?.split(', ').toSorted(), path).toEqual(allowed.toSorted())
        if (method !== 'HEAD') expect(((await answer.json()) as Problem).code).toBe('method_not_allowed')
      }
    }
  }
})

test('[E11] HEAD answers as GET does, without the body', async () => {
  for (const path of ['/me', '/boards', `/boards/${board.id}`, `/boards/${nowhere}`, '/openapi.json']) {
    const [head, get] = await Promise.all(
      ['HEAD', 'GET'].map((method) => fetch(base() + path, { method, headers: bearer() })),
    )
    expect([path, head!.status]).toEqual([path, get!.status])
    expect(head!.headers.get('content-type')).toBe(get!.headers.get('content-type'))
    expect(await head!.text()).toBe('')
  }
})

test('[E12] an unknown query parameter and an unknown field of a body are ignored', async () => {
  expect((await user.api.get('/boards?colour=red&limit=3&x[]=1')).body.limit).toBe(3)
  const made = await user.api.post('/boards', { name: 'a', colour: 'red', id: nowhere, sched_version: 7 })
  expect(made.status).toBe(201)
  expect(made.body.board.id).not.toBe(nowhere)
  expect(made.body.board).not.toHaveProperty('colour')
  expect(made.body.board.sched_version).toBe(0)
  const odd = await user.api.send(
    'POST',
    '/boards',
    '{"name":"b","__proto__":{"view":"list"},"constructor":{"prototype":{}}}',
  )
  expect(odd.body.board).toMatchObject({ name: 'b', view: 'canvas' })
})

test('[E16] an unknown path is 404, with and without a token', async () => {
  for (const path of ['/nothing', '/boards/x/y/z', `/nothing/${'a'.repeat(2000)}`, '/me/me', '/BOARDS']) {
    for (const api of [user.api, service.anonymous]) {
      const answer = await api.get(path)
      expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'not_found'])
    }
  }
  expect((await fetch(`${service.url}/nothing`)).status).toBe(404)
})

test('[E17] an id in capitals is the same id', async () => {
  const board = await makeBoard(user)
  const card = await makeCard(user, board.id)
  const path = `/boards/${board.id.toUpperCase()}`
  expect((await user.api.get(path)).body.board.id).toBe(board.id)
  const listed = await user.api.get(`${path}/cards`)
  expect(listed.body).toMatchObject({ board_id: board.id, total: 1 })
  expect((await user.api.patch(`${path}/cards/${card.id}`, { title: 'b' })).status).toBe(200)
  expect((await user.api.post(`${path}/cards`, { kind: 'note' })).body.board_id).toBe(board.id)
  expect((await user.api.get(`/boards/${board.id}/cards`)).body.total).toBe(2)
  const loaded = service.nodes.flatMap(({ live }) => live.documents.all().map(({ boardId }) => boardId))
  expect(new Set(loaded.filter((id) => id.toLowerCase() === board.id))).toEqual(new Set([board.id]))
})

test('[E18] what is invisible and what is not there are answered alike: status, headers and body', async () => {
  const stranger = await service.user()
  const hidden = await makeBoard(user)
  const trashed = await makeBoard(user)
  const own = await makeBoard(stranger)
  const card = await makeCard(user, hidden.id)
  await user.api.delete(`/boards/${trashed.id}`)
  const { group } = (await user.api.post(`/boards/${hidden.id}/groups`, { name: 'a' })).body
  const webhook = await makeWebhook(service, user, 'https://example.test/')
  const [deliveryId] = await addDeliveries(service.admin, webhook, 1, { status: 'given_up', attempt: 6 })
  const varying = new Set([
    'x-request-id',
    'date',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
    'ratelimit',
    'connection',
    'keep-alive',
  ])
  const bodies: Record<string, unknown> = {
    'POST /boards/:id/cards': { kind: 'note', x: 0, y: 0 },
    'PATCH /boards/:id/cards': { cards: [{ id: card.id, title: 'a' }] },
    'DELETE /boards/:id/cards': { card_ids: [card.id] },
    'POST /boards/:id/groups': { name: 'a' },
    'POST /boards/:id/versions': { name: 'a' },
    'PATCH /boards/:id/versions/:versionId': { name: 'a' },
    'POST /boards/:id/import': { items: [{ url: 'https://127.0.0.1/' }] },
    'POST /boards/:id/restore-to': { as_of: '1' },
    'POST /boards/:id/undo': { request_id: 'none' },
    'POST /boards/:id/links': { role: 'viewer' },
    'POST /boards/:id/shares': { user_id: nowhere, role: 'viewer' },
    'PATCH /boards/:id/shares/:userId': { role: 'viewer' },
    'PATCH /workspaces/:id/members/:userId': { role: 'viewer' },
    'POST /workspaces/:id/invitations': { role: 'viewer' },
    'POST /boards/:id/cards/move': { to_board_id: own.id, card_ids: [card.id] },
  }
  const variants: [route: string, body: unknown][] = routes
    .filter(({ path }) => path.includes(':id'))
    .map(({ method, path }) => [
      `${method} ${path}${path.endsWith('/diff') ? '?from=1' : ''}`,
      bodies[`${method} ${path}`] ?? (method === 'GET' ? undefined : {}),
    ])
  variants.push(
    ['POST /boards/:id/cards', { kind: 'note' }],
    ['POST /boards/:id/cards', { kind: 'note', x: 0, y: 0, group_id: 'g' }],
    [
      'POST /boards/:id/cards',
      { kind: 'note', on_conflict: 'identifier', identifiers: [{ scope: 's', value: 'v' }] },
    ],
    ['PATCH /boards/:id', { parent_board_id: nowhere }],
    ['GET /boards/:id/cards?source=index', undefined],
    ['GET /boards/:id/cards?include=raw', undefined],
  )
  for (const [route, body] of variants) {
    const [method, path] = route.split(' ') as [string, string]
    const ofWebhook = path.startsWith('/webhooks/')
    const ask = async (id: string) => {
      const { status, headers, text } = await stranger.api.send(
        method,
        path
          .replace(':id', id)
          .replace(':cardId', card.id)
          .replace(':groupId', group.id)
          .replace(':deliveryId', deliveryId!)
          .replace(':versionId', nowhere)
          .replace(/:(tokenId|userId|linkId|invitationId)/, nowhere),
        body,
      )
      return { status, text, headers: [...headers].filter(([name]) => !varying.has(name)) }
    }
    const missing = await ask(nowhere)
    expect([route, missing.status]).toEqual([route, 404])
    for (const id of ofWebhook ? [webhook] : [hidden.id, trashed.id])
      expect(await ask(id), route).toEqual(missing)
  }
  for (const field of ['workspace_id', 'parent_board_id']) {
    const ask = async (id: string) => {
      const { status, text } = await stranger.api.post('/boards', { name: 'a', [field]: id })
      return { status, text }
    }
    const missing = await ask(nowhere)
    expect(missing.status).toBe(404)
    expect(await ask(field === 'workspace_id' ? user.workspaceId : hidden.id)).toEqual(missing)
  }
})

test('[E19] whoever may not write makes the service load no document', async () => {
  const [stranger, viewer] = await Promise.all([service.user(), service.user()])
  const [board, trashed, other] = await Promise.all([makeBoard(user), makeBoard(user), makeBoard(user)])
  const [card, lost, gone] = await Promise.all(
    [board, trashed, other].map(({ id }) => makeCard(user, id)), // with positions: nothing is loaded for them
  )
  const { body: removed } = await user.api.delete(`/boards/${other.id}/cards/${gone!.id}`)
  await service.share(board.id, viewer, 'viewer')
  await user.api.delete(`/boards/${trashed.id}`)
  const loaded = () => service.live.documents.all().map(({ boardId }) => boardId)
  const cases: [who: TestUser, boardId: string, cardId: string, status: number][] = [
    [stranger, board.id, card!.id, 404],
    [viewer, board.id, card!.id, 403],
    [user, trashed.id, lost!.id, 409],
    [user, nowhere, card!.id, 404],
  ]
  for (const [who, boardId, cardId, status] of cases) {
    const path = `/boards/${boardId}/cards`
    const answers = [
      await who.api.patch(`${path}/${cardId}`, { title: 'a' }),
      await who.api.patch(path, { cards: [{ id: cardId, title: 'a' }] }),
      await who.api.delete(`${path}/${cardId}`),
      await who.api.delete(path, { card_ids: [cardId] }),
      await who.api.post(path, { kind: 'note' }),
      await who.api.post(path, { kind: 'note', x: 0, y: 0, group_id: 'g' }),
      await who.api.post(path, { kind: 'note', x: 0, y: 0 }),
    ]
    if (who === user) answers.push(await who.api.post(path, removed.card))
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status))
    expect(loaded()).not.toContain(boardId)
  }
  expect((await user.api.patch(`/boards/${board.id}/cards/${card!.id}`, { body: 'a' })).status).toBe(200)
  expect(loaded()).toContain(board.id)
})
