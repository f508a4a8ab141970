/**
 * Runs rounds of `kill -9` while cards move between boards and editors type into them. After each round every card must
 * be on exactly one board, in the documents and in the index, with all words that were acknowledged before its moves.
 */
import { setTimeout as delay } from 'node:timers/promises'
import * as Y from 'yjs'
import { replay, tail } from '../../collab/log/log.ts'
import { verifyBoard } from '../../collab/log/verify.ts'
import { addUser } from '../../sql/accounts/accounts.ts'
import type { Database } from '../../sql/database.ts'
import { mintToken } from '../../sql/accounts/tokens.ts'
import { openEditor, until, type Editor } from '../support/editor.ts'
import { mustSurvive, type Move, type Word } from './moved-words.ts'
import { Random } from './random.ts'
import { ServiceProcess } from '../support/service-process.ts'
import { cardContents } from '../support/card-contents.ts'

const boardCount = 3
const cardCount = 30
/** Each mover has its own cards, so that the moves of a card are sequential. */
const moverCount = 3
/** Answered in each round before the kill. */
export const movesBeforeKill = 6

interface OpenBoard {
  board: string
  editor: Editor
}

export class MoveRun {
  readonly #service: ServiceProcess
  readonly #random: Random
  readonly #token: string
  readonly #boards: string[] = []
  readonly #cards: string[] = []
  readonly #words: Word[] = []
  readonly #moves: Move[] = []
  readonly #faults: string[] = []
  #editors: OpenBoard[] = []
  #turn = 0
  #rounds = 0
  #answered = 0
  #unanswered = 0
  #stopped = true
  #onMove: (() => void) | null = null

  private constructor(service: ServiceProcess, random: Random, token: string) {
    this.#service = service
    this.#random = random
    this.#token = token
  }

  static async start(options: { seed: number }): Promise<MoveRun> {
    const service = await ServiceProcess.make()
    try {
      service.launch()
      await service.ready()
      const token = await service.withDatabase((database) =>
        database.asSystem(async (tx) => {
          const { userId } = await addUser(tx, { email: 'moves@example.test', name: 'Moves', tier: 'pro' })
          return (await mintToken(tx, { userId, name: 'moves', scopes: ['read', 'write'] })).token
        }),
      )
      const run = new MoveRun(service, new Random(options.seed), token)
      await run.#make()
      return run
    } catch (error) {
      await service.remove()
      throw error
    }
  }

  get output(): string {
    return this.#service.output
  }

  get figures(): { answered: number; unanswered: number; words: number } {
    return {
      answered: this.#answered,
      unanswered: this.#unanswered,
      words: this.#words.filter(
        (word) => mustSurvive(word, this.#moves) && Number.isFinite(word.acknowledged),
      ).length,
    }
  }

