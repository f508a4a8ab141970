/** A client that writes the protocol byte by byte. So it can send frames that no provider would send. */
import { connect as connectTcp, type Socket } from 'node:net'
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { until } from './editor.ts'

export const type = {
  sync: 0,
  awareness: 1,
  auth: 2,
  queryAwareness: 3,
  syncReply: 4,
  stateless: 5,
  broadcastStateless: 6,
  close: 7,
  syncStatus: 8,
  ping: 9,
} as const

/** Encodes a frame: address, type, then the output of `write`. */
export function frame(
  address: string,
  type: number,
  write: (encoder: encoding.Encoder) => void = () => undefined,
): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarString(encoder, address)
  encoding.writeVarUint(encoder, type)
  write(encoder)
  return encoding.toUint8Array(encoder)
}

export const authFrame = (address: string, token: string) =>
  frame(address, type.auth, (encoder) => {
    encoding.writeVarUint(encoder, 0)
    encoding.writeVarString(encoder, token)
  })

/** Encodes a sync frame. Step 0: a state vector; 1: SyncStep2; 2: an update. */
export const syncFrame = (address: string, step: number, payload: Uint8Array) =>
  frame(address, type.sync, (encoder) => {
    encoding.writeVarUint(encoder, step)
    encoding.writeVarUint8Array(encoder, payload)
  })

export const updateFrame = (address: string, update: Uint8Array) => syncFrame(address, 2, update)

export const awarenessFrame = (address: string, states: { client: number; clock: number; state: string }[]) =>
  frame(address, type.awareness, (encoder) => {
    const inner = encoding.createEncoder()
    encoding.writeVarUint(inner, states.length)
    for (const { client, clock, state } of states) {
      encoding.writeVarUint(inner, client)
      encoding.writeVarUint(inner, clock)
      encoding.writeVarString(inner, state)
    }
    encoding.writeVarUint8Array(encoder, encoding.toUint8Array(inner))
  })

export interface RawClient {
  socket: WebSocket
  send(frame: Uint8Array | string): void
  /** Frames received, by type. */
  received(type: number): { address: string; content: Uint8Array }[]
  /** SyncStatus frames, in order. */
  readonly acknowledgements: boolean[]
  readonly denials: string[]
  readonly closed: { code: number; reason: string } | null
  /** Document with all updates that the server sent. */
  documentOf(address: string): Y.Doc
  /** Resolves with the close code. */
  untilClosed(timeoutMs?: number): Promise<number>
}

const open = new Set<WebSocket>()

/** @param localAddress the address to come from */
export async function connect(
  serviceUrl: string,
  path = '/collab',
  localAddress?: string,
): Promise<RawClient> {
  const options = { perMessageDeflate: false, ...(localAddress === undefined ? {} : { localAddress }) }
  const socket = new WebSocket(`${serviceUrl.replace('http', 'ws')}${path}`, options)
  open.add(socket)
  const frames: { address: string; type: number; content: Uint8Array }[] = []
  const documents = new Map<string, Y.Doc>()
  const documentOf = (address: string) => {
    const document = documents.get(address) ?? new Y.Doc()
    documents.set(address, document)
    return document
  }
  let closed: RawClient['closed'] = null
  socket.on('message', (data: Buffer) => {
    const decoder = decoding.createDecoder(new Uint8Array(data))
    const address = decoding.readVarString(decoder)
    const type = decoding.readVarUint(decoder)
    const content = decoding.readTailAsUint8Array(decoder)
    frames.push({ address, type, content })
    if (type !== 0) return
    const inner = decoding.createDecoder(content)
    if (decoding.readVarUint(inner) !== 0)
      Y.applyUpdate(documentOf(address), decoding.readVarUint8Array(inner))
  })
  socket.on('close', (code, reason) => (closed = { code, reason: reason.toString() }))
  socket.on('error', () => undefined)
  await until(() => socket.readyState === WebSocket.OPEN || closed !== null, 'the socket opens or is refused')
  const received = (type: number) => frames.filter((frame) => frame.type === type)
  return {
    socket,
    send(frame) {
      socket.send(frame, () => undefined)
    },
    received,
    get acknowledgements() {
      return received(type.syncStatus).map(({ content }) => content[0] === 1)
    },
    get denials() {
      return received(type.auth)
        .filter(({ content }) => content[0] === 1)
        .map(({ content }) => {
          const decoder = decoding.createDecoder(content)
          decoding.readVarUint(decoder)
          return decoding.readVarString(decoder)
        })
    },
    get closed() {
      return closed
    },
    documentOf,
    async untilClosed(timeoutMs) {
      await until(() => closed !== null, 'the socket is closed', timeoutMs)
      return closed!.code
    },
  }
}

/** Connects a client and opens a board. */
export async function enter(
  serviceUrl: string,
  options: { boardId: string; token: string; session?: string },
): Promise<RawClient & { address: string; update(update: Uint8Array): void }> {
  const client = await connect(serviceUrl)
  const address = options.session === undefined ? options.boardId : `${options.boardId}\0${options.session}`
  client.send(authFrame(address, options.token))
  client.send(syncFrame(address, 0, Y.encodeStateVector(new Y.Doc())))
  await until(() => client.received(type.sync).length >= 2 || client.denials.length > 0, 'the board is there')
  if (client.denials.length > 0) throw new Error(`refused: ${client.denials.join()}`)
  return Object.assign(client, {
    address,
    update: (update: Uint8Array) => client.send(updateFrame(address, update)),
  })
}

/** Sends bytes on a TCP connection. */
export async function tcp(serviceUrl: string): Promise<Socket> {
  const { hostname, port } = new URL(serviceUrl)
  const socket = connectTcp(Number(port), hostname)
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

export function disconnectAll(): void {
  for (const socket of open) socket.terminate()
  open.clear()
}
