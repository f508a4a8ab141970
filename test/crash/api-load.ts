/**
 * An API client that sends one request after the other. It creates, changes and removes cards, and records them in the
 * ledger.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Changes } from './event-watch.ts'
import { maxSharedText, tokenGap, type BoardLedger, type Entry, type Version } from './ledger.ts'
import type { LiveWatch } from './live-watch.ts'
import type { Random } from './random.ts'
import type { Site } from './site.ts'

export interface LoadBoard {
  boardId: string
  ledger: BoardLedger
  /** The card whose text all clients edit. */
  sharedId: string
  /** What was answered 2xx. Each of these changes has an event. */
  changes: Changes
}

export interface ApiFigures {
  /** Number of writes answered with 2xx. */
  written: number
  /** Number of requests without an answer of the service: the connection broke, or the balancer gave up. */
  unanswered: number
  /** Number of requests answered with 503. */
  unavailable: number
  slowestMs: number
  /** Requests that hung, and unexpected answers. */
  faults: string[]
}

interface OwnCard {
  id: string
  board: LoadBoard
  entry: Entry
}

interface Answer {
  card?: CardAnswer
  cards?: CardAnswer[]
  not_found?: string[]
  live?: boolean
  /** Where the request was sent to. */
  url: string
}

interface CardAnswer {
  id: string
  title: string
  x: number
  y: number
  body: string | null
}

export class ApiLoad {
  readonly figures: ApiFigures = { written: 0, unanswered: 0, unavailable: 0, slowestMs: 0, faults: [] }
  readonly #site: Site
  readonly #token: string
  readonly #name: string
  readonly #boards: LoadBoard[]
  readonly #random: Random
  readonly #watch: LiveWatch
  #own: OwnCard[] = []
  readonly #texts = new Map<LoadBoard, string>()
  #count = 0
  #stopped = false
  #running: Promise<void> | null = null

  /** Most milliseconds between two requests. */
  readonly #pauseMs: number

  constructor(
    site: Site,
    token: string,
    name: string,
    boards: LoadBoard[],
    random: Random,
    watch: LiveWatch,
    pauseMs: number,
  ) {
    this.#site = site
    this.#pauseMs = pauseMs
    this.#token = token
    this.#name = name
    this.#boards = boards
    this.#random = random
    this.#watch = watch
  }

  start(): void {
    this.#stopped = false
    this.#running = this.#run()
  }

  /** Resolves when the last request is answered or has failed. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const reached = await this.#write()
      if (!reached) await delay(20)
      else if (this.#pauseMs > 0) await delay(this.#random.between(0, this.#pauseMs))
    }
  }

  /** @returns whether the service answered */
  #write(): Promise<boolean> {
    const board = this.#random.pick(this.#boards)
    const dice = this.#random.next()
    if (this.#own.length === 0 || dice < 0.4) return this.#create(board, 1)
    if (dice < 0.5) return this.#create(board, this.#random.between(2, 20))
    if (dice < 0.6) return this.#writeToken(board)
    if (dice < 0.9) return this.#patch()
    return this.#remove()
  }

  async #create(board: LoadBoard, count: number): Promise<boolean> {
    const isPlaced = this.#random.chance(0.6)
    const cards = Array.from({ length: count }, () => {
      const title = `${this.#name}-${(this.#count += 1)}`
      const place = isPlaced ? { x: this.#place(), y: this.#place() } : {}
      return { kind: 'note', title, body: `text of ${title}`, ...place }
    })
    const entries = new Map(cards.map(({ title }) => [title, board.ledger.card(title)]))
    const versions = cards.map(({ title, body, x = null, y = null }) =>
      entries.get(title)!.write({ x, y, body }),
    )
    const path = `/boards/${board.boardId}/cards`
    const answer = await this.#send('POST', path, count === 1 ? cards[0]! : { cards }, 201, versions)
    for (const card of answer?.cards ?? []) {
      const entry = entries.get(card.title)
      if (!entry) {
        this.figures.faults.push(`a create answered with the card ${card.title}, which was not sent`)
        continue
      }
      entry.versions.at(-1)!.state = stateOf(card)
      board.changes.add('card.created', card.id)
      this.#own.push({ id: card.id, board, entry })
      if (answer?.live) this.#watch.claimed(board.boardId, card.id, entry, answer.url)
    }
    return answer !== null
  }

