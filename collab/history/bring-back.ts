/** Builds a write that brings cards and groups back to values that they had. */
import type * as Y from 'yjs'
import { identifierKey } from '../../core/card-values.ts'
import { isStoredKind } from '../../core/card.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { diffText, type TextEdit } from '../../core/text-merge.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { Draft, fieldBytes } from '../boards/build.ts'
import { fileKeysOf } from '../boards/file-keys.ts'
import {
  cardsOf,
  cardsRoot,
  findCard,
  findGroup,
  groupsOf,
  groupsRoot,
  readContent,
  readGroupContent,
  type SharedMap,
  type Values,
} from '../canvas/canvas.ts'
import { plainText } from '../canvas/compare.ts'
import { inUpdates } from '../canvas/edit.ts'
import { cardRow, groupRow, readCard } from '../canvas/project.ts'
import type { BuiltWrite } from '../commit/write-request.ts'
import type { BoardHead } from '../log/log.ts'
import { sharedOf, type ObjectType } from './objects.ts'

/** A card or group, and what it becomes. */
export interface Target {
  type: ObjectType
  id: string
  change: 'created' | 'changed' | 'removed'
  /** By field: a map, of any document, that has its value; null: the field is removed. Other fields stay. */
  values: ReadonlyMap<string, SharedMap | null>
  /** In place of a value for `body`: the edits of the text, and the text that they make. */
  text?: { edits: TextEdit[]; body: string }
}

/** What became of a target. */
export interface Change {
  type: ObjectType
  id: string
  change: Target['change']
  /** Of a changed object: the names of its fields. */
  fields: string[]
  /** Of a removed card. */
  restore_token?: string
}

export const changeOf = ({ type, id, change, values, text }: Target): Change => ({
  ...{ type, id, change },
  fields: change === 'changed' ? [...values.keys(), ...(text ? ['body'] : [])] : [],
})

/** @throws ServiceError `bad_request` for more cards than one commit may change */
export function requireBounded(targets: Target[]): void {
  if (targets.length > limits.cardsPerCommit)
    throw badRequest(
      `${targets.length} cards and groups would change, and one request changes at most ${limits.cardsPerCommit}. Name some of the cards, or a shorter span.`,
    )
}

/**
 * Builds the write of all targets. An object that is there meanwhile is not created, and one that is gone is not changed.
 *
 * @throws ServiceError `payload_too_large`
 */
export function* buildTargets(
  document: Y.Doc,
  head: BoardHead,
  targets: Target[],
): Steps<{ write: BuiltWrite; changes: Change[] }> {
  requireBounded(targets)
  const build = new Build(document, head, targets)
  const changes: Change[] = []
  for (const target of targets) {
    yield
    const change = yield* build.add(target)
    if (change) changes.push(change)
  }
  return { write: build.finish(), changes }
}

class Build {
  readonly #document: Y.Doc
  readonly #draft: Draft
  readonly #targets: Map<string, Target>
  readonly #files = new Set<string>()
  /** Search steps of about 15 ns each. When they are used up, a text is changed as one range. */
  #effort = 4_000_000
  #adds = 0
  #removedBytes = 0

  constructor(document: Y.Doc, head: BoardHead, targets: Target[]) {
    this.#document = document
    this.#draft = new Draft(head)
    this.#targets = new Map(targets.map((target) => [`${target.type} ${target.id}`, target]))
  }

