/** Finds the keys of files in cards, in all fields: also in those that only the editor understands. */
import * as Y from 'yjs'
import { fileKeysIn } from '../../core/file.ts'
import { atOnce, type Steps } from '../../platform/work/loop-turn.ts'
import { cardsOf } from '../canvas/canvas.ts'
import { documentOf, type LogContent } from '../log/log.ts'
import { removedRoot } from '../canvas/new-cards.ts'

/**
 * Finds the keys of files in all texts and field names of a value, in steps. The value may be shared or plain. Shared
 * values are read where they are: a copy as JSON would take longer than the search. There is no recursion, since editors
 * may nest values to any depth.
 */
export function* fileKeysOf(value: unknown): Steps<Set<string>> {
  const keys = new Set<string>()
  const open: object[] = []
  const visit = (one: unknown, name = '') => {
    if (typeof one === 'string') addKeys(keys, one)
    else if (typeof one === 'object' && one !== null && !ArrayBuffer.isView(one)) open.push(one)
    addKeys(keys, name)
  }
  visit(value)
  for (let at = 0; at < open.length; at += 1) {
    if (at % perStep === 0) yield
    const one = open[at]!
    if (one instanceof Y.Map) (one as Y.Map<unknown>).forEach((inner, name) => visit(inner, name))
    else if (one instanceof Y.Array) one.forEach((inner) => visit(inner))
    else if (one instanceof Y.XmlFragment) {
      one.forEach((inner) => visit(inner))
      if (one instanceof Y.XmlElement && one._map.size > 0) visit(one.getAttributes())
    } else if (one instanceof Y.Text) visitText(one, visit)
    else for (const [name, inner] of Object.entries(one)) visit(inner, name)
  }
  return keys
}

/** Objects that are read between two `yield`s. */
const perStep = 500

/** Visits the characters of a text, its embedded values and its formats. */
function visitText(text: Y.Text, visit: (value: unknown, name?: string) => void): void {
  let characters = ''
  for (let item = text._start; item !== null; item = item.right) {
    const { content } = item
    if (item.deleted) continue
    if (content instanceof Y.ContentString) characters += content.str
    else if (content instanceof Y.ContentFormat) visit(content.value, content.key)
    else for (const embedded of content.getContent() as unknown[]) visit(embedded)
  }
  visit(characters)
}

const shortestKey = 25

/**
 * `exec` on the shared expression. `matchAll` would copy the expression for each text, which takes longer than the
 * search.
 */
function addKeys(keys: Set<string>, text: string): void {
  if (text.length < shortestKey) return
  fileKeysIn.lastIndex = 0
  for (let match = fileKeysIn.exec(text); match; match = fileKeysIn.exec(text)) keys.add(match[0])
}

/** The keys of files in a board's cards. Runs in a worker thread. */
export function fileKeysOfBoard(log: LogContent): string[] {
  const keys = new Set<string>()
  for (const card of cardsOf(documentOf(log)).values())
    for (const key of atOnce(fileKeysOf(card))) keys.add(key)
  return [...keys]
}

/** The keys of files in each removed card. Runs in a worker thread. */
export function fileKeysOfRemoved(states: Uint8Array[]): string[][] {
  return states.map((state) => {
    const document = documentOf({ snapshot: null, updates: [state] })
    return [...atOnce(fileKeysOf(document.getMap(removedRoot)))]
  })
}
