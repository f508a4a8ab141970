/** The load on the service: editors and API clients on several boards, some of them on the same board. */
import { setTimeout as delay } from 'node:timers/promises'
import { addUser } from '../../sql/accounts/accounts.ts'
import { mintToken } from '../../sql/accounts/tokens.ts'
import { until } from '../support/editor.ts'
import { ApiLoad, type ApiFigures, type LoadBoard } from './api-load.ts'
import { checkBoard, shown } from './check.ts'
import { EditorLoad, type EditorPace } from './editor-load.ts'
import { Changes } from './event-watch.ts'
import { BoardLedger } from './ledger.ts'
import { LiveWatch } from './live-watch.ts'
import type { Random } from './random.ts'
import type { Site } from './site.ts'

/**
 * Number of editors, and of API clients, for each board. Another client writes to all boards. With several nodes the
 * first board has one more editor on each of them.
 */
const plan = [
  { editors: 2, clients: 1 },
  { editors: 2, clients: 0 },
  { editors: 1, clients: 2 },
  { editors: 1, clients: 0 },
  { editors: 0, clients: 2 },
  { editors: 0, clients: 1 },
]

/** How long an editor may take to reconnect until all its edits are acknowledged. */
const savedWithinMs = 30_000

export interface LoadFigures extends Omit<ApiFigures, 'faults'> {
  /** Number of acknowledged edits. */
  acknowledged: number
  /** How often `live: true` was held against an open canvas. */
  canvasesHeld: number
  /** The longest time from the end of a balanced editor's connection until it showed its board again. */
  longestAwayMs: number
}

export interface LoadPace extends EditorPace {
  /** Most milliseconds between two requests of a client. */
  requestPauseMs: number
}

export const fullSpeed: LoadPace = { pauseMs: 4, requestPauseMs: 0, stockDelays: false }

/** Of a request that checks. */
const attempts = 10

let names = 0

export class Load {
  readonly boards: LoadBoard[]
  readonly #site: Site
  readonly #token: string
  readonly #random: Random
  readonly #pace: LoadPace
  readonly #clients: ApiLoad[]
  #editors: EditorLoad[] = []
  /** Those of them whose connections a balancer spreads. The others can only wait until their node is back. */
  #balanced: EditorLoad[] = []
  readonly #watch = new LiveWatch(() => this.#editors)
  /** Of editors that have left. */
  readonly #left = { acknowledged: 0, longestAwayMs: 0 }
  #fences = 0

  private constructor(site: Site, token: string, boards: LoadBoard[], random: Random, pace: LoadPace) {
    this.#site = site
    this.#token = token
    this.#random = random
    this.#pace = pace
    this.boards = boards
    const client = (its: LoadBoard[]) =>
      new ApiLoad(site, token, `a${(names += 1)}`, its, random, this.#watch, pace.requestPauseMs)
    this.#clients = [
      client(boards),
      ...plan.flatMap(({ clients }, at) => Array.from({ length: clients }, () => client([boards[at]!]))),
    ]
  }

  /** Makes a load with a new account and new boards. */
  static async make(site: Site, random: Random, pace = fullSpeed): Promise<Load> {
    const email = `load${(names += 1)}@example.test`
    const token = await site.withDatabase((database) =>
      database.asSystem(async (tx) => {
        const { userId, workspaceId } = await addUser(tx, { email, name: 'Load', tier: 'pro' })
        await site.events?.subscribe(tx, { workspaceId, userId })
        return (await mintToken(tx, { userId, name: 'load', scopes: ['read', 'write', 'delete'] })).token
      }),
    )
    const load = new Load(site, token, [], random, pace)
    const boards = await Promise.all(
      plan.map(async (): Promise<LoadBoard> => {
        const { board } = await load.#post('/boards', { name: 'Crash' })
        const sharedTitle = `shared${(names += 1)}`
        const shared = { kind: 'note', title: sharedTitle, x: 0, y: 0 }
        const { cards } = await load.#post(`/boards/${board.id}/cards`, shared)
        const ledger = new BoardLedger(sharedTitle)
        return { boardId: board.id, ledger, sharedId: cards[0].id, changes: new Changes() }
      }),
    )
    return new Load(site, token, boards, random, pace)
  }

