/**
 * Compares the database with the ledger: nothing is lost, nothing is duplicated, and the index equals the documents.
 */
import * as Y from 'yjs'
import { cardsOf } from '../../collab/canvas/canvas.ts'
import { tail } from '../../collab/log/log.ts'
import { verifyBoard } from '../../collab/log/verify.ts'
import type { Database } from '../../sql/database.ts'
import type { BoardLedger, FoundCard } from './ledger.ts'
import { cardContents } from '../support/card-contents.ts'

/** How long to wait for healing and for the debounce of the index. */
const indexedWithinMs = 20_000

/**
 * Checks a board. No client may be writing, and no write may be in flight.
 *
 * @returns one line for each fault, and the document built from its log
 */
export async function checkBoard(
  database: Database,
  boardId: string,
  ledger: BoardLedger,
): Promise<{ faults: string[]; document: Y.Doc }> {
  const differences = await verifyBoard(database, boardId, { waitMs: indexedWithinMs })
  const document = await documentOf(database, boardId)
  const inDocument = [...cardContents(document).values()].map(({ title, x, y, body }): FoundCard => ({
    title: title ?? '',
    x,
    y,
    body: body ?? '',
  }))
  const inIndex = await database.asSystem(
    (tx) => tx<FoundCard[]>`
      select coalesce(title, '') as title, x, y, coalesce(body, '') as body
      from card_index
      where board_id = ${boardId} and deleted_at is null`,
  )
  const faults = [
    ...ledger.compare(inDocument).map((fault) => `in the document, ${fault}`),
    ...ledger.compare([...inIndex]).map((fault) => `in the index, ${fault}`),
    ...differences.map(({ what, id, fault, detail }) => `verify: ${what} ${id} is ${fault} ${detail}`),
  ]
  if (document.store.pendingStructs) faults.push('the document waits for structs that are not in the log')
  ledger.settle(inDocument)
  return { faults: faults.map((fault) => `board ${boardId}: ${fault}`), document }
}

async function documentOf(database: Database, boardId: string): Promise<Y.Doc> {
  const log = await tail(database, boardId, 0)
  if (!log) throw new Error(`board ${boardId} does not exist any more`)
  const document = new Y.Doc()
  document.transact(() => {
    if (log.snapshot) Y.applyUpdateV2(document, log.snapshot)
    for (const update of log.updates) Y.applyUpdate(document, update)
  })
  return document
}

/** Returns the cards that an editor shows. */
export const shown = (document: Y.Doc): string =>
  JSON.stringify([...cardsOf(document).entries()].map(([id, card]) => [id, plain(card)]).sort(byId))

const plain = (card: unknown) =>
  card instanceof Y.Map ? Object.entries(card.toJSON() as object).sort(byId) : card

const byId = ([a]: [string, ...unknown[]] | unknown[], [b]: [string, ...unknown[]] | unknown[]) =>
  String(a) < String(b) ? -1 : 1
