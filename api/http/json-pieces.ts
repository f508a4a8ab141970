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
  if (!hasLongList(value)) return yield JSON.stringify(value)
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
    if (!isLongList(field)) yield JSON.stringify(field)
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
  if (typeof entry === 'string' && entry.length > longText) {
    yield '"'
    for (let at = 0, end = 0; at < entry.length; at = end) {
      end = Math.min(entry.length, at + longText)
      // A surrogate alone is written differently.
      if (end < entry.length && isHighSurrogate(entry, end - 1)) end -= 1
      yield JSON.stringify(entry.slice(at, end)).slice(1, -1)
    }
    yield '"'
  } else if (!hasLongText(entry)) {
    // As in `JSON.stringify`, an entry without JSON, such as undefined, becomes null.
    yield (JSON.stringify(entry) as string | undefined) ?? 'null'
  } else if (Array.isArray(entry)) {
    let before = '['
    for (const each of entry) {
      yield before
      yield* textsOfEntry(each)
      before = ','
    }
    yield ']'
  } else {
    let before = '{'
    for (const [name, field] of Object.entries(entry as object)) {
      if (field === undefined) continue
      yield `${before}${JSON.stringify(name)}:`
      yield* textsOfEntry(field)
      before = ','
    }
    yield '}'
  }
}

/** Whether a text in the value takes too long to be written in one step. */
function hasLongText(value: unknown): boolean {
  if (typeof value === 'string') return value.length > longText
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongText)
}

const isHighSurrogate = (text: string, at: number) => (text.charCodeAt(at) & 0xfc00) === 0xd800

const isLongList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > shortList

/** Whether a field of the value is a list that is serialised in several steps. */
export const hasLongList = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).some(isLongList)
