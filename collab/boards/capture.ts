/** A whole board as it was at one moment, for exports. */
import type { CardContent } from '../../core/card.ts'
import { inTurns, mapInTurns } from '../../platform/work/loop-turn.ts'
import { findCard, readContent, readRaw } from '../canvas/canvas.ts'
import { cardOrder } from './card-order.ts'
import { presentGroups, type PresentedGroup } from './groups.ts'
import type { Json } from '../canvas/json.ts'
import type { LiveBoards } from './live.ts'
import { catchUp } from './read.ts'

export interface CapturedCard {
  id: string
  content: CardContent
  /** As the canvas stores it; null when it was not asked for. */
  raw: Json
}

export interface Capture {
  groups: PresentedGroup[]
  /** In the order of `z`, then id. */
  cards: CapturedCard[]
}

/** Characters of raw content: of one card, and of all, which is what a document may hold. Beyond it is cut off. */
const rawLimits = { card: 4 * 1024 * 1024, board: 256 * 1024 * 1024 }

/** The board as it is at one moment. It is read from a copy: others keep working meanwhile. */
export async function captureBoard(
  live: LiveBoards,
  boardId: string,
  { raw: wantsRaw, account }: { raw: boolean; account: string },
): Promise<Capture> {
  await catchUp(live, boardId)
  const document = await live.documents.withDocument(boardId, (board) => live.documents.copy(board, account))
  let rawLeft = rawLimits.board
  const cards = await mapInTurns(await inTurns(cardOrder(document)), (id): CapturedCard => {
    const shared = findCard(document, id)!
    const budget = { left: Math.min(rawLimits.card, rawLeft) }
    const raw = wantsRaw ? readRaw(shared, budget) : null
    rawLeft -= Math.min(rawLimits.card, rawLeft) - Math.max(budget.left, 0)
    return { id, content: readContent(shared), raw }
  })
  return { groups: await inTurns(presentGroups(document)), cards }
}
