import { createEncoder, toUint8Array, writeUint8Array, writeVarString, writeVarUint } from 'lib0/encoding'
import { createDecoder, readVarString, readVarUint, readVarUint8Array } from 'lib0/decoding'
import { WebSocket } from 'ws'
import type { EditorAddress } from './jobs.ts'

const message = { sync: 0, awareness: 1, auth: 2, queryAwareness: 3, syncReply: 4, close: 7, syncStatus: 8 }
const syncStep = { one: 0, two: 1, update: 2 }
const permissionDenied = 1
const emptyStateVector = Uint8Array.of(0)
const emptyUpdate = Uint8Array.of(0, 0)
const openWithinMs = 180_000
/** Hocuspocus closes a connection that sends nothing for 60 seconds. */
const keepAliveMs = 20_000

/**
 * The socket of an editor without its document. It speaks the protocol but does not decode updates, so that hundreds of
 * sockets cost the load process little.
 */
export interface EditorSocket {
  sendUpdate(update: Uint8Array): void
  sendAwareness(states: Uint8Array): void
  /** Called once for each acknowledged update. */
  onAcknowledged: () => void
  /** Called with updates of other editors, single or merged. The server may echo the editor's own updates. */
  onUpdate: ((update: Uint8Array) => void) | null
  /** Called with the encoded awareness states of each frame. */
  onAwareness: ((states: Uint8Array) => void) | null
  /** Called when the server refuses an update or closes the socket. */
  onFailure: (error: Error) => void
  close(): void
}

/** Connects, authenticates and syncs. Throws when the server refuses, or has not synced within about three minutes.
 *
 * @param have state vector of what the editor has already
 */
export async function openEditor(
  server: EditorAddress,
  board: string,
  have: Uint8Array = emptyStateVector,
): Promise<EditorSocket> {
  return server.protocol === 'hocuspocus'
    ? openHocuspocus(server, board, have)
    : openYWebsocket(server, board, have)
}

/** Opens `editorsPerBoard` on each board, in the order of the boards. */
export async function openEditors(
  server: EditorAddress,
  boards: string[],
  editorsPerBoard: number,
): Promise<EditorSocket[]> {
  const tokens = server.tokens ?? [server.token]
  const wanted = boards.flatMap((board) =>
    Array.from({ length: editorsPerBoard }, (_, n) => ({ board, token: tokens[n % tokens.length]! })),
  )
  const editors: EditorSocket[] = []
  const atOnce = 50
  for (let start = 0; start < wanted.length; start += atOnce) {
    const batch = wanted.slice(start, start + atOnce)
    const opened = await Promise.allSettled(
      batch.map(({ board, token }) => openEditor({ ...server, token }, board)),
    )
    editors.push(...opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])))
    const refused = opened.find((result) => result.status === 'rejected')
    if (!refused) continue
    for (const editor of editors) editor.close()
    throw refused.reason
  }
  return editors
}

async function openHocuspocus(server: EditorAddress, board: string, have: Uint8Array): Promise<EditorSocket> {
  const header = encode((encoder) => writeVarString(encoder, board))
  const editor = new Connection(server.url, frameHead(header, message.sync, syncStep.update))
  let synced = false
  let stepTwoAcknowledged = false
  const checkReady = () => {
    if (synced && stepTwoAcknowledged) editor.ready()
  }
  editor.onOpen = () =>
    editor.send(
      encode((encoder) => {
        writeUint8Array(encoder, header)
        writeVarUint(encoder, message.auth)
        writeVarUint(encoder, 0)
        writeVarString(encoder, server.token)
      }),
    )
  editor.onFrame = (frame) => {
    switch (frame[header.length]) {
      case message.sync:
      case message.syncReply:
        switch (frame[header.length + 1]) {
          case syncStep.one:
            editor.sendPayload(frameHead(header, message.sync, syncStep.two), emptyUpdate)
            break
          case syncStep.two:
            synced = true
            checkReady()
            break
          case syncStep.update:
            editor.onUpdate?.(payload(frame, header.length + 2))
        }
        break
      case message.awareness:
        editor.onAwareness?.(payload(frame, header.length + 1))
        break
      case message.syncStatus:
        if (frame[header.length + 1] === 0) editor.fail('the server refused an update')
        else if (editor.isReady) editor.onAcknowledged()
        else {
          // The first acknowledgement answers the empty step two above.
          stepTwoAcknowledged = true
          checkReady()
        }
        break
      case message.auth:
        if (frame[header.length + 1] === permissionDenied) editor.fail(`no access: ${text(frame, header)}`)
        else if (!editor.isReady) editor.sendPayload(frameHead(header, message.sync, syncStep.one), have)
        break
      case message.close:
        editor.fail('the server closed the document')
    }
  }
  editor.awarenessHead = frameHead(header, message.awareness)
  editor.keepAlive = frameHead(header, message.queryAwareness)
  return editor.opened
}

