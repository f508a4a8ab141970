/** Lists page by page, and change feeds. */
import type { FeedOperation, FeedRow, ListOperation, Operation, Row } from './operations.ts'
import type { RequestOperation } from './request.ts'
import type { SendOptions } from './transport.ts'
import { wait } from './wait.ts'

interface Page {
  has_more: boolean
  next_cursor?: string | null
  next_offset?: number | null
  [rows: string]: unknown
}

type Given = SendOptions & { path?: unknown; query?: Record<string, unknown> }

/** A page as its operation answers it. The types of one operation are checked where `Client` declares them. */
const readPage = (request: RequestOperation, operation: Operation, input: object) =>
  (request as (operation: Operation, input: object) => Promise<unknown>)(operation, input) as Promise<Page>

const rowsOf = <T>(page: Page) => (Object.values(page).find(Array.isArray) ?? []) as T[]

export async function* listRows<O extends ListOperation>(
  request: RequestOperation,
  operation: O,
  input: Given,
): AsyncGenerator<Row<O>, void> {
  let { query = {} } = input
  for (;;) {
    const page = await readPage(request, operation, { ...input, query })
    yield* rowsOf<Row<O>>(page)
    if (!page.has_more) return
    const { since: _since, ...filters } = query
    query =
      typeof page.next_cursor === 'string'
        ? { ...filters, cursor: page.next_cursor }
        : { ...filters, offset: page.next_offset }
  }
}

export interface FollowOptions {
  /** Where to go on: the `cursor` of the last changes that you took over. Default: the beginning, or `query.since`. */
  cursor?: string | undefined
  /** How long to wait at the end of the feed before it is read again. Default: 10 s. Each look is a request. */
  everyMs?: number
  /** Stop at the end of the feed instead. */
  once?: boolean
}

export interface Changes<T> {
  rows: T[]
  cursor: string
}

const beginning = '1970-01-01T00:00:00Z'
/** Without these, nothing tells what is gone. */
const withDeletions: Partial<Record<Operation, object>> = {
  'GET /boards': { deleted: '1' },
  'GET /boards/{id}/cards': { source: 'index', deleted: '1' },
}

export async function* followFeed<O extends FeedOperation>(
  request: RequestOperation,
  operation: O,
  { cursor, everyMs = 10_000, once = false, ...input }: Given & FollowOptions,
): AsyncGenerator<Changes<FeedRow<O>>, void> {
  const { since = beginning, ...filters } = input.query ?? {}
  const query = { limit: 500, ...withDeletions[operation], ...filters }
  for (let from: object = cursor === undefined ? { since } : { cursor }; ;) {
    // A follower waits for a service that is away, however long that takes.
    const page = await readPage(request, operation, {
      retryForMs: Infinity,
      ...input,
      query: { ...query, ...from },
    })
    const rows = rowsOf<FeedRow<O>>(page)
    // An empty page has a cursor, too.
    from = { cursor: page.next_cursor }
    if (rows.length > 0) yield { rows, cursor: page.next_cursor! }
    if (page.has_more) continue
    if (once) return
    await wait(everyMs, input.signal)
  }
}
