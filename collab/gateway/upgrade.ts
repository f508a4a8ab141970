import type { Duplex } from 'node:stream'
import { isBoardAddress } from './protocol.ts'

const root = '/collab'

/**
 * Reads the path of an upgrade request: `/collab`, or `/collab/{boardId}` for a socket of one board alone. A balancer
 * can send sockets with the board in the path to the node that has the board in memory.
 *
 * @returns the board, null for any board, and undefined for another path
 */
export function boardOfPath(url: string | undefined): string | null | undefined {
  const path = url?.split('?', 1)[0]
  if (path === root) return null
  const board = path?.startsWith(`${root}/`) ? path.slice(root.length + 1).toLowerCase() : ''
  return isBoardAddress(board) ? board : undefined
}

/** The `as_of` of an upgrade request; null for a socket that shows boards as they are. */
export const asOfIn = (url = ''): string | null =>
  new URLSearchParams(url.split('?', 2)[1] ?? '').get('as_of')

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
