/** A raw TCP server on loopback. It counts its connections and passes each to the test. */
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Listener {
  port: number
  /** Number of connections so far. */
  connections(): number
  /** Number of open connections. */
  open(): number
  /** All bytes received, on all connections. */
  received(): Buffer
}

export async function listen(
  serve: (socket: Socket) => void = () => undefined,
  options: { host?: string; server?: (connected: (socket: Socket) => void) => Server } = {},
): Promise<Listener> {
  const sockets = new Set<Socket>()
  const chunks: Buffer[] = []
  let connections = 0
  const connected = (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    serve(socket)
  }
  const server = options.server?.(connected) ?? createTcpServer(connected)
  await new Promise<void>((resolve) => server.listen(0, options.host ?? '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    open: () => sockets.size,
    received: () => Buffer.concat(chunks),
  }
}

/** Calls back when a whole request has arrived: its headers and a body of the length in content-length. */
export function onRequest(socket: Socket, answer: () => void): void {
  let text = ''
  let answered = false
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const [head, body = ''] = text.split('\r\n\r\n', 2)
    if (answered || !text.includes('\r\n\r\n')) return
    if (body.length < Number(/content-length: (\d+)/i.exec(head!)?.[1] ?? 0)) return
    answered = true
    answer()
  })
}
