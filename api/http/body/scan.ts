/**
 * Scans the bytes of a JSON body while they arrive: its depth, the number of its values, and where it can be cut into
 * pieces. It costs about 1.5 ns a byte and allocates nothing. So a body beyond the limits is refused before it is parsed,
 * and mostly before all of it has arrived.
 *
 * It recognises only brackets, commas and strings. The parser later checks whether the body is valid JSON.
 *
 * - *list*: an array that is a field of the body, such as `cards`.
 * - *entry*: a value in a list.
 */
import { badRequest, ServiceError } from '../../../core/errors.ts'
import { limits } from '../../../core/limits.ts'

/** Bytes of the body: `start` is the first one, `end` the one after the last. */
export interface Range {
  start: number
  end: number
}

/** Entries of a list that are parsed together. */
export interface Piece extends Range {
  entries: number
}

/** The bytes between the brackets of a list. */
export interface List extends Range {
  pieces: Piece[]
}

/** See `limits.json`. */
export type Bounds = Record<keyof typeof limits.json, number>

/** A piece is at least this large, unless its list is smaller. */
const pieceBytes = 64 * 1024
const pieceValues = 5000

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** 1 for a byte that has a meaning outside strings. */
const isMark = new Uint8Array(256)
for (const byte of [quote, comma, openBracket, closeBracket, openBrace, closeBrace]) isMark[byte] = 1

export class BodyScan {
  readonly lists: List[] = []
  readonly #bounds: Bounds
  /** By depth: the closing byte of the open array or object. */
  readonly #closing: Uint8Array
  #bytes = 0
  #depth = 0
  #inString = false
  #isEscaped = false
  /**
   * Commas and opening brackets so far. A non-empty array or object has one value more than commas. So this is at least
   * the number of values minus one.
   */
  #marks = 0
  /** `#marks` outside of lists, and the number of bytes in lists. */
  #outsideMarks = 0
  #listBytes = 0
  /** The list that the scan is in. */
  #list: List | null = null
  #entries = 0
  #entryStart = 0
  #entryMarks = 0
  #piece: Piece = { start: 0, end: 0, entries: 0 }
  #pieceMarks = 0

  constructor(bounds: Bounds = limits.json) {
    this.#bounds = bounds
    this.#closing = new Uint8Array(bounds.depth + 1)
  }

  /** Whether the body is small enough to be parsed in one step. */
  get isSmall(): boolean {
    return this.#bytes <= pieceBytes && this.#marks <= pieceValues
  }

  /** Scans the next bytes. @throws ServiceError `bad_request` or `payload_too_large` */
  push(chunk: Uint8Array): void {
    const { length } = chunk
    let at = 0
    while (at < length) {
      if (this.#inString) at = this.#skipString(chunk, at)
      else {
        while (at < length && isMark[chunk[at]!] === 0) at++
        if (at < length) this.#mark(chunk[at]!, this.#bytes + at++)
      }
    }
    this.#bytes += length
    if (this.#list) this.#requireEntry(this.#bytes)
    this.#requireOutside()
  }

  /** @throws ServiceError `bad_request` when a string, array or object is not closed */
  end(): void {
    if (this.#inString || this.#depth > 0) throw notJson('a string, array or object is not closed')
  }

  /** @returns the index after the string, or the end of the chunk */
  #skipString(chunk: Uint8Array, from: number): number {
    const { length } = chunk
    let at = from
    if (this.#isEscaped) {
      this.#isEscaped = false
      at++
    }
    for (; at < length; at++) {
      const byte = chunk[at]
      if (byte === quote) {
        this.#inString = false
        return at + 1
      }
      if (byte === backslash) at++
    }
    // The escaped byte is the first one of the next chunk.
    this.#isEscaped = at > length
    return length
  }

  #mark(byte: number, at: number): void {
    switch (byte) {
      case quote:
        this.#inString = true
        return
      case comma:
        this.#count()
        if (this.#list && this.#depth === 2) this.#nextEntry(at)
        return
      case openBracket:
      case openBrace:
        this.#open(byte, at)
        return
      default:
        this.#close(byte, at)
    }
  }

  #count(): void {
    this.#marks += 1
    if (this.#marks >= this.#bounds.values) throw tooMany('The body', this.#bounds.values)
    if (this.#list) {
      this.#entryMarks += 1
      if (this.#entryMarks > this.#bounds.entryValues)
        throw tooMany('One entry of a list', this.#bounds.entryValues)
    } else {
      this.#outsideMarks += 1
      if (this.#outsideMarks >= this.#bounds.entryValues)
        throw tooMany('The body, outside its lists,', this.#bounds.entryValues)
    }
  }

  #open(byte: number, at: number): void {
    this.#count()
    if (this.#depth === this.#bounds.depth)
      throw badRequest(`The body must be nested at most ${this.#bounds.depth} levels deep.`)
    this.#depth += 1
    this.#closing[this.#depth] = byte + 2 // in ASCII `]` is `[` + 2, and `}` is `{` + 2
    if (byte !== openBracket || this.#depth !== 2 || this.#closing[1] !== closeBrace) return
    this.#list = { start: at + 1, end: 0, pieces: [] }
    this.#entries = 0
    this.#entryStart = at + 1
    this.#entryMarks = 0
    this.#beginPiece(at + 1)
  }

  #close(byte: number, at: number): void {
    if (this.#depth === 0 || this.#closing[this.#depth] !== byte)
      throw notJson(`unexpected ${String.fromCharCode(byte)} at byte ${at}`)
    if (this.#list && this.#depth === 2) this.#endList(this.#list, at)
    this.#depth -= 1
  }

  #nextEntry(at: number): void {
    this.#requireEntry(at)
    this.#entries += 1
    if (this.#entries >= this.#bounds.entries)
      throw badRequest(`A list of the body must have at most ${this.#bounds.entries} entries.`)
    this.#entryStart = at + 1
    this.#entryMarks = 0
    this.#piece.entries += 1
    if (at - this.#piece.start < pieceBytes && this.#marks - this.#pieceMarks < pieceValues) return
    this.#endPiece(at)
    this.#beginPiece(at + 1)
  }

  #beginPiece(start: number): void {
    this.#piece = { start, end: 0, entries: 0 }
    this.#pieceMarks = this.#marks
  }

  #endPiece(end: number): void {
    this.#piece.end = end
    this.#list!.pieces.push(this.#piece)
  }

  #endList(list: List, at: number): void {
    this.#requireEntry(at)
    this.#piece.entries += 1
    this.#endPiece(at)
    list.end = at
    this.lists.push(list)
    this.#listBytes += at - list.start
    this.#list = null
  }

  #requireEntry(at: number): void {
    if (at - this.#entryStart > this.#bounds.entryBytes) throw this.#tooLarge('One entry of a list')
  }

  #requireOutside(): void {
    const end = this.#list ? this.#list.start : this.#bytes
    if (end - this.#listBytes > this.#bounds.entryBytes) throw this.#tooLarge('The body, outside its lists,')
  }

  #tooLarge(what: string): ServiceError {
    const megabytes = this.#bounds.entryBytes / 1024 / 1024
    return new ServiceError('payload_too_large', `${what} must be at most ${megabytes} MB.`)
  }
}

export const notJson = (fault: string, cause?: unknown) =>
  badRequest(`The body is not valid JSON: ${fault}.`, { cause })

const tooMany = (what: string, values: number) => badRequest(`${what} must have at most ${values} values.`)
