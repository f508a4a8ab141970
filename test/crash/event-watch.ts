/**
 * Receives the webhook events of all loads, and holds them against what was written. Each acknowledged change of a
 * client has an event; each card that the index got, and each that it lost, is in exactly one event.
 */
import { hash } from 'node:crypto'
import type { Database, Transaction } from '../../sql/database.ts'
import { until } from '../support/editor.ts'
import { openReceiver, type Received, type Receiver } from '../support/receiver.ts'
import { subscribe } from './subscribe.ts'

/** A delivery whose node died is sent again when its lease of 30 seconds ends. */
const deliveredWithinMs = 90_000

const types = ['card.created', 'card.updated', 'card.deleted'] as const
type Type = (typeof types)[number]
const isWatched = (type: string): type is Type => (types as readonly string[]).includes(type)

/** What API clients were answered 2xx for: how often each card was created, changed and removed. */
export class Changes {
  readonly #counts = new Map(types.map((type) => [type, new Map<string, number>()]))

  add(type: Type, cardId: string): void {
    const counts = this.of(type)
    counts.set(cardId, (counts.get(cardId) ?? 0) + 1)
  }

  of(type: Type): Map<string, number> {
    return this.#counts.get(type)!
  }
}

/** The events of one board. */
class BoardEvents {
  /** Sums of `data.count`: an event names 25 cards at most. */
  readonly counts: Record<Type, number> = { 'card.created': 0, 'card.updated': 0, 'card.deleted': 0 }
  readonly named = new Changes()
}

export class EventWatch {
  readonly #receiver: Receiver
  readonly #boards = new Map<string, BoardEvents>()
  /** Hashes of the bodies, by delivery id. */
  readonly #hashes = new Map<string, string>()
  readonly #faults: string[] = []
  readonly figures = { events: 0, repeated: 0 }

  private constructor(receiver: Receiver) {
    this.#receiver = receiver
  }

  static async open(): Promise<EventWatch> {
    const receiver = await openReceiver()
    const watch = new EventWatch(receiver)
    receiver.answer = () => {
      watch.#take(receiver.received.pop()!)
      return 200
    }
    return watch
  }

  subscribe(tx: Transaction, account: { workspaceId: string; userId: string }): Promise<void> {
    return subscribe(tx, { ...account, url: this.#receiver.url, events: types })
  }

  close(): Promise<void> {
    return this.#receiver.close()
  }

  /** Waits until everything is delivered. Call it when nobody writes. @returns one line for each fault */
  async check(database: Database, boards: { boardId: string; changes: Changes }[]): Promise<string[]> {
    let left = -1
    const isDelivered = async () => (left = await undelivered(database)) === 0
    await until(isDelivered, 'delivered', deliveredWithinMs).catch(() =>
      this.#faults.push(`${left} events or deliveries still wait after ${deliveredWithinMs} ms`),
    )
    const faults = this.#faults.splice(0)
    for (const { boardId, changes } of boards)
      faults.push(...(await this.#checkBoard(database, boardId, changes)))
    return faults
  }

  async #checkBoard(database: Database, boardId: string, changes: Changes): Promise<string[]> {
    const faults: string[] = []
    const { counts, named } = this.#boards.get(boardId) ?? new BoardEvents()
    for (const type of types)
      for (const [cardId, times] of changes.of(type)) {
        const found = named.of(type).get(cardId) ?? 0
        if (found < times) faults.push(`card ${cardId} has ${found} events ${type}, after ${times} changes`)
      }
    const cards = await database.asSystem(
      (tx) => tx<{ id: string; gone: boolean }[]>`
        select card_id as id, deleted_at is not null as gone from card_index where board_id = ${boardId}`,
    )
    const created = cards.length
    const deleted = cards.filter(({ gone }) => gone).length
    if (counts['card.created'] !== created)
      faults.push(`events name ${counts['card.created']} created cards, but the index got ${created}`)
    if (counts['card.deleted'] !== deleted)
      faults.push(`events name ${counts['card.deleted']} deleted cards, but the index lost ${deleted}`)
    const known = new Set(cards.map(({ id }) => id))
    for (const type of types)
      for (const id of named.of(type).keys())
        if (!known.has(id)) faults.push(`an event ${type} names the card ${id}, which never existed`)
    return faults.map((fault) => `board ${boardId}: ${fault}`)
  }

  #take({ deliveryId, body, raw }: Received): void {
    const bytes = hash('sha1', raw)
    const before = this.#hashes.get(deliveryId)
    if (before !== undefined) {
      this.figures.repeated += 1
      if (before !== bytes) this.#faults.push(`delivery ${deliveryId} changed`)
      return
    }
    this.#hashes.set(deliveryId, bytes)
    this.figures.events += 1
    if (!body.board || !isWatched(body.type)) {
      this.#faults.push(`the webhook got ${body.type}, which it did not subscribe to`)
      return
    }
    let board = this.#boards.get(body.board.id)
    if (!board) this.#boards.set(body.board.id, (board = new BoardEvents()))
    board.counts[body.type] += body.data['count']
    for (const id of body.data['card_ids'] as string[]) board.named.add(body.type, id)
  }
}

async function undelivered(database: Database): Promise<number> {
  const [row] = await database.asSystem(
    (tx) => tx<{ left: number }[]>`
      select (
        (select count(*) from events)
        + (select count(*) from webhook_deliveries where status in ('waiting', 'sending'))
      )::integer as left`,
  )
  return row!.left
}
