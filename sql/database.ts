import { createHash } from 'node:crypto'
import type { Sql, TransactionSql } from 'postgres'
import { ServiceError } from '../core/errors.ts'
import { actingSession } from './acting-session.ts'
import { callCommit, type CommitCall } from './commit-call.ts'
import postgres from './driver.ts'
import { currentOperation, type Operation } from './operation.ts'
import {
  openPools,
  openSessionConnection,
  readOnlyTransaction,
  requestRole,
  systemRole,
  type PoolOptions,
} from './pools.ts'
import { startSession, type Session, type Statement } from './session.ts'

/** A transaction in progress. Calling it as a tagged template runs a statement in the transaction. */
export type Transaction = TransactionSql<{ bigint: number }>

type Pool = Sql<{ bigint: number }>

/** A statement of a transaction, or a part of one. */
export type { PendingQuery as Query } from 'postgres'

export type { CommitCall } from './commit-call.ts'
export { commitLanes } from './pools.ts'
export type { Session, Statement } from './session.ts'

export interface DatabaseOptions extends PoolOptions {
  /** Called with the time until a transaction has begun: its wait for a connection, and one round trip. */
  onBegun?(pool: Waiting, waitedMs: number): void
}

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
  /**
   * Runs `work` under the row-level policies of this user. Throws `storage_unavailable` when the database fails. Takes one
   * round trip when `work` returns its last statement itself, otherwise one for each statement that it awaits, and one for
   * the commit.
   */
  asUser<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T>
  /** The same as the service itself, for the log, workers and authentication. `waiting` chooses the time limits. */
  asSystem<T>(work: (tx: Transaction) => Promise<T>, waiting?: Waiting): Promise<T>
  /** Runs one statement as the service itself, in autocommit. A connection takes several at once, one after the other. */
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
   * are lost. It also sends messages: transactions with NOTIFY commit one after the other, so no other work may share it.
   */
  listen(channel: string, heard: (text: string) => void): Promise<Listener>
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
  /** Sends messages on the channel, in one transaction. A message has less than 8,000 bytes. */
  notify(texts: string[]): Promise<void>
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
  const pools = openPools(options)
  const takeLock = locksOn(pools.lock)
  const tokensEnded: (() => void)[] = []
  const faults = new DriverFaults()

  async function run<T>(scope: Scope, work: Work<T>, waiting: Waiting): Promise<T> {
    let waitsSince: number | null = performance.now()
    const begun = () => {
      if (waitsSince !== null) options.onBegun?.(waiting, performance.now() - waitsSince)
      waitsSince = null
    }
    const transaction: Transaction[] = []
    try {
      return await transact(
        pools[waiting],
        scope,
        (tx) => {
          transaction.push(tx)
          return work(tx)
        },
        begun,
      )
    } catch (error) {
      begun() // also for a wait that failed
      throw faults.translate(error)
    } finally {
      // Also after an error, because a commit without an answer may have succeeded.
      if (transaction.some((tx) => endingTokens.has(tx))) for (const listener of tokensEnded) listener()
    }
  }

  return {
    asUser: (userId, work) => run({ role: requestRole, userId }, work, 'request'),
    asSystem: (work, waiting = 'request') => run({ role: systemRole, userId: '' }, work, waiting),
    callAsSystem: (call, pool = 'request') =>
      faults.pass(() => call(statementsOn(pool === 'follow' ? pools.follow : pools.system))),
    openSession: () => startSession((lost) => openSessionConnection(options.url, lost)),
    search: (call) => faults.pass(() => call(statementsOn(pools.search))),
    commit(call, { again = false, aside = false } = {}) {
      const pool = again || aside ? pools.request : pools.commit
      return callCommit(pool, call, again).catch((error: unknown) => {
        faults.translate(error)
        throw error
      })
    },
    listen: (channel, heard) => listenOn(pools.listen, channel, heard),
    onTokensEnded: (listener) => void tokensEnded.push(listener),
    takesWrites: () => faults.takesWrites,
    lock: (name) => faults.pass(() => takeLock(name)),
    async close() {
      await Promise.all(Object.values(pools).map((pool) => pool.end({ timeout: 5 })))
    },
  }
}

/** Makes errors for callers from those of the driver. Records when the server last refused a write. */
class DriverFaults {
  #writesRefusedAt = -Infinity

