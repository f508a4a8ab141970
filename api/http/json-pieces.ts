/** `JSON.stringify` for values with long lists. Lets the event loop run other work in between. */
import { LoopTurn } from '../../platform/work/loop-turn.ts'

/** Lists with at most this many entries are serialised in one step. An entry may have 4 million characters. */
const shortList = 1
const pieceCharacters = 64 * 1024

/**
 * The pieces of `JSON.stringify(value)`, made when they are asked for. Each can be encoded by itself. The value itself must
 * not have `toJSON`.
 */
export async function* jsonPieces(value: unknown): AsyncGenerator<string, void> {
  if (!hasLongList(value)) return yield JSON.stringify(value)
  const turn = new LoopTurn()
  let piece = ''
  for (const text of textsOf(value)) {
    piece += text
    while (piece.length >= pieceCharacters) {
      const end = isHighSurrogate(piece, pieceCharacters - 1) ? pieceCharacters - 1 : pieceCharacters
      yield piece.slice(0, end)
      piece = piece.slice(end)
    }
    if (turn.isOver()) await turn.next()
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
        // As in `JSON.stringify`, an entry without JSON, such as undefined, becomes null.
        yield `${beforeEntry}${(JSON.stringify(entry) as string | undefined) ?? 'null'}`
        beforeEntry = ','
      }
      yield ']'
    }
  }
  yield '}'
}

const isHighSurrogate = (text: string, at: number) => (text.charCodeAt(at) & 0xfc00) === 0xd800

const isLongList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > shortList

/** Whether a field of the value is a list that is serialised in several steps. */
export const hasLongList = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).some(isLongList)
