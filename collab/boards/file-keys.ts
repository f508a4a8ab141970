/** Finds the keys of files in cards, in all fields: also in those that only the editor understands. */
import * as Y from 'yjs'
import { fileKeysIn } from '../../core/file.ts'
import { cardsOf } from '../canvas/canvas.ts'
import { documentOf, type LogContent } from '../log/log.ts'
import { removedRoot } from '../canvas/new-cards.ts'

/**
 * The keys of files in all texts and field names of a value. It uses no recursion, since editors may nest values to any
 * depth.
 */
export function fileKeysOf(value: unknown): Set<string> {
  const keys = new Set<string>()
  const open: unknown[] = [value]
  for (let at = 0; at < open.length; at += 1) {
    const one = open[at]
    if (typeof one === 'string') addKeys(keys, one)
    if (typeof one !== 'object' || one === null || ArrayBuffer.isView(one)) continue
    for (const [name, inner] of Object.entries(one)) open.push(name, inner)
  }
  return keys
}

/**
 * `exec` on the shared expression. `matchAll` would copy the expression for each text, which takes longer than the
 * search.
 */
function addKeys(keys: Set<string>, text: string): void {
  fileKeysIn.lastIndex = 0
  for (let match = fileKeysIn.exec(text); match; match = fileKeysIn.exec(text)) keys.add(match[0])
}

/** The keys of files in a board's cards. Runs in a worker thread. */
export function fileKeysOfBoard(log: LogContent): string[] {
  const keys = new Set<string>()
  for (const card of cardsOf(documentOf(log)).values())
    for (const key of fileKeysOf(card instanceof Y.AbstractType ? (card.toJSON() as unknown) : card))
      keys.add(key)
  return [...keys]
}

/** The keys of files in each removed card. Runs in a worker thread. */
export function fileKeysOfRemoved(states: Uint8Array[]): string[][] {
  return states.map((state) => {
    const document = documentOf({ snapshot: null, updates: [state] })
    return [...fileKeysOf(document.getMap(removedRoot).toJSON())]
  })
}
