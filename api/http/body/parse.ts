/** Parses JSON bodies. A large body is parsed in pieces, so that the event loop runs other work in between. */
import { isUtf8 } from 'node:buffer'
import { badRequest } from '../../../core/errors.ts'
import { LoopTurn } from '../../../platform/work/loop-turn.ts'
import { notJson, type BodyScan, type List, type Range } from './scan.ts'
import { findUnstorable, isStorableJson } from './storable.ts'

/** @throws ServiceError `bad_request` */
export function textOf(parts: readonly Buffer[]): string {
  const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  if (!isUtf8(bytes)) throw badRequest('The body must be JSON in UTF-8.')
  return bytes.toString('utf8')
}

/** @throws ServiceError `bad_request` */
export function parseSmall(text: string): unknown {
  const value = parseText(text)
  requireStorable(text, value)
  return value
}

/**
 * Returns the same value as `JSON.parse` of the whole body. It cuts the lists out of the body and parses them piece by
 * piece. The rest, with each list replaced by its number, is parsed on its own.
 *
 * @param scan the scan of exactly these bytes
 * @throws ServiceError `bad_request`
 */
export async function parseLarge(chunks: readonly Buffer[], { lists }: BodyScan): Promise<unknown> {
  const turn = new LoopTurn()
  const bytes = new Bytes(chunks)
  const parsed: ParsedList[] = []
  for (const list of lists) parsed.push(await parseList(bytes, list, turn))
  const text = outsideLists(bytes, lists)
  const body = parseText(text)
  requireStorable(text, body)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  for (const [name, value] of Object.entries(body)) {
    if (!Array.isArray(value)) continue
    const { entries, fault } = parsed[value[0] as number]!
    if (fault !== null) throw unstorable(name + fault)
    // An assignment to a field named `__proto__` would set the prototype.
    Object.defineProperty(body, name, {
      value: entries,
      configurable: true,
      enumerable: true,
      writable: true,
    })
  }
  return body
}

interface ParsedList {
  entries: unknown[]
  /** The path of text that can't be stored, such as `[1].title`; null: none. Entries after it are not parsed. */
  fault: string | null
}

async function parseList(bytes: Bytes, { pieces }: List, turn: LoopTurn): Promise<ParsedList> {
  const entries: unknown[] = []
  for (const piece of pieces) {
    if (turn.isOver()) await turn.next()
    const text = `[${bytes.text(piece)}]`
    const some = parseText(text) as unknown[]
    const isEmptyList = pieces.length === 1 && piece.entries === 1 && some.length === 0
    if (some.length !== piece.entries && !isEmptyList)
      throw notJson(`an entry is missing at byte ${piece.start}`)
    if (!isStorableJson(text) && findUnstorable(some) !== null) {
      const ahead = Array.from(entries, () => null)
      return { entries, fault: findUnstorable([...ahead, ...some]) }
    }
    for (const entry of some) entries.push(entry)
  }
  return { entries, fault: null }
}

function outsideLists(bytes: Bytes, lists: readonly List[]): string {
  let text = ''
  let start = 0
  for (const [at, list] of lists.entries()) {
    text += bytes.text({ start, end: list.start }) + String(at)
    start = list.end
  }
  return text + bytes.text({ start, end: bytes.length })
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The message quotes the input, so it is cut.
    throw notJson((error as Error).message.slice(0, 200), error)
  }
}

/** @throws ServiceError `bad_request` */
function requireStorable(text: string, value: unknown): void {
  const fault = isStorableJson(text) ? null : findUnstorable(value)
  if (fault !== null) throw unstorable(fault)
}

const unstorable = (field: string) =>
  badRequest(`${field || 'The body'} must not contain U+0000 or a lone surrogate.`)

/** Reads ranges of bytes across chunks. */
class Bytes {
  readonly length: number
  readonly #chunks: readonly Buffer[]
  readonly #starts: number[] = []

  constructor(chunks: readonly Buffer[]) {
    this.#chunks = chunks
    let start = 0
    for (const chunk of chunks) {
      this.#starts.push(start)
      start += chunk.length
    }
    this.length = start
  }

  text({ start, end }: Range): string {
    const parts: Buffer[] = []
    for (let at = this.#chunkAt(start); at < this.#chunks.length && this.#starts[at]! < end; at++) {
      const from = this.#starts[at]!
      parts.push(this.#chunks[at]!.subarray(Math.max(0, start - from), end - from))
    }
    return textOf(parts)
  }

  /** The last chunk that begins at or before a byte. */
  #chunkAt(byte: number): number {
    let [low, high] = [0, this.#starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#starts[middle]! <= byte) low = middle
      else high = middle - 1
    }
    return Math.max(0, low)
  }
}
