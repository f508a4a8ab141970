import type { ApplyBounds } from './apply.ts'
import type { FrameBounds } from './protocol.ts'
import type { MergeBounds } from '../updates/meter.ts'
import type { PresenceBounds } from './presence.ts'
import type { RateBounds } from './rates.ts'
import type { SocketBounds } from './socket.ts'

export interface GatewayBounds
  extends ApplyBounds, FrameBounds, MergeBounds, PresenceBounds, RateBounds, SocketBounds {
  maxFrameBytes: number
  /** Updates of one board that wait for what they build on. */
  maxPendingBytes: number
  maxSockets: number
  /** Sockets on which nobody has authenticated yet, and how long they have for it. */
  maxStrangers: number
  /** The same for one address. */
  maxStrangersPerAddress: number
  /** What such a socket may send until its next attempt to authenticate. */
  maxStrangerBytes: number
  authenticationMs: number
  /** A socket on which nothing went out for so long is sent a sign of life, and asked for one. */
  keepAliveMs: number
  maxSocketsPerBoard: number
  /** Of one account on one board. */
  maxSocketsPerAccountOnBoard: number
  maxSocketsPerAccount: number
  maxBoardsPerSocket: number
  /** Refused attempts to open a board before the socket is closed. */
  maxRefusals: number
}

export const defaultBounds: GatewayBounds = {
  maxFrameBytes: 8 * 1024 * 1024,
  maxAwarenessBytes: 72 * 1024,
  maxStatelessBytes: 64 * 1024,
  maxUnreadBytes: 16 * 1024 * 1024,
  maxLiveUnreadBytes: 64 * 1024,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxDocumentBytes: 256 * 1024 * 1024,
  maxPendingBytes: 4 * 1024 * 1024,
  maxNesting: 200,
  maxClients: 50_000,
  maxUpdateSteps: 3_000_000,
  maxItemSteps: 100_000,
  maxDocumentSteps: 50_000_000,
  maxStatesPerConnection: 4,
  maxStateBytes: 16 * 1024,
  maxBoardStateBytes: 4 * 1024 * 1024,
  awarenessTickMs: 50,
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
  maxSocketsPerBoard: 1000,
  maxSocketsPerAccountOnBoard: 500,
  maxSocketsPerAccount: 2000,
  maxBoardsPerSocket: 100,
  maxRefusals: 20,
}
