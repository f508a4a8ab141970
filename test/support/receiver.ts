/** A webhook receiver on loopback that stores each request unchanged. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  raw: Buffer
  body: {
    type: string
    resource: { type: string; id: string }
    workspace: { id: string }
    board: { id: string } | null
    data: Record<string, any>
    occurred_at: string
  }
  deliveryId: string
  /** Time of arrival, as of `performance.now()`. */
  at: number
}

/** A status, with or without headers. Null: the receiver never answers. */
export type Answer = number | { status: number; headers: Record<string, string> } | null

export interface Receiver {
  url: string
  received: Received[]
  /** Sets the answers to the next requests. */
  answer: (request: Received, nth: number) => Answer
  /** Number of delayed answers. */
  hanging: ServerResponse[]
  close(): Promise<void>
}

export async function openReceiver(answer: Receiver['answer'] = () => 200): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const raw = Buffer.concat(chunks)
      const received: Received = {
        path: request.url ?? '',
        headers: request.headers,
        raw,
        body: JSON.parse(raw.toString('utf8')),
        deliveryId: String(request.headers['x-service-delivery']),
        at: performance.now(),
      }
      receiver.received.push(received)
      const decided = receiver.answer(received, receiver.received.length)
      if (decided === null) receiver.hanging.push(response)
      else if (typeof decided === 'number') response.writeHead(decided).end()
      else response.writeHead(decided.status, decided.headers).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    hanging: [],
    answer,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}