  async #patch(): Promise<boolean> {
    const own = this.#random.pick(this.#own)
    const before = own.entry.versions.at(-1)!.state!
    const change = this.#random.chance(0.5)
      ? { body: `${before.body} w${(this.#count += 1)}`.slice(-300) }
      : { x: this.#place(), y: this.#place() }
    const version = own.entry.write({ ...before, ...change })
    const path = `/boards/${own.board.boardId}/cards/${own.id}`
    const answer = await this.#send('PATCH', path, change, 200, [version])
    if (answer) own.board.changes.add('card.updated', own.id)
    if (!answer) this.#abandon([own])
    else if (answer.live) this.#watch.claimed(own.board.boardId, own.id, own.entry, answer.url)
    return answer !== null
  }

  async #remove(): Promise<boolean> {
    const first = this.#random.pick(this.#own)
    const path = `/boards/${first.board.boardId}/cards`
    const removed = this.#random.chance(0.5)
      ? [first]
      : this.#own.filter(({ board }) => board === first.board).slice(0, 5)
    this.#abandon(removed)
    const versions = removed.map(({ entry }) => entry.write(null))
    const answer =
      removed.length === 1
        ? await this.#send('DELETE', `${path}/${removed[0]!.id}`, undefined, 200, versions)
        : await this.#send('DELETE', path, { card_ids: removed.map(({ id }) => id) }, 200, versions)
    if (answer?.not_found && answer.not_found.length > 0)
      this.figures.faults.push(`cards to be removed were not found: ${answer.not_found.join(', ')}`)
    if (answer) for (const { id } of removed) first.board.changes.add('card.deleted', id)
    return answer !== null
  }

  /** Inserts a token into the shared text, as an edit of the text that this client read last. */
  async #writeToken(board: LoadBoard): Promise<boolean> {
    const base = this.#texts.get(board) ?? ''
    if (base.length > maxSharedText) return this.#create(board, 1)
    const { token, version } = board.ledger.newToken()
    const at = tokenGap(this.#random.between(0, base.length + 1))
    const body = base.slice(0, at) + token + base.slice(at)
    const path = `/boards/${board.boardId}/cards/${board.sharedId}`
    const answer = await this.#send('PATCH', path, { body, body_base: base }, 200, [version])
    if (answer?.card) this.#texts.set(board, answer.card.body ?? '')
    if (answer) board.changes.add('card.updated', board.sharedId)
    return answer !== null
  }

  /** Forgets cards that are removed or whose state is unknown. */
  #abandon(cards: OwnCard[]): void {
    this.#own = this.#own.filter((own) => !cards.includes(own))
  }

  /** Returns null without an answer or after 503, when it is unknown whether the write succeeded. */
  async #send(
    method: string,
    path: string,
    body: object | undefined,
    expected: number,
    versions: Version[],
  ): Promise<Answer | null> {
    const { figures } = this
    const url = this.#random.pick([this.#site.url, ...this.#site.nodeUrls])
    const startedAt = performance.now()
    let response: Response
    let text: string
    try {
      response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: AbortSignal.timeout(this.#site.answersWithinMs),
      })
      text = await response.text()
    } catch (error) {
      figures.unanswered += 1
      if ((error as Error).name === 'TimeoutError') figures.faults.push(`${method} ${path} hung`)
      return null
    } finally {
      figures.slowestMs = Math.max(figures.slowestMs, performance.now() - startedAt)
    }
    if (response.status === expected) {
      for (const version of versions) version.acknowledged = true
      figures.written += 1
      return { ...JSON.parse(text), url }
    }
    if (response.status >= 500 && !response.headers.get('content-type')?.includes('json')) {
      figures.unanswered += 1
      return null
    }
    const code = (JSON.parse(text) as { code?: string }).code ?? ''
    if (response.status === 503 && unavailableCodes.has(code) && response.headers.has('retry-after'))
      figures.unavailable += 1
    else figures.faults.push(`${method} ${path} was answered ${response.status}: ${text.slice(0, 300)}`)
    return null
  }

  #place(): number {
    return this.#random.between(-100_000, 100_000)
  }
}

const unavailableCodes = new Set(['storage_unavailable', 'session_unavailable'])

const stateOf = ({ x, y, body }: CardAnswer) => ({ x, y, body: body ?? '' })
