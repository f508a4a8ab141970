/** A TCP relay that can stop forwarding without closing connections, as a network partition does. */
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'

export interface SwallowingProxy {
  port: number
  /** The URL with the address of the proxy. */
  through(url: string): string
  /** Permanently silences all open connections. New connections work. */
  silenceOpen(): void
  /** Silences all open and all new connections. */
  silenceAll(): void
  /** Lets new connections work again. Silenced connections stay silent. */
  relay(): void
  stop(): Promise<void>
}

/** @param ownPort the port that it listens on; without it, a free one */
export async function swallowingProxy(serverPort: number, ownPort = 0): Promise<SwallowingProxy> {
  let silent = false
  const relayed = new Set<{ cut(): void }>()
  const sockets = new Set<net.Socket>()
  const track = (socket: net.Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }

  const server = net.createServer((client) => {
    track(client)
    if (silent) {
      client.resume()
      return
    }
    const upstream = net.connect(serverPort, '127.0.0.1')
    track(upstream)
    const pair = {
      cut() {
        relayed.delete(pair)
        client.unpipe(upstream).resume()
        upstream.unpipe(client).resume()
        client.removeAllListeners('close')
        upstream.removeAllListeners('close')
        for (const socket of [client, upstream]) socket.on('close', () => sockets.delete(socket))
      },
    }
    relayed.add(pair)
    client.pipe(upstream)
    upstream.pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  server.listen(ownPort, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const silenceOpen = () => {
    for (const pair of relayed) pair.cut()
  }

  return {
    port,
    through(url) {
      const other = new URL(url)
      other.port = String(port)
      return other.href
    },
    silenceOpen,
    silenceAll() {
      silent = true
      silenceOpen()
    },
    relay() {
      silent = false
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
