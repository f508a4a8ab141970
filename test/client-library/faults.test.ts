/**
 * The client while the service is killed. By hand with the full sizes:
 * `CLIENT_CALLS=1000 FOLLOW_MS=600000 npm test -- test/client-library/faults.test.ts`
 */
import { afterAll, expect, test } from 'vitest'
import { createClient, isFailure, type Client } from '../../client/index.ts'
import { addUser } from '../../sql/accounts/accounts.ts'
import { mintToken } from '../../sql/accounts/tokens.ts'
import { until } from '../support/editor.ts'
import { ServiceProcess } from '../support/service-process.ts'

const calls = Number(process.env['CLIENT_CALLS'] ?? 50)
const followMs = Number(process.env['FOLLOW_MS'] ?? 1000)
/** And until the writers have written so often. */
const leastWrites = 100
/** After so many calls that were retried, the service is killed. */
const callsPerKill = Math.max(50, calls / 5)
const timeout = followMs + calls * 1000 + 60_000

const service = await ServiceProcess.make()
afterAll(() => service.remove())
service.launch()
await service.ready()
const token = await service.withDatabase((database) =>
  database.asSystem(async (tx) => {
    const { userId } = await addUser(tx, { email: 'ada@example.test', name: 'Ada', tier: 'pro' })
    return (await mintToken(tx, { userId, name: 'test', scopes: ['read', 'write', 'delete'] })).token
  }),
)

/** A client, and how often each request with an `Idempotency-Key` was sent. */
function countedClient() {
  const sent = new Map<string, number>()
  const client = createClient({
    url: service.url,
    token,
    retryForMs: 120_000,
    async fetch(url, init) {
      const key = new Headers(init?.headers).get('idempotency-key')
      if (key) sent.set(key, (sent.get(key) ?? 0) + 1)
      const response = await fetch(url, init)
      // Of every third request the answer gets lost.
      if (key && sent.get(key) === 1 && sent.size % 3 === 0) {
        await response.body?.cancel()
        throw new TypeError('the connection was lost before the answer came')
      }
      return response
    },
  })
  return { client, retried: () => [...sent.values()].filter((times) => times > 1).length }
}

const makeBoard = async (client: Client, name: string) => {
  const made = await client.request('POST /boards', { body: { name } })
  if (!('board' in made)) throw new Error('one board was asked for')
  return made.board.id
}

async function killAndRestart(): Promise<void> {
  await service.kill()
  service.launch()
  await service.ready()
}

const titlesOn = async (client: Client, id: string) => {
  const cards = await Array.fromAsync(
    client.list('GET /boards/{id}/cards', { path: { id }, query: { limit: 500 } }),
  )
  return cards.flatMap((card) => ('title' in card ? (card.title ?? []) : [])).toSorted()
}

test(
  '[LB8] every creation of many that are retried happens exactly once, while the service is killed',
  { timeout },
  async () => {
    const { client, retried } = countedClient()
    const id = await makeBoard(client, 'Creations')
    const expected: string[] = []
    const create = async () => {
      while (retried() < calls) {
        const title = `creation ${expected.length}`
        expected.push(title)
        const body = { kind: 'note', title, x: 0, y: 0 }
        const { cards } = await client.request('POST /boards/{id}/cards', { path: { id }, body })
        expect(cards[0]!.title).toBe(title)
      }
    }
    const creating = Promise.all(Array.from({ length: 12 }, create))
    const killing = (async () => {
      for (let next = callsPerKill / 2; next < calls; next += callsPerKill) {
        await until(() => retried() >= next, 'calls were retried', timeout)
        await killAndRestart()
      }
    })()
    await Promise.all([creating, killing])
    expect(await titlesOn(client, id)).toEqual(expected.toSorted())
  },
)

/** What a follower has taken over. All of it would be on its disk. */
interface Mirror {
  boards: Record<string, { name: string }>
  cards: Record<string, Record<string, { title: unknown; x: number }>>
  boardsCursor?: string
  cardsCursors: Record<string, string>
}

/** Follows one board's cards. The rows and the cursor are kept at one moment, as in one transaction. */
async function followCards(client: Client, mirror: Mirror, id: string, signal?: AbortSignal): Promise<void> {
  const input = {
    path: { id },
    cursor: mirror.cardsCursors[id],
    everyMs: 50,
    once: !signal,
    ...(signal ? { signal } : {}),
  }
  for await (const { rows, cursor } of client.follow('GET /boards/{id}/cards', input)) {
    const cards = (mirror.cards[id] ??= {})
    for (const row of rows)
      if ('deleted' in row) delete cards[row.id]
      else cards[row.id] = { title: row.title, x: row.x }
    mirror.cardsCursors[id] = cursor
  }
}

