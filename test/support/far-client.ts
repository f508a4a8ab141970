/** Requests from a thread of its own, so that what a client does is no part of the main thread's time. */
import { once } from 'node:events'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

export interface FarRequest {
  method: string
  url: string
  token: string
  /** JSON. */
  body?: string
}

export interface FarAnswer {
  status: number
  /** The bytes of the answer. */
  body: Uint8Array
}

export interface FarClient extends AsyncDisposable {
  send(request: FarRequest): Promise<FarAnswer>
}

/** One request at a time. */
export function farClient(): FarClient {
  const worker = new Worker(new URL(import.meta.url))
  return {
    async send(request) {
      const answered = once(worker, 'message')
      worker.postMessage(request)
      const [answer] = (await answered) as [FarAnswer | { fault: string }]
      if ('fault' in answer) throw new Error(answer.fault)
      return answer
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}

async function answer({ method, url, token, body }: FarRequest): Promise<FarAnswer> {
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
  const response = await fetch(url, { method, headers, ...(body && { body }) })
  return { status: response.status, body: new Uint8Array(await response.arrayBuffer()) }
}

if (!isMainThread && parentPort) {
  const port = parentPort
  port.on('message', (request: FarRequest) => {
    answer(request).then(
      (found) => port.postMessage(found, [found.body.buffer as ArrayBuffer]),
      (error: unknown) => port.postMessage({ fault: String(error) }),
    )
  })
}
