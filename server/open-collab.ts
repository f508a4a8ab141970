/** Makes the live boards: documents, their writes and their log, the sockets, and what passes between processes. */
import { momentOf, pastReader } from '../api/boards/past.ts'
import type { RelayOptions } from '../collab/awareness/relay.ts'
import type { LiveBoards } from '../collab/boards/live.ts'
import type { Bus } from '../collab/bus/bus.ts'
import { openBus } from '../collab/bus/open-bus.ts'
import { SafeHtml } from '../collab/boards/safe-html.ts'
import { CommitQueue } from '../collab/commit/commit.ts'
import { DocumentQuota } from '../collab/commit/document-quota.ts'
import { EventStreams } from '../collab/events/event-streams.ts'
import { JournalReader } from '../collab/events/journal-reader.ts'
import { Documents } from '../collab/documents/documents.ts'
import { LogLoader } from '../collab/documents/load.ts'
import { defaultMemoryBounds } from '../collab/documents/memory.ts'
import { Nodes } from '../collab/documents/nodes.ts'
import { Gateway } from '../collab/gateway/gateway.ts'
import { defaultBounds } from '../collab/gateway/gateway-bounds.ts'
import { bringNotifications } from '../collab/gateway/notify.ts'
import { PastSockets } from '../collab/history/past-sockets.ts'
import { withPast } from '../collab/history/past.ts'
import { Lists } from '../collab/lists/lists.ts'
import { PeopleCounts } from '../collab/lists/people-counts.ts'
import { Compactor } from '../collab/log/compact.ts'
import { closeCodes } from '../core/errors.ts'
import { encodeState } from '../collab/updates/encode-state.ts'
import { clientAddress, network } from '../platform/client-address.ts'
import { openSigning } from '../platform/secrets/signatures.ts'
import type { Basis } from './basis.ts'
import { secretKeysOf } from './config.ts'
import { inTurns } from '../platform/work/loop-turn.ts'
import { Pace } from '../platform/work/pace.ts'

export type Collab = ReturnType<typeof openCollab>

export function openCollab(basis: Basis, { onNodesLost }: { onNodesLost(): void }) {
  const { config, options, metrics, database, clock, pool, tokens, sessions, log } = basis
  const { documentBytes, maxSocketsPerBoard, maxSocketsPerAccountOnBoard, maxSocketsPerAccount } = config
  const history = { files: basis.storage.store, clock, days: config.historyDays }
  const compactor = new Compactor({
    database,
    pool,
    log,
    history,
    compacted(boardId, sizeBytes) {
      documents.find(boardId)?.measured(sizeBytes)
      queue.unlocked(boardId)
    },
    ...(options.compactRows ? { rows: options.compactRows } : {}),
    ...(options.compactMs ? { mergeMs: options.compactMs } : {}),
  })
  const quota = new DocumentQuota({
    ...{ database, documentBytes, log },
    compact: (boardIds) => compactor.want(boardIds),
    ready: () => queue.wake(),
  })
  const pace = new Pace()
  const queue = new CommitQueue({
    commit: (call, way) => database.commit(call, way),
    freeCardCap: config.freeCardCap,
    storageBytes: config.storageBytes,
    documentBytes,
    quota,
    log,
    pace,
    ...(options.editDeadlineMs ? { editDeadlineMs: options.editDeadlineMs } : {}),
    ...(options.writeDeadlineMs ? { writeDeadlineMs: options.writeDeadlineMs } : {}),
    ...(options.answerTimeoutMs ? { answerTimeoutMs: options.answerTimeoutMs } : {}),
    onStalled: (boardId) => gateway.closeBoard(boardId, closeCodes.tryLater),
    onCommit: metrics.onCommit,
    onGrown(boardId, head, updates) {
      compactor.grown(boardId, head)
      nodes.committed(boardId, { after: head.seq - 1, head, updates })
    },
  })
  const loader = new LogLoader(pool, options.loading)
  const documents = new Documents({
    ...{ database, queue, loader, log, clock, warmBytes: config.warmDocumentBytes },
    memory: { ...defaultMemoryBounds(), ...options.memory },
    onUnusable: (boardId, reason) =>
      gateway.closeBoard(boardId, reason === 'memory' ? closeCodes.noMemory : closeCodes.tryLater),
  })
  const bus = openBus({ database, redisUrl: config.redisUrl, log })
  const nodes = new Nodes({
    ...{ database, documents, bus, log },
    signing: openSigning(secretKeysOf(config), 'messages between nodes'),
    closeCanvases: () => gateway.closeCanvases(),
    onNodesLost,
    onNodeGone: (node) => gateway.presence.nodeGone(node),
  })
  const bounds = { maxSocketsPerBoard, maxSocketsPerAccountOnBoard, maxSocketsPerAccount, ...options.bounds }
  const journal = new JournalReader({ database, log, bounds: options.eventStreams })
  const lists = new Lists({
    ...{ tokens, journal, log, bounds: { ...defaultBounds, ...bounds } },
    people: new PeopleCounts({ database, log }),
  })
  const gateway: Gateway = new Gateway({
    ...{ database, tokens, documents, documentBytes, quota, nodes, pace, pool, clock, log, lists },
    past: new PastSockets({
      ...{ tokens, log, bounds: { ...defaultBounds, ...bounds } },
      past: { admit: async (account, boardId) => admitToPast(live, account, boardId) },
    }),
    sessionOf: (headers) => sessions.ofUpgrade(headers),
    onSocketClosed: metrics.onSocketClosed,
    addressOf: (request) => network(clientAddress(request, config.trustProxy)),
    others: relayTo(bus, nodes),
    bounds,
    ...(options.debounceMs === undefined ? {} : { debounceMs: options.debounceMs }),
    ...(options.accessCheckMs ? { accessCheckMs: options.accessCheckMs } : {}),
  })
  const eventStreams = new EventStreams(journal, options.eventStreams)
  hearOthers(bus, gateway, journal, basis)
  const { onStale } = metrics
  const live = {
    ...{ database, queue, documents, nodes, pool, html: new SafeHtml(pool), history, onStale },
    compact: (boardId: string) => compactor.compact(boardId),
  }
  return { compactor, queue, loader, documents, bus, nodes, gateway, journal, eventStreams, lists, live }
}

/** Reads the past for sockets, with the rights of the API. */
async function admitToPast(live: LiveBoards, account: string, boardId: string) {
  const reader = await pastReader(live.database, account, boardId)
  return async (asOf: string) =>
    withPast(live, boardId, momentOf(asOf), reader, ({ document }) => inTurns(encodeState(document)))
}

const relayTo = (bus: Bus, nodes: Nodes): RelayOptions => ({
  publish: (board, bytes) => bus.publish({ kind: 'awareness', board, bytes }),
  tickMs: () => bus.pace.awarenessMs,
  isAlone: () => nodes.isAlone,
  isElsewhere: (board) => nodes.isElsewhere(board),
})

/** Passes on to the sockets what other processes tell. */
function hearOthers(
  bus: Bus,
  gateway: Gateway,
  journal: JournalReader,
  { database, tokens, log }: Basis,
): void {
  bus.on('notified', ({ rows }) => bringNotifications({ database, seating: gateway.seating, log }, rows))
  bus.on('revoked', () => {
    tokens.forget()
    gateway.checkAccessSoon()
    journal.checkAccessSoon()
  })
  bus.on('awareness', (message) => gateway.presence.heard(message))
  bus.on('left', ({ from }) => gateway.presence.nodeGone(from))
}
