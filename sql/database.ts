import { createHash } from 'node:crypto'
import type { TransactionSql } from 'postgres'
import { ServiceError } from '../core/errors.ts'
import { limits } from '../core/limits.ts'
import { callCommit, type CommitCall } from './commit-call.ts'
import postgres from './driver.ts'
import { currentOperation, type Operation } from './operation.ts'
import { startSession, type Session, type Statement } from './session.ts'

/** A transaction in progress. Calling it as a tagged template runs a statement in the transaction. */
export type Transaction = TransactionSql<{ bigint: number }>

/** A statement of a transaction, or a part of one. */
export type { PendingQuery as Query } from 'postgres'

export type { CommitCall } from './commit-call.ts'
export type { Session, Statement } from './session.ts'

/** Number of commits that run at the same time. Large commits do not count. */
export const commitLanes = 2

export interface DatabaseOptions {
  url: string
  poolSize?: number
  /**
   * Time limit of a statement. It replaces the limits of requests and background work; the command line sets a longer
   * one.
   */
  statementTimeoutMs?: number
  /** Called with the time until a transaction has begun: its wait for a connection, and one round trip. */
  onBegun?(pool: Waiting, waitedMs: number): void
}

/**
 * Time limits for one kind of work on the database.
 *
 * - `statementMs`: the server cancels a statement that takes longer.
 * - `waitMs`: a query fails after this wait for a connection, if no other query got one meanwhile.
 * - `connectMs`: limit for opening a connection.
 * - `graceMs`: if an answer takes longer than `statementMs` plus `graceMs`, the connection counts as lost and is
 *   closed. The outcome of its statement is then unknown.
 *
 * Each kind of work has separate connections, so that no work waits for a slower kind.
 */
interface Patience {
  statementMs: number
  waitMs: number
  connectMs: number
  graceMs: number
  /** The server ends a transaction that is idle for longer, because it would delay the change feeds. Default 15 s. */
  idleMs?: number
}

/**
 * If the database is silent, a request fails within 10 s. It either waits for a connection and opens one, or waits for
 * an answer.
 */
const patience = {
  /** Requests, sockets, commits, tokens, and the short statements of workers. */
  request: { statementMs: 6_000, waitMs: 4_000, connectMs: 3_000, graceMs: 1_000 },
  /** Compaction, verification, retention, purging and reclaiming of files. No request waits for these. */
  background: { statementMs: 15_000, waitMs: 60_000, connectMs: 5_000, graceMs: 5_000 },
  /** `/readyz`, which answers within 2 s. */
  probe: { statementMs: 1_200, waitMs: 1_200, connectMs: 1_500, graceMs: 300 },
  search: { statementMs: limits.search.timeoutMs, waitMs: 4_000, connectMs: 3_000, graceMs: 1_000 },
  /** A session of its own. After 5 s of silence it counts as lost. */
  session: { statementMs: 3_000, waitMs: 3_000, connectMs: 3_000, graceMs: 2_000 },
} satisfies Record<string, Patience>

/** The kind of work that a transaction of the service itself belongs to. It chooses the time limits. */
export type Waiting = 'request' | 'background' | 'probe'

/**
 * The connections of a single statement. `follow`: connections that requests never use. They follow the logs and the
 * access of open boards, and carry messages between nodes.
 */
export type StatementPool = 'request' | 'follow'

/** Interval of pings on a connection that only listens. Without them a lost network would stay unnoticed. */
const pulseMs = 10_000

/** How long the server counts as not writable after it refused a write because it is read only or its disk is full. */
const refusedForMs = 5_000

/**
 * The access to the database. No other module opens connections for the service. Connections have the role of a
 * request, which sees no rows until a transaction sets the user for whom it acts. This setting ends with the
 * transaction.
 */
