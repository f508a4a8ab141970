/** The parts on which all others are built: the Fastify app, the database, clock, threads, egress, tokens and storage. */
import type { AddressInfo } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { openSessionTokens } from '../api/sessions/session-tokens.ts'
import { openSessions } from '../api/sign-in/session.ts'
import type { FileRead } from '../api/http/route.ts'
import type { LoadBounds } from '../collab/documents/load.ts'
import type { MemoryBounds } from '../collab/documents/memory.ts'
import type { StreamBounds } from '../collab/events/event-streams.ts'
import type { JournalBounds } from '../collab/events/journal-reader.ts'
import type { GatewayBounds } from '../collab/gateway/gateway-bounds.ts'
import type { Clock } from '../platform/clock.ts'
import { openEgress, type Egress } from '../platform/egress/egress.ts'
import { openEncryption } from '../platform/secrets/encryption.ts'
import { openSigning } from '../platform/secrets/signatures.ts'
import type { Passwords } from '../platform/secrets/passwords.ts'
import { meteredStore } from '../platform/storage/metered-store.ts'
import { setPayer } from '../platform/work/payers.ts'
import { WorkerPool } from '../platform/work/worker-pool.ts'
import { findSessionPrincipal } from '../sql/accounts/session-users.ts'
import { TokenVerifier } from '../sql/accounts/tokens.ts'
import { DatabaseClock } from '../sql/database-clock.ts'
import { sendSoon } from '../platform/work/loop-turn.ts'
import { openDatabase, type Database } from '../sql/database.ts'
import type { ClaimBounds } from '../workers/deliveries/claim.ts'
import { reachableHost, secretKeysOf, type Config } from './config.ts'
import { openMetrics } from './metrics/endpoint.ts'
import { openStorage } from './storage.ts'

/** Dependencies and limits that tests replace. */
export interface ComposeOptions {
  clock?: Clock
  database?: Database
  editDeadlineMs?: number
  writeDeadlineMs?: number
  answerTimeoutMs?: number
  debounceMs?: number
  accessCheckMs?: number
  compactRows?: number
  compactMs?: number
  loading?: Partial<LoadBounds>
  memory?: Partial<MemoryBounds>
  bounds?: Partial<GatewayBounds>
  eventStreams?: Partial<StreamBounds & JournalBounds>
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
  /** The folder of the built app, with a slash at the end. Default: `web/dist`. */
  webApp?: URL
  log?: FastifyBaseLogger
}

export type Basis = ReturnType<typeof openBasis>

export function openBasis(
  app: FastifyInstance,
  config: Config,
  databaseUrl: string,
  options: ComposeOptions,
) {
  const { log } = app
  const metrics = openMetrics()
  metrics.measureRequests(app)
  const { onBegun } = metrics
  const database =
    options.database ?? openDatabase({ url: databaseUrl, poolSize: config.databasePool, onBegun, sendSoon })
  const databaseClock = new DatabaseClock({ database, log })
  const clock = options.clock ?? databaseClock
  let listensAt: string | null = null
  /**
   * `http://host:port` of this process. Call it only after the service listens. The address is kept, because a server
   * that closes has none any more, but still answers the requests of open connections.
   */
  const listeningUrl = () =>
    (listensAt ??= `http://${reachableHost(config.host)}:${(app.server.address() as AddressInfo).port}`)
  /** The URL at which clients reach the service, without a slash at the end. Call it only after the service listens. */
  const publicUrl = () => config.publicUrl ?? listeningUrl()
  const storage = openStorage(config, { clock, publicUrl, log })
  const sessionTokens = openSessionTokens(openSigning(secretKeysOf(config), 'sessions'))
  return {
    ...{ config, options, app, log, metrics, database, databaseClock, clock, listeningUrl, publicUrl },
    pool: new WorkerPool(),
    egress: options.egress ?? openEgress({ allow: config.egressAllow }),
    tokens: new TokenVerifier({
      ...{ database, clock },
      sessions: {
        read: (token) => sessionTokens.read(token),
        async find(claims) {
          const principal = await findSessionPrincipal(database, claims)
          if (principal?.session) setPayer(principal.userId, principal.session.ownerId)
          return principal
        },
      },
    }),
    sessionTokens,
    sessions: openSessions({ database, publicUrl }),
    storage: { ...storage, store: meteredStore(storage.store, metrics.onStorageCall) },
    webhookSecrets: openEncryption(secretKeysOf(config), 'webhook secrets'),
  }
}
