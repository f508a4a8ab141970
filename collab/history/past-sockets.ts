/**
 * Boards as they were, on the sockets at `/collab?as_of=`, read-only. A past state does not change. So the service reads
 * it when a client asks, sends it and forgets it; no document stays in memory. What the client sends is not applied, and
 * nobody else is shown. The gateway reads and bounds these sockets as it does those of boards as they are.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { closeCodes, ServiceError } from '../../core/errors.ts'
import type { Logger } from '../../platform/log.ts'
import { FairQueue } from '../../platform/work/fair-queue.ts'
import { Shares, type Holder } from '../../platform/work/shares.ts'
import type { TokenVerifier } from '../../sql/accounts/tokens.ts'
import { identify, refusals } from '../gateway/authenticate.ts'
import type { GatewayBounds } from '../gateway/gateway-bounds.ts'
import { closeSocket, type OpenSockets, type SocketState } from '../gateway/open-sockets.ts'
import {
  accessFrame,
  boardOf,
  frameType,
  syncHead,
  syncStatusFrame,
  syncStep,
  tokenIn,
  type Frame,
} from '../gateway/protocol.ts'
import type { PastView } from '../gateway/socket-reader.ts'

/** Reads a board as it was. The rights are those of `as_of` in the API. */
export interface PastBoards {
  /**
   * Returns a function that reads the state, as a Yjs update (V1).
   *
   * @throws ServiceError when the account may not see the past of the board
   */
  admit(account: string, boardId: string): Promise<(asOf: string) => Promise<Uint8Array>>
}

export interface PastSocketsOptions {
  past: PastBoards
  tokens: TokenVerifier
  log: Logger
  bounds: Pick<GatewayBounds, 'readPastWithinMs'>
}

const most = { socketsOfAccount: 20, boardsOfSocket: 10 }
/** How often the service looks whether a client has read. */
const lookMs = 50
/** A client has `readPastWithinMs` for each part of this size, as a phone may read no more than 0.5 Mbit/s. */
const partBytes = 4 * 1024 * 1024

export class PastSockets implements PastView {
  readonly #options: PastSocketsOptions
  readonly #sockets = new Shares<Holder>(most.socketsOfAccount)
  /** States that are read, and until their clients have read them. */
  readonly #states = new FairQueue({ atOnce: 64, atOncePerAccount: 2, waiting: 1000, waitingPerAccount: 100 })

  constructor(options: PastSocketsOptions) {
    this.#options = options
  }

  take(sockets: OpenSockets, state: SocketState, frame: Frame): Promise<void> | null {
    const { type, step, address } = frame
    if (type === frameType.auth) return this.#serve(sockets, state, frame, tokenIn(frame))
    const token = state.past?.tokens.get(address)
    if (token === undefined) return null
    if (step === syncStep.missing || step === syncStep.update)
      state.socket.sendAtOnce(syncStatusFrame(address, false))
    else if (step === syncStep.stateVector) return this.#serve(sockets, state, frame, token)
    else if (type === frameType.close) state.past!.tokens.delete(address)
    return null
  }

  /** Opens a board, or answers the question for its state. */
  async #serve(
    sockets: OpenSockets,
    state: SocketState,
    { type, address }: Frame,
    token: string | null,
  ): Promise<void> {
    if (token === null) return closeSocket(state, closeCodes.badFrame)
    state.attempts += 1
    try {
      const { holder, read } = await this.#admit(state, address, token)
      if (state.socket.readyState !== WebSocket.OPEN) return
      if (type === frameType.auth) this.#open(sockets, state, address, token, holder)
      else await this.#states.run(holder.account, () => this.#show(state, address, read))
    } catch (error) {
      state.past?.tokens.delete(address)
      if (error instanceof Refused) sockets.refuse(state, address, error.reason)
      else {
        this.#options.log.warn({ err: error }, 'the past of a board could not be shown on a socket')
        closeSocket(state, closeCodes.tryLater) // a provider takes a refusal as final, and comes back after a close
      }
    } finally {
      state.attempts -= 1
    }
  }

  /** Checks the token and the rights. */
  async #admit(
    { findSession }: SocketState,
    address: string,
    token: string,
  ): Promise<{ holder: Holder; read(asOf: string): Promise<Uint8Array> }> {
    const { past, tokens } = this.#options
    const identity = await identify(tokens, token, findSession)
    if (!identity) throw new Refused(refusals.token)
    const { account, session } = identity
    const read = await past.admit(account, boardOf(address)).catch(refusedAs(refusals.board))
    return {
      holder: { account, payer: session?.ownerId ?? null },
      read: (asOf) => read(asOf).catch(refusedAs(refusals.moment)),
    }
  }

  #open(sockets: OpenSockets, state: SocketState, address: string, token: string, holder: Holder): void {
    const { account, payer } = holder
    const place = state.past?.account === account ? null : { account, payer: null }
    const open = state.past?.tokens ?? new Map<string, string>()
    const hasRoom = open.has(address) || open.size < most.boardsOfSocket
    if (!hasRoom || (place && !this.#sockets.hasRoom(place))) throw new Refused(refusals.room)
    if (!sockets.known(state, holder, sockets.rates.of(account, payer))) throw new Refused(refusals.room)
    if (place) {
      state.past?.end()
      this.#sockets.add(place)
      state.past = { account, tokens: open, end: () => this.#sockets.remove(place) }
    }
    open.set(address, token)
    state.socket.send(accessFrame(address, true))
  }

  /** Sends a state. Resolves when the client has read it, so that at most one waits on each socket. */
  async #show(
    { socket, asOf }: SocketState,
    address: string,
    read: (asOf: string) => Promise<Uint8Array>,
  ): Promise<void> {
    const isOpen = () => socket.readyState === WebSocket.OPEN
    if (!isOpen()) return
    const state = await read(asOf!)
    if (!isOpen()) return
    socket.sendShared(syncHead(address, syncStep.missing, state.byteLength), state)
    const { readPastWithinMs } = this.#options.bounds
    const deadline = performance.now() + readPastWithinMs * Math.max(1, state.byteLength / partBytes)
    while (socket.unreadBytes > 0 && isOpen()) {
      if (performance.now() > deadline) socket.closeAsSlow()
      else await delay(lookMs)
    }
  }
}

class Refused extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

/** @throws Refused for a refusal of the API; any other error as it is */
const refusedAs =
  (reason: string) =>
  (error: unknown): never => {
    const isRefusal =
      error instanceof ServiceError && ['bad_request', 'forbidden', 'not_found'].includes(error.code)
    throw isRefusal ? new Refused(reason) : error
  }
