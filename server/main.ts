/** The program that `npm start` runs: starts the database and the service, and stops both on a signal. */
import { constants } from 'node:os'
import { startEmbedded, type EmbeddedPostgres } from '../sql/embedded/embedded.ts'
import { migrate } from '../sql/migrate.ts'
import { compose, type Service } from './compose.ts'
import { isLoopback, readConfig, type Config } from './config.ts'
import { fillDemoBoard } from './demo-board.ts'
import { demoText, firstAccountText, hasAccounts, makeDemo } from './demo.ts'
import { openLog, passwordsIn, redactor } from './log.ts'
import { resolveSecretKey } from './secret-key.ts'
import { startPatiently } from './start-patiently.ts'
import { describeFault } from './describe-fault.ts'
import { recordRunning } from './running.ts'

/**
 * After this time the process exits even if the stop has not finished. Longer than all waits of a stop together, without
 * `DRAIN_SECONDS`.
 */
const stopWithinMs = 25_000
/** Ctrl-C reaches the service twice under npm: the terminal signals both, and npm passes it on. */
const sameSignalMs = 500

const running: { embedded?: EmbeddedPostgres; service?: Service; forget?: () => Promise<void> } = {}
let redact = redactor([])
let stopping = false
let stoppingSince = Infinity
let drainMs = 0

async function start(): Promise<void> {
  const given = readConfig(process.env)
  drainMs = given.drainSeconds * 1000
  redact = redactor([
    given.secretKey,
    given.previousSecretKey,
    given.metricsToken,
    ...passwordsIn(given.databaseUrl),
    ...passwordsIn(given.smtp?.url ?? null),
  ])
  const config = { ...given, secretKey: await resolveSecretKey(given) }
  if (config.databaseUrl) {
    await serve(config, config.databaseUrl)
  } else {
    const log = openLog(config.logLevel, [])
    running.embedded = await startEmbedded({ dataDir: config.dataDir, log: (line) => log.warn(line) })
    await serve(config, running.embedded.url)
  }
}

async function serve(config: Config, databaseUrl: string): Promise<void> {
  if (stopping) return
  const secrets = [
    config.secretKey,
    config.previousSecretKey,
    config.metricsToken,
    ...passwordsIn(databaseUrl),
    ...passwordsIn(config.smtp?.url ?? null),
  ]
  const log = openLog(config.logLevel, secrets)
  const service = await startPatiently(
    async () => {
      await migrate(databaseUrl, undefined, (line) => log.warn(line))
      return stopping ? null : compose(config, databaseUrl, { log })
    },
    { withinMs: config.databaseWaitSeconds * 1000, log, isStopping: () => stopping },
  )
  if (!service) return
  running.service = service
  running.forget = await recordRunning(config.dataDir, config.publicUrl ?? service.url)
  // Some libraries print to the console. Their output goes into the log instead.
  console.error =
    console.warn =
    console.log =
      (...parts: unknown[]) => log.warn({ parts: parts.map(String) }, 'printed by a library')
  await welcome(config, service)
}

/** Prints the first steps on standard error, outside the log. */
async function welcome(config: Config, service: Service): Promise<void> {
  const mayHaveDemo = config.demo && running.embedded && isLoopback(config.host)
  const demo = mayHaveDemo ? await makeDemo(service.database) : null
  if (demo) {
    await fillDemoBoard(demo, service.url).catch((error: unknown) =>
      service.app.log.warn({ err: error }, 'the demo board has not all of its cards'),
    )
  }
  if (demo) process.stderr.write(demoText(demo, service.url))
  else if (!(await hasAccounts(service.database))) process.stderr.write(firstAccountText(service.url))
}

async function stop(code: number): Promise<void> {
  if (stopping) return
  stopping = true
  stoppingSince = performance.now()
  setTimeout(() => process.exit(code || 1), stopWithinMs + drainMs).unref()
  try {
    await started
    await running.forget?.()
    if (code === 0) await running.service?.drain()
    await running.service?.close()
    await running.embedded?.stop()
  } catch (error) {
    process.stderr.write(redact(`corkboard: Stopping failed. ${describeFault(error)}\n`))
    process.exit(1)
  }
  process.exit(code)
}

/** A second signal doesn't wait. Nothing that was acknowledged is lost, as after `kill -9`. */
function exitAtOnce(signal: 'SIGTERM' | 'SIGINT'): never {
  running.service?.app.log.warn({ signal }, 'a second signal: the process ends at once')
  try {
    if (running.embedded) process.kill(running.embedded.pid, 'SIGQUIT') // PostgreSQL's immediate shutdown
  } catch {
    // it has ended already
  }
  process.exit(128 + constants.signals[signal])
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (performance.now() - stoppingSince > sameSignalMs) exitAtOnce(signal)
    running.service?.app.log.info({ signal }, 'stopping')
    void stop(0)
  })
}
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error: unknown) => {
    if (running.service) running.service.app.log.fatal({ err: error }, 'unexpected error; the process stops')
    else process.stderr.write(redact(`corkboard: ${describeFault(error)}\n`))
    void stop(1)
  })
}

const started = start().catch((error: unknown) => {
  process.stderr.write(redact(`corkboard: ${describeFault(error)}\n`))
  void stop(1)
})
