/**
 * The five calls that most clients begin with, by a client that is generated from the API description, without a cast: a
 * test makes `#schema`, compiles this and runs it. Prints what came of it as JSON.
 */
import createClient from 'openapi-fetch'
import type { components, paths } from '#schema'

type Board = components['schemas']['Board']
type Card = components['schemas']['Card']
type IndexCard = components['schemas']['IndexCard']

const { SERVICE_URL = '', TOKEN = '', RECEIVER_URL = '', WORKSPACE = '' } = process.env
const client = createClient<paths>({
  baseUrl: `${SERVICE_URL}/api/v1`,
  headers: { authorization: `Bearer ${TOKEN}` },
})

const made = await client.POST('/boards', { body: { name: 'Five calls', workspace_id: WORKSPACE } })
if (!made.data || !('board' in made.data)) throw new Error(made.error?.error)
const board: Board = made.data.board
const path = { id: board.id }

// Create a card.
const created = await client.POST('/boards/{id}/cards', {
  params: { path },
  body: { kind: 'note', title: 'Lighthouse', x: 40, y: 80 },
})
const [card] = created.data?.cards ?? []
if (!card) throw new Error(created.error?.error)
const title: Card['title'] = card.title

// List cards.
const listed = await client.GET('/boards/{id}/cards', { params: { path, query: { limit: 10 } } })
const cards: Card[] = listed.data && 'total' in listed.data ? listed.data.cards : []

// Change a card.
const patched = await client.PATCH('/boards/{id}/cards/{cardId}', {
  params: { path: { ...path, cardId: card.id } },
  body: { title: 'Lighthouse at dusk' },
})
const changed: Card | undefined = patched.data?.card

// Create a webhook.
const subscribed = await client.POST('/webhooks', {
  body: { workspace_id: board.workspace_id, url: RECEIVER_URL, events: ['card.created'] },
})
const secret: string | undefined = subscribed.data?.secret

// Follow the changes of the board's cards. The newest are left out while a write is under way, so ask again.
const followed: IndexCard[] = []
const removed: string[] = []
const pageAfter = (cursor: string | null) => {
  const from = cursor === null ? { since: board.created_at } : { cursor }
  return client.GET('/boards/{id}/cards', { params: { path, query: { source: 'index', ...from } } })
}
let cursor: string | null = null
for (let more = true; more || followed.length === 0;) {
  if (!more) await new Promise((resolve) => setTimeout(resolve, 200))
  const page = await pageAfter(cursor)
  if (!page.data || !('source' in page.data)) throw new Error(page.error?.error)
  for (const one of page.data.cards) {
    if ('deleted' in one) removed.push(one.id)
    else followed.push(one)
  }
  cursor = page.data.next_cursor
  more = page.data.has_more
}

// What has a default may be left out; the codes of each status are known.
const exported = await client.GET('/boards/{id}/export', { params: { path } })
const imported = await client.POST('/boards/{id}/import', {
  params: { path },
  body: { items: [{ url: 'https://example.com/' }], dry_run: true },
})
const missing = await client.GET('/boards/{id}', { params: { path: { id: crypto.randomUUID() } } })
const code:
  | 'bad_request'
  | 'invalid_token'
  | 'not_found'
  | 'rate_limited'
  | 'internal_error'
  | 'storage_unavailable'
  | undefined = missing.error?.code
// @ts-expect-error reading a board is never refused for the plan
void (code === 'limit_reached')
// @ts-expect-error a card has no such field
void changed?.colour

process.stdout.write(
  JSON.stringify({
    title,
    listed: cards.map(({ title }) => title),
    changed: changed?.title,
    isSecret: secret?.startsWith('whsec_'),
    followed: followed.map(({ title }) => title),
    removed,
    isExported: exported.data !== undefined && 'cards' in exported.data,
    imported: imported.data?.results.map(({ status }) => status),
    code,
  }),
)
