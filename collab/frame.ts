/**
 * Frames as clients send them, in Hocuspocus' protocol: varString address, varUint type, content. Each is looked at
 * before Hocuspocus sees it, which takes what it cannot read for an error of its own.
 */
export const frameType = {
  sync: 0,
  awareness: 1,
  auth: 2,
  queryAwareness: 3,
  syncReply: 4,
  stateless: 5,
  close: 7,
} as const

export const syncStep = { stateVector: 0, missing: 1, update: 2 } as const

export interface Frame {
  /** The board's id, or that and a session's id after a NUL. */
  address: string
  type: number
  /** Of a sync frame: which step, and the state vector or update that it brings. */
  step: number | null
  payload: Uint8Array
  /** All of it. */
  bytes: Uint8Array
}

export interface FrameBounds {
  maxAwarenessBytes: number
  maxStatelessBytes: number
}

const maxAuthBytes = 16 * 1024
/** So that the length of an address is one byte. */
const maxAddressBytes = 127
const addressPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(\0[\w-]{1,64})?$/

export const isBoardAddress = (address: string): boolean => addressPattern.test(address)
export const boardOf = (address: string): string => address.slice(0, 36)

const nothing = new Uint8Array()

/** Null for what is none, or is larger than its type may be. */
export function readFrame(bytes: Uint8Array, bounds: FrameBounds): Frame | null {
  const length = bytes[0]
  if (length === undefined || length > maxAddressBytes || bytes.byteLength < length + 2) return null
  const address = Buffer.from(bytes.buffer, bytes.byteOffset + 1, length).toString()
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
    case frameType.awareness: {
      const payload = contentBytes > bounds.maxAwarenessBytes ? null : readWhole(bytes, at)
      return payload && { address, type, step: null, payload, bytes }
    }
    case frameType.stateless: {
      const payload = contentBytes > bounds.maxStatelessBytes ? null : readWhole(bytes, at)
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

/** Bytes after their length as a varUint, up to the end of the frame. */
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