export interface Database {
  /** Runs `work` under the row-level policies of this user. Throws `storage_unavailable` when the database fails. */
  asUser<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Runs `work` as the service itself, for the log, workers and authentication. `waiting` chooses the time limits. */
  asSystem<T>(work: (tx: Transaction) => Promise<T>, waiting?: Waiting): Promise<T>
  /** Runs one statement as the service itself, in autocommit. This takes one round trip instead of three. */
  callAsSystem<T>(call: (sql: Statement) => Promise<T>, pool?: StatementPool): Promise<T>
  /**
   * Opens a session with a connection of its own, as the service itself. It does not reconnect. Its commits do not wait
   * for the disk.
   */
  openSession(): Promise<Session>
  /**
   * Runs one call of the search function, in autocommit. Searches have a few separate connections, so that they take
   * none from other requests. The server cancels a search after `limits.search.timeoutMs`.
   */
  search<T>(call: (sql: Statement) => Promise<T>): Promise<T>
  /**
   * Runs one group commit, in autocommit: one round trip. Commits have their own connections, whose plans and caches
   * are warm. Two options use another connection. `again`: the first call got no answer and may still hold its
   * connection. `aside`: the call is large, and other commits must not wait for it. Throws the driver's errors
   * unchanged, because the caller must know whether the commit may have succeeded.
   */
  commit(call: CommitCall, options?: { again?: boolean; aside?: boolean }): Promise<unknown>
  /**
   * Listens to a channel on a separate connection, which reconnects by itself. Messages sent while it is disconnected
   * are lost.
   */
  listen(channel: string, heard: (text: string) => void): Promise<Listener>
  /**
   * Sends messages over NOTIFY, in one transaction. They have a separate connection, because transactions with NOTIFY
   * commit one after the other. A message has less than 8,000 bytes.
   */
  notify(channel: string, texts: string[]): Promise<void>
  /** Calls `listener` at the end of each transaction of this process that revoked tokens (see `endsTokens`). */
  onTokensEnded(listener: () => void): void
  /** False while the server refuses writes, because it is a standby, is set to read only, or has a full disk. */
  takesWrites(): boolean
  /** Takes a lock that ends with this process or its connection. Null when it is already held, also by this process. */
  lock(name: string): Promise<Lock | null>
  close(): Promise<void>
}

/** Transactions that revoke tokens. */
const endingTokens = new WeakSet<Transaction>()

/** Marks a transaction that revokes tokens. At its end every cache of tokens is cleared. */
export function endsTokens(tx: Transaction): void {
  endingTokens.add(tx)
}

export interface Lock {
  release(): Promise<void>
}

export interface Listener {
  close(): Promise<void>
}

/** Runs a statement as the service: in a transaction among the requests, or on the connections that follow open boards. */
export const runAsSystem = <T>(
  database: Database,
  pool: StatementPool,
  run: (sql: Statement) => Promise<T>,
): Promise<T> =>
  pool === 'follow'
    ? database.callAsSystem(run, pool)
    : (database.asSystem((tx) => run((template, ...parameters) => tx(template, ...parameters))) as Promise<T>)

