/** The database of the running instance; without one, the embedded server for as long as the command takes. */
import { openDatabase, type Database } from '../../sql/database.ts'
import { findEmbedded, startEmbedded } from '../../sql/embedded/embedded.ts'
import { migrate, schemaState } from '../../sql/migrate.ts'
import { readConfig, type Config } from '../config.ts'

interface Reached {
  url: string
  /** Whether a service may be at work on it. */
  shared: boolean
  release(): Promise<void>
}

/** @throws ConfigError, or an Error whose message is a sentence for the operator */
export async function withDatabase<T>(
  work: (database: Database, context: { shared: boolean }) => Promise<T>,
): Promise<T> {
  const { url, shared, release } = await reach(readConfig(process.env))
  try {
    await bringSchema(url, shared)
    const database = openDatabase({ url, poolSize: 2, statementTimeoutMs: 60_000 })
    try {
      return await work(database, { shared })
    } finally {
      await database.close()
    }
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
    // An instance may have been starting, and was waited for.
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

/** A schema that a running service of another version works with is not to be changed under it. */
async function bringSchema(url: string, shared: boolean): Promise<void> {
  const state = await schemaState(url)
  if (state === 'current') return
  if (shared && state === 'other')
    throw new Error(
      'The database is of another version of Corkboard: start this version once, or use that one.',
    )
  await migrate(url)
}
