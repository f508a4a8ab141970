/** `JSON.stringify` for values with long lists. Lets the event loop run other work in between. */
import { LoopTurn } from '../../platform/work/loop-turn.ts'

/** Lists with at most this many entries are serialised in one step. */
const shortList = 1
const pieceCharacters = 64 * 1024
/** Longer texts are written in several steps. Four million control characters took 60 ms. */
const longText = 256 * 1024

/**
 * The pieces of `JSON.stringify(value)`, made when they are asked for. Each can be encoded by itself. The value itself must
 * not have `toJSON`.
 */
export async function* jsonPieces(value: unknown): AsyncGenerator<string, void> {
  if (!takesSteps(value)) return yield JSON.stringify(value)
  const turn = new LoopTurn()
  let piece = ''
  for (const text of textsOf(value)) {
    if (turn.isOver()) await turn.next()
    // A long text is cut as it is: joining it with another one would copy it.
    if (piece !== '' && text.length >= pieceCharacters) {
      yield piece
      piece = ''
    }
    piece = piece === '' ? text : piece + text
    while (piece.length >= pieceCharacters) {
      const end = isHighSurrogate(piece, pieceCharacters - 1) ? pieceCharacters - 1 : pieceCharacters
      yield piece.slice(0, end)
      piece = piece.slice(end)
    }
  }
  yield piece
}

function* textsOf(value: Record<string, unknown>): Generator<string> {
  let before = '{'
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    before = ','
    if (!isLongList(field)) yield* textsOfEntry(field)
    else {
      let beforeEntry = '['
      for (const entry of field) {
        yield beforeEntry
        yield* textsOfEntry(entry)
        beforeEntry = ','
      }
      yield ']'
    }
  }
  yield '}'
}

function* textsOfEntry(entry: unknown): Generator<string> {
  const long = new Set<unknown>()
  findLong(entry, long)
  yield '' // finding takes as long as writing, so the turn may end between them
  yield* textsWithin(entry, long)
}

/** @param long the lists and objects in `entry` in which there are long texts */
function* textsWithin(entry: unknown, long: ReadonlySet<unknown>): Generator<string> {
  if (typeof entry === 'string' && isLongText(entry)) return yield* textsOfText(entry)
  if (!long.has(entry)) return yield textOf(entry)
  const isList = Array.isArray(entry)
  let text = isList ? '[' : '{'
  let isFirst = true
  for (const [name, field] of fieldsOf(entry as object)) {
    if (field === undefined && !isList) continue
    if (!isFirst) text += ','
    isFirst = false
    if (!isList) text += `${JSON.stringify(name)}:`
    if (!isLong(field, long)) text += textOf(field)
    else {
      yield text
      yield* textsWithin(field, long)
      text = ''
    }
    if (text.length >= pieceCharacters) {
      yield text
      text = ''
    }
  }
  yield text + (isList ? ']' : '}')
}

/** One by one: a list may have hundreds of thousands, and `Object.entries` of them is one long step. */
function* fieldsOf(entry: object): Generator<[name: string, field: unknown]> {
  if (Array.isArray(entry)) for (const field of entry as unknown[]) yield ['', field]
  else yield* Object.entries(entry)
}

/** As in `JSON.stringify`, an entry without JSON, such as undefined, becomes null. */
const textOf = (value: unknown): string => (JSON.stringify(value) as string | undefined) ?? 'null'

function* textsOfText(text: string): Generator<string> {
  yield '"'
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = Math.min(text.length, at + longText)
    // A surrogate alone is written differently.
    if (end < text.length && isHighSurrogate(text, end - 1)) end -= 1
    yield JSON.stringify(text.slice(at, end)).slice(1, -1)
  }
  yield '"'
}

const isLongText = (text: string): boolean => text.length > longText

const isLong = (value: unknown, long: ReadonlySet<unknown>): boolean =>
  typeof value === 'string' ? isLongText(value) : long.has(value)

/** Finds the lists and objects with long texts, which take too long to be written in one step. Returns whether `value` is one. */
function findLong(value: unknown, found: Set<unknown>): boolean {
  if (typeof value === 'string') return isLongText(value)
  if (typeof value !== 'object' || value === null) return false
  let isLong = false
  const fields: unknown[] = Array.isArray(value) ? value : Object.values(value)
  for (const each of fields) isLong = findLong(each, found) || isLong
  if (isLong) found.add(value)
  return isLong
}

const isHighSurrogate = (text: string, at: number) => (text.charCodeAt(at) & 0xfc00) === 0xd800

const isLongList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > shortList

/** Whether the value is an object that is serialised in several steps. */
export const takesSteps = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  (Object.values(value).some(isLongList) || findLong(value, new Set()))
