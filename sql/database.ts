import { createHash } from 'node:crypto'
import type { ParameterOrFragment, PendingQuery, Row, TransactionSql } from 'postgres'
import { ServiceError } from '../core/errors.ts'
import { limits } from '../core/limits.ts'
import { callCommit, type CommitCall } from './commit-call.ts'
import postgres from './driver.ts'
import { currentOperation, type Operation } from './operation.ts'

/** A transaction in progress: tagged templates run in it. */
export type Transaction = TransactionSql<{ bigint: number }>

/** A statement of a transaction, or a part of one. */
export type { PendingQuery as Query } from 'postgres'

/** The tag of one statement, which is a transaction of its own. */
export type Statement = <T extends readonly (object | undefined)[] = Row[]>(
  template: TemplateStringsArray,
  ...parameters: readonly ParameterOrFragment<number>[]
) => PendingQuery<T>

export type { CommitCall } from './commit-call.ts'

/** Commits that go beside each other; large ones not counted. */
export const commitLanes = 2

export interface DatabaseOptions {
  url: string
  poolSize?: number
  /** Bound on a statement of a request or of background work, in place of the service's own: the command line's is longer. */
  statementTimeoutMs?: number
}

/**
 * How long the service waits for the database.
 *
 * `statementMs`: the server ends a statement that takes longer. `waitMs`: a query waits this long for a
 * connection, unless others get one meanwhile.
 * `connectMs`: a connection has to be made in this time. A server that is silent for `statementMs` plus `graceMs` while
 * it owes an answer is taken for lost: its connection is dropped, and what its statement did is unknown.
 *
 * Each kind of work has connections of its own, so that none waits for a slower kind.
 */
interface Patience {
  statementMs: number
  waitMs: number
  connectMs: number
  graceMs: number
  /** A transaction that waits for this process longer is ended: it must not hold the feeds back. Default 15 s. */
  idleMs?: number
}

/** A request fails within 10 s of the silence: it waits for a connection and then makes one, or waits for an answer. */
const patience = {
  /** Requests, sockets, commits, tokens, and the short statements of workers. */
  request: { statementMs: 6_000, waitMs: 4_000, connectMs: 3_000, graceMs: 1_000 },
  /** Compaction, verification, retention, purging and reclaiming of files: nobody waits for them. */
  background: { statementMs: 15_000, waitMs: 60_000, connectMs: 5_000, graceMs: 5_000 },
  /** `/readyz`, which answers within 2 s. */
  probe: { statementMs: 1_200, waitMs: 1_200, connectMs: 1_500, graceMs: 300 },
  search: { statementMs: limits.search.timeoutMs, waitMs: 4_000, connectMs: 3_000, graceMs: 1_000 },
} satisfies Record<string, Patience>

/** Who waits for a transaction of the service itself. */
export type Waiting = 'request' | 'background' | 'probe'

/** How often a connection that only listens has to answer; otherwise the loss of its network would go unnoticed. */
const pulseMs = 10_000

/** After the server refused a write for want of space or of the right to write: how long it counts as not writable. */
const refusedForMs = 5_000

/**
 * The only way to the database. The connections run as the role of a request, which sees nothing until a transaction
 * says for which user it acts; nothing that a transaction sets outlives it.
 */
