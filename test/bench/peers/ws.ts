/**
 * The floor: a bare `ws` server that writes the bytes which have to be written, and decodes nothing. It keeps the updates
 * of a board as they came, and sends cursors on together, every 50 ms. With a Redis, it passes the updates on to others
 * like it.
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { createDecoder, readVarString, readVarUint, readVarUint8Array } from 'lib0/decoding'
import { createEncoder, toUint8Array, writeVarString, writeVarUint, writeVarUint8Array } from 'lib0/encoding'
import { WebSocketServer, type WebSocket } from 'ws'
import { RedisDriver } from '../../../collab/bus/redis-driver.ts'
import { announce, maxPayloadBytes } from './announce.ts'

const message = { sync: 0, awareness: 1, auth: 2, syncStatus: 8 }
const syncStep = { one: 0, two: 1, update: 2 }
const authenticated = 2
const cursorTickMs = 50
/** More updates than these, or a larger one, become one frame for those who join. */
const maxTailUpdates = 256
const maxTailBytes = 256

class Room {
  readonly #name: string
  readonly #sockets = new Set<WebSocket>()
  #base: Uint8Array[] = []
  #baseFrame: Uint8Array | null = null
  #tail: Uint8Array[] = []
  /** Encoded states without the count before them. */
  #cursors: Uint8Array[] = []

  constructor(name: string) {
    this.#name = name
  }

  receive(socket: WebSocket, frame: Uint8Array, decoder: ReturnType<typeof createDecoder>): void {
    const type = readVarUint(decoder)
    if (type === message.auth) this.#admit(socket)
    else if (type === message.awareness) this.#moved(readVarUint8Array(decoder))
    else if (type === message.sync) {
      const step = readVarUint(decoder)
      if (step === syncStep.one) this.#sendState(socket)
      else socket.send(this.#frame(message.syncStatus, 1))
      if (step === syncStep.update) this.#changed(socket, frame, readVarUint8Array(decoder))
    }
  }

  /** Takes an update that another server passed on. */
  follow(frame: Uint8Array, decoder: ReturnType<typeof createDecoder>): void {
    readVarUint(decoder)
    readVarUint(decoder)
    this.#changed(null, frame, readVarUint8Array(decoder))
  }

  leave(socket: WebSocket): void {
    this.#sockets.delete(socket)
  }

  #admit(socket: WebSocket): void {
    this.#sockets.add(socket)
    socket.send(this.#frame(message.auth, authenticated, 'read-write'))
    socket.send(this.#frame(message.sync, syncStep.one, new Uint8Array(1)))
  }

  #sendState(socket: WebSocket): void {
    this.#baseFrame ??= this.#frame(message.sync, syncStep.update, Buffer.concat(this.#base))
    socket.send(this.#baseFrame)
    socket.send(this.#frame(message.sync, syncStep.two, Buffer.concat(this.#tail)))
  }

  /** @param from null: another server */
  #changed(from: WebSocket | null, frame: Uint8Array, update: Uint8Array): void {
    if (from) passOn?.(frame)
    this.#tail.push(update)
    if (this.#tail.length > maxTailUpdates || update.byteLength > maxTailBytes) {
      this.#base.push(...this.#tail)
      this.#tail = []
      this.#baseFrame = null
    }
    for (const socket of this.#sockets) if (socket !== from) socket.send(frame)
  }

  #moved(states: Uint8Array): void {
    this.#cursors.push(states.subarray(1))
    if (this.#cursors.length === 1) setTimeout(() => this.#sendCursors(), cursorTickMs)
  }

  #sendCursors(): void {
    const count = createEncoder()
    writeVarUint(count, this.#cursors.length)
    const states = Buffer.concat([toUint8Array(count), ...this.#cursors])
    const frame = this.#frame(message.awareness, states)
    this.#cursors = []
    for (const socket of this.#sockets) socket.send(frame)
  }

  #frame(...parts: (number | string | Uint8Array)[]): Uint8Array {
    const encoder = createEncoder()
    writeVarString(encoder, this.#name)
    for (const part of parts)
      if (typeof part === 'number') writeVarUint(encoder, part)
      else if (typeof part === 'string') writeVarString(encoder, part)
      else writeVarUint8Array(encoder, part)
    return toUint8Array(encoder)
  }
}

const rooms = new Map<string, Room>()
const url = process.env.BENCH_REDIS_URL
const passOn = url ? await connect(url) : null

/** @returns a function that sends a frame to the other servers, as nodes send messages */
async function connect(url: string): Promise<(frame: Uint8Array) => void> {
  const id = randomUUID()
  const driver = new RedisDriver({ url, databaseId: async () => 'floor', log: console })
  await driver.open((message) => {
    if (!message?.bytes || message.head === id) return
    const decoder = createDecoder(message.bytes)
    rooms.get(readVarString(decoder))?.follow(message.bytes, decoder)
  })
  return (frame) => driver.send({ head: id, bytes: frame })
}

const server = createServer()
const sockets = new WebSocketServer({ server, maxPayload: maxPayloadBytes, perMessageDeflate: false })

sockets.on('connection', (socket) => {
  let joined: Room | null = null
  socket.on('message', (data) => {
    const frame = data as Buffer
    const decoder = createDecoder(frame)
    const name = readVarString(decoder)
    joined = rooms.getOrInsertComputed(name, (name) => new Room(name))
    joined.receive(socket, frame, decoder)
  })
  socket.on('close', () => joined?.leave(socket))
})
server.listen(0, '127.0.0.1', () => announce(server))