async function followBoards(client: Client, mirror: Mirror, signal?: AbortSignal): Promise<void> {
  const input = { cursor: mirror.boardsCursor, everyMs: 50, once: !signal, ...(signal ? { signal } : {}) }
  for await (const { rows, cursor } of client.follow('GET /boards', input)) {
    for (const { id, name, deleted } of rows)
      if (deleted) delete mirror.boards[id]
      else mirror.boards[id] = { name }
    mirror.boardsCursor = cursor
  }
}

test(
  '[LB6] a follower that is restarted five times, of eight writers and a service that is killed, misses nothing',
  { timeout },
  async () => {
    const { client } = countedClient()
    const boards = await Promise.all(['North', 'East', 'South'].map((name) => makeBoard(client, name)))
    const startedAt = performance.now()
    let writes = 0
    const progress = () => Math.min(writes / leastWrites, (performance.now() - startedAt) / followMs)
    const reaches = (part: number) =>
      until(() => progress() >= part, `${Math.round(100 * part)} % are written`, timeout)
    const random = <T>(list: T[]) => list[Math.floor(Math.random() * list.length)]!
    const write = async (writer: number) => {
      const own: [board: string, card: string][] = []
      for (let n = 0; progress() < 1; n++, writes++) {
        const id = random(boards)
        const [board, card] = random(own) ?? []
        if (n % 3 === 0 || !board || !card) {
          const body = { kind: 'note', title: `${writer}-${n}`, x: n, y: writer }
          const { cards } = await client.request('POST /boards/{id}/cards', { path: { id }, body })
          own.push([id, cards[0]!.id])
        } else if (n % 7 === 0) {
          own.splice(
            own.findIndex(([, one]) => one === card),
            1,
          )
          // A removal whose answer was lost is 404 when it is sent again.
          await client
            .request('DELETE /boards/{id}/cards/{cardId}', { path: { id: board, cardId: card } })
            .catch((error: unknown) => {
              if (!isFailure(error, 'not_found')) throw error
            })
        } else if (n % 5 === 0)
          await client.editBoard(id, ({ name }) => ({ name: `${name.slice(0, 20)}${n % 10}` }))
        else await client.edit({ board, card }, ({ x }) => ({ x: x + 1, title: `${writer}-${n}` }))
      }
    }
    let mirror: Mirror = { boards: {}, cards: {}, cardsCursors: {} }
    const restarts = 5
    const follow = async () => {
      for (let n = 0; n <= restarts; n++) {
        const stopping = new AbortController()
        const stop = stopping.signal
        void reaches((n + 1) / (restarts + 1)).then(() => stopping.abort(new Error('restarted')))
        const ended = (error: unknown) => {
          if (!stop.aborted) throw error
        }
        await Promise.all([
          followBoards(client, mirror, stop).catch(ended),
          ...boards.map((id) => followCards(client, mirror, id, stop).catch(ended)),
        ])
        // A new process has what was kept, and nothing else.
        mirror = JSON.parse(JSON.stringify(mirror)) as Mirror
      }
    }
    const killing = reaches(0.5).then(killAndRestart)
    await Promise.all([follow(), killing, ...Array.from({ length: 8 }, (_, writer) => write(writer))])

    const truth: Pick<Mirror, 'boards' | 'cards'> = { boards: {}, cards: {} }
    for await (const { id, name } of client.list('GET /boards')) truth.boards[id] = { name }
    for (const id of boards) {
      truth.cards[id] = {}
      for await (const card of client.list('GET /boards/{id}/cards', { path: { id }, query: { limit: 500 } }))
        if ('x' in card) truth.cards[id][card.id] = { title: card.title, x: card.x }
    }
    expect(
      Object.values(truth.cards).reduce((sum, cards) => sum + Object.keys(cards).length, 0),
    ).toBeGreaterThan(20)
    // The end of a feed is about a second old while others write.
    const isEqual = () => JSON.stringify(sorted(mirror)) === JSON.stringify(sorted(truth))
    await until(async () => {
      await followBoards(client, mirror)
      for (const id of boards) await followCards(client, mirror, id)
      return isEqual()
    }, 'the mirror equals the boards').catch(() => undefined)
    expect(sorted(mirror)).toEqual(sorted(truth))
  },
)

const sorted = ({ boards, cards }: Pick<Mirror, 'boards' | 'cards'>): unknown =>
  JSON.parse(
    JSON.stringify([boards, cards], (_key, value: unknown) =>
      value && typeof value === 'object' && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    ),
  )