export interface Database {
  /** Runs `work` under the row-level policies of this user. Throws `storage_unavailable` when the database is away. */
  asUser<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Runs `work` as the service itself: the log, the workers, authentication. `waiting` chooses the bounds on its time. */
  asSystem<T>(work: (tx: Transaction) => Promise<T>, waiting?: Waiting): Promise<T>
  /** Runs one statement as the service itself, in autocommit: one round trip in place of three. */
  callAsSystem<T>(call: (sql: Statement) => Promise<T>): Promise<T>
  /**
   * Runs one call of the search function, in autocommit: one round trip. On connections of its own, of which there are
   * few, so that searches take none from other requests; cut off after the time of `limits.search`.
   */
  search<T>(call: (sql: Statement) => Promise<T>): Promise<T>
  /**
   * One group commit, in autocommit: one round trip, on one of the connections kept for it, whose plans and caches
   * are warm. `again`: the first call has no answer and may still hold its connection, so this one takes another;
   * `aside`: so does a large one, for which the others must not wait.
   * Errors are the driver's own: their outcome has to be told apart.
   */
  commit(call: CommitCall, options?: { again?: boolean; aside?: boolean }): Promise<unknown>
  /** Hears what is sent to a channel, on a connection of its own that comes back by itself. What is sent meanwhile is lost. */
  listen(channel: string, heard: (text: string) => void): Promise<Listener>
  /** Calls `listener` whenever a transaction of this process that ended tokens (see `endsTokens`) is over. */
  onTokensEnded(listener: () => void): void
  /** False while the server refuses writes: it is a standby, or set to read only, or its disk is full. */
  takesWrites(): boolean
  /** A lock that ends with this process, or with its connection; null when somebody holds it, this process included. */
  lock(name: string): Promise<Lock | null>
  close(): Promise<void>
}

/** Transactions that ended tokens. */
const endingTokens = new WeakSet<Transaction>()

/** Marks a transaction that ends tokens: when it is over, whoever remembers tokens forgets them. */
export function endsTokens(tx: Transaction): void {
  endingTokens.add(tx)
}

export interface Lock {
  release(): Promise<void>
}

export interface Listener {
  close(): Promise<void>
}

