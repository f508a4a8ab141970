/** Bare Hocuspocus: it stores documents only in memory, and its only hook accepts every client. */
import { createServer } from 'node:http'
import { Hocuspocus } from '@hocuspocus/server'
import { WebSocketServer } from 'ws'
import { announce, maxPayloadBytes } from './announce.ts'

const hocuspocus = new Hocuspocus({ quiet: true, onAuthenticate: () => Promise.resolve() })
const server = createServer()
const sockets = new WebSocketServer({ server, maxPayload: maxPayloadBytes, perMessageDeflate: false })

sockets.on('connection', (socket, request) => {
  const connection = hocuspocus.handleConnection(socket, new Request(`http://localhost${request.url}`))
  socket.on('message', (frame) => connection.handleMessage(frame as Buffer))
  socket.on('close', (code, reason) => connection.handleClose({ code, reason: reason.toString() }))
})
server.listen(0, '127.0.0.1', () => announce(server))