export function openDatabase(options: DatabaseOptions): Database {
  const { statementTimeoutMs: given } = options
  const bounded = (bounds: Patience): Patience =>
    given === undefined ? bounds : { ...bounds, statementMs: given, idleMs: given }
  const requests = bounded(patience.request)
  const open = (max: number, bounds: Patience, role = requestRole, more = {}, connection = {}) =>
    postgres(options.url, { ...settingsFor(bounds, role, connection), max, ...more })

  const sql = open(options.poolSize ?? 12, requests)
  const committer = open(commitLanes, requests)
  // Locks belong to the session of this connection. It does no other work, so that locks never wait.
  const locker = open(1, requests)
  const system = open(2, requests, 'corkboard_system')
  const follower = open(2, requests, 'corkboard_system')
  // Messages may be lost, so they don't wait for the disk.
  const notifier = open(1, requests, requestRole, {}, { synchronous_commit: 'off' })
  const searcher = open(4, patience.search)
  const background = open(3, bounded(patience.background))
  const prober = open(1, patience.probe)
  const pools = [sql, committer, locker, system, follower, notifier, searcher, background, prober]
  const poolFor = { request: sql, background, probe: prober }
  const statementPool = { request: system, follow: follower }
  const held = new Set<string>()
  const tokensEnded: (() => void)[] = []
  let writesRefusedAt = -Infinity

  /** Returns the error to throw for a driver error, and records that the server refuses writes. */
  function translate(error: unknown): unknown {
    if (refusesWrites(error)) writesRefusedAt = performance.now()
    return isUnavailable(error) ? storageUnavailable(error) : error
  }

  async function run<T>(
    role: string,
    userId: string,
    work: (tx: Transaction) => Promise<T>,
    waiting: Waiting,
  ): Promise<T> {
    const operation = role === requestRole ? currentOperation() : undefined
    let ending = false
    let waitsSince: number | null = performance.now()
    const begun = () => {
      if (waitsSince !== null) options.onBegun?.(waiting, performance.now() - waitsSince)
      waitsSince = null
    }
    try {
      const { result, telling } = (await poolFor[waiting].begin(async (tx) => {
        begun()
        // Sent first in the pipeline, but awaited together with the work, so that it takes no round trip of its own.
        const scope =
          tx`select set_config('role', ${role}, true), set_config('corkboard.user_id', ${userId}, true)`.execute()
        const [result] = await Promise.all([work(tx), scope])
        ending = endingTokens.has(tx)
        // Not awaited here either. If it fails, the commit that follows rolls back.
        return { result, telling: operation ? record(tx, operation) : null }
      })) as { result: T; telling: Telling | null }
      const [told] = (await telling?.rows) ?? []
      if (told?.told) operation!.recorded()
      return result
    } catch (error) {
      begun() // also for a wait that failed
      throw translate(error)
    } finally {
      // Also after an error, because a commit without an answer may have succeeded.
      if (ending) for (const listener of tokensEnded) listener()
    }
  }

  async function callOn<T>(pool: typeof sql, call: (sql: Statement) => Promise<T>): Promise<T> {
    try {
      return await call((template, ...parameters) => pool(template, ...parameters))
    } catch (error) {
      throw translate(error)
    }
  }

  return {
    asUser: (userId, work) => run(requestRole, userId, work, 'request'),
    asSystem: (work, waiting = 'request') => run('corkboard_system', '', work, waiting),
    callAsSystem: (call, pool = 'request') => callOn(statementPool[pool], call),
    openSession: () =>
      startSession((lost) =>
        open(1, patience.session, 'corkboard_system', { onclose: lost, max_lifetime: null }),
      ),
    search: (call) => callOn(searcher, call),
    async commit(call, { again = false, aside = false } = {}) {
      const pool = again || aside ? sql : committer
      return callCommit(pool, call, again).catch((error: unknown) => {
        translate(error)
        throw error
      })
    },
    async listen(channel, heard) {
      const { unlisten, ping } = await sql.listen(channel, heard)
      // A failed ping needs no handling: a lost connection reconnects by itself.
      const pulse = setInterval(() => void ping().catch(() => undefined), pulseMs)
      pulse.unref()
      return {
        async close() {
          clearInterval(pulse)
          await unlisten().catch(() => undefined) // a lost connection does not listen any more
        },
      }
    },
    async notify(channel, texts) {
      await notifier`select pg_notify(${channel}, text) from unnest(${texts}::text[]) with ordinality as m(text, at) order by at`
    },
    onTokensEnded: (listener) => void tokensEnded.push(listener),
    takesWrites: () => performance.now() - writesRefusedAt > refusedForMs,
    async lock(name) {
      if (held.has(name)) return null
      held.add(name)
      const id = lockId(name)
      try {
        const [row] = await locker<{ taken: boolean }[]>`select pg_try_advisory_lock(${id}::bigint) as taken`
        if (!row!.taken) held.delete(name)
        return row!.taken ? { release } : null
      } catch (error) {
        held.delete(name)
        throw translate(error)
      }
      async function release() {
        // If this fails, the connection is lost, and the server has released the lock.
        await locker`select pg_advisory_unlock(${id}::bigint)`.catch(() => undefined)
        held.delete(name)
      }
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.end({ timeout: 5 })))
    },
  }
}

