/**
 * Shows API clients on boards, as editors are shown: an agent says where it works, and the canvases show it. A state is
 * kept by the node that got the request, and sent to the other nodes like those of editors. It is lost with its node.
 *
 * A token has one state on a board, whichever node it asks. So the client's number follows from token and board, and the
 * clock of a request is the time of the database.
 */
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { limits } from '../../core/limits.ts'
import { inTurns, type Steps } from '../../platform/work/loop-turn.ts'
import { payerOf } from '../../platform/work/payers.ts'
import type { AccessQuestion } from '../access.ts'
import { writeAwareness } from '../awareness/encoding.ts'
import { Stamp, type Sender } from '../awareness/stamp.ts'
import { readState } from '../awareness/state.ts'
import { statesMessage, type RelayOptions } from '../awareness/relay.ts'
import type { Voice } from './connection.ts'
import type { Presence } from './presence.ts'

/** Boards on which the clients of one account, or all sessions that it pays for, are shown. */
const maxPerAccount = 100
/** The time between a message of this node and the answers of the others, beside their tick. */
const answerMs = 100
const renewEveryMs = 10_000

/** Somebody on a board, as the API shows it. */
export interface Present {
  client: number
  account: { id: string; name: string | null; guest?: true }
  agent: boolean
  readOnly: boolean
  /** What the client tells about itself. */
  state: Record<string, unknown>
}

interface Showing {
  board: string
  client: number
  voice: Voice
  question: AccessQuestion
  state: Record<string, unknown>
  untilMs: number
  renewedMs: number
  leave(): void
}

export interface ShowRequest {
  board: string
  /** Id of the token; for a session that of its user. */
  tokenId: string
  sender: Omit<Sender, 'isAgent'>
  /** Asked again and again: when its answer is `none`, the client is not shown any more. */
  question: AccessQuestion
  state: Record<string, unknown>
  ttlMs: number
}

export class ApiPresence {
  readonly #presence: Presence
  readonly #others: RelayOptions
  readonly #clock: Clock
  /** By client. Those that were shown last come last. */
  readonly #shown = new Map<number, Showing>()

  constructor(presence: Presence, others: RelayOptions, clock: Clock) {
    this.#clock = clock
    this.#presence = presence
    this.#others = others
  }

  /** Returns who is on a board, on all nodes. Asks the other nodes when no canvas of the board is open here. */
  async list(board: string): Promise<Present[]> {
    if (this.#presence.hasCanvas(board) || this.#others.isAlone()) return inTurns(this.#known(board))
    const leave = this.#presence.enter(board)
    try {
      this.#presence.ask(board)
      await delay(this.#others.tickMs() + answerMs)
      return await inTurns(this.#known(board))
    } finally {
      leave()
    }
  }

  /** Shows a client for a while. @returns its number; null when the state is too large or too deep, or has no room */
  show({ board, tokenId, sender, question, state, ttlMs }: ShowRequest): number | null {
    const client = clientOf(tokenId, board)
    const before = this.#shown.get(client)
    const showing: Showing = {
      ...{ board, client, question, state, untilMs: performance.now() + ttlMs, renewedMs: 0 },
      voice: before?.voice ?? voiceOf(sender),
      leave: before?.leave ?? this.#presence.enter(board),
    }
    showing.voice.stamp.update(sender)
    this.#shown.delete(client)
    this.#shown.set(client, showing)
    if (!this.#say(showing, this.#clockOfRequest(board, client))) {
      this.#end(showing)
      return null
    }
    this.#keepFew(sender.id)
    return client
  }

  /** Ends showing a client before its time, whichever node shows it. */
  hide(board: string, tokenId: string): void {
    const client = clientOf(tokenId, board)
    const showing = this.#shown.get(client)
    const clock = this.#clockOfRequest(board, client)
    if (showing) this.#end(showing)
    // Another node may have got a newer request, and no canvas of the board needs to be open there.
    if (!this.#others.isAlone()) this.#others.publish(board, leftMessage(client, clock))
  }

  /** Those that are shown, with the questions whether they still may be. */
  shown(): { question: AccessQuestion; end(): void }[] {
    return [...this.#shown.values()].map((showing) => ({
      question: showing.question,
      end: () => this.#end(showing),
    }))
  }

  /** Renews what is shown, and ends what is over, or what another node shows meanwhile. */
  sweep(): void {
    const nowMs = performance.now()
    for (const showing of this.#shown.values()) {
      const { untilMs, renewedMs } = showing
      if (untilMs <= nowMs || !this.#isHere(showing)) this.#end(showing)
      else if (nowMs - renewedMs >= renewEveryMs) this.#renew(showing)
    }
  }

  *#known(board: string): Steps<Present[]> {
    const present: Present[] = []
    for (const [client, { json }] of [...this.#presence.statesOf(board)]) {
      const { account, agent, readOnly, ...state } = JSON.parse(Buffer.from(json).toString()) as Present
      present.push({ client, account, agent, readOnly, state })
      yield
    }
    return present
  }

  /** The next clock: that of now would be newer than a request to another node that is not known here yet. */
  #renew(showing: Showing): void {
    const { board, client } = showing
    this.#say(showing, this.#presence.statesOf(board).get(client)!.clock + 1)
  }

  #say(showing: Showing, clock: number): boolean {
    const { board, client, voice, state } = showing
    showing.renewedMs = performance.now()
    const json = Buffer.from(JSON.stringify(state))
    const parsed = readState(json, limits.presenceStateBytes)
    if (typeof parsed === 'string') return false
    return this.#presence.show(board, voice, client, { clock, json, state: parsed })
  }

  /** Whether this node still shows it: no other node has got a newer request. */
  #isHere({ board, client, voice }: Showing): boolean {
    return this.#presence.statesOf(board).get(client)?.from === voice
  }

  #clockOfRequest(board: string, client: number): number {
    const known = this.#presence.statesOf(board).get(client)
    return Math.max(Math.floor(this.#clock.now()), (known?.clock ?? 0) + 1)
  }

  #end(showing: Showing): void {
    const { board, client, voice, leave } = showing
    if (this.#shown.get(client) !== showing) return
    this.#shown.delete(client)
    this.#presence.hide(board, voice)
    leave()
  }

  #keepFew(account: string): void {
    const own = [...this.#shown.values()].filter(({ voice }) => payerOf(voice.account) === payerOf(account))
    for (const showing of own.slice(0, -maxPerAccount)) this.#end(showing)
  }
}

const clientOf = (tokenId: string, board: string): number =>
  createHash('sha256').update(`${tokenId} ${board}`).digest().readUInt32BE()

const leftMessage = (client: number, clock: number): Uint8Array =>
  statesMessage(writeAwareness([{ client, clock, json: null }]))

const voiceOf = (sender: Omit<Sender, 'isAgent'>): Voice => ({
  account: sender.id,
  isApiClient: true,
  clients: new Set(),
  stamp: new Stamp({ ...sender, isAgent: true }),
  rates: null,
  connection: null,
})
