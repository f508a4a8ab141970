/**
 * Clients that send as fast as they can. They run in a separate thread, so that only their cost for the service is
 * measured.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { WebSocket } from 'ws'
import * as Y from 'yjs'
import { awarenessFrame, enter, syncFrame, updateFrame } from './raw-client.ts'

export type FloodKind = 'awareness' | 'question' | 'update' | 'ping'

interface Target {
  serviceUrl: string
  boardId: string
  token: string
  /** Frames that each client sends. */
  kinds: FloodKind[]
}

export interface FloodCounts {
  /** Frames sent, including pings. */
  sent: number
  /** Frames received, including pongs. */
  received: number
}

export interface Flood {
  stop(): Promise<FloodCounts>
}

/** Four clients: two send awareness, one requests the board, and one sends empty updates. */
export const mixedFlood: FloodKind[] = ['awareness', 'awareness', 'question', 'update']

/** Starts the clients. Resolves when all have opened the board. */
export async function flood(target: Target): Promise<Flood> {
  const worker = new Worker(new URL(import.meta.url), { workerData: target })
  const message = () =>
    new Promise<FloodCounts>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
  await message()
  return {
    async stop() {
      const sent = message()
      worker.postMessage('stop')
      await sent
      await worker.terminate()
      return sent
    },
  }
}

async function run({ serviceUrl, boardId, token, kinds }: Target): Promise<void> {
  const stateVector = Y.encodeStateVector(new Y.Doc())
  const send: Record<FloodKind, (socket: WebSocket, client: number, n: number) => void> = {
    awareness: (socket, client, n) =>
      socket.send(awarenessFrame(boardId, [{ client, clock: n, state: `{"n":${n}}` }])),
    question: (socket) => socket.send(syncFrame(boardId, 0, stateVector)),
    update: (socket) => socket.send(updateFrame(boardId, new Uint8Array([0, 0]))),
    ping: (socket) => socket.ping('', true),
  }
  let isRunning = true
  let sent = 0
  let received = 0
  const clients = await Promise.all(
    kinds.map(async (kind) => ({ kind, ...(await enter(serviceUrl, { boardId, token })) })),
  )
  parentPort!.once('message', () => {
    isRunning = false
    for (const { socket } of clients) socket.terminate()
    parentPort!.postMessage({ sent, received })
  })
  parentPort!.postMessage({ sent, received })
  clients.forEach(({ socket, kind }, at) => {
    socket.removeAllListeners('message')
    socket.on('message', () => (received += 1))
    socket.on('pong', () => (received += 1))
    const push = () => {
      for (let n = 0; n < 200 && socket.bufferedAmount < 200_000; n++) send[kind](socket, at + 1, (sent += 1))
      if (isRunning) setTimeout(push, 1)
    }
    push()
  })
}

if (!isMainThread) void run(workerData as Target)
