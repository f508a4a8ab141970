/** Answers a request that Node's HTTP parser refuses. Fastify and its hooks never see it. */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { errorBody } from '../api/http/error-reply.ts'
import type { Logger } from '../platform/log.ts'

const faults: Record<string, { status: number; error: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    error: 'The URL and the headers must take at most 16 KB. Send long values in a body.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, error: 'The request did not arrive in time. Send it again.' },
}
const malformed = {
  status: 400,
  error:
    'The request must be HTTP/1.1 with a known method, and a URL and headers in ASCII. Percent-encode other letters of the URL.',
}

/** Whether an answer to an earlier request of the connection is under way. Node keeps it at the socket. */
const isAnswering = (socket: Socket): boolean =>
  (socket as { _httpMessage?: ServerResponse })._httpMessage?.headersSent ?? false

export const answerUnreadable =
  (log: Logger) =>
  (fault: Error & { code?: string }, socket: Socket): void => {
    const { code = '' } = fault
    if (code === 'ECONNRESET' || socket.destroyed) return
    const { status, error } = faults[code] ?? malformed
    const requestId = randomUUID()
    log.info({ requestId, fault: code, status }, 'a request could not be read')
    if (!socket.writable || isAnswering(socket)) return void socket.destroy()
    const body = JSON.stringify(errorBody('bad_request', error))
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'access-control-allow-origin: *',
      'x-content-type-options: nosniff',
      `x-request-id: ${requestId}`,
      'connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
  }
