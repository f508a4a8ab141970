import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import { atOnce, type Steps } from '../../platform/work/loop-turn.ts'

export type Struct = ReturnType<typeof Y.decodeUpdate>['structs'][number]

/** Deleted ids of one client: `len` clocks from `clock` on. */
export interface DeletedRange {
  clock: number
  len: number
}

/** Structs that are encoded between two `yield`s. */
const perStep = 500

/**
 * Encodes an update (V1) from structs that need not be in a document.
 *
 * @param structs by client, each list without gaps from its first clock on
 * @param deletes deleted ids by client
 */
export const encodeUpdate = (...update: Parameters<typeof encodeInSteps>): Uint8Array =>
  atOnce(encodeInSteps(...update))

export function* encodeInSteps(
  structs: ReadonlyMap<number, readonly Struct[]>,
  deletes: ReadonlyMap<number, readonly DeletedRange[]>,
): Steps<Uint8Array> {
  const encoder = new Y.UpdateEncoderV1()
  const { restEncoder } = encoder
  encoding.writeVarUint(restEncoder, structs.size)
  for (const [client, ofClient] of structs) {
    encoding.writeVarUint(restEncoder, ofClient.length)
    encoder.writeClient(client)
    encoding.writeVarUint(restEncoder, ofClient[0]!.id.clock)
    for (const [at, struct] of ofClient.entries()) {
      struct.write(encoder, 0)
      if (at % perStep === 0) yield
    }
  }
  encoding.writeVarUint(restEncoder, deletes.size)
  for (const [client, ranges] of deletes) {
    encoding.writeVarUint(restEncoder, client)
    encoding.writeVarUint(restEncoder, ranges.length)
    for (const { clock, len } of ranges) {
      encoding.writeVarUint(restEncoder, clock)
      encoding.writeVarUint(restEncoder, len)
    }
  }
  return encoder.toUint8Array()
}
