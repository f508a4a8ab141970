/**
 * Metrics that are read at each scrape, from figures that the parts of the service keep. None of them loops over boards,
 * sockets or accounts; `test/server/metrics.test.ts` compares the cost of a scrape with few and with many boards.
 */
import type { Bus } from '../../collab/bus/bus.ts'
import type { CommitQueue } from '../../collab/commit/commit.ts'
import type { Documents } from '../../collab/documents/documents.ts'
import type { Nodes } from '../../collab/documents/nodes.ts'
import type { EventStreams } from '../../collab/events/event-streams.ts'
import type { Gateway } from '../../collab/gateway/gateway.ts'
import type { Lists } from '../../collab/lists/lists.ts'
import type { Figure } from '../../platform/metrics.ts'
import type { LoopWatchdog } from '../../platform/work/loop-watchdog.ts'
import type { Deliverer } from '../../workers/deliveries/deliverer.ts'
import type { SearchIndexer } from '../../workers/search/search.ts'
import type { DatabaseFigures, DatabaseFiguresReader } from './database-figures.ts'

export interface FigureSources {
  gateway: Gateway
  eventStreams: EventStreams
  lists: Lists
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

export const figures = (sources: FigureSources): Figure[] => [
  ...editors(sources),
  ...documents(sources),
  ...nodes(sources),
  ...queues(sources),
  ...worries(sources),
  ...fromDatabase(sources),
]

const editors = ({ gateway, eventStreams, lists }: FigureSources): Figure[] => [
  gauge('corkboard_sockets', 'Open sockets of editors.', () => gateway.figures().sockets),
  gauge(
    'corkboard_sockets_unauthenticated',
    'Open sockets on which nobody has authenticated yet.',
    () => gateway.figures().strangers,
  ),
  gauge(
    'corkboard_update_queue_bytes',
    'Bytes of updates of editors that wait to be applied.',
    () => gateway.figures().updateBytes,
  ),
  gauge('corkboard_event_streams', 'Open streams of events.', () => eventStreams.count),
  gauge('corkboard_lists', 'Live lists that are open on sockets.', () => lists.count),
  counter(
    'corkboard_awareness_frames_total',
    'Awareness frames from and to editors.',
    () => gateway.figures().awareness,
    'direction',
  ),
]

const documents = ({ documents, queue }: FigureSources): Figure[] => [
  gauge(
    'corkboard_documents',
    'Documents in memory: of open boards, and of those that were used lately.',
    () => documents.counts().documents,
  ),
  gauge('corkboard_documents_bytes', 'Their encoded size.', () => documents.counts().sizeBytes),
  gauge(
    'corkboard_documents_memory_bytes',
    'What they and copies of them take in memory, by an estimate.',
    () => documents.counts().memoryBytes,
  ),
  gauge(
    'corkboard_log_rows',
    'Log rows after the snapshot: the most of any board in memory.',
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
]

const nodes = ({ nodes, bus }: FigureSources): Figure[] => [
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
]

function queues(sources: FigureSources): Figure[] {
  const each = (pick: (queue: SharedQueue) => number) => () =>
    Object.fromEntries(Object.entries(sharedQueues(sources)).map(([name, queue]) => [name, pick(queue)]))
  return [
    gauge(
      'corkboard_queue_running',
      'Work of a shared queue that is under way. Bytes for `large_bodies`.',
      each(({ running }) => running),
      'queue',
    ),
    gauge(
      'corkboard_queue_waiting',
      'Work that waits in a shared queue.',
      each(({ waiting }) => waiting),
      'queue',
    ),
    counter(
      'corkboard_queue_refused_total',
      'Work that was refused because a shared queue was full.',
      each(({ refused = 0 }) => refused),
      'queue',
    ),
  ]
}

function sharedQueues({ queues, queue, deliverer }: FigureSources): Record<string, SharedQueue> {
  const { underWay, held } = deliverer()?.counts() ?? { underWay: 0, held: 0 }
  const { large } = queue.counts()
  return {
    ...queues,
    deliveries: { running: underWay, waiting: held },
    // They run one after the other.
    large_commits: { running: Math.min(1, large), waiting: Math.max(0, large - 1) },
  }
}

const worries = ({ indexer, watchdog }: FigureSources): Figure[] => [
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
  counter('corkboard_loop_stall_seconds_total', 'Total time of these stalls.', () => watchdog.stalls.seconds),
]

function fromDatabase({ fromDatabase }: FigureSources): Figure[] {
  const pick = (figure: keyof DatabaseFigures) => async () => {
    const found = await fromDatabase.read()
    return found && found[figure] / 1000
  }
  return [
    gauge('corkboard_feed_lag_seconds', 'How far the change feeds are behind.', pick('feedLagMs')),
    gauge(
      'corkboard_outbox_age_seconds',
      'Age of the oldest event that waits in the outbox.',
      pick('outboxAgeMs'),
    ),
    counter(
      'corkboard_scrape_failures_total',
      'Times that the figures of the database could not be read. They are then left out.',
      // After the attempt of this scrape.
      () => fromDatabase.read().then(() => fromDatabase.failures),
    ),
  ]
}

function gauge(name: string, help: string, read: Figure['read'], label?: string): Figure {
  return { type: 'gauge', name, help, read, ...(label ? { label } : {}) }
}

function counter(...given: Parameters<typeof gauge>): Figure {
  return { ...gauge(...given), type: 'counter' }
}
