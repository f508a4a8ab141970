/** The composition root. It makes every component, passes each its dependencies, and stops them in order. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { registerApi } from '../api/app.ts'
import { ReadAudit } from '../api/audit/reads.ts'
import { registerOAuth } from '../api/oauth/register.ts'
import { RateLimiter } from '../api/http/rate-limit.ts'
import { TokenLimiter } from '../api/http/token-limiter.ts'
import type { FileRead } from '../api/http/route.ts'
import { registerSignIn } from '../api/settings/register.ts'
import { Sessions } from '../api/sign-in/session.ts'
import { decodableUrl } from '../api/http/url.ts'
import { openBus } from '../collab/bus/open-bus.ts'
import { CommitQueue } from '../collab/commit/commit.ts'
import { Compactor } from '../collab/log/compact.ts'
import { DocumentQuota } from '../collab/commit/document-quota.ts'
import { Documents } from '../collab/documents/documents.ts'
import { openGateway, type Gateway } from '../collab/gateway/gateway.ts'
import type { GatewayBounds } from '../collab/gateway/gateway-bounds.ts'
import type { LiveBoards } from '../collab/boards/live.ts'
import { LogLoader, type LoadBounds } from '../collab/documents/load.ts'
import { Nodes } from '../collab/documents/nodes.ts'
import { bringNotifications } from '../collab/gateway/notify.ts'
import { SafeHtml } from '../collab/boards/safe-html.ts'
import { closeCodes } from '../core/errors.ts'
import { limits } from '../core/limits.ts'
import { clientAddress, network } from '../platform/client-address.ts'
import { leaveMark, type ProcessMark } from '../platform/process-marks.ts'
import type { Clock } from '../platform/clock.ts'
import { openEgress, type Egress } from '../platform/egress/egress.ts'
import { openEncryption } from '../platform/secrets/encryption.ts'
import { FairQueue } from '../platform/work/fair-queue.ts'
import { LoopWatchdog, mark } from '../platform/work/loop-watchdog.ts'
import type { ObjectStore } from '../platform/storage/object-store.ts'
import { openPasswords, type Passwords } from '../platform/secrets/passwords.ts'
import { openResizer } from '../platform/images/resize.ts'
import { WorkerPool } from '../platform/work/worker-pool.ts'
import { DatabaseClock } from '../sql/database-clock.ts'
import { openDatabase, type Database } from '../sql/database.ts'
import { TokenVerifier } from '../sql/accounts/tokens.ts'
import type { ClaimBounds } from '../workers/deliveries/claim.ts'
import { Deliverer } from '../workers/deliveries/deliverer.ts'
import { startEndingUploads } from '../workers/upkeep/end-uploads.ts'
import { startForgettingApplications } from '../workers/upkeep/forget-applications.ts'
import { startHealing } from '../workers/upkeep/heal.ts'
import type { Loop, WakingLoop } from '../workers/loop.ts'
import { startPurge } from '../workers/upkeep/purge.ts'
import { startReclaiming } from '../workers/upkeep/reclaim.ts'
import { startRetention } from '../workers/upkeep/retention.ts'
import { startWatchingFeeds } from '../workers/upkeep/watch-feeds.ts'
import { searchIndexer } from '../workers/search/search.ts'
import { isLoopback, reachableHost, type Config } from './config.ts'
import { registerHealth } from './health.ts'
import { openLog } from './log.ts'
import { registerPartUploads } from './part-uploads.ts'
import { protectAnswers } from './protect-answers.ts'
import { checkSecretKey } from './secret-key.ts'
import { openStorage } from './storage.ts'
import { registerChangelog } from './pages/changelog.ts'
import { registerDocs } from './pages/docs.ts'
import { registerHome } from './pages/home.ts'
import { registerIcon } from './pages/icon.ts'
import { logRequests } from './request-log.ts'

export interface Service {
  app: FastifyInstance
  database: Database
  live: LiveBoards
  files: ObjectStore
  gateway: Gateway
  compactor: Compactor
  /** `http://host:port`, without a slash at the end. */
  url: string
  /** Makes `/readyz` say 503 and waits `DRAIN_SECONDS`, so that balancers stop sending requests. All are served. */
  drain(): Promise<void>
  /** Stops accepting requests, finishes open requests, commits queued writes, and closes sockets with code 1012. */
  close(): Promise<void>
}

