/** Undoes what an actor or a request changed, where nobody else has changed the same since. It is a new change. */
import type * as Y from 'yjs'
import { applyEdits, diffText, mergeText, type TextEdit } from '../../core/text-merge.ts'
import { inTurns, type Steps } from '../../platform/work/loop-turn.ts'
import type { Made } from '../../sql/made.ts'
import { requireWritable } from '../access.ts'
import { buildUnchanged } from '../boards/conditions.ts'
import { showLive, type LiveBoards } from '../boards/live.ts'
import { catchUp } from '../boards/read.ts'
import { cardsOf, findCard, type SharedMap } from '../canvas/canvas.ts'
import { digestOf, plainText } from '../canvas/compare.ts'
import {
  buildTargets,
  changeOf,
  requireBounded,
  takenIdentifiers,
  type Change,
  type Target,
} from './bring-back.ts'
import { isAsAdded, type FieldTrace, type Trace } from './field-traces.ts'
import { findChanges, type Found } from './find-changes.ts'
import { sharedOf, type ObjectType } from './objects.ts'
import { inTurn, type Reader } from './past.ts'
import { statesRoot, type Selector } from './trace.ts'

/** Why something was not undone. */
export const keptReasons = [
  'changed_since',
  'gone',
  'exists',
  'in_use',
  'identifier_taken',
  'moved',
  'together',
  'needs_delete',
  'expunged',
] as const

export interface Kept {
  type: ObjectType
  id: string
  /** The fields that were not undone; empty for a whole object. */
  fields: string[]
  reason: (typeof keptReasons)[number]
}

export interface UndoRequest {
  boardId: string
  of: Selector
  reader: Reader
  dryRun: boolean
  /** Whether the caller may remove cards. */
  mayDelete: boolean
  /** Returns what to store with the commit; see `BuiltWrite.made`. */
  remember(undone: Undone): Made[]
}

export interface Undone {
  changes: Change[]
  kept: Kept[]
  live: boolean
}

/**
 * @returns null when there is no such change
 * @throws ServiceError
 */
export async function undoChanges(live: LiveBoards, request: UndoRequest): Promise<Undone | null> {
  const { boardId, of, reader } = request
  await requireWritable(live.database, reader.account, boardId)
  return inTurn(reader.account, async () => {
    const found = await findChanges(live, boardId, of, reader)
    try {
      return found && (await undoFound(live, request, found))
    } finally {
      found?.states.destroy()
    }
  })
}

async function undoFound(
  live: LiveBoards,
  { boardId, reader, dryRun, mayDelete, remember }: UndoRequest,
  found: Found,
): Promise<Undone> {
  let undone: Undone = { changes: [], kept: [], live: true }
  const written = await live.documents.withDocument(boardId, async ({ document }) => {
    await catchUp(live, boardId)
    const { targets, kept } = await inTurns(planUndo(document, found, mayDelete))
    undone = { changes: targets.map(changeOf), kept, live: true }
    requireBounded(targets)
    if (dryRun || targets.length === 0) return null
    const held = new Set(found.traces.map(({ id }) => id))
    return live.queue.write(boardId, {
      account: reader.account,
      reads: 'board',
      *build(head) {
        // What is undone is decided on the document that the write is built on.
        const built = yield* buildUnchanged(document, held, function* () {
          const plan = yield* planUndo(document, found, mayDelete)
          return { ...(yield* buildTargets(document, head, plan.targets)), kept: plan.kept }
        })
        undone = { changes: built.changes, kept: built.kept, live: true }
        built.write.made = remember(undone)
        return built.write
      },
    })
  })
  if (written) undone.live = await showLive(live, boardId, written.seq)
  return undone
}

interface Plan {
  targets: Target[]
  kept: Kept[]
}

function* planUndo(document: Y.Doc, found: Found, mayDelete: boolean): Steps<Plan> {
  const states = found.states.getMap(statesRoot)
  const effort = { left: 2_000_000 }
  const plan: Plan = {
    targets: [],
    kept: [
      ...found.moved.map((id): Kept => ({ type: 'card', id, fields: [], reason: 'moved' })),
      ...found.together.map((one): Kept => ({ ...one, fields: [], reason: 'together' })),
    ],
  }
  for (const trace of found.traces) {
    yield
    const shared = sharedOf(document, trace)
    const stateOf = ({ before }: FieldTrace) =>
      before === null ? null : (states.get(String(before)) as SharedMap)
    if (trace.kind === 'added') yield* undoAdded(plan, trace, shared, mayDelete)
    else if (trace.kind === 'removed') undoRemoved(plan, trace, shared, stateOf)
    else yield* undoChanged(plan, trace, shared, { stateOf, effort })
  }
  yield* keepUsedGroups(document, plan)
  const taken = yield* takenIdentifiers(document, plan.targets)
  for (const target of taken.keys()) keepIdentifiers(plan, target)
  return plan
}

function* undoAdded(plan: Plan, trace: Trace, shared: SharedMap | null, mayDelete: boolean): Steps<void> {
  const { type, id, fields } = trace
  if (!shared) return
  const digests = new Map<string, string>()
  for (const name of shared.keys()) {
    digests.set(name, yield* digestOf(shared, name))
    yield
  }
  // An open canvas makes `content` from `body`.
  if (!fields.has('content') && plainText(shared.get('body')) !== null) digests.delete('content')
  if (!isAsAdded(trace, digests)) plan.kept.push({ type, id, fields: [], reason: 'changed_since' })
  else if (type === 'card' && !mayDelete) plan.kept.push({ type, id, fields: [], reason: 'needs_delete' })
  else plan.targets.push({ type, id, change: 'removed', values: new Map() })
}

