/** Runs an import: finds items that the board already has, fetches the others, creates their cards. */
import { showNewest } from '../../collab/boards/live.ts'
import { findSources, identifierSource, urlSource } from '../../collab/boards/sources.ts'
import { readCards, type PresentedCard } from '../../collab/boards/read.ts'
import { createCards } from '../../collab/boards/write.ts'
import type { CardChange } from '../../core/card.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import type { LayoutName } from '../../core/layout/solve.ts'
import { limits } from '../../core/limits.ts'
import { readCapacity } from '../boards/capacity.ts'
import { cardChange } from '../cards/card-input.ts'
import { showWritten } from '../files/show-images.ts'
import { FairQueue } from '../../platform/work/fair-queue.ts'
import type { ApiContext } from '../http/route.ts'
import { fetchCard } from './fetch-card.ts'
import { failedBy, takeFetchTurn, type Failed } from './fetch-url.ts'
import type { ImportProgress } from './import-progress.ts'
import type { ImportItem } from './import-item.ts'
import { inOrder } from './in-order.ts'

interface Import {
  account: string
  boardId: string
  items: ImportItem[]
  layout: LayoutName
  dryRun: boolean
  progress: ImportProgress
}

/** An item of the request, and its state. */
interface Task {
  /** Its index in the request. */
  item: number
  url: string
  /** The fields that the client gave. */
  given: CardChange
  /** The URL and identifiers by which the board recognises it. */
  sources: string[]
  /** An earlier item with one of the same sources. This item gets its result. */
  same: Task | null
  /** The card fields from the fetch. */
  fetched?: CardChange
  result?: Result
}

type Result =
  | { status: 'created' | 'existing'; cardId: string }
  | { status: 'valid' }
  | ({ status: 'failed' } & Failed)

/**
 * Per board, one import at a time looks for existing items and creates cards. Across processes, the commit checks this.
 */
const creating = new FairQueue({ atOnce: Infinity, atOncePerAccount: 1 })

/** @throws ServiceError `bad_request` for a malformed item, before anything is fetched or created */
export async function runImport(context: ApiContext, request: Import): Promise<Record<string, unknown>> {
  const tasks = readItems(request.items)
  const before = await settleEarlier(context, request, tasks)
  await settleExisting(context, request, tasks)
  const open = tasks.filter(({ result, same }) => !result && !same)
  let made: { cards: PresentedCard[]; live: boolean } = { cards: [], live: true }
  const room = await roomFor(context, request)
  if (request.dryRun) await validate(context, open, room)
  else {
    await fetchAll(context, request, open, room)
    made = await createAll(context, request, open)
  }
  const order = new Map(
    tasks.map(({ result }, at) => [result && 'cardId' in result ? result.cardId : '', at]),
  )
  const cards = [...before, ...made.cards]
  cards.sort((a, b) => order.get(a['id'] as string)! - order.get(b['id'] as string)!)
  const shown = await showWritten(context, request.account, cards)
  // The earlier attempt may have ended before the open canvases had its cards.
  const live = made.live && (before.length === 0 || (await showNewest(context.live, request.boardId)))
  return answerTo(request, tasks, { cards: shown, live })
}

/** Restores the progress of an earlier attempt of the same request. @returns the cards that it created */
async function settleEarlier(
  { live }: ApiContext,
  { account, boardId, progress }: Import,
  tasks: Task[],
): Promise<PresentedCard[]> {
  const made = [...progress.created]
  for (const [item, cardId] of made) tasks[item]!.result = { status: 'created', cardId }
  for (const [item, card] of progress.fetched) tasks[item]!.fetched = card
  const ids = made.map(([, id]) => id)
  return ids.length === 0 ? [] : readCards(live, boardId, ids, account)
}

function readItems(items: ImportItem[]): Task[] {
  const earlier = new Map<string, Task>()
  return items.map(({ url, title, caption, ...fields }, at): Task => {
    const where = `items[${at}].`
    const protocol = URL.parse(url)?.protocol
    if (protocol !== 'https:' && protocol !== 'http:')
      throw badRequest(`${where}url must be an https URL on a public host.`)
    const given = cardChange(
      {
        ...fields,
        url,
        ...(title ? { title } : {}),
        ...(caption ? { body: caption } : {}),
      },
      where,
    )
    const sources = [urlSource(url), ...(given.identifiers ?? []).map(identifierSource)]
    const same = sources.map((source) => earlier.get(source)).find((task) => task !== undefined) ?? null
    const task: Task = { item: at, url, given, sources, same: same?.same ?? same }
    for (const source of sources) if (!earlier.has(source)) earlier.set(source, task)
    return task
  })
}

async function settleExisting({ live }: ApiContext, { boardId }: Import, tasks: Task[]): Promise<void> {
  const found = await findSources(live, boardId, new Set(tasks.flatMap(({ sources }) => sources)))
  for (const task of tasks) {
    const cardId = task.sources.map((source) => found.get(source)).find((id) => id !== undefined)
    if (cardId !== undefined && !task.result) task.result = { status: 'existing', cardId }
  }
}

/** How many cards the board's owner may still add. */
async function roomFor({ database, freeCardCap }: ApiContext, { account, boardId }: Import): Promise<number> {
  const capacity = await database.asUser(account, (tx) => readCapacity(tx, boardId, freeCardCap))
  return capacity?.remaining ?? Infinity
}

const full = (): Result => ({
  status: 'failed',
  code: 'limit_reached',
  error: 'The board’s owner has reached the limit of cards or storage. Delete something first.',
})

async function validate({ checkUrl }: ApiContext, open: Task[], room: number): Promise<void> {
  let left = room
  await inOrder(open, limits.import.atOnce, async (task) => {
    const fault = await checkUrl(task.url)
    if (fault) task.result = { status: 'failed', code: 'bad_request', error: `url ${fault}.` }
    else task.result = (left -= 1) < 0 ? full() : { status: 'valid' }
  })
}

