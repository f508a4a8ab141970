/** Clients that send as fast as they can, in a thread of their own, so that only what they cost the service is measured. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import * as Y from 'yjs'
import { awarenessFrame, enter, syncFrame, updateFrame } from './raw-client.ts'

interface Target {
  serviceUrl: string
  boardId: string
  token: string
}

export interface Flood {
  /** @returns frames sent */
  stop(): Promise<number>
}

/** Resolves when the clients are in: two that send awareness, one that asks for the board, one that sends empty updates. */
export async function flood(target: Target): Promise<Flood> {
  const worker = new Worker(new URL(import.meta.url), { workerData: target })
  const message = () =>
    new Promise<number>((resolve, reject) => {
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

async function run({ serviceUrl, boardId, token }: Target): Promise<void> {
  const stateVector = Y.encodeStateVector(new Y.Doc())
  const makers = [
    (n: number) => awarenessFrame(boardId, [{ client: 1, clock: n, state: `{"n":${n}}` }]),
    (n: number) => awarenessFrame(boardId, [{ client: 2, clock: n, state: `{"n":${n}}` }]),
    () => syncFrame(boardId, 0, stateVector),
    () => updateFrame(boardId, new Uint8Array([0, 0])),
  ]
  let isRunning = true
  let sent = 0
  const clients = await Promise.all(makers.map(() => enter(serviceUrl, { boardId, token })))
  parentPort!.once('message', () => {
    isRunning = false
    for (const { socket } of clients) socket.terminate()
    parentPort!.postMessage(sent)
  })
  parentPort!.postMessage(0)
  clients.forEach(({ socket }, at) => {
    socket.removeAllListeners('message')
    const send = () => {
      for (let n = 0; n < 200 && socket.bufferedAmount < 200_000; n++) socket.send(makers[at]!((sent += 1)))
      if (isRunning) setTimeout(send, 1)
    }
    send()
  })
}

if (!isMainThread) void run(workerData as Target)
