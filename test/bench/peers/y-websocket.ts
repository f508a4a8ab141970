/** @y/websocket-server in memory, behind the ws of the other peers and not the ws 6 that it brings along. */
import { createServer } from 'node:http'
import { setupWSConnection } from '@y/websocket-server/utils'
import { WebSocketServer } from 'ws'
import { announce, maxPayloadBytes } from './announce.ts'

const server = createServer()
const sockets = new WebSocketServer({ server, maxPayload: maxPayloadBytes, perMessageDeflate: false })

sockets.on('connection', (socket, request) => setupWSConnection(socket, request))
server.listen(0, '127.0.0.1', () => announce(server))
