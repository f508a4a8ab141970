import { createHash } from 'node:crypto'
import type { ParameterOrFragment, PendingQuery, Row, TransactionSql } from 'postgres'
import { ServiceError } from '../core/errors.ts'
import { limits } from '../core/limits.ts'
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

/** What `commit_batch` takes; see sql/functions/commit.sql. JSON parameters are passed as text. */
export interface CommitCall {
  commitId: string
  freeCardCap: number | null
  items: string
  blob: Uint8Array
  rows: string | null
  groups: string | null
  removed: string | null
}

/** Commits that go beside each other; large ones not counted. */
export const commitLanes = 2

export interface DatabaseOptions {
  url: string
  poolSize?: number
  /** Bound on one statement and on one idle transaction; a stuck one must not hold the feeds back. */
  statementTimeoutMs?: number
}

/**
 * The only way to the database. The connections run as the role of a request, which sees nothing until a transaction
 * says for which user it acts; nothing that a transaction sets outlives it.
 */
export interface Database {
  /** Runs `work` under the row-level policies of this user. Throws `storage_unavailable` when the database is away. */
  asUser<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Runs `work` as the service itself: the log, the workers, authentication. */
  asSystem<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
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
  /** A lock that ends with this process, or with its connection; null when somebody holds it, this process included. */
  lock(name: string): Promise<Lock | null>
  close(): Promise<void>
}

export interface Lock {
  release(): Promise<void>
}

export interface Listener {
  close(): Promise<void>
}

export function openDatabase(options: DatabaseOptions): Database {
  const timeout = String(options.statementTimeoutMs ?? 15_000)
  const settings = {
    onnotice: () => undefined,
    connect_timeout: 5,
    // Seconds. The driver's own goes up to 20, which a database that is back would be waited for.
    backoff: (attempt: number) => Math.min(0.25, 0.01 * 2 ** attempt),
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    connection: {
      application_name: 'corkboard',
      role: 'corkboard_app', // a request's
      search_path: 'corkboard',
      timezone: 'UTC',
      default_transaction_isolation: 'read committed' as const, // the feeds go by it
      statement_timeout: timeout as unknown as number,
      idle_in_transaction_session_timeout: timeout as unknown as number,
      lock_timeout: '5000' as unknown as number,
    },
  }
  const sql = postgres(options.url, { ...settings, max: options.poolSize ?? 12 })
  const committer = postgres(options.url, { ...settings, max: commitLanes })
  // Locks are its session's; it does nothing else, so that they wait for no work.
  const locker = postgres(options.url, { ...settings, max: 1 })
  const held = new Set<string>()
  const service = { ...settings, connection: { ...settings.connection, role: 'corkboard_system' } }
  const system = postgres(options.url, { ...service, max: 2 })
  const impatient = {
    ...settings.connection,
    statement_timeout: String(limits.search.timeoutMs) as unknown as number,
  }
  const searcher = postgres(options.url, { ...settings, max: 4, connection: impatient })

  async function run<T>(role: string, userId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const operation = role === requestRole ? currentOperation() : undefined
    try {
      const { result, telling } = (await sql.begin(async (tx) => {
        // Sent first, but not awaited on its own: it leads the pipeline, so that it costs no round trip.
        const scope =
          tx`select set_config('role', ${role}, true), set_config('corkboard.user_id', ${userId}, true)`.execute()
        const [result] = await Promise.all([work(tx), scope])
        // Nor is this: when it fails the commit that follows it rolls back.
        return { result, telling: operation ? record(tx, operation) : null }
      })) as { result: T; telling: Telling | null }
      const [told] = (await telling?.rows) ?? []
      if (told?.told) operation!.recorded()
      return result
    } catch (error) {
      throw unavailable(error) ? storageUnavailable(error) : error
    }
  }

  async function callOn<T>(pool: typeof sql, call: (sql: Statement) => Promise<T>): Promise<T> {
    try {
      return await call((template, ...parameters) => pool(template, ...parameters))
    } catch (error) {
      throw unavailable(error) ? storageUnavailable(error) : error
    }
  }

  return {
    asUser: (userId, work) => run(requestRole, userId, work),
    asSystem: (work) => run('corkboard_system', '', work),
    callAsSystem: (call) => callOn(system, call),
    search: (call) => callOn(searcher, call),
    async commit(call, { again = false, aside = false } = {}) {
      const [row] = await (again || aside ? sql : committer)<{ answer: unknown }[]>`
        select commit_batch(
          ${call.commitId}, ${again}, ${call.freeCardCap}, ${call.items}::text::json, ${call.blob as Buffer},
          ${call.rows}::text::json, ${call.groups}::text::json, ${call.removed}::text::json
        ) as answer`
      return row?.answer
    },
    async listen(channel, heard) {
      const { unlisten } = await sql.listen(channel, heard)
      return { close: unlisten }
    },
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
        throw unavailable(error) ? storageUnavailable(error) : error
      }
      async function release() {
        // Without its connection it is released already.
        await locker`select pg_advisory_unlock(${id}::bigint)`.catch(() => undefined)
        held.delete(name)
      }
    },
    async close() {
      await Promise.all([sql, committer, system, locker, searcher].map((pool) => pool.end({ timeout: 5 })))
    },
  }
}

const requestRole = 'corkboard_app'

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
  'ENOTFOUND',
  'EAI_AGAIN',
  '57014', // statement timeout
  '55P03', // lock timeout
  '25P03', // idle in transaction timeout
  '53300', // too many connections
])

/** Whether the database could not be reached, went away, or did not answer in time. */
export function unavailable(error: unknown): boolean {
  const code = errorCode(error)
  return (
    unavailableCodes.has(code) ||
    code.startsWith('CONNECT') ||
    code.startsWith('08') ||
    code.startsWith('57P')
  )
}

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

function storageUnavailable(cause: unknown): ServiceError {
  return new ServiceError('storage_unavailable', 'The database is out of reach. Try again shortly.', {
    cause,
  })
}
