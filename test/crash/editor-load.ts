/** An editor at full speed. It adds, drags, edits and deletes cards, and records each edit in the ledger. */
import { setTimeout as delay } from 'node:timers/promises'
import * as Y from 'yjs'
import { openEditor, until, type Editor } from '../support/editor.ts'
import { Acknowledgements } from './acknowledgements.ts'
import {
  maxSharedText,
  tokenGap,
  type BoardLedger,
  type Entry,
  type FoundCard,
  type Version,
} from './ledger.ts'
import type { Random } from './random.ts'

/** Most edits without an acknowledgement, also the number of edits made offline. */
const maxOutstanding = 64

export interface EditorPace {
  /** Most milliseconds between two edits. */
  pauseMs: number
  /** Whether it reconnects as slowly as a stock provider. */
  stockDelays: boolean
}

export class EditorLoad {
  readonly boardId: string
  readonly name: string
  readonly #ledger: BoardLedger
  readonly #random: Random
  readonly #versions: Version[] = []
  readonly #own = new Map<string, { card: Y.Map<unknown>; entry: Entry }>()
  readonly #acknowledgements = new Acknowledgements((upTo) => {
    for (; this.#settled < upTo; this.#settled++) this.#versions[this.#settled]!.acknowledged = true
  })
  #settled = 0
  #editor: Editor | null = null
  #running: Promise<void> | null = null
  #stopped = false
  #count = 0
  readonly #pace: EditorPace
  /** When its connection ended. Null: it shows the board, or has not opened it yet. */
  #awaySince: number | null = null
  /** The longest time from the end of a connection until it showed the board again. */
  longestAwayMs = 0
  /** When it last showed the board again after its connection had ended (`performance.now()`). */
  backAt = -Infinity

  constructor(boardId: string, name: string, ledger: BoardLedger, random: Random, pace: EditorPace) {
    this.#pace = pace
    this.boardId = boardId
    this.name = name
    this.#ledger = ledger
    this.#random = random
  }

  get acknowledged(): number {
    return this.#acknowledgements.acknowledged
  }

  /** True when all edits are acknowledged. */
  get isSaved(): boolean {
    return this.#acknowledgements.acknowledged === this.#acknowledgements.made
  }

  /** Whether it shows the board over a connection. */
  get isOpen(): boolean {
    const { provider, socket } = this.#editor ?? {}
    return provider?.isSynced === true && provider.isAuthenticated && socket?.status === 'connected'
  }

  /** Number of connections that have ended. */
  get closes(): number {
    return this.#editor?.closes.length ?? 0
  }

  /** A card as this canvas shows it. */
  cardAt(id: string): FoundCard | null {
    const card = this.#editor?.cards.get(id)
    if (!card) return null
    const { title, x, y, body } = card.toJSON() as FoundCard
    return { title, x, y, body }
  }

  /** Names of those whom this canvas shows as present. */
  get present(): string[] {
    const states = [...(this.#editor?.provider.awareness?.getStates().values() ?? [])]
    return states.map((state) => String(state['user']?.name)).sort()
  }

  get document(): Y.Doc {
    return this.#editor!.document
  }

  /** @param path an address with the board's id, which a balancer hashes, or without it */
  async open(url: string, path: string, token: string): Promise<void> {
    const { boardId } = this
    const { stockDelays } = this.#pace
    const webSocket = this.#acknowledgements.observedSocket()
    this.#editor = await openEditor(url, { boardId, token, webSocket, path, stockDelays })
    this.#editor.socket.on('close', () => (this.#awaySince ??= performance.now()))
    this.#editor.provider.on('synced', ({ state }: { state: boolean }) => {
      if (!state || this.#awaySince === null) return
      this.backAt = performance.now()
      this.longestAwayMs = Math.max(this.longestAwayMs, this.backAt - this.#awaySince)
      this.#awaySince = null
    })
    this.#editor.provider.setAwarenessField('user', { name: this.name })
  }

  start(): void {
    this.#stopped = false
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  /**
   * @throws when the edits are not acknowledged in time, because the editor or the acknowledgements did not come back
   */
  async saved(timeoutMs: number): Promise<void> {
    const state = () =>
      `${this.acknowledged} of ${this.#acknowledgements.made} acknowledged, unsynced ${this.#editor!.provider.unsyncedChanges}, ` +
      `authenticated ${this.#editor!.provider.isAuthenticated}, closes ${JSON.stringify(this.#editor!.closes.slice(-3))}`
    await until(() => this.isSaved && this.#editor!.provider.isSynced, 'saved', timeoutMs).catch(() => {
      throw new Error(
        `editor ${this.name} on board ${this.boardId} is not saved after ${timeoutMs} ms: ${state()}`,
      )
    })
  }

  /** Closes the editor permanently, like a closed browser tab. */
  leave(): void {
    this.#stopped = true
    this.#editor?.leave()
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      if (this.#acknowledgements.made - this.acknowledged < maxOutstanding) this.#edit()
      await delay(this.#random.between(0, this.#pace.pauseMs))
    }
  }

  #edit(): void {
    const dice = this.#random.next()
    const own = [...this.#own.keys()]
    if (own.length === 0 || (dice < 0.3 && own.length < 100)) return this.#add()
    const id = this.#random.pick(own)
    if (dice < 0.6) return this.#drag(id)
    if (dice < 0.8) return this.#type(id)
    if (dice < 0.9 && this.#writeToken()) return
    if (dice < 0.95) this.#delete(id)
    else this.#drag(id)
  }

  /** Makes one edit in one transaction, which the provider sends as one frame. */
  #record(version: Version, edit: () => void): void {
    this.#versions.push(version)
    this.#acknowledgements.made += 1
    this.document.transact(edit)
  }

  #add(): void {
    const id = `${this.name}-${(this.#count += 1)}`
    const [x, y, body] = [this.#place(), this.#place(), `${id} `]
    const entry = this.#ledger.card(id)
    const version = entry.write({ x, y, body })
    this.#record(version, () => {
      const card = this.#editor!.addCard(id, { title: id, x, y, body })
      this.#own.set(id, { card, entry })
    })
  }

  #drag(id: string): void {
    const { card, entry } = this.#own.get(id)!
    const version = entry.write({ x: this.#place(), y: this.#place(), body: String(card.get('body')) })
    this.#record(version, () => {
      card.set('x', version.state!.x)
      card.set('y', version.state!.y)
    })
  }

  #type(id: string): void {
    const { card, entry } = this.#own.get(id)!
    const body = card.get('body') as Y.Text
    const version = entry.write(null)
    this.#record(version, () => {
      const at = this.#random.between(0, body.length + 1)
      if (body.length > 200) body.delete(0, 50)
      else body.insert(at, `w${(this.#count += 1)} `)
    })
    version.state = { x: card.get('x') as number, y: card.get('y') as number, body: body.toString() }
  }

  /** Types into the text that all editors of the board edit. */
  #writeToken(): boolean {
    const shared = [...this.#editor!.cards.values()].find(
      (card) => card.get('title') === this.#ledger.sharedTitle,
    )
    const text = shared?.get('body')
    if (!(text instanceof Y.Text) || text.length > maxSharedText) return false
    const { token, version } = this.#ledger.newToken()
    const at = tokenGap(this.#random.between(0, text.length + 1))
    this.#record(version, () => text.insert(at, token))
    return true
  }

  #delete(id: string): void {
    const { entry } = this.#own.get(id)!
    this.#own.delete(id)
    this.#record(entry.write(null), () => this.#editor!.cards.delete(id))
  }

  #place(): number {
    return this.#random.between(-100_000, 100_000)
  }
}
