/**
 * The live lists of a process. Clients open them on the sockets of the gateway, beside boards, under the names `account`
 * and `workspace:{id}`. A list follows the journal of events, so that nothing is computed twice.
 */
import { closeCodes } from '../../core/errors.ts'
import type { Logger } from '../../platform/log.ts'
import type { TokenVerifier } from '../../sql/accounts/tokens.ts'
import type { JournalReader } from '../events/journal-reader.ts'
import { identify, refusals } from '../gateway/authenticate.ts'
import { closeSocket, type SocketState } from '../gateway/open-sockets.ts'
import {
  accessFrame,
  frameType,
  syncHead,
  syncStatusFrame,
  syncStep,
  tokenIn,
  type Frame,
} from '../gateway/protocol.ts'
import type { Seating } from '../gateway/seating.ts'
import type { ListHost, ListView } from '../gateway/socket-reader.ts'
import { List } from './list.ts'
import type { PeopleCounts } from './people-counts.ts'

export interface ListsOptions {
  tokens: TokenVerifier
  journal: JournalReader
  people: PeopleCounts
  log: Logger
  /** Lists on one socket, with its boards. */
  bounds: { maxBoardsPerSocket: number }
}

/** What a client lacks of an empty document: nothing, as a Yjs update. */
const emptyUpdate = Uint8Array.of(0, 0)

export class Lists implements ListView {
  readonly #options: ListsOptions
  readonly #all = new Set<List>()

  constructor(options: ListsOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#all.size
  }

  /** Handles a frame for a list. Returns a promise when the next frame of the socket has to wait for it. */
  take(gateway: ListHost, state: SocketState, frame: Frame): Promise<void> | null {
    const { type, step, address, payload } = frame
    const list = state.lists?.get(address) as List | undefined
    if (type === frameType.auth) return this.#authenticate(gateway, state, frame)
    if (!list || list.isOver) return null
    if (step === syncStep.missing || step === syncStep.update)
      list.socket.sendAtOnce(syncStatusFrame(address, false)) // it is read-only
    else if (step === syncStep.stateVector) return this.#open(list)
    else if (type === frameType.stateless) this.#resume(list, payload)
    else if (type === frameType.close) list.end()
    return null
  }

  async #authenticate({ sockets, seating }: ListHost, state: SocketState, frame: Frame): Promise<void> {
    const { socket } = state
    const { address } = frame
    const token = tokenIn(frame)
    if (token === null) return closeSocket(state, closeCodes.badFrame)
    state.attempts += 1
    try {
      const identity = await identify(this.#options.tokens, token, state.findSession)
      if (!identity) return sockets.refuse(state, address, refusals.token)
      const { account, tokenId, session } = identity
      const payer = session?.ownerId ?? null
      const list = new List({
        ...{ address, payer, socket },
        reader: { account, tokenId, session: session?.claims },
      })
      if ((await this.#options.journal.begin(list, undefined)) === 'none')
        return sockets.refuse(state, address, refusals.board)
      if (list.isOver) return
      const earlier = state.lists?.get(address)
      earlier?.end()
      const isOpen = (state.lists?.size ?? 0) + state.connections.size
      const isTooMany = isOpen >= this.#options.bounds.maxBoardsPerSocket
      if (
        isTooMany ||
        !sockets.known(state, list, sockets.rates.of(account, payer)) ||
        !seating.takeList(list)
      )
        return sockets.refuse(state, address, refusals.room)
      this.#add(state, seating, list)
      socket.send(accessFrame(address, true))
      if (earlier) await this.#open(list) // a client that sends another token does not ask again
    } catch (error) {
      this.#options.log.warn({ err: error }, 'a live list could not be opened; its client comes back')
      closeSocket(state, closeCodes.tryLater)
    } finally {
      state.attempts -= 1
    }
  }

  #add(state: SocketState, seating: Seating, list: List): void {
    this.#all.add(list)
    const lists = (state.lists ??= new Map())
    lists.set(list.address, list)
    list.end = () => {
      list.end = () => undefined
      list.stage = 'over'
      this.#all.delete(list)
      if (lists.get(list.address) === list) lists.delete(list.address)
      seating.leaveList(list)
      this.#options.journal.leave(list)
      this.#options.people.leave(list)
    }
  }

  /** Answers a provider that asks for the document: it is empty. */
  async #open(list: List): Promise<void> {
    const { address, socket } = list
    socket.send(Buffer.concat([syncHead(address, syncStep.missing, emptyUpdate.byteLength), emptyUpdate]))
    if (list.stage !== 'authenticated') return
    list.stage = 'open'
    list.say('ready')
    this.#options.journal.follow(list)
    this.#options.people.follow(list)
  }

  #resume(list: List, payload: Uint8Array): void {
    const id = resumedFrom(payload)
    if (id === null || list.stage !== 'open') return
    list.stage = 'resumed'
    // `resumed` comes before all that follows the position, because the journal is read later.
    list.say(this.#options.journal.rewind(list, id) ? 'resumed' : 'reset')
  }
}

/** The id in `{"type":"resume","id":"…"}`; null for other messages, which are ignored as on boards. */
function resumedFrom(payload: Uint8Array): string | null {
  try {
    const message = JSON.parse(Buffer.from(payload).toString()) as { type?: unknown; id?: unknown } | null
    return message?.type === 'resume' && typeof message.id === 'string' ? message.id : null
  } catch {
    return null
  }
}
