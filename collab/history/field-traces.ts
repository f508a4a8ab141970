/** What became of the fields of a card or group by the changes of an actor, while others may change it, too. */
import type { ObjectType } from './objects.ts'

/** What became of a field, from before the changes to after them. */
export interface FieldTrace {
  /** The number of the stored state that has its value before; null: it had none. */
  before: number | null
  /** Digests of the values before and after; see `digestOf`. */
  had: string
  wrote: string
  /** Of a card's `body`: the plain text after, and the digest of the `content` beside it. */
  text?: string
  content?: string
}

export interface Trace {
  type: ObjectType
  id: string
  /** What became of the object. Then others may have changed it further. */
  kind: 'added' | 'changed' | 'removed'
  fields: Map<string, FieldTrace>
}

/** An object before a change: its fields, by name the digest, and the number of the stored state. */
export interface Before {
  type: ObjectType
  id: string
  /** Names of the fields that the change concerns; null: all. */
  names: string[] | null
  isThere: boolean
  digests: Map<string, string>
  state: number
}

export type NamedField = FieldTrace & { name: string }

/**
 * Adds a change to what is known of a field. When somebody else has changed the field in between, only the later change
 * counts. On an added object every change of somebody else stays visible in `wrote`.
 */
export function continueField(trace: Trace, name: string, field: FieldTrace): void {
  const earlier = trace.fields.get(name)
  const continues = (earlier?.wrote ?? (trace.kind === 'added' ? '' : null)) === field.had
  if (trace.kind === 'added' && !continues) return
  if (field.had === field.wrote) return
  const { before, had } = continues && earlier ? earlier : field
  if (trace.kind === 'added') trace.fields.set(name, { ...field, before: null, had: '' })
  else if (had === field.wrote) trace.fields.delete(name)
  else trace.fields.set(name, { ...field, before, had })
}

/** Whether nobody else has changed an object that was added. */
export const isAsAdded = ({ fields }: Trace, digests: ReadonlyMap<string, string>): boolean =>
  [...new Set([...digests.keys(), ...fields.keys()])].every(
    (name) => (digests.get(name) ?? '') === (fields.get(name)?.wrote ?? ''),
  )

/** The trace of an object that is removed now. Null: it is as before. */
export function removal({ type, id, digests, state }: Before, earlier: Trace | undefined): Trace | null {
  if (earlier?.kind === 'added' && isAsAdded(earlier, digests)) return null
  const fields: Trace['fields'] = new Map()
  for (const [name, had] of digests) fields.set(name, { before: state, had, wrote: '' })
  for (const [name, { before, had, wrote }] of earlier?.kind === 'changed' ? earlier.fields : []) {
    if (wrote !== (digests.get(name) ?? '')) continue
    if (before === null) fields.delete(name)
    else fields.set(name, { before, had, wrote: '' })
  }
  return { type, id, kind: 'removed', fields }
}

/** The fields of an object that was removed, and is there again. */
export function again(removed: Trace, after: NamedField[], byOthers: boolean): Trace['fields'] {
  const trace: Trace = { ...removed, kind: 'changed', fields: new Map() }
  if (byOthers) {
    for (const { name, ...field } of after) continueField(trace, name, field)
    return trace.fields
  }
  const now = new Map(after.map(({ name, ...field }) => [name, field]))
  for (const name of new Set([...removed.fields.keys(), ...now.keys()])) {
    const [was, is] = [removed.fields.get(name), now.get(name)]
    const [had, wrote] = [was?.had ?? '', is?.wrote ?? '']
    if (had !== wrote) trace.fields.set(name, { ...is, before: was?.before ?? null, had, wrote })
  }
  return trace.fields
}
