/** Finds out what an actor or a request changed on a board, field by field. Runs in a worker thread. */
import * as Y from 'yjs'
import { atOnce, mapInTurns } from '../../platform/work/loop-turn.ts'
import { moved } from '../../platform/work/moved.ts'
import { UpdateBuilder } from '../canvas/edit.ts'
import { digestOf, plainText } from '../canvas/compare.ts'
import { recordRows, type RowHead } from '../log/archive.ts'
import type { Changes } from '../log/changes.ts'
import { documentOf, type LogContent } from '../log/log.ts'
import { decodeSegment, decompress, type ReadRow, type RecordedCause } from '../log/segment.ts'
import { cutUpdate } from '../updates/cut.ts'
import {
  again,
  continueField,
  isAsAdded,
  removal,
  type Before,
  type NamedField,
  type Trace,
} from './field-traces.ts'
import { sharedOf, type ObjectType } from './objects.ts'

/** Which changes are meant. Null: any. */
export interface Selector {
  operation: string | null
  request: string | null
  /** Id of an account, a token, a session, or an agent. */
  actor: string | null
  /** Only changes that this account alone made. */
  account: string | null
  /** First and last time, in milliseconds. */
  since: number
  until: number
}

export function isSelected(
  { op, request, accounts, tokens = [], agent }: Omit<RecordedCause, 'changes'>,
  at: number,
  of: Selector,
): boolean {
  if (at < of.since || at > of.until) return false
  if (of.operation !== null && op !== of.operation) return false
  if (of.request !== null && request !== of.request) return false
  if (of.account !== null && !accounts.includes(of.account)) return false
  return of.actor === null || accounts.includes(of.actor) || tokens.includes(of.actor) || agent === of.actor
}

export interface Traced {
  traces: Trace[]
  /** Cards that were moved to the board or away from it. */
  moved: string[]
  /** Objects whose changes arrived together with those of other accounts, and can't be told apart from them. */
  together: { type: ObjectType; id: string }[]
}

export interface TraceInput {
  base: Uint8Array | null
  segments: Uint8Array[]
  log: { content: LogContent; rows: RowHead[] } | null
  of: Selector
}

/** How many traces one part has. It is parsed in one step. */
const tracesPerPart = 200

function encodeTraced({ traces, ...rest }: Traced): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let from = 0; from < traces.length; from += tracesPerPart) {
    const some = traces.slice(from, from + tracesPerPart)
    parts.push(Buffer.from(JSON.stringify(some.map((trace) => ({ ...trace, fields: [...trace.fields] })))))
  }
  return [Buffer.from(JSON.stringify({ ...rest, parts: parts.length })), ...parts]
}

/** Decodes the answer of `traceChanges`, in turns. @returns also the parts of the document of stored states */
export async function readTraced([head, ...parts]: Uint8Array[]): Promise<[Traced, Uint8Array[]]> {
  const parse = (json: Uint8Array): unknown => JSON.parse(Buffer.from(json).toString())
  const { parts: count, ...rest } = parse(head!) as Omit<Traced, 'traces'> & { parts: number }
  const traces = await mapInTurns(parts.slice(0, count), (part) =>
    (parse(part) as Trace[]).map((trace) => ({ ...trace, fields: new Map(trace.fields) })),
  )
  return [{ ...rest, traces: traces.flat() }, parts.slice(count)]
}

/** The root of a document with stored states: maps by number. */
export const statesRoot = 'states'

/** @returns parts for `readTraced`, and then a document of stored states, as updates (V1) that are applied in order */
export function traceChanges(input: TraceInput): Uint8Array[] {
  const { base, segments, log, of } = input
  const snapshot = segments.length > 0 ? base && decompress(base) : (log?.content.snapshot ?? null)
  const tracer = new Tracer(documentOf({ snapshot, updates: [] }))
  const rows = [...segments.flatMap(decodeSegment), ...(log ? rowsOfLog(log.content, log.rows) : [])]
  for (const { at, causes, updates } of rows) {
    let next = 0
    for (const cause of causes) {
      const some = updates.slice(next, (next += cause.n))
      if (!isSelected(cause, at, of)) tracer.pass(some)
      else if (cause.by === 'move') tracer.move(cause.changes, some)
      else if (cause.accounts.length > 1 && (of.actor ?? of.account) !== null)
        tracer.share(cause.changes, some)
      else tracer.follow(cause.changes, some)
    }
  }
  const { traced, states } = tracer.finish()
  const parts = cutUpdate(Y.encodeStateAsUpdate(documentOf({ snapshot: null, updates: states })))
  if (!parts) throw new Error('The past states of cards are malformed.')
  return moved([...encodeTraced(traced), ...parts])
}

function rowsOfLog({ snapshot, updates }: LogContent, heads: RowHead[]): ReadRow[] {
  let next = 0
  return recordRows(documentOf({ snapshot, updates: [] }), heads, updates).map((row) => {
    const count = row.causes.reduce((sum, { n }) => sum + n, 0)
    return { ...row, updates: updates.slice(next, (next += count)) }
  })
}

class Tracer {
  readonly #document: Y.Doc
  readonly #states: Uint8Array[] = []
  readonly #traces = new Map<string, Trace>()
  readonly #moved = new Set<string>()
  readonly #together = new Map<string, { type: ObjectType; id: string }>()
  /**
   * Changes that follow each other without a change of somebody else in between. They count as one: so that a text that
   * somebody typed is not compared after each letter.
   */
  #run: { touched: Map<string, Touched>; updates: Uint8Array[] } = { touched: new Map(), updates: [] }

  constructor(document: Y.Doc) {
    this.#document = document
  }

