/** `npm start`. */
import { mkdir } from 'node:fs/promises'
import { startEmbedded, type EmbeddedPostgres } from '../sql/embedded.ts'
import { migrate } from '../sql/migrate.ts'
import { compose, type Service } from './compose.ts'
import { ConfigError, isLoopback, readConfig, type Config } from './config.ts'
import { demoText, makeDemo } from './demo.ts'

const running: { embedded?: EmbeddedPostgres; service?: Service } = {}
let stopping = false

async function start(config: Config): Promise<void> {
  if (!config.databaseUrl) {
    await mkdir(config.dataDir, { recursive: true })
    running.embedded = await startEmbedded({ dataDir: config.dataDir })
  }
  const databaseUrl = config.databaseUrl ?? running.embedded!.url
  await migrate(databaseUrl)
  const service = await compose(config, databaseUrl)
  running.service = service
  // Libraries print here; what they print belongs into the log.
  const { log } = service.app
  console.error =
    console.warn =
    console.log =
      (...parts: unknown[]) => log.warn({ parts: parts.map(String) }, 'printed by a library')
  if (running.embedded && isLoopback(config.host)) {
    const demo = await makeDemo(service.database)
    if (demo) process.stderr.write(demoText(demo, service.url))
  }
}

async function stop(signal: string): Promise<void> {
  if (stopping) return
  stopping = true
  running.service?.app.log.info({ signal }, 'stopping')
  setTimeout(() => process.exit(1), 25_000).unref()
  await running.service?.close()
  await running.embedded?.stop()
  process.exit(0)
}

process.on('SIGTERM', () => void stop('SIGTERM'))
process.on('SIGINT', () => void stop('SIGINT'))

try {
  await start(readConfig(process.env))
} catch (error) {
  process.stderr.write(`corkboard: ${error instanceof ConfigError ? error.message : describe(error)}\n`)
  await running.embedded?.stop()
  process.exit(1)
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
