/** `JSON.stringify` for values with long lists. Lets the event loop run other work in between. */
import { LoopTurn } from '../../platform/work/loop-turn.ts'

/** Lists with at most this many entries are serialised in one step. */
const shortList = 8
const pieceCharacters = 64 * 1024

/** The pieces of `JSON.stringify(value)`. The value itself must not have `toJSON`. */
export async function jsonPieces(value: unknown): Promise<string[]> {
  if (!hasLongList(value)) return [JSON.stringify(value)]
  const turn = new LoopTurn()
  const pieces: string[] = []
  let piece = ''
  const add = async (text: string) => {
    piece += text
    if (piece.length >= pieceCharacters) {
      pieces.push(piece)
      piece = ''
    }
    if (turn.isOver()) await turn.next()
  }
  let before = '{'
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue
    await add(`${before}${JSON.stringify(name)}:`)
    before = ','
    if (!isLongList(field)) await add(JSON.stringify(field))
    else {
      let beforeEntry = '['
      for (const entry of field) {
        // As in `JSON.stringify`, an entry without JSON, such as undefined, becomes null.
        await add(`${beforeEntry}${(JSON.stringify(entry) as string | undefined) ?? 'null'}`)
        beforeEntry = ','
      }
      await add(']')
    }
  }
  pieces.push(`${piece}}`)
  return pieces
}

const isLongList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > shortList

const hasLongList = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).some(isLongList)