async function openYWebsocket(server: EditorAddress, board: string, have: Uint8Array): Promise<EditorSocket> {
  const header = new Uint8Array(0)
  const editor = new Connection(`${server.url}/${board}`, frameHead(header, message.sync, syncStep.update))
  editor.onOpen = () => editor.sendPayload(frameHead(header, message.sync, syncStep.one), have)
  editor.onFrame = (frame) => {
    if (frame[0] !== message.sync) return
    if (frame[1] === syncStep.update) editor.onUpdate?.(payload(frame, 2))
    else if (frame[1] === syncStep.two) editor.ready()
  }
  return editor.opened
}

class Connection implements EditorSocket {
  onOpen: () => void = () => {}
  onFrame: (frame: Uint8Array) => void = () => {}
  onAcknowledged: () => void = () => {}
  onUpdate: ((update: Uint8Array) => void) | null = null
  onAwareness: ((states: Uint8Array) => void) | null = null
  onFailure: (error: Error) => void = () => {}
  awarenessHead: Uint8Array = new Uint8Array(0)
  keepAlive: Uint8Array | null = null
  isReady = false
  readonly opened: Promise<EditorSocket>
  private readonly opening = Promise.withResolvers<EditorSocket>()
  private readonly socket: WebSocket
  private readonly updateHead: Uint8Array
  private readonly timer: NodeJS.Timeout

  constructor(url: string, updateHead: Uint8Array) {
    this.updateHead = updateHead
    this.opened = this.opening.promise
    this.socket = new WebSocket(url, {
      perMessageDeflate: false,
      skipUTF8Validation: true,
      // A constant mask saves a random one for each frame. It is not zero, because the server would then skip
      // unmasking.
      generateMask: (mask) => mask.fill(0x5a),
    })
    this.socket.on('open', () => this.onOpen())
    this.socket.on('message', (frame) => this.onFrame(frame as Buffer))
    this.socket.on('error', (error) => this.fail(error.message))
    this.socket.on('close', (code, reason) => this.fail(`socket closed: ${code} ${reason.toString()}`))
    const openedBy = performance.now() + openWithinMs
    this.timer = setInterval(() => {
      if (this.isReady && this.keepAlive) this.send(this.keepAlive)
      else if (!this.isReady && performance.now() > openedBy) this.fail('not synced within three minutes')
    }, keepAliveMs)
  }

  ready(): void {
    this.isReady = true
    this.opening.resolve(this)
  }

  fail(reason: string): void {
    const error = new Error(reason)
    this.opening.reject(error)
    if (this.isReady) this.onFailure(error)
    this.close()
  }

  sendUpdate(update: Uint8Array): void {
    this.sendPayload(this.updateHead, update)
  }

  sendAwareness(states: Uint8Array): void {
    this.sendPayload(this.awarenessHead, states)
  }

  /** Encodes `head`, the payload's length and the payload, in one allocation. */
  sendPayload(head: Uint8Array, payload: Uint8Array): void {
    const lengthBytes =
      payload.length < 0x80 ? 1 : payload.length < 0x4000 ? 2 : payload.length < 0x20_0000 ? 3 : 4
    const frame = Buffer.allocUnsafe(head.length + lengthBytes + payload.length)
    frame.set(head, 0)
    let at = head.length
    let rest = payload.length
    for (; rest >= 0x80; rest >>>= 7) frame[at++] = (rest & 0x7f) | 0x80
    frame[at++] = rest
    frame.set(payload, at)
    this.send(frame)
  }

  send(frame: Uint8Array): void {
    this.socket.send(frame)
  }

  close(): void {
    clearInterval(this.timer)
    this.onFailure = () => {}
    this.socket.terminate()
  }
}

function encode(write: (encoder: ReturnType<typeof createEncoder>) => void): Uint8Array {
  const encoder = createEncoder()
  write(encoder)
  return toUint8Array(encoder)
}

function frameHead(header: Uint8Array, ...types: number[]): Uint8Array {
  return Uint8Array.of(...header, ...types)
}

function payload(frame: Uint8Array, offset: number): Uint8Array {
  return readVarUint8Array(createDecoder(frame.subarray(offset)))
}

/** Returns the text of an Auth frame, which follows its two types. */
function text(frame: Uint8Array, header: Uint8Array): string {
  const decoder = createDecoder(frame.subarray(header.length))
  readVarUint(decoder)
  readVarUint(decoder)
  return readVarString(decoder)
}
