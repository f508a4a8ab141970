/** @y/websocket-server in memory. It uses the version of ws that the other peers use, instead of its own ws 6. */
import { createServer } from 'node:http'
import { setupWSConnection } from '@y/websocket-server/utils'
import { WebSocketServer } from 'ws'
import { announce, maxPayloadBytes } from './announce.ts'

const server = createServer()
const sockets = new WebSocketServer({ server, maxPayload: maxPayloadBytes, perMessageDeflate: false })

sockets.on('connection', (socket, request) => setupWSConnection(socket, request))
server.listen(0, '127.0.0.1', () => announce(server))
