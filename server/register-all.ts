/** Registers all that the service answers: the API, sign-in, OAuth, parts of uploads, health, pages, and sockets. */
import { registerApi } from '../api/app.ts'
import { registerAppActions } from '../api/app-actions/register.ts'
import { ReadAudit } from '../api/audit/reads.ts'
import { boardLists } from '../api/boards/list.ts'
import { assemblies } from '../api/files/assemblies.ts'
import { exports } from '../api/exchange/export.ts'
import { fetches } from '../api/exchange/fetch-url.ts'
import { LargeBodies } from '../api/http/body/large-bodies.ts'
import { RateLimiter } from '../api/http/rate-limit.ts'
import { TokenLimiter } from '../api/http/token-limiter.ts'
import { registerOAuth } from '../api/oauth/register.ts'
import { registerSignIn } from '../api/settings/register.ts'
import { rewrites } from '../collab/history/expunge.ts'
import { listings } from '../collab/history/list.ts'
import { pasts } from '../collab/history/past.ts'
import { limits } from '../core/limits.ts'
import { openMailer } from '../platform/mail.ts'
import { openResizer } from '../platform/images/resize.ts'
import { openEncryption } from '../platform/secrets/encryption.ts'
import { openSigning } from '../platform/secrets/signatures.ts'
import { openPasswords } from '../platform/secrets/passwords.ts'
import { FairQueue } from '../platform/work/fair-queue.ts'
import type { Basis } from './basis.ts'
import { isLoopback, secretKeysOf } from './config.ts'
import { registerHealth } from './health.ts'
import type { Collab } from './open-collab.ts'
import type { Workers } from './open-workers.ts'
import { registerChangelog } from './pages/changelog.ts'
import { registerDocs } from './pages/docs.ts'
import { registerHome } from './pages/home.ts'
import { registerIcon } from './pages/icon.ts'
import { registerWebApp } from './pages/web-app.ts'
import { registerPartUploads } from './part-uploads.ts'
import { bucketOrigin } from './storage.ts'

/** `atOnce` equals the number of database connections for searches. */
const searching = { atOnce: 4, atOncePerAccount: 2, waiting: 500, waitingPerAccount: 32 }
const resizing = { atOnce: 2, atOncePerAccount: 1, waiting: 200, waitingPerAccount: 32, seconds: 10 }

interface Parts {
  collab: Collab
  workers: Workers
  closeBoard(boardId: string): void
  isLeaving(): boolean
}

/**
 * @returns `finishRequests` writes what the requests have left to write, when no more of them come. `queues`: those that
 * requests wait in
 */
export async function registerAll(basis: Basis, parts: Parts) {
  const { config, options, app, database, clock, egress, sessions, storage, publicUrl, log } = basis
  const { collab, workers, closeBoard, isLeaving } = parts
  const { freeCardCap, maxRateLimitPerHour, storageBytes, documentBytes } = config
  const secretKeys = secretKeysOf(config)
  const requestsPerHour = config.rateLimitPerHour
  const limiter = new RateLimiter(clock)
  const tokenLimiter = new TokenLimiter({ database, clock, log })
  const reads = new ReadAudit({ database, log })
  const largeBodies = new LargeBodies()
  const searches = new FairQueue(searching)
  const passwords = options.passwords ?? openPasswords()
  const mailer = config.smtp && openMailer(config.smtp.url, config.smtp.from)
  const resizer = openResizer({ pixels: limits.files.resizePixels, ...resizing })

  // Deliver the events of a write at once, instead of at the next poll.
  app.addHook('onResponse', (request, _reply, done) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') workers.wakeOutbox()
    done()
  })
  await registerApi(app, {
    ...{ tokens: basis.tokens, limiter, tokenLimiter, requestsPerHour, publicUrl, largeBodies },
    context: {
      ...{ database, live: collab.live, clock, log, closeBoard, files: storage.store },
      ...{ freeCardCap, maxRateLimitPerHour, storageBytes, documentBytes, mailer, passwords },
      sessionTokens: basis.sessionTokens,
      imageUrls: openSigning(secretKeys, 'image urls'),
      webhookSecrets: basis.webhookSecrets,
      answers: openEncryption(secretKeys, 'answers kept for replay'),
      checkUrl: (url) => egress.checkUrl(url),
      fetchRemote: (request, receive) => egress.fetch(request, receive),
      importMs: options.importMs ?? { item: limits.import.itemMs, call: limits.import.callMs },
      presence: collab.gateway.apiPresence,
      eventStreams: collab.eventStreams,
      wakeDeliveries: () => workers.wakeDeliveries(),
      localOnly: isLoopback(config.host),
      indexForSearch: (boardIds, catchUp) => workers.indexer.catchUp(boardIds, catchUp),
      searches,
      resizer,
      fileRead(read) {
        options.fileRead?.(read)
        reads.imageRead(read)
      },
    },
  })
  const signingIn = { database, clock, sessions, publicUrl }
  await registerSignIn(app, {
    ...signingIn,
    ...{ passwords, mailer },
    devices: openEncryption(secretKeys, 'browsers that signed in'),
  })
  await registerAppActions(app, signingIn)
  await registerOAuth(app, { ...signingIn, egress, limiter, log, secretKeys, requestsPerHour })
  if (storage.partUploads) await registerPartUploads(app, storage.partUploads)
  await registerHealth(app, database, { isLeaving, isSeating: () => collab.nodes.isSeating })
  await registerPages(basis)
  app.server.on('upgrade', (request, stream, head) => collab.gateway.upgrade(request, stream, head))

  return {
    queues: {
      large_bodies: largeBodies.queue,
      resizes: resizer.queue,
      searches,
      exports,
      assemblies,
      fetches,
      pasts,
      rewrites,
      board_lists: boardLists,
      listings,
    },
    async finishRequests() {
      await reads.flush()
      await tokenLimiter.giveBack()
    },
  }
}

async function registerPages({ app, sessions, options, config }: Basis): Promise<void> {
  const isBuilt = await registerWebApp(app, { folder: options.webApp, bucket: bucketOrigin(config) })
  registerHome(app, { sessions, isBuilt })
  registerIcon(app)
  await registerChangelog(app)
  await registerDocs(app)
}
