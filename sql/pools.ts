/** Opens the connections of the service. Each kind of work has its own, so that no work waits for a slower kind. */
import { limits } from '../core/limits.ts'
import postgres from './driver.ts'

/**
 * Time limits for one kind of work on the database.
 *
 * - `statementMs`: the server cancels a statement that takes longer.
 * - `waitMs`: a query fails after this wait for a connection, if no other query got one meanwhile.
 * - `connectMs`: limit for opening a connection.
 * - `graceMs`: if an answer takes longer than `statementMs` plus `graceMs`, the connection counts as lost and is
 *   closed. The outcome of its statement is then unknown.
 */
interface Patience {
  statementMs: number
  waitMs: number
  connectMs: number
  graceMs: number
  /** The server ends a transaction that is idle for longer, because it would delay the change feeds. Default 15 s. */
  idleMs?: number
  /** Whether commits wait for the disk. Default true. */
  waitsForDisk?: boolean
}

/**
 * If the database is silent, a request fails within 10 s. It either waits for a connection and opens one, or waits for
 * an answer.
 */
const patience = {
  /** Requests, sockets, commits, tokens, and the short statements of workers. */
  request: { statementMs: 6_000, waitMs: 4_000, connectMs: 3_000, graceMs: 1_000 },
  /**
   * Compaction, verification, retention, purging and reclaiming of files. No request waits for these. And sums of an
   * owner's documents, for which a write waits for 0.5 s at most.
   */
  background: { statementMs: 15_000, waitMs: 60_000, connectMs: 5_000, graceMs: 5_000 },
  /** `/readyz`, which answers within 2 s. */
  probe: { statementMs: 1_200, waitMs: 1_200, connectMs: 1_500, graceMs: 300 },
  search: { statementMs: limits.search.timeoutMs, waitMs: 4_000, connectMs: 3_000, graceMs: 1_000 },
  /** A session of its own. After 5 s of silence it counts as lost. */
  session: { statementMs: 3_000, waitMs: 3_000, connectMs: 3_000, graceMs: 2_000 },
} satisfies Record<string, Patience>

/** The error code of a write in a session that is read only. */
export const readOnlyTransaction = '25006'

/** Number of commits that run at the same time. Large commits do not count. */
export const commitLanes = 2

export interface PoolOptions {
  url: string
  poolSize?: number
  /**
   * Time limit of a statement. It replaces the limits of requests and background work; the command line sets a longer
   * one.
   */
  statementTimeoutMs?: number
  /** Schedules what connections send, so that several queries go out together. Default `setImmediate`. */
  sendSoon?: (send: () => void) => void
}

const open = (url: string, max: number, bounds: Patience, role = requestRole, more = {}) =>
  postgres(url, { ...settingsFor(bounds, role), max, ...more })

export function openPools({
  url,
  poolSize = 12,
  statementTimeoutMs: given,
  sendSoon = setImmediate,
}: PoolOptions) {
  const pool = (max: number, bounds: Patience, role = requestRole, write_soon = sendSoon) =>
    open(url, max, bounds, role, { write_soon })
  const bounded = (bounds: Patience): Patience =>
    given === undefined ? bounds : { ...bounds, statementMs: given, idleMs: given }
  const requests = bounded(patience.request)
  return {
    request: pool(poolSize, requests),
    // A commit is one statement on a connection of its own, so there is nothing to send together with it.
    commit: pool(commitLanes, requests, requestRole, atOnce),
    // Locks belong to the session of this connection. It does no other work, so that locks never wait.
    lock: pool(1, requests),
    system: pool(2, requests, systemRole),
    // Few statements are sent in one turn of the event loop, so waiting for more would only delay them.
    follow: pool(2, requests, systemRole, atOnce),
    // Messages may be lost, so they don't wait for the disk. Its only connection is the one that `listen` opens.
    listen: pool(1, { ...requests, waitsForDisk: false }, requestRole, atOnce),
    search: pool(4, patience.search),
    background: pool(3, bounded(patience.background)),
    probe: pool(1, patience.probe),
  }
}

const atOnce = (send: () => void) => process.nextTick(send)

/** Opens one connection that does not reconnect. */
export const openSessionConnection = (url: string, lost: () => void) =>
  open(url, 1, patience.session, systemRole, { onclose: lost, max_lifetime: null })

export const requestRole = 'corkboard_app'
export const systemRole = 'corkboard_system'

function settingsFor(bounds: Patience, role: string) {
  const { statementMs, waitMs, connectMs, graceMs, idleMs = 15_000, waitsForDisk = true } = bounds
  return {
    onnotice: () => undefined,
    connect_timeout: connectMs / 1000,
    wait_timeout: waitMs / 1000,
    answer_timeout: (statementMs + graceMs) / 1000,
    // A session that began read only may stay read only after the server accepts writes again.
    retire: ({ code }: { code: string }) => code === readOnlyTransaction,
    // Seconds. The driver's default waits up to 20 s, even if the database is back earlier.
    backoff: (attempt: number) => Math.min(0.25, 0.01 * 2 ** attempt),
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    connection: {
      application_name: 'corkboard',
      role,
      search_path: 'corkboard',
      timezone: 'UTC',
      default_transaction_isolation: 'read committed' as const, // the change feeds depend on it
      statement_timeout: serverMs(statementMs),
      idle_in_transaction_session_timeout: serverMs(idleMs),
      lock_timeout: serverMs(5000),
      // Compiling a statement takes longer than running it. Measured for a new board on a server with JIT: 350 ms, without 8.
      jit: 'off',
      // If a client disappears without closing its connection, the server ends the session and its locks within a
      // minute.
      tcp_keepalives_idle: serverSetting('20'),
      tcp_keepalives_interval: serverSetting('10'),
      tcp_keepalives_count: serverSetting('3'),
      ...(waitsForDisk ? {} : { synchronous_commit: 'off' }),
    },
  }
}

/** The driver's types require numbers, but its wire format is text. */
const serverSetting = (text: string) => text as unknown as number
const serverMs = (ms: number) => serverSetting(String(ms))
