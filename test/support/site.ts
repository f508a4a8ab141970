/** A web site on loopback, from which imports read. The test sets the answer of each path. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Serve = (request: IncomingMessage, response: ServerResponse) => void

export interface Site {
  /** `http://127.0.0.1:port` */
  url: string
  pages: Map<string, Serve>
  requests: string[]
  /** The highest number of concurrent requests. */
  mostAtOnce(): number
  close(): Promise<void>
}

export async function openSite(): Promise<Site> {
  const pages = new Map<string, Serve>()
  const requests: string[] = []
  let running = 0
  let most = 0
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    most = Math.max(most, (running += 1))
    response.once('close', () => (running -= 1))
    const serve = pages.get(request.url ?? '')
    if (serve) serve(request, response)
    else response.writeHead(404).end('nothing here')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages,
    requests,
    mostAtOnce: () => most,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const serves =
  (body: string | Buffer, type = 'application/octet-stream', headers: Record<string, string> = {}): Serve =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': type, ...headers }).end(body)

export const redirects =
  (location: string, status = 302): Serve =>
  (_request, response) =>
    response.writeHead(status, { location }).end()

/** Returns the first bytes of a PNG, which contain its size. */
export function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(33)
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(header)
  header.writeUInt32BE(width, 16)
  header.writeUInt32BE(height, 20)
  header.set([8, 2, 0, 0, 0], 24)
  return Buffer.concat([header, Buffer.from('0000000049454e44ae426082', 'hex')])
}
