import type { ParameterOrFragment, PendingQuery, Row, Sql } from 'postgres'

/** Runs one statement as a tagged template, in a transaction of its own. */
export type Statement = <T extends readonly (object | undefined)[] = Row[]>(
  template: TemplateStringsArray,
  ...parameters: readonly ParameterOrFragment<number>[]
) => PendingQuery<T>

/** A database session with a connection of its own. A lock that it takes lasts as long as the session. */
export interface Session {
  /** Runs one statement, in autocommit. Statements run in the order of the calls. */
  run<T>(call: (sql: Statement) => Promise<T>): Promise<T>
  /** Resolves when the session has ended: it was closed, its connection was lost, or the server was silent for long. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

/**
 * @param open opens a pool of one connection, and calls its argument when the connection is lost
 * @throws the driver's error when the database can't be reached
 */
export async function startSession(open: (lost: () => void) => Sql<{ bigint: number }>): Promise<Session> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const pool = open(end)
  void ended.then(() => pool.end({ timeout: 0 }))
  try {
    const sql = await pool.reserve()
    // Without a limit of its own: an idle session holds its locks.
    await sql`select set_config('idle_session_timeout', '0', false), set_config('synchronous_commit', 'off', false)`
    return {
      run: (call) => call((template, ...parameters) => sql(template, ...parameters)),
      ended,
      async close() {
        end()
        await pool.end({ timeout: 0 })
      },
    }
  } catch (error) {
    end()
    throw error
  }
}
