import { once } from 'node:events'
import net from 'node:net'
import type { AddressInfo } from 'node:net'

/** How a connection is lost: the peer closes it, or resets it (as after a crash, or with unread bytes). */
export type Cut = 'close' | 'reset'

/** A TCP relay to a server that cuts its first connection at a chosen chunk, once, and relays ever after. */
export interface SeveringProxy {
  port: number
  /** Cuts nothing from now on. Returns whether the cut has happened: not when fewer chunks were sent. */
  disarm(): boolean
  stop(): Promise<void>
}

/** @param chunk number of the chunk, counted over both directions, that is dropped with its connection */
export async function severingProxy(serverPort: number, chunk: number, cut: Cut): Promise<SeveringProxy> {
  let chunks = 0
  let severed = false
  let armed = true
  const sockets = new Set<net.Socket>()

  const server = net.createServer((client) => {
    const upstream = net.connect(serverPort, '127.0.0.1')
    relay(client, upstream)
    relay(upstream, client)

    function relay(from: net.Socket, to: net.Socket): void {
      sockets.add(from)
      from.setNoDelay()
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('data', (bytes) => {
        if (!armed || ++chunks < chunk) to.write(bytes)
        else sever()
      })
    }

    function sever(): void {
      severed = true
      armed = false
      if (cut === 'reset') client.resetAndDestroy()
      else client.end()
      upstream.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    disarm() {
      armed = false
      return severed
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
