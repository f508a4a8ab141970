/** Finds the keys of files in cards, in all fields: also in those that only the editor understands. */
import * as Y from 'yjs'
import { fileKeysIn } from '../../core/file.ts'
import { cardsOf } from '../canvas/canvas.ts'
import { isPlain } from '../canvas/compare.ts'
import { documentOf, type LogContent } from '../log/log.ts'
import { removedRoot } from '../canvas/new-cards.ts'

/**
 * The keys of files in all texts and field names of a value, which may be shared or plain. It reads shared values where
 * they are: a copy as JSON would take longer than the search. It uses no recursion, since editors may nest values to
 * any depth.
 */
export function fileKeysOf(value: unknown): Set<string> {
  const keys = new Set<string>()
  const open: object[] = []
  const visit = (one: unknown, name = '') => {
    if (typeof one === 'string') addKeys(keys, one)
    else if (typeof one === 'object' && one !== null && !ArrayBuffer.isView(one)) open.push(one)
    addKeys(keys, name)
  }
  visit(value)
  for (let at = 0; at < open.length; at += 1) {
    const one = open[at]!
    if (one instanceof Y.Map) (one as Y.Map<unknown>).forEach((inner, name) => visit(inner, name))
    else if (one instanceof Y.Array) one.forEach((inner) => visit(inner))
    else if (one instanceof Y.AbstractType) {
      visit((one as Y.Text | Y.XmlFragment).toJSON())
      if (one instanceof Y.Text && !isPlain(one)) visit(one.toDelta()) // its embedded values and formats
    } else for (const [name, inner] of Object.entries(one)) visit(inner, name)
  }
  return keys
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
  for (const card of cardsOf(documentOf(log)).values()) for (const key of fileKeysOf(card)) keys.add(key)
  return [...keys]
}

/** The keys of files in each removed card. Runs in a worker thread. */
export function fileKeysOfRemoved(states: Uint8Array[]): string[][] {
  return states.map((state) => {
    const document = documentOf({ snapshot: null, updates: [state] })
    return [...fileKeysOf(document.getMap(removedRoot))]
  })
}
