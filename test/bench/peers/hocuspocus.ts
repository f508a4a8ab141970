/**
 * Bare Hocuspocus: it stores documents only in memory, and its only hook accepts every client. With a Redis, it passes
 * changes on to others like it by its own extension.
 */
import { createServer } from 'node:http'
import { Redis } from '@hocuspocus/extension-redis'
import { Hocuspocus } from '@hocuspocus/server'
import { WebSocketServer } from 'ws'
import { announce, maxPayloadBytes } from './announce.ts'

const redis = process.env.BENCH_REDIS_URL ? new URL(process.env.BENCH_REDIS_URL) : null
const extensions = redis ? [new Redis({ host: redis.hostname, port: Number(redis.port) })] : []
const hocuspocus = new Hocuspocus({ quiet: true, extensions, onAuthenticate: () => Promise.resolve() })
const server = createServer()
const sockets = new WebSocketServer({ server, maxPayload: maxPayloadBytes, perMessageDeflate: false })

sockets.on('connection', (socket, request) => {
  const connection = hocuspocus.handleConnection(socket, new Request(`http://localhost${request.url}`))
  socket.on('message', (frame) => connection.handleMessage(frame as Buffer))
  socket.on('close', (code, reason) => connection.handleClose({ code, reason: reason.toString() }))
})
server.listen(0, '127.0.0.1', () => announce(server))
