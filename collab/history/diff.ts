/** Compares a board at two moments. */
import type * as Y from 'yjs'
import { textDiff, type TextPiece } from '../../core/text-diff.ts'
import { inTurns, type Steps } from '../../platform/work/loop-turn.ts'
import { sortInSteps } from '../../platform/work/sort-in-steps.ts'
import { cardsOf, findCard, findGroup, groupsOf, type SharedMap } from '../canvas/canvas.ts'
import { differingFields, hasManyItems, keysOfAll } from '../canvas/compare.ts'
import { keyCost, toJson, type Json, type JsonBudget } from '../canvas/json.ts'

export interface FieldChange {
  field: string
  before: Json
  after: Json
  /** For two texts: the pieces that were kept, removed and added. */
  diff?: TextPiece[]
  /** The values are too large to be shown. Both are null then. */
  too_large?: true
}

export interface ObjectChange {
  id: string
  change: 'added' | 'removed' | 'changed'
  /** Of an added or removed card: all its fields. */
  fields: FieldChange[]
}

type Shared = SharedMap | null

/** Most characters of a page. Further changes are on the next page. */
const pageChars = 8 * 1024 * 1024

/** Most characters of the values of one card, before and after together. */
const changeChars = 512 * 1024

/** A page of the cards or groups that differ, in the order of their ids. */
export const diffPage = (
  from: Y.Doc,
  to: Y.Doc,
  what: 'cards' | 'groups',
  page: { limit: number; offset: number },
): Promise<{ changes: ObjectChange[]; total: number; more: boolean }> =>
  inTurns(diffInSteps(from, to, what, page))

export function* diffInSteps(
  from: Y.Doc,
  to: Y.Doc,
  what: 'cards' | 'groups',
  { limit, offset }: { limit: number; offset: number },
): Steps<{ changes: ObjectChange[]; total: number; more: boolean }> {
  const [find, mapOf] = what === 'cards' ? [findCard, cardsOf] : [findGroup, groupsOf]
  const ids = yield* sortInSteps([...(yield* keysOfAll(mapOf(from), mapOf(to)))], byCharacters)
  const differing: string[] = []
  for (const id of ids) {
    if (yield* differs(find(from, id), find(to, id))) differing.push(id)
    yield
  }
  const changes: ObjectChange[] = []
  let chars = 0
  for (const id of differing.slice(offset, offset + limit)) {
    if (chars > pageChars) break
    const change = yield* changeOf(id, find(from, id), find(to, id))
    yield
    chars += JSON.stringify(change).length
    changes.push(change)
    yield
  }
  return { changes, total: differing.length, more: offset + changes.length < differing.length }
}

const byCharacters = (a: string, b: string) => (a < b ? -1 : 1)

function* differs(before: Shared, after: Shared): Steps<boolean> {
  if (!before || !after) return before !== after
  return (yield* differingFields(before, after, toJson)).length > 0
}

function* changeOf(id: string, before: Shared, after: Shared): Steps<ObjectChange> {
  const change = !before ? 'added' : !after ? 'removed' : 'changed'
  const names =
    before && after ? yield* differingFields(before, after, toJson) : [...(before ?? after)!.keys()]
  const budget = { left: changeChars }
  const fields: FieldChange[] = []
  for (const field of yield* sortInSteps(names, byCharacters)) {
    budget.left -= field.length + keyCost
    if (budget.left < 0) break
    const found = yield* fieldOf(field, before, after, budget)
    if (found.before !== null || found.after !== null || found.too_large) fields.push(found)
    yield
  }
  return { id, change, fields }
}

/** Only a value that fits the budget takes from it. So a small field is shown behind a large one. */
function* fieldOf(field: string, before: Shared, after: Shared, budget: JsonBudget): Steps<FieldChange> {
  for (const shared of [before, after])
    if (shared && (yield* hasManyItems(shared, field)))
      return { field, before: null, after: null, too_large: true }
  const { left } = budget
  const old = toJson(before?.get(field), budget)
  yield
  const now = toJson(after?.get(field), budget)
  yield
  if (budget.left < 0) {
    budget.left = left
    return { field, before: null, after: null, too_large: true }
  }
  const areTexts = before && after && typeof old === 'string' && typeof now === 'string'
  return { field, before: old, after: now, ...(areTexts ? { diff: textDiff(old, now) } : {}) }
}