/** Dependencies and limits that tests replace. */
export interface ComposeOptions {
  clock?: Clock
  database?: Database
  editDeadlineMs?: number
  writeDeadlineMs?: number
  answerTimeoutMs?: number
  debounceMs?: number
  compactRows?: number
  compactMs?: number
  loading?: Partial<LoadBounds>
  bounds?: Partial<GatewayBounds>
  /** Time within which a client must send the headers of a request. */
  headersTimeoutMs?: number
  workers?: boolean
  /** Interval at which workers poll their queues when no notification arrives. */
  queueTickMs?: number
  deliveryBounds?: Partial<ClaimBounds>
  egress?: Egress
  passwords?: Passwords
  importMs?: { item: number; call: number }
  fileRead?: (read: FileRead) => void
  log?: FastifyBaseLogger
}

/** `atOnce` equals the number of database connections for searches. */
const searching = { atOnce: 4, atOncePerAccount: 2, waiting: 500, waitingPerAccount: 32 }
const resizing = { atOnce: 2, atOncePerAccount: 1, waiting: 200, waitingPerAccount: 32, seconds: 10 }

/** How long a stop waits for the index rows of the last edits. */
const finishIndexMs = 5_000

/** How long requests in flight may take when the service stops. */
const finishRequestsMs = 10_000

