/**
 * What people build on Hocuspocus today: its extension for databases stores a document when it has changed, and a
 * Fastify route changes documents over direct connections. The route answers when the document is stored.
 */
import { randomUUID } from 'node:crypto'
import { Database } from '@hocuspocus/extension-database'
import { Hocuspocus } from '@hocuspocus/server'
import Fastify from 'fastify'
import postgres from 'postgres'
import { WebSocketServer } from 'ws'
import * as Y from 'yjs'
import { announce, maxPayloadBytes } from './announce.ts'

const sql = postgres(process.env.BENCH_DATABASE_URL!, { onnotice: () => {} })
await sql`create table if not exists bench_documents (name text primary key, state bytea not null)`

const database = new Database({
  fetch: async ({ documentName }) => {
    const [row] = await sql<{ state: Buffer }[]>`
      select state from bench_documents where name = ${documentName}`
    return row?.state ?? null
  },
  store: async ({ documentName, state }) => {
    await sql`
      insert into bench_documents (name, state) values (${documentName}, ${state as Buffer})
      on conflict (name) do update set state = excluded.state`
  },
})
const hocuspocus = new Hocuspocus({
  quiet: true,
  extensions: [database],
  onAuthenticate: () => Promise.resolve(),
})

const app = Fastify({ bodyLimit: 64 * 1024 * 1024 })
app.post<{ Params: { boardId: string }; Body: Record<string, unknown> }>(
  '/boards/:boardId/cards',
  async (request, reply) => {
    const { boardId } = request.params
    const { body, ...fields } = request.body
    const id = randomUUID()
    const connection = await hocuspocus.openDirectConnection(boardId)
    await connection.transact((document) => {
      const entries = [...Object.entries(fields), ['body', new Y.Text(String(body))]] as [string, unknown][]
      document.getMap('cards').set(id, new Y.Map(entries))
    })
    await connection.disconnect()
    return reply.code(201).send({ board_id: boardId, cards: [{ id, ...request.body }] })
  },
)

const sockets = new WebSocketServer({
  server: app.server,
  maxPayload: maxPayloadBytes,
  perMessageDeflate: false,
})
sockets.on('connection', (socket, request) => {
  const connection = hocuspocus.handleConnection(socket, new Request(`http://localhost${request.url}`))
  socket.on('message', (frame) => connection.handleMessage(frame as Buffer))
  socket.on('close', (code, reason) => connection.handleClose({ code, reason: reason.toString() }))
})
await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server)