  *add(target: Target): Steps<Change | null> {
    const shared = sharedOf(this.#document, target)
    if ((shared === null) !== (target.change === 'created')) return null
    const restore_token = yield* shared ? this.#write(target, shared) : this.#create(target)
    this.#draft.builder.nextChange()
    if (this.#draft.builder.bytes + this.#removedBytes > limits.movedBytes) throw tooMuch
    return { ...changeOf(target), ...(restore_token === undefined ? {} : { restore_token }) }
  }

  finish(): BuiltWrite {
    const write = this.#draft.finish()
    // The card limit counts what the write leaves.
    write.adds = Math.max(0, this.#adds)
    write.files = [...this.#files]
    return write
  }

  *#write(target: Target, shared: SharedMap): Steps<string | undefined> {
    if (target.change === 'removed') return yield* this.#remove(target, shared)
    const { builder, write } = this.#draft
    const next = new Map<string, unknown>()
    for (const [name, source] of target.values) {
      const value = this.#allowed(target, name, source)?.get(name)
      next.set(name, value)
      write.grows += fieldBytes(value) - fieldBytes(shared.get(name))
      const [text, current] = [plainText(value), plainText(shared.get(name))]
      if (name === 'body' && text !== null && current !== null)
        builder.setText(shared, name, this.#editsOf(current, text), text)
      else if (value === undefined) builder.removeKey(shared, name)
      else yield* inUpdates(builder, builder.copyField(shared, name, source!))
      yield* this.#nameFiles(value)
    }
    const { text } = target
    if (text) {
      builder.setText(shared, 'body', text.edits, text.body)
      next.set('body', text.body)
      write.grows += fieldBytes(text.body) - fieldBytes(plainText(shared.get('body')))
    }
    const after: Values = {
      get: (name: string) => (next.has(name) ? next.get(name) : shared.get(name)),
      keys: () => {
        const kept = [...shared.keys()].filter((name) => !next.has(name))
        return [...kept, ...[...next].flatMap(([name, value]) => (value === undefined ? [] : name))].values()
      },
    }
    this.#index(target, after)
    return undefined
  }

  *#create(target: Target): Steps<undefined> {
    const { type, id, values } = target
    const sources = new Map<string, SharedMap>()
    for (const [name, source] of values) {
      const allowed = this.#allowed(target, name, source)
      if (allowed) sources.set(name, allowed)
    }
    const [root, map] =
      type === 'card' ? [cardsRoot, cardsOf(this.#document)] : [groupsRoot, groupsOf(this.#document)]
    const { builder } = this.#draft
    yield* inUpdates(builder, builder.collectMap(sources, root, id, map._map.get(id)))
    for (const [name, source] of sources) {
      const value = source.get(name)
      this.#draft.write.grows += fieldBytes(value)
      yield* this.#nameFiles(value)
    }
    if (type === 'card') this.#adds += 1
    this.#index(target, { get: (name) => sources.get(name)?.get(name), keys: () => sources.keys() })
  }

  *#remove({ type, id }: Target, shared: SharedMap): Steps<string | undefined> {
    const { builder, write } = this.#draft
    write.grows -= fieldBytes(shared)
    if (type === 'card') {
      this.#adds -= 1
      const token = yield* this.#draft.removeCard(this.#document, id, shared)
      this.#removedBytes += write.removed.at(-1)!.state.byteLength
      return token
    }
    builder.removeKey(groupsOf(this.#document), id)
    write.groups.push({ id, gone: true })
    return undefined
  }

  /** Adds the row of an object after the write. */
  #index({ type, id }: Target, after: Values): void {
    const { write } = this.#draft
    if (type === 'group') {
      const isShown = typeof after.get('name') === 'string'
      write.groups.push(isShown ? groupRow(id, readGroupContent(after)) : { id, gone: true })
      return
    }
    const isShown = isStoredKind(after.get('kind'))
    write.rows.push(isShown ? cardRow(readCard(id, after), null) : { id, gone: true })
    if (isShown) this.#draft.raiseTop(readContent(after).z)
  }

  /** The map with a field's value; null when the field is removed. A card that names a group that is gone is in none. */
  #allowed({ type }: Target, name: string, source: SharedMap | null): SharedMap | null {
    if (!source?.has(name)) return null
    if (type === 'group' || name !== 'group_id') return source
    const group = source.get(name)
    const target = this.#targets.get(`group ${String(group)}`)
    const isThere =
      target?.change === 'created' ||
      (target?.change !== 'removed' && typeof group === 'string' && findGroup(this.#document, group) !== null)
    return isThere ? source : null
  }

  #editsOf(current: string, text: string): TextEdit[] {
    const effort = { left: Math.min(effortPerText, this.#effort) }
    this.#effort -= effort.left
    const edits = diffText(current, text, effort)
    this.#effort += Math.max(0, effort.left)
    return edits
  }

  *#nameFiles(value: unknown): Steps<void> {
    if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return
    for (const key of yield* fileKeysOf(value)) this.#files.add(key)
  }
}

/** About 6 ms. */
const effortPerText = 400_000

/**
 * The first identifier that a target gets, but another card of the board has by now.
 *
 * @returns by target: the identifier, and the card that has it
 */
export function* takenIdentifiers(
  document: Y.Doc,
  targets: Target[],
): Steps<Map<Target, { scope: string; value: string; card: string }>> {
  const gained = new Map<string, Target>()
  const own = new Set<string>()
  for (const target of targets) {
    const source = target.values.get('identifiers')
    if (target.type !== 'card' || (source === undefined && target.change !== 'removed')) continue
    own.add(target.id)
    const shared = sharedOf(document, target)
    const kept = new Set(shared ? readContent(shared).identifiers.map(identifierKey) : [])
    for (const one of source ? readContent(source).identifiers.map(identifierKey) : [])
      if (!kept.has(one)) gained.set(one, target)
  }
  const taken = new Map<Target, { scope: string; value: string; card: string }>()
  if (gained.size === 0) return taken
  for (const card of [...cardsOf(document).keys()]) {
    yield
    const shared = own.has(card) ? null : findCard(document, card)
    if (!shared?.has('identifiers')) continue
    for (const one of readContent(shared).identifiers) {
      const target = gained.get(identifierKey(one))
      if (target) taken.set(target, { ...one, card })
    }
  }
  return taken
}

const tooMuch = new ServiceError(
  'payload_too_large',
  `What would be written is larger than ${limits.movedBytes / 1024 / 1024} MB. Name fewer cards, or a shorter span.`,
)
