/** Holds the database against the ledger: what must be there is, nothing is there twice, and the index says the same. */
import * as Y from 'yjs'
import { cardsOf } from '../../collab/canvas/canvas.ts'
import { tail } from '../../collab/log/log.ts'
import { verifyBoard } from '../../collab/log/verify.ts'
import type { Database } from '../../sql/database.ts'
import type { BoardLedger, FoundCard } from './ledger.ts'
import { cardContents } from '../support/card-contents.ts'

/** Healing and the debounce of the index are waited for. */
const indexedWithinMs = 20_000

/**
 * Nobody may be writing, and every write that was under way has to be settled.
 *
 * @returns one line for each fault, and the document as its log has it
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
  if (!log) throw new Error(`board ${boardId} is gone`)
  const document = new Y.Doc()
  document.transact(() => {
    if (log.snapshot) Y.applyUpdateV2(document, log.snapshot)
    for (const update of log.updates) Y.applyUpdate(document, update)
  })
  return document
}

/** What an editor has on its screen. */
export const shown = (document: Y.Doc): string =>
  JSON.stringify([...cardsOf(document).entries()].map(([id, card]) => [id, plain(card)]).sort(byId))

const plain = (card: unknown) =>
  card instanceof Y.Map ? Object.entries(card.toJSON() as object).sort(byId) : card

const byId = ([a]: [string, ...unknown[]] | unknown[], [b]: [string, ...unknown[]] | unknown[]) =>
  String(a) < String(b) ? -1 : 1