  /** Starts clients, and replaces editors that left. Resolves when all editors are open. */
  async start(): Promise<void> {
    if (this.#editors.length === 0) {
      const { url, nodeUrls } = this.#site
      const boards = plan.flatMap(({ editors }, at) => Array<LoadBoard>(editors).fill(this.boards[at]!))
      // A balancer hashes the board, and sends the sockets of an address without a board to the nodes in turn.
      const path = (editor: EditorLoad, nth: number) => (nth % 2 ? '/collab' : `/collab/${editor.boardId}`)
      const balanced = boards.map((board) => this.#editor(board))
      const direct = nodeUrls.map(() => this.#editor(this.boards[0]!))
      this.#editors = [...balanced, ...direct]
      this.#balanced = balanced
      await Promise.all([
        ...balanced.map((editor, nth) => editor.open(url, path(editor, nth), this.#token)),
        ...direct.map((editor, nth) => editor.open(nodeUrls[nth]!, '/collab', this.#token)),
      ])
    }
    for (const writer of [...this.#editors, ...this.#clients]) writer.start()
  }

  #editor({ boardId, ledger }: LoadBoard): EditorLoad {
    return new EditorLoad(boardId, `e${(names += 1)}`, ledger, this.#random, this.#pace)
  }

  /** Closes all editors at once. Their unacknowledged edits are lost. */
  leave(): void {
    const { acknowledged, longestAwayMs } = this.figures
    Object.assign(this.#left, { acknowledged, longestAwayMs })
    for (const editor of this.#editors) editor.leave()
    this.#editors = []
  }

  /** @returns faults: clients that did not finish in time */
  async stop(): Promise<string[]> {
    await Promise.all([...this.#editors, ...this.#clients].map((writer) => writer.stop()))
    const saved = await Promise.allSettled(this.#editors.map((editor) => editor.saved(savedWithinMs)))
    return [
      ...saved.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : [])),
      ...this.#clients.flatMap(({ figures }) => figures.faults.splice(0)),
      ...(await this.#watch.takeFaults()),
    ]
  }

  /** Call it after `stop`. Compares the database with the ledger, the editors and the API. */
  async check(): Promise<string[]> {
    // The commits of a board are made in order. When this one is done, no other commit is in flight.
    for (const { boardId, ledger } of this.boards) {
      const title = `fence${(this.#fences += 1)}`
      const [x, y, body] = [0, 0, 'fence']
      await this.#post(`/boards/${boardId}/cards`, { kind: 'note', title, x, y, body })
      ledger.card(title).write({ x, y, body }).acknowledged = true
    }
    const faults: string[] = []
    await this.#site.withDatabase(async (database) => {
      for (const { boardId, ledger } of this.boards) {
        const { faults: found, document } = await checkBoard(database, boardId, ledger)
        faults.push(...found)
        const expected = shown(document)
        for (const editor of this.#editors.filter((editor) => editor.boardId === boardId))
          await until(() => shown(editor.document) === expected, 'the same', 5000).catch(() =>
            faults.push(`board ${boardId}: editor ${editor.name} differs from the log`),
          )
        const { total } = await this.#get(`/boards/${boardId}/cards?limit=1`)
        const count = document.getMap('cards').size
        if (total !== count)
          faults.push(`board ${boardId}: the service returns ${total} cards, but the log has ${count}`)
        document.destroy()
      }
    })
    return faults
  }

  /** Call it after `stop`. Waits until all events are delivered. @returns faults, none when nobody watches events */
  async checkEvents(): Promise<string[]> {
    const { events } = this.#site
    return events ? this.#site.withDatabase((database) => events.check(database, this.boards)) : []
  }

  /** @returns faults: editors that don't show all others of their board, or show somebody who left */
  async allPresent(withinMs: number): Promise<string[]> {
    const faults = this.#editors.map(async (editor) => {
      const here = this.#editors.filter(({ boardId }) => boardId === editor.boardId)
      const names = String(here.map(({ name }) => name).sort())
      const shows = () => String(editor.present) === names
      return until(shows, 'present', withinMs)
        .then(() => [])
        .catch(() => [`editor ${editor.name} shows ${String(editor.present)} as present, not ${names}`])
    })
    return (await Promise.all(faults)).flat()
  }

  /** When the last balanced editor showed its board again (`performance.now()`). */
  get allBackAt(): number {
    return Math.max(...this.#balanced.map(({ backAt }) => backAt))
  }

  get figures(): LoadFigures {
    const figures = {
      ...this.#left,
      canvasesHeld: this.#watch.held,
      written: 0,
      unanswered: 0,
      unavailable: 0,
      slowestMs: 0,
    }
    for (const { acknowledged } of this.#editors) figures.acknowledged += acknowledged
    for (const { longestAwayMs } of this.#balanced)
      figures.longestAwayMs = Math.max(figures.longestAwayMs, longestAwayMs)
    for (const { figures: of } of this.#clients) {
      figures.written += of.written
      figures.unanswered += of.unanswered
      figures.unavailable += of.unavailable
      figures.slowestMs = Math.max(figures.slowestMs, of.slowestMs)
    }
    return figures
  }

  #post(path: string, body: object): Promise<any> {
    return this.#request('POST', path, body)
  }

  #get(path: string): Promise<any> {
    return this.#request('GET', path)
  }

  /** Repeats a request that was answered 503, as `retry-after` says. The key makes it safe to repeat a POST. */
  async #request(method: string, path: string, body?: object): Promise<any> {
    const key = crypto.randomUUID()
    for (let attempt = 1; ; attempt++) {
      const response = await this.#send(method, path, key, body)
      const text = await response.text()
      if (response.ok) return JSON.parse(text)
      const seconds = Number(response.headers.get('retry-after'))
      if (response.status !== 503 || seconds === 0 || attempt === attempts)
        throw new Error(`${method} ${path} was answered ${response.status}: ${text}`)
      await delay(seconds * 1000)
    }
  }

  #send(method: string, path: string, key: string, body?: object): Promise<Response> {
    return fetch(`${this.#site.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body ? { 'content-type': 'application/json', 'idempotency-key': key } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(this.#site.answersWithinMs),
    }).catch((error: unknown) => {
      throw new Error(`${method} ${path} got no answer`, { cause: error })
    })
  }
}
