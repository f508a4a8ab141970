import { randomUUID } from 'node:crypto'
import type { CardServer, EditorPeer, EditorServer, ReceiverServer, Server } from '../bench.ts'
import { ServerProcess } from '../server-process.ts'

const startWithinMs = 30_000

/** @param redisUrl for Hocuspocus and the floor: the Redis that several of them share */
export async function startEditorPeer(peer: EditorPeer, redisUrl?: string): Promise<EditorServer> {
  const env: Record<string, string> = redisUrl ? { BENCH_REDIS_URL: redisUrl } : {}
  const { port, ...server } = await startPeer(peer, `test/bench/peers/${peer}.ts`, env)
  const protocol = peer === 'ws' ? 'hocuspocus' : peer
  return { ...server, editors: { protocol, url: `ws://127.0.0.1:${port}`, token: 'anyone' } }
}

/** @param databaseUrl database in which the handler makes its table */
export async function startInsertHandler(databaseUrl: string): Promise<CardServer> {
  const file = 'test/bench/peers/insert-handler.ts'
  const { port, ...server } = await startPeer('insert handler', file, { BENCH_DATABASE_URL: databaseUrl })
  return { ...server, api: { root: `http://127.0.0.1:${port}`, token: 'anyone' } }
}

/** @param databaseUrl database in which it makes its table */
export async function startDatabasePeer(databaseUrl: string): Promise<EditorServer & CardServer> {
  const file = 'test/bench/peers/hocuspocus-database.ts'
  const { port, ...server } = await startPeer('hocuspocus', file, { BENCH_DATABASE_URL: databaseUrl })
  return {
    ...server,
    editors: { protocol: 'hocuspocus', url: `ws://127.0.0.1:${port}`, token: 'anyone' },
    api: { root: `http://127.0.0.1:${port}`, token: 'anyone' },
  }
}

export async function startReceiver(): Promise<ReceiverServer> {
  const { port, ...server } = await startPeer('receiver', 'test/bench/peers/receiver.ts', {})
  return { ...server, url: `http://127.0.0.1:${port}/` }
}

/** @param databaseUrl database of a Corkboard */
export async function startSearchHandler(databaseUrl: string): Promise<CardServer> {
  const file = 'test/bench/peers/search-handler.ts'
  const { port, ...server } = await startPeer('search handler', file, { BENCH_DATABASE_URL: databaseUrl })
  return { ...server, api: { root: `http://127.0.0.1:${port}`, token: 'anyone' } }
}

export async function startFileHandler(): Promise<CardServer> {
  const { port, ...server } = await startPeer('file handler', 'test/bench/peers/file-handler.ts', {})
  return { ...server, api: { root: `http://127.0.0.1:${port}`, token: 'anyone' } }
}

async function startPeer(
  name: string,
  file: string,
  env: Record<string, string>,
): Promise<Server & { port: number }> {
  const child = new ServerProcess(name, file, env)
  try {
    const { port } = await child.ready(async (output) => announced(output), startWithinMs)
    return {
      name,
      port,
      createBoards: async (count) => Array.from({ length: count }, () => randomUUID()),
      memory: () => child.memory(),
      cpuMs: () => child.cpuMs(),
      peakBytes: (work) => child.peakBytes(work),
      turns: (work) => child.turns(work),
      stop: () => child.stop(),
    }
  } catch (error) {
    await child.stop()
    throw error
  }
}

function announced(output: string): { port: number } | null {
  const line = output.split('\n').find((line) => line.startsWith('{"port"'))
  return line ? (JSON.parse(line) as { port: number }) : null
}
