/** Awareness updates of y-protocols. */
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'

/** One client's state in an awareness update. */
export interface AwarenessEntry {
  client: number
  clock: number
  /** The state's JSON in UTF-8. Null: the client has left. */
  json: Uint8Array | null
}

/** One client's state as it was received. */
export interface ReceivedState {
  clock: number
  /** The state's JSON in UTF-8, unchecked. */
  json: Uint8Array
}

const goneJson = Buffer.from('null')

/** Encodes an awareness update: varUint count, then for each entry varUint client, varUint clock, varString JSON. */
export function writeAwareness(entries: AwarenessEntry[]): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, entries.length)
  for (const { client, clock, json } of entries) {
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, clock)
    encoding.writeVarUint8Array(encoder, json ?? goneJson)
  }
  return encoding.toUint8Array(encoder)
}

/**
 * Returns the newest entry of each client in an awareness update.
 *
 * @throws when the bytes are not an awareness update
 */
export function readAwareness(update: Uint8Array): Map<number, ReceivedState> {
  const decoder = decoding.createDecoder(update)
  const entries = new Map<number, ReceivedState>()
  for (let left = decoding.readVarUint(decoder); left > 0; left--) {
    const client = decoding.readVarUint(decoder)
    const clock = decoding.readVarUint(decoder)
    const json = decoding.readVarUint8Array(decoder)
    if (clock >= (entries.get(client)?.clock ?? 0)) entries.set(client, { clock, json })
  }
  return entries
}
