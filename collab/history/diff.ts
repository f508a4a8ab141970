/** Compares a board at two moments. */
import { isDeepStrictEqual } from 'node:util'
import type * as Y from 'yjs'
import { textDiff, type TextPiece } from '../../core/text-diff.ts'
import { mapInTurns } from '../../platform/work/loop-turn.ts'
import { cardsOf, findCard, findGroup, groupsOf, rawReader } from '../canvas/canvas.ts'
import type { Json } from '../canvas/json.ts'

export interface FieldChange {
  field: string
  before: Json
  after: Json
  /** For two texts: the pieces that were kept, removed and added. */
  diff?: TextPiece[]
}

export interface ObjectChange {
  id: string
  change: 'added' | 'removed' | 'changed'
  /** Of an added or removed card: all its fields. */
  fields: FieldChange[]
}

type Find = typeof findCard

/** Most characters of a page. Further changes are on the next page. */
const maxChars = 8 * 1024 * 1024

/** A page of the cards or groups that differ, in the order of their ids. */
export async function diffPage(
  from: Y.Doc,
  to: Y.Doc,
  what: 'cards' | 'groups',
  page: { limit: number; offset: number },
): Promise<{ changes: ObjectChange[]; total: number; more: boolean }> {
  const [find, mapOf] = what === 'cards' ? [findCard, cardsOf] : [findGroup, groupsOf]
  const ids = [...new Set([...mapOf(from).keys(), ...mapOf(to).keys()])].toSorted()
  const differing = (await mapInTurns(ids, (id) => (isSame(find, from, to, id) ? [] : [id]))).flat()
  const shown = differing.slice(page.offset, page.offset + page.limit)
  let chars = 0
  const changes = await mapInTurns(shown, (id) => {
    if (chars > maxChars) return []
    const change = changeOf(find, from, to, id)
    chars += JSON.stringify(change).length
    return [change]
  })
  const count = changes.flat().length
  return { changes: changes.flat(), total: differing.length, more: page.offset + count < differing.length }
}

const rawOf = (find: Find, document: Y.Doc, id: string): Record<string, Json> | null => {
  const shared = find(document, id)
  return shared && (rawReader()(shared) as Record<string, Json>)
}

const isSame = (find: Find, from: Y.Doc, to: Y.Doc, id: string) =>
  isDeepStrictEqual(rawOf(find, from, id), rawOf(find, to, id))

function changeOf(find: Find, from: Y.Doc, to: Y.Doc, id: string): ObjectChange {
  const [before, after] = [rawOf(find, from, id), rawOf(find, to, id)]
  const change = !before ? 'added' : !after ? 'removed' : 'changed'
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].toSorted()
  const fields = names.flatMap((field): FieldChange[] => {
    const [old = null, now = null] = [before?.[field], after?.[field]]
    if (isDeepStrictEqual(old, now)) return []
    const areTexts = change === 'changed' && typeof old === 'string' && typeof now === 'string'
    return [{ field, before: old, after: now, ...(areTexts ? { diff: textDiff(old, now) } : {}) }]
  })
  return { id, change, fields }
}