const requestRole = 'corkboard_app'

function settingsFor(
  { statementMs, waitMs, connectMs, graceMs, idleMs = 15_000 }: Patience,
  role: string,
  connection: object,
) {
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
      // If a client disappears without closing its connection, the server ends the session and its locks within a
      // minute.
      tcp_keepalives_idle: serverSetting('20'),
      tcp_keepalives_interval: serverSetting('10'),
      tcp_keepalives_count: serverSetting('3'),
      ...connection,
    },
  }
}

/** The driver's types require numbers, but its wire format is text. */
const serverSetting = (text: string) => text as unknown as number
const serverMs = (ms: number) => serverSetting(String(ms))

/** Wraps the promise. `begin` awaits a promise that its callback returns, which would delay the commit. */
interface Telling {
  rows: Promise<{ told: boolean }[]>
}

/**
 * Sends the record of the request, if there is one. The database stores it only if the transaction has written rows.
 */
function record(tx: Transaction, operation: Operation): Telling | null {
  const told = operation.inTransaction()
  if (!told) return null
  const query = tx<{ told: boolean }[]>`
    select record_operation(${told.operation}::text::json, ${told.result}::text::json) as told`
  const rows = query.execute()
  rows.catch(() => undefined) // `run` awaits `rows` after a commit; after a rollback it has thrown another error
  return { rows }
}

/** Returns 64 bits of a hash as a signed integer, which advisory locks take. */
const lockId = (name: string) => createHash('sha256').update(name).digest().readBigInt64BE().toString()

const unavailableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  '57014', // statement timeout
  '55P03', // lock timeout
  '25P03', // idle in transaction timeout
  '58000', // system error
  '58030', // I/O error
])

/** SQLSTATE classes: connection errors, insufficient resources, server stopping or starting. */
const unavailableClasses = ['08', '53', '57P']

const readOnlyTransaction = '25006'
const diskFull = '53100'

/** True when the database could not be reached, disconnected, did not answer in time, or accepts no writes. */
export function isUnavailable(error: unknown): boolean {
  const code = errorCode(error)
  return (
    unavailableCodes.has(code) ||
    code.startsWith('CONNECT') || // codes of the driver: CONNECT_TIMEOUT, CONNECTION_CLOSED, CONNECTION_SILENT, …
    refusesWrites(error) ||
    (/^[0-9A-Z]{5}$/.test(code) && unavailableClasses.some((prefix) => code.startsWith(prefix)))
  )
}

/** True when the server answers but can't write: it is a standby, is set to read only, or has a full disk. */
export function refusesWrites(error: unknown): boolean {
  return [readOnlyTransaction, diskFull].includes(errorCode(error))
}

/** Error codes of statements that the driver rejects and does not send. */
const neverSent = new Set(['UNDEFINED_VALUE', 'MAX_PARAMETERS_EXCEEDED'])

/**
 * True when the statement certainly changed nothing, because the server refused it. After a lost connection or a server
 * shutdown the statement may have been committed.
 */
export function certainlyRolledBack(error: unknown): boolean {
  if (neverSent.has(errorCode(error))) return true
  return error instanceof postgres.PostgresError && !/^(57P|08)/.test(error.code)
}

export function errorCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}

/** Returns the error for the client when `isUnavailable` is true. */
export function storageUnavailable(cause: unknown): ServiceError {
  const message = refusesWrites(cause)
    ? 'The database accepts no writes at the moment. Try again shortly.'
    : 'The database cannot be reached. Try again shortly.'
  return new ServiceError('storage_unavailable', message, { cause })
}
