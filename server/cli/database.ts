/**
 * Opens the database for a command. If no instance runs, the command starts the embedded server and stops it at its
 * end.
 */
import { openDatabase, type Database, type Transaction } from '../../sql/database.ts'
import { findEmbedded, startEmbedded } from '../../sql/embedded/embedded.ts'
import { migrate, schemaState } from '../../sql/migrate.ts'
import { readConfig, type Config } from '../config.ts'

/** Runs `work` in one transaction of the service itself. @throws as `withDatabase` does */
export const asService = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
  withDatabase((database) => database.asSystem(work))

interface Reached {
  url: string
  /** True when a running service may be using this database. */
  shared: boolean
  release(): Promise<void>
}

/**
 * Calls `work` with an open database and returns its result.
 *
 * @throws ConfigError, or an Error whose message is written for the operator
 */
export async function withDatabase<T>(
  work: (database: Database, context: { shared: boolean; url: string }) => Promise<T>,
): Promise<T> {
  return withServer(async ({ url, shared }) => {
    await bringSchema(url, shared)
    const database = openDatabase({ url, poolSize: 2, statementTimeoutMs: 60_000 })
    try {
      return await work(database, { shared, url })
    } finally {
      await database.close()
    }
  })
}

/** Calls `work` with the address of the database, which may be empty. @throws as `withDatabase` does */
export async function withServer<T>(work: (server: Omit<Reached, 'release'>) => Promise<T>): Promise<T> {
  const { release, ...server } = await reach(readConfig(process.env))
  try {
    return await work(server)
  } finally {
    await release()
  }
}

async function reach({ databaseUrl, dataDir }: Config): Promise<Reached> {
  if (databaseUrl) return { url: databaseUrl, shared: true, release: async () => {} }
  const running = await findRunning(dataDir)
  if (running) return running
  try {
    return await startOwn(dataDir)
  } catch (error) {
    // `startOwn` may have failed because an instance was starting at the same moment. Use that instance.
    const started = await findRunning(dataDir)
    if (started) return started
    throw error
  }
}

async function findRunning(dataDir: string): Promise<Reached | null> {
  const running = await findEmbedded(dataDir)
  return running && { url: running.url, shared: true, release: async () => {} }
}

async function startOwn(dataDir: string): Promise<Reached> {
  const server = await startEmbedded({ dataDir })
  const interrupted = () => void server.stop().finally(() => process.exit(1))
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, interrupted)
  return {
    url: server.url,
    shared: false,
    async release() {
      for (const signal of signals) process.removeListener(signal, interrupted)
      await server.stop()
    },
  }
}

/** Migrates the schema, unless a service of another version may be using the database. */
async function bringSchema(url: string, shared: boolean): Promise<void> {
  const state = await schemaState(url)
  if (state === 'usable') return
  if (shared && state === 'other')
    throw new Error(
      'The database has the schema of another version of Corkboard. Start the service of this version once, which migrates the database, or run the command of the other version.',
    )
  await migrate(url)
}
