import type { ApplyBounds } from './apply.ts'
import type { FrameBounds } from './frame.ts'
import type { PresenceBounds } from './presence.ts'
import type { SocketBounds } from './socket.ts'

export interface GatewayBounds extends ApplyBounds, FrameBounds, PresenceBounds, SocketBounds {
  maxFrameBytes: number
  /** Updates of one board that wait for what they build on. */
  maxPendingBytes: number
  maxSockets: number
  /** Sockets on which nobody has authenticated yet, and how long they have for it. */
  maxStrangers: number
  authenticationMs: number
  maxSocketsPerBoard: number
  maxSocketsPerAccount: number
  maxBoardsPerSocket: number
  /** Refused attempts to open a board before the socket is closed. */
  maxRefusals: number
}

export const defaultBounds: GatewayBounds = {
  maxFrameBytes: 8 * 1024 * 1024,
  maxAwarenessBytes: 256 * 1024,
  maxStatelessBytes: 64 * 1024,
  maxUnreadBytes: 16 * 1024 * 1024,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxDocumentBytes: 256 * 1024 * 1024,
  maxPendingBytes: 4 * 1024 * 1024,
  maxNesting: 200,
  maxStatesPerConnection: 4,
  maxStateBytes: 16 * 1024,
  maxSockets: 20_000,
  maxStrangers: 1000,
  authenticationMs: 15_000,
  maxSocketsPerBoard: 1000,
  maxSocketsPerAccount: 2000,
  maxBoardsPerSocket: 100,
  maxRefusals: 20,
}
