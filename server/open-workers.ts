/** The work that no request waits for: deliveries, the search index, and the upkeep of the database and the files. */
import type { LiveBoards } from '../collab/boards/live.ts'
import type { JournalReader } from '../collab/events/journal-reader.ts'
import type { Compactor } from '../collab/log/compact.ts'
import { Deliverer } from '../workers/deliveries/deliverer.ts'
import { startWhenResumed } from '../workers/deliveries/start-when-resumed.ts'
import type { Loop, WakingLoop } from '../workers/loop.ts'
import { SearchIndexer } from '../workers/search/search.ts'
import { startEndingUploads } from '../workers/upkeep/end-uploads.ts'
import { startForgettingApplications } from '../workers/upkeep/forget-applications.ts'
import { startHealing } from '../workers/upkeep/heal.ts'
import { startEndingHistory } from '../workers/upkeep/history.ts'
import { startPurge } from '../workers/upkeep/purge.ts'
import { startReclaiming } from '../workers/upkeep/reclaim.ts'
import { startRetention } from '../workers/upkeep/retention.ts'
import { startWatchingFeeds } from '../workers/upkeep/watch-feeds.ts'
import type { Basis } from './basis.ts'

export type Workers = ReturnType<typeof openWorkers>

/** Waking a worker that was not started does nothing. */
export function openWorkers(
  basis: Basis,
  { live, compactor, journal }: { live: LiveBoards; compactor: Compactor; journal: JournalReader },
  closeBoard: (boardId: string) => void,
) {
  const { config, database, clock, pool, log } = basis
  const files = basis.storage.store
  const { historyDays } = config
  const compact = (boardIds: string[]) => compactor.want(boardIds)
  const indexer = new SearchIndexer({ database, log })
  let deliverer: Deliverer | null = null
  let healing: WakingLoop | null = null
  const loops: Loop[] = []
  return {
    indexer,
    /** Null before the start. */
    deliverer: () => deliverer,
    wakeOutbox: () => deliverer?.wakeOutbox(),
    wakeDeliveries: () => deliverer?.wakeQueue(),
    wakeHealing: () => healing?.wake(),
    start() {
      healing = startHealing(live, log)
      loops.push(
        startWhenResumed({ database, log }, () => (deliverer = startDelivering(basis, journal))),
        healing,
        startRetention({ database, clock, log, auditDays: config.auditRetentionDays }),
        startPurge({ database, clock, log, closeBoard }),
        startWatchingFeeds({ database, log }),
        indexer.start(),
        startEndingUploads({ database, files, clock, log }),
        startForgettingApplications({ database, clock, log }),
        startEndingHistory({ database, pool, files, clock, log, historyDays, compact }),
        startReclaiming({ database, pool, files, clock, log, historyDays }),
      )
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

function startDelivering(basis: Basis, journal: JournalReader): Deliverer {
  const { config, options, metrics, database, clock, egress, webhookSecrets, log } = basis
  return new Deliverer({
    ...{ database, clock, log },
    ...(options.queueTickMs ? { tickMs: options.queueTickMs } : {}),
    send: (request) => egress.send(request),
    onAttempt: metrics.onAttempt,
    onJournal: () => journal.wake(),
    openSecret: (sealed, webhookId) => webhookSecrets.open(sealed, webhookId),
    waits: config.webhookRetryWaits,
    // A test's clock moves in whole seconds, so its retries have no jitter.
    jitter: options.clock ? () => 0 : Math.random,
    pollSeconds: config.appEventPollSeconds,
    ...(options.deliveryBounds ? { bounds: options.deliveryBounds } : {}),
  })
}
