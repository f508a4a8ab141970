/** Updates that no real editor would send. */
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'

/** Returns the update that an empty document makes when `change` is applied. */
export function made(change: (doc: Y.Doc) => void, client?: number): Uint8Array {
  const doc = new Y.Doc()
  if (client !== undefined) doc.clientID = client
  change(doc)
  return Y.encodeStateAsUpdate(doc)
}

/** Encodes an update from structs of one client and deleted ranges. */
export function crafted(
  structs: (Y.Item | Y.GC)[],
  deletes: [client: number, clock: number, length: number][] = [],
) {
  const encoder = new Y.UpdateEncoderV1()
  encoding.writeVarUint(encoder.restEncoder, structs.length > 0 ? 1 : 0)
  if (structs.length > 0) {
    encoding.writeVarUint(encoder.restEncoder, structs.length)
    encoder.writeClient(structs[0]!.id.client)
    encoding.writeVarUint(encoder.restEncoder, structs[0]!.id.clock)
    for (const struct of structs) struct.write(encoder, 0)
  }
  const clients = [...new Set(deletes.map(([client]) => client))]
  encoding.writeVarUint(encoder.restEncoder, clients.length)
  for (const client of clients) {
    const ranges = deletes.filter(([of]) => of === client)
    encoding.writeVarUint(encoder.restEncoder, client)
    encoding.writeVarUint(encoder.restEncoder, ranges.length)
    for (const [, clock, length] of ranges) {
      encoding.writeVarUint(encoder.restEncoder, clock)
      encoding.writeVarUint(encoder.restEncoder, length)
    }
  }
  return encoder.toUint8Array()
}

export const item = (
  client: number,
  clock: number,
  parent: string | Y.ID,
  key: string | null,
  content: Y.Item['content'],
  origin: Y.ID | null = null,
) => new Y.Item(Y.createID(client, clock), null, origin, null, null, parent as Y.ID, key, content)

/**
 * Returns two updates. The first has `count` characters in a row. The second has as many characters that are all
 * inserted at the start, each before another character of the first update. To find its position, each of them passes
 * all others.
 */
export function costlyUpdates(count: number): [base: Uint8Array, costly: Uint8Array] {
  const [first, second] = [5, 9]
  const character = (client: number, clock: number, origin: Y.ID | null, rightOrigin: Y.ID | null) =>
    new Y.Item(
      Y.createID(client, clock),
      null,
      origin,
      null,
      rightOrigin,
      'costly' as never,
      null,
      new Y.ContentAny([clock]),
    )
  const clocks = Array.from({ length: count }, (_, clock) => clock)
  return [
    crafted(
      clocks.map((clock) => character(first, clock, clock ? Y.createID(first, clock - 1) : null, null)),
    ),
    crafted(clocks.map((clock) => character(second, clock, null, Y.createID(first, clock)))),
  ]
}

/** Returns a document, and a list of the updates that it makes. */
export function recordedDoc(): { doc: Y.Doc; made: Uint8Array[] } {
  const doc = new Y.Doc()
  const made: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => made.push(update))
  return { doc, made }
}
