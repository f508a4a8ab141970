/** Requests of the client: again where that is safe, errors by their code, pages, and edits that lose nothing. */
import { expect, test } from 'vitest'
import { createClient, isFailure, type ClientOptions } from '../../client/index.ts'
import { makeBoard, makeCards } from '../api/board.ts'
import { until } from '../support/editor.ts'
import { serviceOfFile } from '../support/test-file.ts'

const hourMs = 3_600_000
const realTime = () => Date.now() + offsetMs
let offsetMs = 0
let time = realTime
const { service, user } = await serviceOfFile({ clock: { now: () => time() }, debounceMs: 30 })
const board = (await makeBoard(user, { name: 'Harbour' })).id

const clientOf = (options: Partial<ClientOptions> = {}) =>
  createClient({ url: service.url, token: user.token, ...options })
const client = clientOf()

/** The real `fetch`, and what it sent. */
function recorded(lose: (attempt: number) => boolean = () => false) {
  const sent: Request[] = []
  const answered: number[] = []
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const request = new Request(url, init)
    sent.push(request)
    const response = await globalThis.fetch(request.clone())
    answered.push(response.status)
    if (lose(sent.length)) throw new TypeError('the connection was lost before the answer came')
    return response
  }
  return { sent, answered, fetch }
}

const outcome = (promise: Promise<unknown>) => promise.catch((error: unknown) => error)

test('[LB2] an operation is called by its name; parameters and body go where the description has them', async () => {
  const made = await client.request('POST /boards', { body: { name: 'By the client' } })
  expect(made).toMatchObject({ board: { name: 'By the client' } })
  const read = await client.request('GET /boards/{id}', { path: { id: board } })
  expect(read.board.name).toBe('Harbour')
  const { cards } = await client.request('POST /boards/{id}/cards', {
    path: { id: board },
    body: { kind: 'note', title: 'A & B', x: 0, y: 0 },
  })
  const found = await client.request('GET /search', { query: { q: 'A & B', kind: 'card' } })
  expect(found.cards.items.map(({ id }) => id)).toEqual([cards[0]!.id])
  expect((await client.request('GET /me')).user_id).toBe(user.userId)
})

test('[LB3] a POST whose answer is lost is sent again under its key, and done once', async () => {
  const { sent, fetch } = recorded((attempt) => attempt <= 2)
  const answer = await clientOf({ fetch }).request('POST /boards/{id}/cards', {
    path: { id: board },
    body: { kind: 'note', title: 'Once', x: 0, y: 0 },
  })
  const keys = sent.map(({ headers }) => headers.get('idempotency-key'))
  expect(new Set(keys).size).toBe(1)
  expect(keys).toHaveLength(3)
  const all = await Array.fromAsync(client.list('GET /boards/{id}/cards', { path: { id: board } }))
  expect(all.filter((card) => 'title' in card && card.title === 'Once').map(({ id }) => id)).toEqual([
    answer.cards[0]!.id,
  ])
})

test('[LB3] a request over the limit waits as long as `retry-after` says; one that would wait too long fails', async () => {
  const limit = 10
  const { access_token } = await client.request('POST /service-accounts', {
    body: { workspace_id: user.workspaceId, name: 'Sync', scopes: ['read', 'write'], rate_limit: limit },
  })
  const { sent, answered, fetch } = recorded()
  const limited = clientOf({ token: access_token, fetch })
  const create = (n: number) =>
    limited.request('POST /boards/{id}/cards', {
      path: { id: board },
      body: { kind: 'note', title: `n${n}` },
    })
  const startedAt = Date.now()
  time = () => startedAt
  await Promise.all(Array.from({ length: limit }, () => limited.request('GET /me')))
  const refused = await outcome(create(0))
  expect(isFailure(refused, 'rate_limited') && refused.retryAfterSeconds).toBeGreaterThan(3590)
  expect(sent).toHaveLength(limit + 1)

  // A second before the hour of the ten requests is over.
  time = () => startedAt + hourMs - 1000
  const creating = Promise.all(Array.from({ length: limit - 1 }, (_, n) => create(n + 1)))
  await until(() => sent.length === 2 * limit, 'all of them have been sent once')
  await until(() => answered.length === 2 * limit, 'and were refused')
  const refusedAt = performance.now()
  offsetMs = 2 * hourMs
  time = realTime
  const made = await creating
  expect(performance.now() - refusedAt).toBeGreaterThan(500)
  expect(new Set(made.map(({ cards }) => cards[0]!.id)).size).toBe(limit - 1)
  const keys = sent.slice(limit + 1).map(({ headers }) => headers.get('idempotency-key'))
  expect([keys.length, new Set(keys).size]).toEqual([2 * (limit - 1), limit - 1])
})

