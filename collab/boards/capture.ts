/** Captures a whole board at one moment, for exports. */
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
  /** The card as the canvas stores it; null when not requested. */
  raw: Json
}

export interface Capture {
  groups: PresentedGroup[]
  /** Sorted by `z`, then id. */
  cards: CapturedCard[]
}

/**
 * Limits for raw content, in characters: for one card, and for all cards of a board. Content beyond them is cut off.
 * The limit for a board equals the largest document.
 */
const rawLimits = { card: 4 * 1024 * 1024, board: 256 * 1024 * 1024 }

/** Captures the board at one moment. It reads from a copy, so editing continues meanwhile. */
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
