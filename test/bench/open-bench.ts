import type { Bench, EditorPeer, Model, Server } from './bench.ts'
import { embeddedPostgresUrl, startCorkboard, startNodes } from './corkboard.ts'
import { Load } from './load/process.ts'
import { createBenchDatabase } from './peers/database.ts'
import {
  startDatabasePeer,
  startEditorPeer,
  startFileHandler,
  startInsertHandler,
  startReceiver,
  startSearchHandler,
} from './peers/start.ts'

interface BenchOptions {
  seconds: number
  runs: number
  /** PostgreSQL server that replaces the embedded one, also for the insert handlers. */
  databaseUrl: string | null
  /** Compare peers with copies of themselves. */
  calibrates: boolean
  progress: (text: string) => void
  note: (text: string) => void
  model: Model
}

/** More than one node lets in by default. */
const crowd = { colleagues: 20, settings: { MAX_SOCKETS_PER_BOARD: '2000' } }

/** Starts the load process now, and each server at its first use. `close` stops all of them in reverse order. */
export function openBench(options: BenchOptions): { bench: Bench; close: () => Promise<void> } {
  const opened = new AsyncDisposableStack()
  const load = opened.adopt(new Load(), (load) => load.stop())
  const started = async <Started extends Server>(starting: Promise<Started>): Promise<Started> => {
    const server = await starting
    if (!opened.disposed) return opened.adopt(server, (server) => server.stop())
    await server.stop()
    throw new Error('the bench was closed')
  }

  const corkboard = once(() => started(startCorkboard(options.databaseUrl)))
  const database = once(async () => {
    const adminUrl = options.databaseUrl ?? (await embeddedPostgresUrl((await corkboard()).dataDir))
    return opened.adopt(await createBenchDatabase(adminUrl), (database) => database.drop())
  })
  const startedAtFirstUse = () => ({
    hocuspocus: once(() => started(startEditorPeer('hocuspocus'))),
    'y-websocket': once(() => started(startEditorPeer('y-websocket'))),
    ws: once(() => started(startEditorPeer('ws'))),
    insertHandler: once(async () => started(startInsertHandler((await database()).url))),
  })
  const peers = startedAtFirstUse()
  const copies = startedAtFirstUse()

  const corkboardDatabaseUrl = async () => {
    if (options.databaseUrl) return options.databaseUrl
    return embeddedPostgresUrl((await corkboard()).dataDir, 'corkboard')
  }

  const bench: Bench = {
    seconds: options.seconds,
    runs: options.runs,
    load,
    progress: options.progress,
    corkboard,
    crowdSubject: () =>
      options.calibrates ? startEditorPeer('hocuspocus') : startCorkboard(options.databaseUrl, crowd),
    corkboardWithout: (part) => startCorkboard(options.databaseUrl, { without: part }),
    startNodes: (count, settings) => startNodes(count, options.databaseUrl, settings),
    model: options.model,
    note: options.note,
    editorPeer: (peer: EditorPeer) => peers[peer](),
    insertHandler: peers.insertHandler,
    databasePeer: once(async () => started(startDatabasePeer((await database()).url))),
    receiver: once(() => started(startReceiver())),
    fileHandler: once(() => started(startFileHandler())),
    corkboardDatabaseUrl,
    searchHandler: once(async () => started(startSearchHandler(await corkboardDatabaseUrl()))),
    editorSubject: (peer: EditorPeer) => (options.calibrates ? copies[peer]() : corkboard()),
    cardSubject: () => (options.calibrates ? copies.insertHandler() : corkboard()),
    freshEditorSubject: (peer: EditorPeer) =>
      options.calibrates ? startEditorPeer(peer) : startCorkboard(options.databaseUrl),
    freshEditorPeer: (peer: EditorPeer, redisUrl?: string) => startEditorPeer(peer, redisUrl),
  }
  const close = once(() => opened.disposeAsync())
  return { bench, close }
}

/** Calls `make` at the first call and caches its result. After a failure, the next call tries again. */
function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | null = null
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = null
      throw error
    }))
}
