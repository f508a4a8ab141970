import type { ApplyBounds } from './apply.ts'
import type { Spread } from './close-spread.ts'
import type { FrameBounds } from './protocol.ts'
import type { PresenceBounds } from './presence.ts'
import type { RateBounds } from './rates.ts'
import type { SocketBounds } from './socket.ts'

export interface GatewayBounds extends ApplyBounds, FrameBounds, PresenceBounds, RateBounds, SocketBounds {
  maxFrameBytes: number
  /** The total size of a board's updates that wait for missing edits. */
  maxPendingBytes: number
  /** The same of all boards, for one account, or all sessions and guests of an owner. */
  maxAccountPendingBytes: number
  maxSockets: number
  /** Sockets on which nobody has authenticated yet. */
  maxStrangers: number
  /** Unauthenticated sockets from one address. */
  maxStrangersPerAddress: number
  /** Bytes that an unauthenticated socket may send before its next attempt to authenticate. */
  maxStrangerBytes: number
  /** Time within which a socket must authenticate. */
  authenticationMs: number
  /** After this time without outgoing traffic, a socket gets a keep-alive frame. */
  keepAliveMs: number
  /** A socket from which nothing came for this time is closed. After half of it, it gets a ping. */
  silentMs: number
  /** Time within which a client has to read a past state, or 4 MB of a larger one. */
  readPastWithinMs: number
  maxSocketsPerBoard: number
  /** Sockets of one account on one board. */
  maxSocketsPerAccountOnBoard: number
  maxSocketsPerAccount: number
  maxBoardsPerSocket: number
  /** Refused attempts to open a board, after which the socket is closed. */
  maxRefusals: number
  /** How the sockets are closed when the service stops. */
  closing: Spread
}

export const defaultBounds: GatewayBounds = {
  maxFrameBytes: 8 * 1024 * 1024,
  maxAwarenessBytes: 72 * 1024,
  maxStatelessBytes: 64 * 1024,
  maxUnreadBytes: 16 * 1024 * 1024,
  maxLiveUnreadBytes: 64 * 1024,
  maxStalledMs: 30_000,
  maxAccountUnreadBytes: 128 * 1024 * 1024,
  maxAccountIncomingBytes: 128 * 1024 * 1024,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxDocumentBytes: 256 * 1024 * 1024,
  maxPendingBytes: 4 * 1024 * 1024,
  maxAccountPendingBytes: 32 * 1024 * 1024,
  maxNesting: 200,
  maxClients: 50_000,
  maxRoots: 1000,
  maxUpdateSteps: 2_000_000,
  maxItemSteps: 100_000,
  maxDocumentSteps: 4_000_000,
  maxStatesPerConnection: 4,
  maxStateBytes: 16 * 1024,
  maxBoardStateBytes: 4 * 1024 * 1024,
  awarenessTickMs: 50,
  crowdSockets: 50,
  renewWithinMs: 30_000,
  awarenessRate: { perSecond: 2000, burst: 2000 },
  queryRate: { perSecond: 50, burst: 200 },
  frameRate: { perSecond: 5000, burst: 5000 },
  maxSockets: 20_000,
  maxStrangers: 1000,
  maxStrangersPerAddress: 200,
  maxStrangerBytes: 64 * 1024,
  authenticationMs: 15_000,
  keepAliveMs: 15_000,
  silentMs: 60_000,
  readPastWithinMs: 60_000,
  maxSocketsPerBoard: 1000,
  maxSocketsPerAccountOnBoard: 500,
  maxSocketsPerAccount: 2000,
  maxBoardsPerSocket: 100,
  maxRefusals: 20,
  closing: { atOnce: 50, pauseMs: 5, withinMs: 5000 },
}
