/** The composition root. It makes every component, passes each its dependencies, and stops them in order. */
import { setTimeout as delay } from 'node:timers/promises'
import { join } from 'node:path'
import { closeCodes } from '../core/errors.ts'
import { leaveMark, type ProcessMark } from '../platform/process-marks.ts'
import { LoopWatchdog } from '../platform/work/loop-watchdog.ts'
import { openBasis, type Basis, type ComposeOptions } from './basis.ts'
import { secretKeysOf, type Config } from './config.ts'
import { DatabaseFiguresReader } from './metrics/database-figures.ts'
import type { SharedQueue } from './metrics/figures.ts'
import { openApp } from './open-app.ts'
import { openCollab, type Collab } from './open-collab.ts'
import { openWorkers, type Workers } from './open-workers.ts'
import { registerAll } from './register-all.ts'
import { checkSecretKey } from './secret-key.ts'

export type Service = Awaited<ReturnType<typeof compose>>

/** How long a stop waits for the index rows of the last edits. */
const finishIndexMs = 5_000

/** How long requests in flight may take when the service stops. */
const finishRequestsMs = 10_000

/** @returns the service, which accepts requests. Its `url` has no slash at the end */
export async function compose(config: Config, databaseUrl: string, options: ComposeOptions = {}) {
  const basis = openBasis(openApp(config, options), config, databaseUrl, options)
  const { app, log, database, databaseClock, pool, egress, storage } = basis
  const watchdog = new LoopWatchdog({ log })
  const collab = openCollab(basis, { onNodesLost: () => workers.wakeHealing() })
  const { queue, documents, compactor, nodes, gateway, journal, eventStreams, lists, live } = collab
  const closeBoard = (boardId: string) => gateway.closeBoard(boardId, closeCodes.forbidden)
  const workers = openWorkers(basis, { live, compactor, journal }, closeBoard)
  let leaving = false
  const registered = await registerAll(basis, { collab, workers, closeBoard, isLeaving: () => leaving })
  const metricsServer = serveMetrics(basis, { ...collab, ...workers, watchdog }, registered.queues)

  let processMark: ProcessMark | null = null
  let closed: Promise<void> | null = null
  /** Stops accepting requests, finishes open requests, commits queued writes, and closes sockets with code 1012. */
  const close = () => (closed ??= stop())
  /** Makes `/readyz` say 503 and waits `DRAIN_SECONDS`, so that balancers stop sending requests. All are served. */
  const drain = async () => {
    leaving = true
    await delay(config.drainSeconds * 1000)
  }

  async function start(): Promise<void> {
    await checkSecretKey(database, secretKeysOf(config), (line) => log.warn(line))
    await storage.store.check()
    await databaseClock.start()
    processMark = await leaveMark(join(config.dataDir, 'nodes'), nodes.id)
    await nodes.start(processMark?.ended)
    await metricsServer?.listen()
    await app.listen({ port: config.port, host: config.host })
    watchdog.start()
  }

  async function stop(): Promise<void> {
    journal.stop()
    await Promise.all([closeApp(app), gateway.close(), workers.stop()])
    egress.close()
    await finishIndex(collab)
    await queue.stop(5000)
    await registered.finishRequests()
    await Promise.all([compactor.stop(), pool.close()])
    await nodes.stop()
    documents.stop()
    databaseClock.stop()
    await processMark?.remove()
    await metricsServer?.close()
    if (!options.database) await database.close()
    watchdog.stop()
  }

  try {
    await start()
  } catch (error) {
    await close()
    throw error
  }
  if (options.workers !== false) workers.start()
  const url = basis.listeningUrl()
  const parts = { app, database, live, files: storage.store, gateway, eventStreams, lists, compactor }
  return { ...parts, url, drain, close }
}

/** `queues`: those that requests wait in. @returns null when metrics have no port of their own */
function serveMetrics(
  { app, config, database, metrics, pool }: Basis,
  parts: Collab & Workers & { watchdog: LoopWatchdog },
  queues: Record<string, SharedQueue>,
) {
  const { compactor, indexer, loader } = parts
  return metrics.serve(app, config, {
    ...parts,
    fromDatabase: new DatabaseFiguresReader(database),
    queues: {
      ...queues,
      ...{
        threads: pool.queue,
        search_index: indexer.queue,
        loading: loader.slices,
        large_logs: loader.large,
      },
      compaction: compactor.queue,
    },
  })
}

/** Stops accepting connections now. Resolves when all requests are answered, or cut off. */
async function closeApp(app: Basis['app']): Promise<void> {
  const closed = app.close()
  // A connection whose last request has been answered would otherwise stay open for a next request.
  const idle = setInterval(() => app.server.closeIdleConnections(), 50)
  const cutOff = setTimeout(() => app.server.closeAllConnections(), finishRequestsMs)
  await closed
  clearInterval(idle)
  clearTimeout(cutOff)
}

/** Writes the index rows of the last edits. If a document can't catch up with its log here, the next start indexes it. */
async function finishIndex({ documents, queue }: Collab): Promise<void> {
  const indexed = Promise.all(documents.all().map((board) => queue.flush(board.boardId)))
  await Promise.race([indexed.catch(() => undefined), delay(finishIndexMs, undefined, { ref: false })])
}