type StateOf = (field: FieldTrace) => SharedMap | null

function undoRemoved(
  plan: Plan,
  { type, id, fields }: Trace,
  shared: SharedMap | null,
  stateOf: StateOf,
): void {
  if (shared) plan.kept.push({ type, id, fields: [], reason: 'exists' })
  else {
    const values = new Map([...fields].map(([name, field]) => [name, stateOf(field)]))
    plan.targets.push({ type, id, change: 'created', values })
  }
}

interface FieldsPlan {
  values: Map<string, SharedMap | null>
  /** Names of the fields that somebody else has changed since. */
  changed: string[]
  text?: Target['text']
}

interface Undoing {
  stateOf: StateOf
  /** Search steps for merging texts. */
  effort: { left: number }
}

function* undoChanged(plan: Plan, trace: Trace, shared: SharedMap | null, undoing: Undoing): Steps<void> {
  const { type, id, fields } = trace
  if (!shared) {
    plan.kept.push({ type, id, fields: [...fields.keys()], reason: 'gone' })
    return
  }
  const body = type === 'card' ? fields.get('body') : undefined
  const hasWords = body !== undefined && (yield* digestOf(shared, 'body')) !== body.had
  const found: FieldsPlan = { values: new Map(), changed: [] }
  for (const [name, field] of fields) {
    if (hasWords && textFields.includes(name)) continue
    yield
    const now = yield* digestOf(shared, name)
    if (now === field.wrote) found.values.set(name, undoing.stateOf(field))
    else if (now !== field.had) found.changed.push(name)
  }
  if (hasWords) yield* undoWords(found, fields, shared, undoing)
  const { values, changed, text } = found
  if (changed.length > 0) plan.kept.push({ type, id, fields: changed, reason: 'changed_since' })
  if (values.size > 0 || text)
    plan.targets.push({ type, id, change: 'changed', values, ...(text ? { text } : {}) })
}

const textFields = ['body', 'html', 'content']

/** A text is undone in all its forms, or in none. */
function* undoWords(
  found: FieldsPlan,
  fields: Trace['fields'],
  shared: SharedMap,
  { stateOf, effort }: Undoing,
): Steps<void> {
  const isAsWritten = function* (name: string): Steps<boolean> {
    yield
    return !fields.has(name) || (yield* digestOf(shared, name)) === fields.get(name)!.wrote
  }
  const names = textFields.filter((name) => fields.has(name))
  const body = fields.get('body')!
  // An open canvas makes `content` from a text that was written without it. It makes it again from the text that comes back.
  const isMade = body.content === ''
  const isIntact =
    (yield* isAsWritten('html')) && (isMade || (yield* digestOf(shared, 'content')) === body.content)
  const isMerged = isIntact && !(yield* isAsWritten('body'))
  if (isMerged && !(isMade && shared.has('content')))
    found.text = mergedText(shared, body, stateOf(body), effort)
  if (!isIntact || (isMerged && !found.text)) {
    found.changed.push(...names)
    return
  }
  const { values } = found
  for (const name of names) if (!(isMerged && name === 'body')) values.set(name, stateOf(fields.get(name)!))
  if (isMade && !fields.has('content') && shared.has('content')) values.set('content', null)
}

/** The edits that undo a change of a text, when others have changed other places of it since. */
function mergedText(
  shared: SharedMap,
  { text: wrote }: FieldTrace,
  state: SharedMap | null,
  effort: { left: number },
): Target['text'] {
  const [current, before] = [plainText(shared.get('body')), plainText(state?.get('body'))]
  if (wrote === undefined || current === null || before === null) return undefined
  const theirs = diffText(wrote, current, effort)
  const ours = diffText(wrote, before, effort)
  if (effort.left < 0 || ours.some((one) => theirs.some((other) => touches(one, other)))) return undefined
  const edits = mergeText(wrote, current, before)
  return { edits, body: applyEdits(current, edits) }
}

const touches = (one: TextEdit, other: TextEdit) =>
  one.index <= other.index + other.remove && other.index <= one.index + one.remove

/** A group that was added stays when cards of others are in it. */
function* keepUsedGroups(document: Y.Doc, plan: Plan): Steps<void> {
  const isRemovedGroup = ({ type, change }: Target) => type === 'group' && change === 'removed'
  const removed = new Set(plan.targets.filter(isRemovedGroup).map(({ id }) => id))
  if (removed.size === 0) return
  const cards = new Map(
    plan.targets.filter(({ type }) => type === 'card').map((target) => [target.id, target]),
  )
  const used = new Set<unknown>()
  for (const id of [...cardsOf(document).keys()]) {
    yield
    const target = cards.get(id)
    const leaves = target && (target.change === 'removed' || target.values.has('group_id'))
    if (!leaves) used.add(findCard(document, id)?.get('group_id'))
  }
  const isUsed = (target: Target) => isRemovedGroup(target) && used.has(target.id)
  for (const { type, id } of plan.targets.filter(isUsed))
    plan.kept.push({ type, id, fields: [], reason: 'in_use' })
  plan.targets = plan.targets.filter((target) => !isUsed(target))
}

/** Leaves out identifiers that another card has by now; the whole card when it would be created with them. */
function keepIdentifiers(plan: Plan, target: Target): void {
  const { type, id, change, values } = target
  const isWhole = change === 'created'
  plan.kept.push({ type, id, fields: isWhole ? [] : ['identifiers'], reason: 'identifier_taken' })
  const left = new Map([...values].filter(([name]) => name !== 'identifiers'))
  plan.targets = plan.targets.flatMap((one) =>
    one !== target ? one : isWhole || (left.size === 0 && !target.text) ? [] : { ...target, values: left },
  )
}
