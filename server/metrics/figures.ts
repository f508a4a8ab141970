/**
 * Metrics that are read at each scrape, from figures that the parts of the service keep. None of them loops over boards,
 * sockets or accounts.
 */
import type { Bus } from '../../collab/bus/bus.ts'
import type { CommitQueue } from '../../collab/commit/commit.ts'
import type { Documents } from '../../collab/documents/documents.ts'
import type { Nodes } from '../../collab/documents/nodes.ts'
import type { Gateway } from '../../collab/gateway/gateway.ts'
import type { Figure } from '../../platform/metrics.ts'
import type { LoopWatchdog } from '../../platform/work/loop-watchdog.ts'
import type { Deliverer } from '../../workers/deliveries/deliverer.ts'
import type { SearchIndexer } from '../../workers/search/search.ts'
import type { DatabaseFigures, DatabaseFiguresReader } from './database-figures.ts'

export interface FigureSources {
  gateway: Gateway
  documents: Documents
  queue: CommitQueue
  bus: Bus
  nodes: Nodes
  watchdog: LoopWatchdog
  indexer: SearchIndexer
  /** Null before the workers run. */
  deliverer(): Deliverer | null
  queues: Record<string, SharedQueue>
  fromDatabase: DatabaseFiguresReader
}

/** A queue that tenants share, such as a `FairQueue`. */
export interface SharedQueue {
  /** Pieces of work under way. Bytes, for `large_bodies`. */
  readonly running: number
  readonly waiting: number
  /** Pieces that were refused since the start because the queue was full. */
  readonly refused?: number
}

export function figures(sources: FigureSources): Figure[] {
  const { gateway, documents, queue, bus, nodes, watchdog, indexer, fromDatabase } = sources
  const shared = () => Object.entries(queuesOf(sources))
  const database = async (pick: (found: DatabaseFigures) => number) => {
    const found = await fromDatabase.read()
    return found && pick(found)
  }
  return [
    gauge('corkboard_sockets', 'Open sockets of editors.', () => gateway.figures().sockets),
    gauge(
      'corkboard_sockets_unauthenticated',
      'Open sockets on which nobody has authenticated yet.',
      () => gateway.figures().strangers,
    ),
    gauge(
      'corkboard_documents',
      'Documents of boards in memory: open ones, and those that were used lately.',
      () => documents.counts().documents,
    ),
    gauge(
      'corkboard_documents_bytes',
      'Encoded size of the documents in memory.',
      () => documents.counts().sizeBytes,
    ),
    gauge(
      'corkboard_log_rows',
      'Rows that the log of a board has after its snapshot: the most of any board in memory.',
      () => documents.counts().logRows,
    ),
    gauge(
      'corkboard_index_lag_seconds',
      'Age of the oldest change in memory that is not in the card index.',
      () => documents.counts().indexLagMs / 1000,
    ),
    gauge(
      'corkboard_commit_queue_bytes',
      'Bytes of edits that wait for their commit.',
      () => queue.counts().editBytes,
    ),
    gauge(
      'corkboard_commit_queue_writes',
      'Writes of the API that wait for their commit.',
      () => queue.counts().writes,
    ),
    gauge(
      'corkboard_update_queue_bytes',
      'Bytes of updates of editors that wait to be applied.',
      () => gateway.figures().updateBytes,
    ),
    counter(
      'corkboard_awareness_frames_total',
      'Awareness frames from and to editors.',
      () => gateway.figures().awareness,
      'direction',
    ),
    gauge(
      'corkboard_nodes',
      'Nodes that were alive at the last heartbeat of this one. 0: it has lost its own lock.',
      () => nodes.alive,
    ),
    counter(
      'corkboard_bus_messages_total',
      'Messages between nodes. `lost`: not sent. `ignored`: malformed, too large or of another version.',
      () => ({ ...bus.counts() }),
      'result',
    ),
    gauge(
      'corkboard_bus_degraded',
      '1 while messages between nodes go over NOTIFY because Redis is out of reach, else 0.',
      () => Number(bus.isDegraded),
    ),
    gauge(
      'corkboard_queue_running',
      'Work of a shared queue that is under way. In bytes for `large_bodies`.',
      () => Object.fromEntries(shared().map(([name, { running }]) => [name, running])),
      'queue',
    ),
    gauge(
      'corkboard_queue_waiting',
      'Work that waits in a shared queue.',
      () => Object.fromEntries(shared().map(([name, { waiting }]) => [name, waiting])),
      'queue',
    ),
    counter(
      'corkboard_queue_refused_total',
      'Work that was refused because a shared queue was full.',
      () => Object.fromEntries(shared().map(([name, { refused = 0 }]) => [name, refused])),
      'queue',
    ),
    counter(
      'corkboard_search_set_aside_total',
      'Cards and boards whose words could not be indexed for search.',
      () => indexer.setAside,
    ),
    counter(
      'corkboard_loop_stalls_total',
      'Times that the event loop was blocked for more than 200 ms.',
      () => watchdog.stalls.count,
    ),
    counter(
      'corkboard_loop_stall_seconds_total',
      'Total time of these stalls.',
      () => watchdog.stalls.seconds,
    ),
    gauge('corkboard_feed_lag_seconds', 'How far the change feeds are behind.', () =>
      database(({ feedLagMs }) => feedLagMs / 1000),
    ),
    gauge('corkboard_outbox_age_seconds', 'Age of the oldest event that waits in the outbox.', () =>
      database(({ outboxAgeMs }) => outboxAgeMs / 1000),
    ),
    counter(
      'corkboard_scrape_failures_total',
      'Times that the figures of the database could not be read. They are then left out.',
      // Read after them, so that this scrape tells of its own failure.
      () => fromDatabase.read().then(() => fromDatabase.failures),
    ),
  ]
}

function queuesOf({ queues, queue, deliverer }: FigureSources): Record<string, SharedQueue> {
  const { underWay, held } = deliverer()?.counts() ?? { underWay: 0, held: 0 }
  const { large } = queue.counts()
  return {
    ...queues,
    deliveries: { running: underWay, waiting: held },
    // They run one after the other.
    large_commits: { running: Math.min(1, large), waiting: Math.max(0, large - 1) },
  }
}

const gauge = (name: string, help: string, read: Figure['read'], label?: string): Figure => ({
  type: 'gauge',
  ...{ name, help, read },
  ...(label ? { label } : {}),
})

const counter = (...given: Parameters<typeof gauge>): Figure => ({ ...gauge(...given), type: 'counter' })
