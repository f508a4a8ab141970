/** Which files the cards of a board name, anywhere in them: also where only their editor knows what it means. */
import * as Y from 'yjs'
import { fileFields } from '../core/card.ts'
import { fileKeysIn } from '../core/file.ts'
import { limits } from '../core/limits.ts'
import type { Database } from '../sql/database.ts'
import { cardsOf, type SharedMap } from './canvas.ts'
import { replay, tail } from './log.ts'
import type { CardToCreate } from './new-cards.ts'

export interface FileReference {
  image_key: string
  /** Of what only a removed card names: when it can't be restored any more. */
  until: Date | null
}

const dayMs = 24 * 60 * 60 * 1000

/** As of a position of the board's log; null when there is no such board. */
export async function fileReferences(
  database: Database,
  boardId: string,
): Promise<{ position: number; references: FileReference[] } | null> {
  const log = await tail(database, boardId, 0)
  if (!log) return null
  const found = new Map<string, Date | null>()
  // The removed ones first: what a live card names has no end.
  const removed = await database.asSystem(
    (tx) => tx<{ state: Buffer; removed_at: Date }[]>`
      select state, removed_at from removed_cards where board_id = ${boardId} order by removed_at`,
  )
  for (const { state, removed_at } of removed) {
    const until = new Date(removed_at.getTime() + limits.trashDays * dayMs)
    const document = new Y.Doc()
    replay(document, { snapshot: null, updates: [state] })
    for (const key of fileKeysOf(document.getMap('card').toJSON())) found.set(key, until)
    document.destroy()
  }
  const document = new Y.Doc()
  replay(document, log)
  for (const card of cardsOf(document).values())
    for (const key of fileKeysOf(card instanceof Y.AbstractType ? (card.toJSON() as unknown) : card))
      found.set(key, null)
  document.destroy()
  return { position: log.seq, references: [...found].map(([image_key, until]) => ({ image_key, until })) }
}

/** The keys of files in all texts and names of fields. Without recursion: an editor may nest as deep as it likes. */
export function fileKeysOf(value: unknown): Set<string> {
  const keys = new Set<string>()
  const open: unknown[] = [value]
  for (let at = 0; at < open.length; at += 1) {
    const one = open[at]
    if (typeof one === 'string') for (const [key] of one.matchAll(fileKeysIn)) keys.add(key)
    if (typeof one !== 'object' || one === null || ArrayBuffer.isView(one)) continue
    for (const [name, inner] of Object.entries(one)) open.push(name, inner)
  }
  return keys
}

/** Files that the account can read and the board's workspace does not have. */
export type AwayFiles = ReadonlySet<string>

/** Those that are named; of a card that comes back, all that it may name. */
export function filesToTake(
  away: AwayFiles = new Set(),
  cards: (Pick<CardToCreate, 'change'> & { kept?: SharedMap | null })[],
): string[] {
  const named = cards.flatMap(({ change, kept }) => [
    ...fileFields.flatMap((field) => change[field] ?? []).filter((key) => away.has(key)),
    ...(kept ? fileKeysOf(kept.toJSON()) : []),
  ])
  return [...new Set(named)]
}
