import type { Duplex } from 'node:stream'

/**
 * Answers an upgrade request with a refusal. From the upgrade on nobody but us listens to the stream: an error that
 * finds no listener would end the process, and a client that never closes would keep the connection.
 */
export function refuseUpgrade(stream: Duplex, status: string, header = ''): void {
  stream.on('error', () => stream.destroy())
  stream.once('finish', () => stream.destroy())
  stream.end(`HTTP/1.1 ${status}\r\n${header}Connection: close\r\nContent-Length: 0\r\n\r\n`)
}
