/**
 * Encodes the state of a document in several turns of the event loop, while it changes. The result holds everything that
 * the document held at the beginning, and some of what it got since then. A later update may be applied to it in any
 * case. Both parts together are an update (V1): `structs` first, then `deletes`.
 */
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import type { Steps } from '../../platform/work/loop-turn.ts'

/** Structs that are encoded between two `yield`s. */
const perStep = 64

/** An encoder doubles its memory when it is full, and its result is a copy. So it writes pieces of about this size. */
const pieceBytes = 256 * 1024

/** lib0 writes strings byte by byte. Above this length, writing the bytes of a Buffer is faster. */
const shortString = 24

/** Encodes into pieces. A long string is one of its own: each copy of 4 MB takes up to 12 ms where memory is new. */
class StateEncoder extends Y.UpdateEncoderV1 {
  readonly #pieces: Uint8Array[] = []
  #pieceSum = 0

  get byteLength(): number {
    return this.#pieceSum + encoding.length(this.restEncoder)
  }

  /** To be called between two structs. */
  endLongPiece(): void {
    if (encoding.length(this.restEncoder) > pieceBytes) this.#cut()
  }

  end(): Uint8Array[] {
    this.#cut()
    return this.#pieces
  }

  override writeString(text: string): void {
    if (text.length <= shortString) super.writeString(text)
    else this.#writeBytes(Buffer.from(text))
  }

  override writeAny(value: unknown): void {
    if (typeof value !== 'string' || value.length <= shortString) return super.writeAny(value)
    encoding.writeUint8(this.restEncoder, stringInAny)
    this.#writeBytes(Buffer.from(value))
  }

  #writeBytes(bytes: Uint8Array): void {
    if (bytes.byteLength <= pieceBytes) return encoding.writeVarUint8Array(this.restEncoder, bytes)
    encoding.writeVarUint(this.restEncoder, bytes.byteLength)
    this.#cut()
    this.#add(bytes)
  }

  #cut(): void {
    this.#add(encoding.toUint8Array(this.restEncoder))
    this.restEncoder = encoding.createEncoder()
  }

  #add(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.#pieceSum += piece.byteLength
  }
}

/** The tag of a string in lib0's `writeAny`. */
const stringInAny = 119

/**
 * Encodes the structs that a client with the state vector `known` lacks.
 *
 * @param known next clock by client; an empty map for all structs
 * @returns pieces of the update
 */
export function* encodeStructs(document: Y.Doc, known: ReadonlyMap<number, number>): Steps<Uint8Array[]> {
  return (yield* encodeAtMost(document, known, Infinity))!
}

/** The same, but returns null as soon as it has encoded more than `mostBytes`. */
export function* encodeAtMost(
  { store }: Y.Doc,
  known: ReadonlyMap<number, number>,
  mostBytes: number,
): Steps<Uint8Array[] | null> {
  const parts: Uint8Array[] = []
  let leftBytes = mostBytes
  const lacking = [...store.clients.keys()].filter(
    (client) => Y.getState(store, client) > (known.get(client) ?? 0),
  )
  // Yjs integrates faster when higher clients come first.
  for (const client of lacking.toSorted((a, b) => b - a)) {
    const pieces = yield* encodeClient(store, client, known.get(client) ?? 0, leftBytes)
    if (!pieces) return null
    parts.push(...pieces)
    leftBytes -= bytesOf(pieces)
    yield
  }
  const count = encoding.createEncoder()
  encoding.writeVarUint(count, lacking.length)
  return [encoding.toUint8Array(count), ...parts]
}

function* encodeClient(
  store: Y.Doc['store'],
  client: number,
  from: number,
  mostBytes: number,
): Steps<Uint8Array[] | null> {
  const encoder = new StateEncoder()
  let clock = from
  let count = 0
  while (clock < Y.getState(store, client)) {
    for (const struct of structsFrom(store, client, clock)) {
      struct.write(encoder, clock - struct.id.clock)
      clock = struct.id.clock + struct.length
      count += 1
    }
    if (encoder.byteLength > mostBytes) return null
    encoder.endLongPiece()
    yield
  }
  const head = new Y.UpdateEncoderV1()
  encoding.writeVarUint(head.restEncoder, count)
  head.writeClient(client)
  encoding.writeVarUint(head.restEncoder, from)
  return [head.toUint8Array(), ...encoder.end()]
}

const bytesOf = (pieces: Uint8Array[]): number => pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)

/** Returns a few structs. Between two steps they may be merged or split, so the place to go on is a clock. */
function structsFrom(store: Y.Doc['store'], client: number, clock: number): (Y.Item | Y.GC)[] {
  const structs = store.clients.get(client)!
  const first = Y.findIndexSS(structs, clock)
  return structs.slice(first, first + perStep)
}

/** Copies pieces into one. At once, 4 MB take up to 12 ms where memory is new. */
export function* joinPieces(pieces: Uint8Array[]): Steps<Uint8Array> {
  const whole = Buffer.allocUnsafeSlow(bytesOf(pieces)) // its own, because it may be kept
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.byteLength
    yield
  }
  return whole
}

/**
 * Encodes a whole document, or what a client with the state vector `known` lacks. The state of one moment, when nothing
 * changes it meanwhile.
 */
export function* encodeState(
  document: Y.Doc,
  known: ReadonlyMap<number, number> = new Map(),
): Steps<Uint8Array> {
  const structs = yield* encodeStructs(document, known)
  return yield* joinPieces([...structs, yield* encodeDeletes(document)])
}

/** Encodes which structs are deleted. */
export function* encodeDeletes({ store }: Y.Doc): Steps<Uint8Array> {
  const body = encoding.createEncoder()
  let clients = 0
  for (const client of [...store.clients.keys()]) {
    const ranges = yield* deletedRanges(store, client)
    yield
    if (ranges.length === 0) continue
    clients += 1
    encoding.writeVarUint(body, client)
    encoding.writeVarUint(body, ranges.length / 2)
    for (const [at, number] of ranges.entries()) {
      encoding.writeVarUint(body, number)
      if (at % perStep === 0) yield
    }
  }
  const head = encoding.createEncoder()
  encoding.writeVarUint(head, clients)
  return yield* joinPieces([encoding.toUint8Array(head), encoding.toUint8Array(body)])
}

/** Returns the first clock and the length of each deleted range, alternately. */
function* deletedRanges(store: Y.Doc['store'], client: number): Steps<number[]> {
  const ranges: number[] = []
  let clock = 0
  let end = -1
  while (clock < Y.getState(store, client)) {
    for (const struct of structsFrom(store, client, clock)) {
      const length = struct.id.clock + struct.length - clock
      if (struct.deleted) {
        if (end === clock) ranges[ranges.length - 1]! += length
        else ranges.push(clock, length)
        end = clock + length
      }
      clock += length
    }
    yield
  }
  return ranges
}