  get takesWrites(): boolean {
    return performance.now() - this.#writesRefusedAt > refusedForMs
  }

  translate(error: unknown): unknown {
    if (refusesWrites(error)) this.#writesRefusedAt = performance.now()
    return isUnavailable(error) ? storageUnavailable(error) : error
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.translate(error)
    }
  }
}

/** Returns a tag that runs statements on this pool. It has none of the pool's other methods. */
const statementsOn =
  (pool: Pool): Statement =>
  (template, ...parameters) =>
    pool(template, ...parameters)

interface Scope {
  role: string
  userId: string
}

type Work<T> = (tx: Transaction) => Promise<T>

/** The value of `corkboard.session`: the claims of the session in which the user acts; '' without one. */
export function sessionText(userId: string): string {
  const claims = actingSession(userId)
  return claims ? JSON.stringify(claims) : ''
}

/** The driver sends the BEGIN together with the first statement. The COMMIT goes out with a statement that `work` returns. */
async function transact<T>(
  pool: Pool,
  { role, userId }: Scope,
  work: Work<T>,
  begun: () => void,
): Promise<T> {
  const operation = role === requestRole ? currentOperation() : undefined
  const { answers, telling } = (await pool.begin(async (tx) => {
    // Sent first in the pipeline, but awaited together with the work, so that it takes no round trip of its own.
    const scope = tx`
      select set_config('role', ${role}, true), set_config('corkboard.user_id', ${userId}, true),
        set_config('corkboard.session', ${sessionText(userId)}, true),
        set_config('corkboard.trace', ${operation?.trace ?? ''}, true)`.execute()
    scope.then(begun, begun)
    const answer = work(tx)
    const isLast = isStatement(answer)
    if (isLast) answer.execute()
    const answers = Promise.all([answer, scope])
    // What is not awaited here is awaited after the commit. If it fails, that commit rolls back.
    if (!isLast) await answers
    else answers.catch(() => undefined)
    return { answers, telling: operation ? record(tx, operation) : null }
  })) as { answers: Promise<[T, unknown]>; telling: Telling | null }
  const [result] = await answers
  const [told] = (await telling?.rows) ?? []
  if (told?.told) operation!.recorded()
  return result
}

const isStatement = <T>(answer: Promise<T>): answer is Promise<T> & { execute(): unknown } =>
  'execute' in answer

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
  rows.catch(() => undefined) // `transact` awaits `rows` after a commit; after a rollback it has thrown another error
  return { rows }
}

/** @returns a function that takes a lock, or returns null when the lock is already held, also by this process */
function locksOn(sql: Pool): (name: string) => Promise<Lock | null> {
  const held = new Set<string>()
  return async (name) => {
    if (held.has(name)) return null
    held.add(name)
    const id = lockId(name)
    try {
      const [row] = await sql<{ taken: boolean }[]>`select pg_try_advisory_lock(${id}::bigint) as taken`
      if (!row!.taken) held.delete(name)
      return row!.taken ? { release } : null
    } catch (error) {
      held.delete(name)
      throw error
    }
    async function release() {
      // If this fails, the connection is lost, and the server has released the lock.
      await sql`select pg_advisory_unlock(${id}::bigint)`.catch(() => undefined)
      held.delete(name)
    }
  }
}

/** Returns 64 bits of a hash as a signed integer, which advisory locks take. */
const lockId = (name: string) => createHash('sha256').update(name).digest().readBigInt64BE().toString()

async function listenOn(pool: Pool, channel: string, heard: (text: string) => void): Promise<Listener> {
  const { unlisten, sql } = await pool.listen(channel, heard)
  // A failed ping needs no handling: a lost connection reconnects by itself.
  const pulse = setInterval(() => void sql`select 1`.catch(() => undefined), pulseMs)
  pulse.unref()
  return {
    async notify(texts) {
      // One text is the usual case. It arrives 0.1 ms earlier without the JSON.
      if (texts.length === 1) await sql`select pg_notify(${channel}, ${texts[0]!})`
      // The driver knows no arrays on a connection that listens.
      else
        await sql`select pg_notify(${channel}, text) from json_array_elements_text(${JSON.stringify(texts)}::text::json) with ordinality as m(text, at) order by at`
    },
    async close() {
      clearInterval(pulse)
      await unlisten().catch(() => undefined) // a lost connection does not listen any more
    },
  }
}

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
