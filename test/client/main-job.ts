/**
 * The main job by a client that is generated from the API description alone: a test makes `#schema` from it, has both
 * compiled and runs this against a service. Prints what came of it as JSON.
 */
import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { paths } from '#schema'

const { SERVICE_URL, TOKEN, RECEIVER_URL } = process.env as Record<string, string>
const client = createClient<paths>({
  baseUrl: `${SERVICE_URL}/api/v1`,
  headers: { authorization: `Bearer ${TOKEN}` },
})

/** What it answered; its type says that it has been a success. */
function done<Body>({ data, error, response }: { data?: Body; error?: unknown; response: Response }): Body {
  if (data === undefined) throw new Error(`${response.status} ${JSON.stringify(error)}`)
  return data
}

const { workspaces } = done(await client.GET('/workspaces', {}))
const workspaceId = workspaces[0]!.id

const makeBoard = async (name: string): Promise<string> => {
  const made = done(await client.POST('/boards', { body: { name, workspace_id: workspaceId } }))
  assert('board' in made)
  return made.board.id
}
const [boardId, otherId] = [await makeBoard('By a generated client'), await makeBoard('Another')]
const params = { path: { id: boardId } }

const { webhook, secret } = done(
  await client.POST('/webhooks', {
    body: { workspace_id: workspaceId, url: RECEIVER_URL!, events: ['card.created', 'card.moved'] },
  }),
)
assert.match(secret, /^whsec_/)
done(await client.POST('/webhooks/{id}/test', { params: { path: { id: webhook.id } } }))

const key = { header: { 'Idempotency-Key': `key-${boardId}` } }
const body = {
  cards: [
    { kind: 'note', title: 'Lighthouse' },
    { kind: 'note', title: 'Harbour' },
  ],
}
const created = done(await client.POST('/boards/{id}/cards', { params: { ...params, ...key }, body }))
const again = done(await client.POST('/boards/{id}/cards', { params: { ...params, ...key }, body }))
assert.deepEqual(again, created)
const [first, second] = created.cards.map(({ id }) => id) as [string, string]
const card = (cardId: string) => ({ params: { path: { id: boardId, cardId } } })

const patched = done(
  await client.PATCH('/boards/{id}/cards/{cardId}', {
    ...card(first),
    body: { title: 'Lighthouse at dusk' },
  }),
)
assert.equal(patched.card.title, 'Lighthouse at dusk')

const since = { source: 'index' as const, since: '1970-01-01T00:00:00Z' }
const followed: string[] = []
for (let cursor: string | null = null; followed.length < 2;) {
  const query: typeof since & { cursor?: string } = cursor === null ? since : { ...since, cursor }
  const page = done(await client.GET('/boards/{id}/cards', { params: { path: { id: boardId }, query } }))
  assert('next_cursor' in page)
  followed.push(...page.cards.map(({ id }) => id))
  cursor = page.next_cursor
}

const found = done(await client.GET('/search', { params: { query: { q: 'lighthouse dusk' } } }))
const moved = done(
  await client.POST('/boards/{id}/cards/move', {
    params,
    body: { to_board_id: otherId, card_ids: [second] },
  }),
)
const removed = done(await client.DELETE('/boards/{id}/cards/{cardId}', card(first)))
const { kind, title, restore_token } = removed.card
const restored = done(
  await client.POST('/boards/{id}/cards', { params, body: { kind, title, restore_token } }),
)

done(await client.DELETE('/boards/{id}', { params }))
const back = done(await client.POST('/boards/{id}/restore', { params }))

const missing = await client.GET('/boards/{id}', { params: { path: { id: crypto.randomUUID() } } })
assert.equal(missing.error?.code, 'not_found')

// What the description does not know, or knows otherwise, does not compile.
// @ts-expect-error no such path
void (() => client.GET('/nothing', {}))
// @ts-expect-error no such method
void (() => client.PATCH('/me', {}))
// @ts-expect-error a name is a text
void (() => client.POST('/boards', { body: { name: 5 } }))
// @ts-expect-error the id is missing
void (() => client.GET('/boards/{id}', {}))
// @ts-expect-error cards have no such field
void restored.cards[0]?.colour

process.stdout.write(
  JSON.stringify({
    boardId,
    followed: followed.toSorted(),
    created: [first, second].toSorted(),
    found: found.cards.items.map(({ id }) => id),
    moved: moved.cards.map(({ id }) => id),
    first,
    second,
    restored: restored.cards.map(({ title }) => title),
    isBack: back.restored && !back.board.deleted,
  }),
)
