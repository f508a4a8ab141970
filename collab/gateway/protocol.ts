/**
 * Reads and writes all frames of Hocuspocus' protocol: varString address, varUint type, content. Frames from clients
 * are checked here before Hocuspocus gets them, because Hocuspocus reports malformed bytes as an internal fault.
 */
import { OutgoingMessage } from '@hocuspocus/server'
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'

export const frameType = {
  sync: 0,
  awareness: 1,
  auth: 2,
  queryAwareness: 3,
  syncReply: 4,
  stateless: 5,
  close: 7,
  syncStatus: 8,
} as const

const authType = { refused: 1 } as const

export const syncStep = { stateVector: 0, missing: 1, update: 2 } as const

/** One frame that a client sent. */
export interface Frame {
  /** The board's id or the name of a list, optionally followed by a NUL and a session's id. */
  address: string
  type: number
  /** The step of a sync frame; null for other frames. */
  step: number | null
  /** The content without its length: a state vector or update, an awareness update, or a stateless text. */
  payload: Uint8Array
  /** The whole frame. */
  bytes: Uint8Array
}

export interface FrameBounds {
  maxAwarenessBytes: number
  maxStatelessBytes: number
}

const maxAuthBytes = 16 * 1024
/** An address's length fits into one byte. */
const maxAddressBytes = 127
const addressPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(\0[\w-]{1,64})?$/

const listPattern =
  /^(account|workspace:([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}))(\0[\w-]{1,64})?$/

export const isBoardAddress = (address: string): boolean => addressPattern.test(address)
/** Whether a frame is for a live list: `account`, or `workspace:` with an id. */
export const isListAddress = (address: string): boolean => listPattern.test(address)
/** Returns the workspace of a list's address; undefined for the list of an account. */
export const workspaceOf = (address: string): string | undefined => listPattern.exec(address)?.[2]
export const boardOf = (address: string): string => address.slice(0, 36)

const nothing = new Uint8Array()

/** Parses a client's frame. Null when it is malformed, or larger than its type allows. */
export function readFrame(bytes: Uint8Array, bounds: FrameBounds): Frame | null {
  const length = bytes[0]
  if (length === undefined || length > maxAddressBytes || bytes.byteLength < length + 2) return null
  const address = textOf(bytes, 1, 1 + length)
  const type = bytes[length + 1]!
  const at = length + 2
  const contentBytes = bytes.byteLength - at
  switch (type) {
    case frameType.sync:
    case frameType.syncReply: {
      const step = bytes[at]
      if (step === undefined || step > syncStep.update) return null
      const payload = readWhole(bytes, at + 1)
      return payload && { address, type, step, payload, bytes }
    }
    case frameType.awareness:
    case frameType.stateless: {
      const isAwareness = type === frameType.awareness
      const maxBytes = isAwareness ? bounds.maxAwarenessBytes : bounds.maxStatelessBytes
      const payload = contentBytes > maxBytes ? null : readWhole(bytes, at)
      return payload && { address, type, step: null, payload, bytes }
    }
    case frameType.auth:
      return contentBytes > maxAuthBytes || bytes[at] !== 0
        ? null
        : { address, type, step: null, payload: nothing, bytes }
    case frameType.queryAwareness:
    case frameType.close:
      return { address, type, step: null, payload: nothing, bytes }
    default:
      return null
  }
}

/** Returns the token in a frame that authenticates: varUint 0, varString token. Null when it is malformed. */
export function tokenIn({ bytes }: Frame): string | null {
  const decoder = decoding.createDecoder(bytes)
  try {
    decoding.readVarString(decoder)
    decoding.readVarUint(decoder)
    decoding.readVarUint(decoder)
    return decoding.readVarString(decoder)
  } catch {
    return null
  }
}

/** Reads a varUint length and as many bytes. Null when they don't end exactly at the end of the frame. */
function readWhole(bytes: Uint8Array, from: number): Uint8Array | null {
  let at = from
  let size = 0
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++]
    if (byte === undefined || shift > 28) return null
    size += (byte & 127) * 2 ** shift
    if (byte < 128) break
  }
  return at + size === bytes.byteLength ? bytes.subarray(at) : null
}

/** Returns the address of a SyncStatus frame (content: varUint 0 or 1); null for any other frame. */
export function syncStatusAddress(frame: Uint8Array): string | null {
  const length = frame[0]
  if (length === undefined || length > maxAddressBytes || frame.byteLength !== length + 3) return null
  return frame[length + 1] === frameType.syncStatus ? textOf(frame, 1, 1 + length) : null
}

/**
 * Returns the reason in a frame that refuses a board (content: varUint 1, varString reason); null for any other frame.
 */
export function refusalReason(frame: Uint8Array): string | null {
  const length = frame[0]
  if (length === undefined || frame[length + 1] !== frameType.auth || frame[length + 2] !== authType.refused)
    return null
  return textOf(frame, length + 4, frame.byteLength)
}

const textOf = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString()

/**
 * A SyncStatus frame. `isSaved`: the document contains the whole update. The frame is then an acknowledgement once the
 * update is committed.
 */
export const syncStatusFrame = (address: string, isSaved: boolean): Uint8Array =>
  new OutgoingMessage(address).writeSyncStatus(isSaved).toUint8Array()

export const refusalFrame = (address: string, reason: string): Uint8Array =>
  new OutgoingMessage(address).writePermissionDenied(reason).toUint8Array()

export const statelessFrame = (address: string, text: string): Uint8Array =>
  new OutgoingMessage(address).writeStateless(text).toUint8Array()

/** Tells an editor whether its connection is read-only from now on. */
export const accessFrame = (address: string, readOnly: boolean): Uint8Array =>
  new OutgoingMessage(address).writeAuthenticated(readOnly).toUint8Array()

/** A SyncStep1: asks a client for the updates that a document with this state vector lacks. */
export function questionFrame(address: string, vector: Uint8Array): Uint8Array {
  return Buffer.concat([syncHead(address, syncStep.stateVector, vector.byteLength), vector])
}

/** The beginning of a sync frame, up to its content of `size` bytes. */
export function syncHead(address: string, step: number, size: number): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarString(encoder, address)
  encoding.writeVarUint(encoder, frameType.sync)
  encoding.writeVarUint(encoder, step)
  encoding.writeVarUint(encoder, size)
  return encoding.toUint8Array(encoder)
}

export function awarenessFrame(address: string, update: Uint8Array): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarString(encoder, address)
  encoding.writeVarUint(encoder, frameType.awareness)
  encoding.writeVarUint8Array(encoder, update)
  return encoding.toUint8Array(encoder)
}

/** An awareness frame without clients. The provider treats it as a keep-alive. */
export const emptyAwareness = (address: string): Uint8Array => awarenessFrame(address, Uint8Array.of(0))