/** Fetches the items in order, several at a time, and no more than the owner may still add. */
async function fetchAll(context: ApiContext, request: Import, open: Task[], room: number): Promise<void> {
  const { account, boardId } = request
  const deadline = performance.now() + context.importMs.call
  const counts = { fetched: open.filter(({ fetched }) => fetched).length, running: 0 }
  let isFull = false
  await inOrder(
    open.filter(({ fetched }) => !fetched),
    limits.import.atOnce,
    async (task) => {
      if (isFull || counts.fetched >= room) return void (task.result = full())
      counts.running += 1
      const end = await takeFetchTurn(account, deadline - performance.now())
      try {
        const timeoutMs = Math.min(context.importMs.item, deadline - performance.now())
        if (!end || timeoutMs <= 0) return void (task.result = notBegun(context.importMs.call))
        const got = await request.progress.ofItem(task.item, (stored) =>
          fetchCard(context, { account, boardId, url: task.url, timeoutMs, stored }),
        )
        if (!('code' in got)) {
          task.fetched = got
          counts.fetched += 1
        } else {
          task.result = { status: 'failed', ...got }
          if (got.code === 'limit_reached') isFull = true
        }
      } catch (error) {
        context.log.error({ err: error, boardId }, 'import of an item failed')
        task.result = {
          status: 'failed',
          ...(error instanceof ServiceError
            ? failedBy(error)
            : { code: 'internal_error', error: 'Internal error. Try again later.' }),
        }
      } finally {
        end?.()
        counts.running -= 1
      }
    },
    // If the running fetches may fill the limit, wait for their results.
    () => isFull || counts.running === 0 || counts.fetched + counts.running < room,
  )
}

const notBegun = (callMs: number): Result => ({
  status: 'failed',
  code: 'upstream_error',
  error: `This item was not fetched within the import's ${callMs / 1000} seconds. Repeat the request.`,
})

async function createAll(
  context: ApiContext,
  request: Import,
  open: Task[],
): Promise<{ cards: PresentedCard[]; live: boolean }> {
  if (!open.some(({ fetched }) => fetched)) return { cards: [], live: true }
  return creating.run(request.boardId, async () => {
    const fetched = open.filter((task) => task.fetched)
    await settleExisting(context, request, fetched)
    const left = fetched.filter(({ result }) => !result)
    return createMissing(context, request, left)
  })
}

/** The commit refuses items that another process has created meanwhile. Then this creates only those still missing. */
async function createMissing(
  context: ApiContext,
  request: Import,
  tasks: Task[],
): Promise<{ cards: PresentedCard[]; live: boolean }> {
  for (let missing = tasks; ;) {
    try {
      return await createWithinCap(context, request, missing)
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error
      await settleExisting(context, request, missing)
      const others = missing.filter(({ result }) => !result)
      if (others.length === missing.length) throw error
      missing = others
    }
  }
}

/** Creates as many of the cards as the owner may still add. The number may have dropped meanwhile. */
async function createWithinCap(
  context: ApiContext,
  request: Import,
  tasks: Task[],
): Promise<{ cards: PresentedCard[]; live: boolean }> {
  const { account, boardId, layout } = request
  let count = tasks.length
  while (count > 0) {
    const some = tasks.slice(0, count)
    try {
      const created = await createCards(context.live, {
        account,
        boardId,
        layout,
        keepsPlaced: true,
        cards: some.map((task) => ({ change: cardOf(task) })),
        remember: (ids) =>
          request.progress.cards(
            some.map(({ item }) => item),
            ids,
          ),
        newSources: new Set(some.flatMap(({ sources }) => sources)),
      })
      for (const [n, task] of some.entries())
        task.result = { status: 'created', cardId: created.cards[n]!['id'] as string }
      for (const task of tasks.slice(count)) task.result = full()
      return created
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'limit_reached') throw error
      count = Math.min(count - 1, await roomFor(context, request))
    }
  }
  for (const task of tasks) task.result = full()
  return { cards: [], live: true }
}

/**
 * The client's fields override the fetched ones. If only one of `w` and `h` is given, the image's proportions set the
 * other.
 */
function cardOf({ given, fetched = {} }: Task): CardChange {
  const card: CardChange = { ...fetched, ...given }
  if (fetched.w !== undefined && fetched.h !== undefined) {
    const { min, max } = limits.cardSize
    const bound = (side: number) => Math.min(max, Math.max(min, Math.round(side)))
    if (given.w !== undefined && given.h === undefined) card.h = bound((given.w * fetched.h) / fetched.w)
    if (given.h !== undefined && given.w === undefined) card.w = bound((given.h * fetched.w) / fetched.h)
  }
  return card
}

function answerTo(
  { boardId, layout, dryRun }: Import,
  tasks: Task[],
  { cards, live }: { cards: PresentedCard[]; live: boolean },
): Record<string, unknown> {
  const results = tasks.map((task) => {
    const of = task.result ?? task.same?.result ?? notBegun(0)
    // Two items with the same source create one card.
    const result: Result = task.same && of.status === 'created' ? { ...of, status: 'existing' } : of
    return {
      url: task.url,
      status: result.status,
      card_id: 'cardId' in result ? result.cardId : null,
      error: result.status === 'failed' ? result.error : null,
      code: result.status === 'failed' ? result.code : null,
    }
  })
  const count = (status: string) => results.filter((result) => result.status === status).length
  return {
    board_id: boardId,
    layout,
    dry_run: dryRun,
    created: count('created'),
    existing: count('existing'),
    failed: count('failed'),
    results,
    cards,
    live,
  }
}
