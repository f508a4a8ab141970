import type { Duplex } from 'node:stream'

/**
 * Answers an upgrade request with a refusal. After the upgrade event only this code listens to the stream. Without an
 * error listener an error would end the process. Without `destroy` a client that never closes would keep the
 * connection.
 */
export function refuseUpgrade(stream: Duplex, status: string, header = ''): void {
  stream.on('error', () => stream.destroy())
  stream.once('finish', () => stream.destroy())
  stream.end(`HTTP/1.1 ${status}\r\n${header}Connection: close\r\nContent-Length: 0\r\n\r\n`)
}