  /** A change that is not meant. */
  pass(updates: Uint8Array[]): void {
    this.#endRun()
    this.#apply(updates)
  }

  move(changes: Changes, updates: Uint8Array[]): void {
    this.pass(updates)
    for (const { type, id } of touchedBy(changes)) {
      this.#traces.delete(keyOf({ type, id }))
      this.#moved.add(id)
    }
  }

  /** Changes of several accounts, which can't be told apart. */
  share(changes: Changes, updates: Uint8Array[]): void {
    this.pass(updates)
    for (const { type, id } of touchedBy(changes)) this.#together.set(keyOf({ type, id }), { type, id })
  }

  follow(changes: Changes, updates: Uint8Array[]): void {
    const { touched } = this.#run
    for (const one of touchedBy(changes)) {
      const names = touched.has(keyOf(one)) ? touched.get(keyOf(one))!.names : []
      touched.set(keyOf(one), { ...one, names: names && one.names && [...new Set([...names, ...one.names])] })
    }
    this.#run.updates.push(...updates)
  }

  #endRun(): void {
    const { touched, updates } = this.#run
    this.#run = { touched: new Map(), updates: [] }
    const before = [...touched.values()].map((one) => this.#look(one))
    this.#apply(updates)
    for (const one of before) this.#note(one)
  }

  #apply(updates: Uint8Array[]): void {
    this.#document.transact(() => {
      for (const update of updates) Y.applyUpdate(this.#document, update)
    })
  }

  finish(): { traced: Traced; states: Uint8Array[] } {
    this.#endRun()
    const traces = [...this.#traces.values()].filter(
      ({ kind, fields }) => kind !== 'changed' || fields.size > 0,
    )
    const used = new Set(traces.flatMap(({ fields }) => [...fields.values()].map(({ before }) => before)))
    const states = this.#states.filter((_state, n) => used.has(n))
    const together = [...this.#together.values()]
    return { traced: { traces, moved: [...this.#moved], together }, states }
  }

  /** Reads an object before a change, and stores the fields whose values may be needed. */
  #look({ type, id, names }: Touched): Before {
    const shared = sharedOf(this.#document, { type, id })
    const state = this.#states.length
    if (!shared) return { type, id, names, isThere: false, digests: new Map(), state }
    const digests = this.#digests(shared, names ?? [...shared.keys()])
    const earlier = this.#traces.get(keyOf({ type, id }))
    const isNeeded = (name: string) =>
      earlier?.kind === 'added'
        ? names === null && !isAsAdded(earlier, digests)
        : earlier?.fields.get(name)?.wrote !== digests.get(name)
    const needed = new Set([...digests.keys()].filter(isNeeded))
    if (needed.size > 0) {
      // Each state has a client of its own, so that any of them make up a document.
      const builder = new UpdateBuilder(state + 1, 0)
      const values = [...needed].map((name) => [name, shared] as const)
      atOnce(builder.collectMap(new Map(values), statesRoot, String(state)))
      this.#states.push(builder.endUpdate()!)
    }
    return { type, id, names, isThere: true, digests, state }
  }

  #digests(shared: Y.Map<unknown>, names: string[]): Map<string, string> {
    return new Map(
      names.flatMap((name) => (shared.has(name) ? [[name, atOnce(digestOf(shared, name))]] : [])),
    )
  }

  /** Notes what became of an object. */
  #note(before: Before): void {
    const shared = sharedOf(this.#document, before)
    const key = keyOf(before)
    const earlier = this.#traces.get(key)
    if (!before.isThere && !shared) return
    if (!shared) {
      const removed = removal(before, earlier)
      if (removed) this.#traces.set(key, removed)
      else this.#traces.delete(key)
      return
    }
    const names = before.names ?? [...new Set([...before.digests.keys(), ...shared.keys()])]
    const after = names.map((name): NamedField => {
      const had = before.digests.get(name) ?? ''
      const text = name === 'body' && before.isThere ? plainText(shared.get(name)) : null
      const wrote = atOnce(digestOf(shared, name))
      return {
        name,
        before: had === '' ? null : before.state,
        had,
        wrote,
        ...(text === null ? {} : { text }),
      }
    })
    const trace = this.#traceOf(before, after)
    this.#traces.set(key, trace)
    const body = trace.fields.get('body')
    const isWords = ({ name, had, wrote }: NamedField) => ['body', 'content'].includes(name) && had !== wrote
    if (body && after.some(isWords)) body.content = atOnce(digestOf(shared, 'content'))
  }

  #traceOf({ type, id, isThere }: Before, after: NamedField[]): Trace {
    const earlier = this.#traces.get(keyOf({ type, id }))
    if (earlier?.kind === 'removed')
      return { type, id, kind: 'changed', fields: again(earlier, after, isThere) }
    if (!isThere)
      return { type, id, kind: 'added', fields: new Map(after.map(({ name, ...field }) => [name, field])) }
    const trace = earlier ?? { type, id, kind: 'changed' as const, fields: new Map() }
    for (const { name, ...field } of after) continueField(trace, name, field)
    return trace
  }
}

interface Touched {
  type: ObjectType
  id: string
  names: string[] | null
}

const keyOf = ({ type, id }: Pick<Touched, 'type' | 'id'>) => `${type} ${id}`

function touchedBy({ added, removed, changed, groups }: Changes): Touched[] {
  const card = (id: string, names: string[] | null): Touched => ({ type: 'card', id, names })
  return [
    ...[...added, ...removed].map((id) => card(id, null)),
    ...Object.entries(changed).map(([id, names]) => card(id, names.includes('*') ? null : names)),
    ...groups.map((id): Touched => ({ type: 'group', id, names: null })),
  ]
}