  /** @returns one line for each fault */
  async round(): Promise<string[]> {
    this.#rounds += 1
    this.#stopped = false
    const work = [
      ...Array.from({ length: moverCount }, (_, n) => this.#move(n)),
      ...this.#editors.map((of) => this.#type(of)),
    ]
    const before = this.#answered
    await delay(this.#random.between(200, 1500))
    // On a busy machine a while makes few moves: the kill is to come in the middle of them.
    await until(() => this.#answered - before >= movesBeforeKill, 'moves are made', 30_000)
    // If a move was just requested, kill the process within a few milliseconds.
    await Promise.race([new Promise<void>((resolve) => (this.#onMove = resolve)), delay(500)])
    await delay(this.#random.between(0, 12))
    if (this.#rounds % 4 === 0) await this.#service.killPostgres('all')
    await this.#service.kill()
    this.#stopped = true
    await Promise.all(work)
    this.#service.launch()
    await this.#service.ready()
    for (const [n, board] of this.#boards.entries()) {
      // Takes the locks of both boards. Then no transaction of the killed process is in flight.
      await this.#post(`/boards/${board}/cards/move`, {
        to_board_id: this.#boards[(n + 1) % boardCount],
        card_ids: ['fence'],
      })
    }
    this.#turn += 1
    for (const move of this.#moves) if (move.answered === Infinity) move.answered = this.#turn
    for (const { editor } of this.#editors) await editor.saved(30_000)
    return [
      ...this.#faults.splice(0),
      ...(await this.#service.withDatabase((database) => this.#check(database))),
    ]
  }

  async end(): Promise<void> {
    for (const { editor } of this.#editors) editor.leave()
    await this.#service.remove()
  }

  async #make(): Promise<void> {
    for (let n = 0; n < boardCount; n++) {
      const { board } = await this.#post('/boards', { name: `Board ${n}` })
      this.#boards.push(board.id)
    }
    const cards = Array.from({ length: cardCount }, (_, n) => ({
      kind: 'note',
      title: `card ${n}`,
      x: n * 300,
      y: 0,
    }))
    const made = await this.#post(`/boards/${this.#boards[0]}/cards`, { cards })
    this.#cards.push(...made.cards.map(({ id }: { id: string }) => id))
    this.#editors = await Promise.all(
      this.#boards.map(async (board) => ({
        board,
        editor: await openEditor(this.#service.url, { boardId: board, token: this.#token }),
      })),
    )
  }

  async #move(mover: number): Promise<void> {
    const own = this.#cards.filter((_id, at) => at % moverCount === mover)
    while (!this.#stopped) {
      const [from, to] = this.#twoBoards()
      const ids = own.filter(() => this.#random.chance(0.5))
      if (ids.length === 0) continue
      const asked = (this.#turn += 1)
      const moves = ids.map((cardId): Move => ({ cardId, to, asked, answered: Infinity }))
      this.#moves.push(...moves)
      const answer = this.#post(`/boards/${from}/cards/move`, { to_board_id: to, card_ids: ids })
      this.#onMove?.()
      this.#onMove = null
      try {
        const { cards, not_found, renamed } = await answer
        if (cards.length + not_found.length !== ids.length || Object.keys(renamed).length > 0)
          this.#faults.push(
            `a move of ${ids.length} cards answered ${JSON.stringify({ cards, not_found, renamed })}`,
          )
        const there = new Set(cards.map(({ id }: { id: string }) => id))
        this.#turn += 1
        for (const move of moves) {
          move.answered = this.#turn
          if (!there.has(move.cardId)) this.#moves.splice(this.#moves.indexOf(move), 1)
        }
        this.#answered += 1
      } catch (error) {
        if (/was answered (?!503)/.test(String(error))) this.#faults.push(String(error))
        this.#unanswered += 1
        if (this.#service.isAlive) await delay(5)
        else return
      }
    }
  }

  async #type({ board, editor }: OpenBoard): Promise<void> {
    while (!this.#stopped) {
      const mine: Word[] = []
      for (const [cardId, card] of [...editor.cards].slice(0, 5)) {
        const text = card.get('body')
        if (!(text instanceof Y.Text) || text.length > 10_000) continue
        const word = {
          text: `w${this.#words.length}.`,
          cardId,
          board,
          typed: (this.#turn += 1),
          acknowledged: Infinity,
        }
        this.#words.push(word)
        mine.push(word)
        text.insert(0, word.text)
      }
      await Promise.race([
        editor.saved(60_000).catch(() => undefined),
        until(() => this.#stopped, 'the end', 60_000),
      ])
      if (this.#stopped) return
      this.#turn += 1
      for (const word of mine) word.acknowledged = this.#turn
      await delay(this.#random.between(1, 20))
    }
  }

  async #check(database: Database): Promise<string[]> {
    const faults: string[] = []
    const found = new Map<string, { board: string; body: string }[]>()
    for (const board of this.#boards) {
      const differences = await verifyBoard(database, board, { waitMs: 20_000 })
      faults.push(
        ...differences.map(({ what, id, fault, detail }) => `${board}: ${what} ${id} is ${fault} ${detail}`),
      )
      const log = await tail(database, board, 0)
      const document = new Y.Doc()
      replay(document, log!)
      if (document.store.pendingStructs) faults.push(`${board} waits for structs that are not in the log`)
      const cards = cardContents(document)
      for (const [id, { body }] of cards)
        found.set(id, [...(found.get(id) ?? []), { board, body: body ?? '' }])
      const rows = await database.asSystem(
        (tx) => tx<{ card_id: string }[]>`
          select card_id from card_index where board_id = ${board} and deleted_at is null`,
      )
      const indexed = rows.map((row) => row.card_id).sort()
      if (indexed.join() !== [...cards.keys()].sort().join())
        faults.push(`${board}: index and document differ`)
      document.destroy()
    }
    for (const id of this.#cards) {
      const places = found.get(id) ?? []
      if (places.length !== 1) faults.push(`card ${id} is on ${places.length} boards`)
    }
    for (const id of found.keys())
      if (!this.#cards.includes(id)) faults.push(`card ${id} was made by no client`)
    for (const word of this.#words) {
      if (!Number.isFinite(word.acknowledged) || !mustSurvive(word, this.#moves)) continue
      const times = (found.get(word.cardId)?.[0]?.body.split(word.text).length ?? 1) - 1
      if (times !== 1) faults.push(`word ${word.text} of card ${word.cardId} exists ${times} times`)
    }
    return faults
  }

  #twoBoards(): [string, string] {
    const from = this.#random.between(0, boardCount)
    return [this.#boards[from]!, this.#boards[(from + this.#random.between(1, boardCount)) % boardCount]!]
  }

  async #post(path: string, body: object): Promise<any> {
    const response = await fetch(`${this.#service.url}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(20_000),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`POST ${path} was answered ${response.status}: ${text}`)
    return JSON.parse(text)
  }
}