export async function compose(
  config: Config,
  databaseUrl: string,
  options: ComposeOptions = {},
): Promise<Service> {
  const headersTimeoutMs = options.headersTimeoutMs ?? 20_000
  const app = Fastify({
    loggerInstance: options.log ?? openLog(config.logLevel, []),
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && /^[\w-]{1,100}$/.test(given) ? given : randomUUID()
    },
    trustProxy: (_address: string, hop: number) => hop < config.trustProxy,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    rewriteUrl: ({ url }) => decodableUrl(url ?? '/'),
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: true },
    forceCloseConnections: 'idle',
    http: { headersTimeout: headersTimeoutMs, connectionsCheckingInterval: headersTimeoutMs / 4 },
    return503OnClosing: false, // a request on an open connection is still answered, then the connection closes
    requestTimeout: 300_000, // for receiving the whole request
    bodyLimit: 1024 * 1024,
  })
  const { log } = app
  logRequests(app)
  protectAnswers(app, config)
  const database = options.database ?? openDatabase({ url: databaseUrl, poolSize: config.databasePool })
  const databaseClock = new DatabaseClock({ database, log })
  const clock = options.clock ?? databaseClock
  const watchdog = new LoopWatchdog({ log })
  const pool = new WorkerPool()
  const egress = options.egress ?? openEgress({ allow: config.egressAllow })
  const webhookSecrets = openEncryption(config.secretKey, 'webhook secrets')
  const answers = openEncryption(config.secretKey, 'answers kept for replay')
  const publicUrl = () => config.publicUrl ?? listeningUrl()
  const sessions = new Sessions({ database, publicUrl })
  const storage = openStorage(config, { clock, publicUrl, log })
  const tokens = new TokenVerifier({ database, clock })
  const compactor = new Compactor({
    database,
    pool,
    log,
    compacted: (boardId, sizeBytes) => documents.find(boardId)?.measured(sizeBytes),
    ...(options.compactRows ? { rows: options.compactRows } : {}),
    ...(options.compactMs ? { mergeMs: options.compactMs } : {}),
  })
  const { documentBytes } = config
  const quota = new DocumentQuota({
    ...{ database, documentBytes, log },
    compact: (boardIds) => compactor.want(boardIds),
    ready: () => queue.wake(),
  })
  const queue = new CommitQueue({
    commit: (call, way) => database.commit(call, way),
    freeCardCap: config.freeCardCap,
    storageBytes: config.storageBytes,
    documentBytes,
    quota,
    clock,
    log,
    ...(options.editDeadlineMs ? { editDeadlineMs: options.editDeadlineMs } : {}),
    ...(options.writeDeadlineMs ? { writeDeadlineMs: options.writeDeadlineMs } : {}),
    ...(options.answerTimeoutMs ? { answerTimeoutMs: options.answerTimeoutMs } : {}),
    onStalled: (boardId) => gateway.closeBoard(boardId, closeCodes.tryLater),
    onGrown(boardId, head) {
      compactor.grown(boardId, head)
      nodes.committed(boardId, head.seq)
    },
  })
  const documents = new Documents({
    ...{ database, queue, log, clock, warmBytes: config.warmDocumentBytes },
    loader: new LogLoader(pool, options.loading),
  })
  const bus = openBus({ database, redisUrl: config.redisUrl, log })
  bus.on('notified', ({ rows }) => bringNotifications({ database, gateway, log }, rows))
  bus.on('revoked', () => {
    tokens.forget()
    gateway.checkAccessSoon()
  })
  bus.on('awareness', (message) => gateway.heard(message))
  bus.on('left', ({ from }) => gateway.nodeGone(from))
  const nodes = new Nodes({
    ...{ database, documents, bus, log },
    closeCanvases: () => gateway.closeCanvases(),
    onNodesLost: () => healing?.wake(),
    onNodeGone: (node) => gateway.nodeGone(node),
  })
  const gateway: Gateway = openGateway({
    database,
    tokens,
    sessionOf: (headers) => sessions.ofUpgrade(headers),
    addressOf: (request) => network(clientAddress(request, config.trustProxy)),
    documents,
    documentBytes,
    quota,
    queue,
    nodes,
    others: {
      publish: (board, bytes) => bus.publish({ kind: 'awareness', board, bytes }),
      tickMs: () => bus.pace.awarenessMs,
      isAlone: () => nodes.isAlone,
      isElsewhere: (board) => nodes.isElsewhere(board),
    },
    pool,
    log,
    bounds: {
      maxSocketsPerBoard: config.maxSocketsPerBoard,
      maxSocketsPerAccountOnBoard: config.maxSocketsPerAccountOnBoard,
      maxSocketsPerAccount: config.maxSocketsPerAccount,
      ...options.bounds,
    },
    ...(options.debounceMs === undefined ? {} : { debounceMs: options.debounceMs }),
  })
  const closeBoard = (boardId: string) => gateway.closeBoard(boardId, closeCodes.forbidden)
  const indexer = searchIndexer({ database, log })
  const limiter = new RateLimiter(clock)
  const tokenLimiter = new TokenLimiter({ database, clock, log })
  const reads = new ReadAudit({ database, log })
  const live: LiveBoards = { database, queue, documents, nodes, pool, html: new SafeHtml(pool) }

  let deliverer: Deliverer | null = null
  app.addHook('preHandler', (request, _reply, done) => {
    mark(`${request.method} ${request.routeOptions.url ?? '(no route)'}`)
    done()
  })
  // Deliver the events of a write at once, instead of at the next poll.
  app.addHook('onResponse', (request, _reply, done) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') deliverer?.wakeOutbox()
    done()
  })

  const listeningUrl = () =>
    `http://${reachableHost(config.host)}:${(app.server.address() as AddressInfo).port}`
  await registerApi(app, {
    tokens,
    limiter,
    tokenLimiter,
    requestsPerHour: config.rateLimitPerHour,
    publicUrl,
    context: {
      database,
      live,
      clock,
      log,
      freeCardCap: config.freeCardCap,
      maxRateLimitPerHour: config.maxRateLimitPerHour,
      webhookSecrets,
      answers,
      checkUrl: (url) => egress.checkUrl(url),
      fetchRemote: (request, receive) => egress.fetch(request, receive),
      importMs: options.importMs ?? { item: limits.import.itemMs, call: limits.import.callMs },
      closeBoard,
      wakeDeliveries: () => deliverer?.wakeQueue(),
      localOnly: isLoopback(config.host),
      indexForSearch: (boardIds, catchUp) => indexer.catchUp(boardIds, catchUp),
      searches: new FairQueue(searching),
      files: storage.store,
      storageBytes: config.storageBytes,
      documentBytes,
      resizer: openResizer({ pixels: limits.files.resizePixels, ...resizing }),
      fileRead(read) {
        options.fileRead?.(read)
        reads.imageRead(read)
      },
    },
  })
  await registerSignIn(app, {
    database,
    sessions,
    passwords: options.passwords ?? openPasswords(),
    devices: openEncryption(config.secretKey, 'browsers that signed in'),
    publicUrl,
  })
  await registerOAuth(app, {
    ...{ database, sessions, egress, limiter, clock, log, publicUrl },
    secretKey: config.secretKey,
    requestsPerHour: config.rateLimitPerHour,
  })
  if (storage.partUploads) await registerPartUploads(app, storage.partUploads)
  let leaving = false
  await registerHealth(app, database, () => leaving)
  registerHome(app)
  registerIcon(app)
  await registerChangelog(app)
  await registerDocs(app)
  app.server.on('upgrade', (request, stream, head) => gateway.upgrade(request, stream, head))

  let healing: WakingLoop | null = null
  const loops: Loop[] = []
  let processMark: ProcessMark | null = null
  let closed: Promise<void> | null = null
  const close = () => (closed ??= stop())
  const drain = async () => {
    leaving = true
    await delay(config.drainSeconds * 1000)
  }

  async function stop(): Promise<void> {
    const served = app.close() // stops accepting connections now, resolves when all requests are answered
    // A connection whose last request has been answered would otherwise stay open for a next request.
    const idle = setInterval(() => app.server.closeIdleConnections(), 50)
    const cutOff = setTimeout(() => app.server.closeAllConnections(), finishRequestsMs)
    await Promise.all([gateway.close(), served, ...loops.map((loop) => loop.stop())])
    egress.close()
    clearInterval(idle)
    clearTimeout(cutOff)
    // If a document can't catch up with its log here, the next start indexes it.
    const indexed = Promise.all(documents.all().map((board) => queue.flush(board.boardId)))
    await Promise.race([indexed.catch(() => undefined), delay(finishIndexMs, undefined, { ref: false })])
    await queue.stop(5000)
    await reads.flush()
    await tokenLimiter.giveBack()
    documents.stop()
    await Promise.all([compactor.stop(), pool.close()])
    await nodes.stop()
    databaseClock.stop()
    await processMark?.remove()
    if (!options.database) await database.close()
    watchdog.stop()
  }

  try {
    await checkSecretKey(database, config.secretKey)
    await storage.store.check()
    await databaseClock.start()
    processMark = await leaveMark(join(config.dataDir, 'nodes'), nodes.id)
    await nodes.start(processMark?.ended)
    await app.listen({ port: config.port, host: config.host })
  } catch (error) {
    await close()
    throw error
  }
  if (options.workers !== false) {
    deliverer = new Deliverer({
      ...{ database, clock, log },
      ...(options.queueTickMs ? { tickMs: options.queueTickMs } : {}),
      send: (request) => egress.send(request),
      openSecret: (sealed, webhookId) => webhookSecrets.open(sealed, webhookId),
      waits: config.webhookRetryWaits,
      // A test's clock moves in whole seconds, so its retries have no jitter.
      jitter: options.clock ? () => 0 : Math.random,
      pollSeconds: config.appEventPollSeconds,
      ...(options.deliveryBounds ? { bounds: options.deliveryBounds } : {}),
    })
    healing = startHealing(live, log)
    loops.push(
      deliverer,
      healing,
      startRetention({ database, clock, log, auditDays: config.auditRetentionDays }),
      startPurge({ database, clock, log, closeBoard }),
      startWatchingFeeds({ database, log }),
      indexer.start(),
      startEndingUploads({ database, files: storage.store, clock, log }),
      startForgettingApplications({ database, clock, log }),
      startReclaiming({ database, pool, files: storage.store, clock, log }),
    )
  }

  const url = listeningUrl()
  return { app, database, live, files: storage.store, gateway, compactor, url, drain, close }
}