test('[LB4] a failure has the code, the sentence and the id of the request; no answer is `unreachable`', async () => {
  const missing = await outcome(client.request('GET /boards/{id}', { path: { id: crypto.randomUUID() } }))
  expect(missing).toMatchObject({ name: 'CorkboardError', code: 'not_found', status: 404 })
  expect(isFailure(missing, 'not_found') && missing.requestId).toMatch(/\S/)
  expect(isFailure(missing, 'conflict', 'forbidden')).toBe(false)
  const nowhere = clientOf({ url: 'http://127.0.0.1:1', retryForMs: 0 })
  expect(await outcome(nowhere.request('GET /me'))).toMatchObject({ code: 'unreachable', status: 0 })
  // The start page is no answer of the API.
  const elsewhere = clientOf({ url: `${service.url}/docs`, retryForMs: 0 })
  expect(await outcome(elsewhere.request('GET /me'))).toMatchObject({ status: 404 })

  const stop = new AbortController()
  const waiting = clientOf({ url: 'http://127.0.0.1:1', retryForMs: Infinity })
  const stopped = outcome(waiting.request('GET /me', { signal: stop.signal }))
  stop.abort(new Error('enough'))
  expect(await stopped).toMatchObject({ message: 'enough' })
})

test('[LB4] a function that makes tokens is asked once more when its token is refused', async () => {
  const asked: boolean[] = []
  const renewing = clientOf({
    token: ({ refused }) => {
      asked.push(refused)
      return refused ? user.token : 'cork_old'
    },
  })
  expect((await renewing.request('GET /me')).user_id).toBe(user.userId)
  expect(asked).toEqual([false, true])
  const fixed = await outcome(clientOf({ token: () => 'cork_old' }).request('GET /me'))
  expect(fixed).toMatchObject({ code: 'invalid_token' })
})

test('[LB4] what is missing in JavaScript is named', async () => {
  const unset = undefined as unknown as string
  expect(() => clientOf({ url: unset })).toThrow('Give `url`')
  const failed = await outcome(createClient({ url: service.url, token: unset }).request('GET /me'))
  expect(String(failed)).toBe('TypeError: Give `token`: an access token, or a function that returns one.')
})

test('[LB5] a list is walked page by page, by offset and by cursor', async () => {
  const { id } = await makeBoard(user)
  const titles = Array.from({ length: 25 }, (_, n) => `Card ${n}`)
  await makeCards(
    user,
    id,
    titles.map((title) => ({ title })),
  )
  for (const query of [{ limit: 10 }, { limit: 10, source: 'index' as const }]) {
    const cards = await Array.fromAsync(client.list('GET /boards/{id}/cards', { path: { id }, query }))
    expect(cards.flatMap((card) => ('title' in card ? (card.title ?? []) : [])).toSorted()).toEqual(
      titles.toSorted(),
    )
  }
  const workspaces = await Array.fromAsync(client.list('GET /workspaces'))
  expect(workspaces.map(({ id }) => id)).toContain(user.workspaceId)
})

test('[LB7] of ten edits of one card at once each is made once, and so is one whose answer is lost', async () => {
  const path = { id: board }
  const body = { kind: 'note', title: '0', body: 'The quick fox', x: 0, y: 0 }
  const { cards } = await client.request('POST /boards/{id}/cards', { path, body })
  const card = cards[0]!.id
  const edited = await Promise.all(
    Array.from({ length: 10 }, () =>
      client.edit({ board, card }, ({ props }) => ({
        props: { count: Number(props?.['count'] ?? 0) + 1, by: crypto.randomUUID() },
      })),
    ),
  )
  const last = await client.request('GET /boards/{id}/cards/{cardId}', { path: { id: board, cardId: card } })
  expect(last.card.props).toMatchObject({ count: 10 })
  expect(new Set(edited.map(({ props }) => props?.['by'])).size).toBe(10)

  // Reading, the write whose answer is lost, and the same write again.
  const { sent, fetch } = recorded((attempt) => attempt === 2)
  const counted = await clientOf({ fetch }).edit({ board, card }, ({ props }) => ({
    props: { count: Number(props?.['count']) + 1 },
  }))
  expect(sent.map(({ method }) => method)).toEqual(['GET', 'PATCH', 'PATCH'])
  expect(counted.props).toEqual({ count: 11 })

  // What somebody types between the reading and the writing stays.
  let typed = false
  const merged = await client.edit(
    { board, card },
    ({ body }) => {
      expect(typed).toBe(false)
      typed = true
      return { body: body!.replace('quick', 'quick brown') }
    },
    { mergeBody: true },
  )
  expect(merged.body).toBe('The quick brown fox')
  const kept = await client.edit({ board, card }, () => null)
  expect(kept.version).toBe(merged.version)
  const renamed = await client.editBoard(board, ({ name }) => ({ name: `${name}!` }))
  expect(renamed.name).toBe('Harbour!')
})

test('[LB7] with `mergeBody` the words of others stay', async () => {
  const path = { id: board }
  const body = { kind: 'note', body: 'one two three', x: 0, y: 0 }
  const { cards } = await client.request('POST /boards/{id}/cards', { path, body })
  const cardId = cards[0]!.id
  let overtaken: Promise<unknown> | null = null
  const slow: typeof fetch = async (url, init) => {
    // Somebody else is quicker.
    if (init?.method === 'PATCH')
      await (overtaken ??= client.request('PATCH /boards/{id}/cards/{cardId}', {
        path: { id: board, cardId },
        body: { body: 'zero one two three' },
      }))
    return fetch(url, init)
  }
  const merged = await clientOf({ fetch: slow }).edit(
    { board, card: cardId },
    (card) => ({ body: `${card.body} four` }),
    { mergeBody: true },
  )
  expect(merged.body).toBe('zero one two three four')
})
