/** A proxy on loopback that adds a token to requests, for a client without a token. */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface TokenProxy {
  url: string
  close(): Promise<void>
}

/** Forwards `Host` and `Origin` unchanged, because the service checks them. */
export async function openTokenProxy(target: string, token: string): Promise<TokenProxy> {
  const { hostname, port } = new URL(target)
  const server = createServer((incoming, outgoing) => {
    const onward = request(
      {
        hostname,
        port,
        method: incoming.method,
        path: incoming.url,
        headers: { ...incoming.headers, authorization: `Bearer ${token}` },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
