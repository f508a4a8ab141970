/** Frames of the protocol for floods. */
import * as encoding from 'lib0/encoding'
import { awarenessFrame, frame, syncFrame, type as frameType } from '../../support/raw-client.ts'

export const stateVectorFrame = (address: string, vector: Uint8Array) => syncFrame(address, 0, vector)
export const queryFrame = (address: string) => frame(address, frameType.queryAwareness)
export const pingFrame = (address: string) => frame(address, frameType.ping)

/** Encodes the awareness state of one client, of about the given size in bytes. */
export const stateFrame = (address: string, client: number, clock: number, bytes: number) =>
  awarenessFrame(address, [{ client, clock, state: JSON.stringify({ clock, filler: 'x'.repeat(bytes) }) }])

/** Encodes a state whose text is not valid UTF-8. */
export const brokenStateFrame = (address: string, client: number, clock: number) =>
  frame(address, frameType.awareness, (encoder) => {
    const inner = encoding.createEncoder()
    encoding.writeVarUint(inner, 1)
    encoding.writeVarUint(inner, client)
    encoding.writeVarUint(inner, clock)
    encoding.writeVarUint8Array(inner, Uint8Array.of(0x7b, 0xff, 0xfe, 0xc0, 0x7d))
    encoding.writeVarUint8Array(encoder, encoding.toUint8Array(inner))
  })