export function openDatabase(options: DatabaseOptions): Database {
  const { statementTimeoutMs: given } = options
  const bounded = (bounds: Patience): Patience =>
    given === undefined ? bounds : { ...bounds, statementMs: given, idleMs: given }
  const requests = bounded(patience.request)
  const open = (max: number, bounds: Patience, role = requestRole) =>
    postgres(options.url, { ...settingsFor(bounds, role), max })

  const sql = open(options.poolSize ?? 12, requests)
  const committer = open(commitLanes, requests)
  // Locks are its session's; it does nothing else, so that they wait for no work.
  const locker = open(1, requests)
  const system = open(2, requests, 'corkboard_system')
  const searcher = open(4, patience.search)
  const background = open(3, bounded(patience.background))
  const prober = open(1, patience.probe)
  const pools = [sql, committer, locker, system, searcher, background, prober]
  const poolFor = { request: sql, background, probe: prober }
  const held = new Set<string>()
  const tokensEnded: (() => void)[] = []
  let writesRefusedAt = -Infinity

  /** What to throw in place of a fault; remembers that the server refuses writes. */
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
    try {
      const { result, telling } = (await poolFor[waiting].begin(async (tx) => {
        // Sent first, but not awaited on its own: it leads the pipeline, so that it costs no round trip.
        const scope =
          tx`select set_config('role', ${role}, true), set_config('corkboard.user_id', ${userId}, true)`.execute()
        const [result] = await Promise.all([work(tx), scope])
        ending = endingTokens.has(tx)
        // Nor is this: when it fails the commit that follows it rolls back.
        return { result, telling: operation ? record(tx, operation) : null }
      })) as { result: T; telling: Telling | null }
      const [told] = (await telling?.rows) ?? []
      if (told?.told) operation!.recorded()
      return result
    } catch (error) {
      throw translate(error)
    } finally {
      // Also after an error: a commit without an answer may have been carried out.
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
    callAsSystem: (call) => callOn(system, call),
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
      // A connection that is lost makes itself anew.
      const pulse = setInterval(() => void ping().catch(() => undefined), pulseMs)
      pulse.unref()
      return {
        async close() {
          clearInterval(pulse)
          await unlisten().catch(() => undefined) // a connection that is lost hears nothing anyway
        },
      }
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
        // Without its connection it is released already.
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

function settingsFor({ statementMs, waitMs, connectMs, graceMs, idleMs = 15_000 }: Patience, role: string) {
  return {
    onnotice: () => undefined,
    connect_timeout: connectMs / 1000,
    wait_timeout: waitMs / 1000,
    answer_timeout: (statementMs + graceMs) / 1000,
    // A session that began read only may stay so after the server takes writes again.
    retire: ({ code }: { code: string }) => code === readOnlyTransaction,
    // Seconds. The driver's own goes up to 20, which a database that is back would be waited for.
    backoff: (attempt: number) => Math.min(0.25, 0.01 * 2 ** attempt),
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    connection: {
      application_name: 'corkboard',
      role,
      search_path: 'corkboard',
      timezone: 'UTC',
      default_transaction_isolation: 'read committed' as const, // the feeds go by it
      statement_timeout: serverMs(statementMs),
      idle_in_transaction_session_timeout: serverMs(idleMs),
      lock_timeout: serverMs(5000),
      // The server ends a session whose client has gone without a word, with its locks, within a minute.
      tcp_keepalives_idle: serverSetting('20'),
      tcp_keepalives_interval: serverSetting('10'),
      tcp_keepalives_count: serverSetting('3'),
    },
  }
}

/** The driver's types want numbers, its wire format text. */
const serverSetting = (text: string) => text as unknown as number
const serverMs = (ms: number) => serverSetting(String(ms))

/** Not a promise itself: the transaction would wait for it before its commit. */
interface Telling {
  rows: Promise<{ told: boolean }[]>
}

/** Sends what the request has to tell of its work, if anything; it is told when the work has written something. */
function record(tx: Transaction, operation: Operation): Telling | null {
  const told = operation.inTransaction()
  if (!told) return null
  const query = tx<{ told: boolean }[]>`
    select record_operation(${told.operation}::text::json, ${told.result}::text::json) as told`
  const rows = query.execute()
  rows.catch(() => undefined) // who asks is told; who does not has heard of something worse
  return { rows }
}

/** 64 bits of a hash, as PostgreSQL has them. */
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

/** SQLSTATE classes: connection, insufficient resources, the server is stopping or starting. */
const unavailableClasses = ['08', '53', '57P']

const readOnlyTransaction = '25006'
const diskFull = '53100'

/** Whether the database could not be reached, went away, did not answer in time, or takes no writes. */
export function isUnavailable(error: unknown): boolean {
  const code = errorCode(error)
  return (
    unavailableCodes.has(code) ||
    code.startsWith('CONNECT') || // the driver's own: CONNECT_TIMEOUT, CONNECTION_CLOSED, CONNECTION_SILENT, …
    refusesWrites(error) ||
    (isSqlState(code) && unavailableClasses.some((prefix) => code.startsWith(prefix)))
  )
}

/** Whether the server is there but can't write: a standby, set to read only, or without room on its disk. */
export function refusesWrites(error: unknown): boolean {
  return [readOnlyTransaction, diskFull].includes(errorCode(error))
}

const isSqlState = (code: string) => /^[0-9A-Z]{5}$/.test(code)

/** The driver refuses such a statement itself. */
const neverSent = new Set(['UNDEFINED_VALUE', 'MAX_PARAMETERS_EXCEEDED'])

/**
 * Whether it is certain that the statement changed nothing: the server itself refused it. After a lost connection, or a
 * server that was told to stop, it may have been committed.
 */
export function certainlyRolledBack(error: unknown): boolean {
  if (neverSent.has(errorCode(error))) return true
  return error instanceof postgres.PostgresError && !unavailableButAnswered(error.code)
}

function unavailableButAnswered(code: string): boolean {
  return code.startsWith('57P') || code.startsWith('08')
}

export function errorCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}

/** What a client is told when `isUnavailable` holds. */
export function storageUnavailable(cause: unknown): ServiceError {
  const message = refusesWrites(cause)
    ? 'The database takes no writes at the moment. Try again shortly.'
    : 'The database is out of reach. Try again shortly.'
  return new ServiceError('storage_unavailable', message, { cause })
}
