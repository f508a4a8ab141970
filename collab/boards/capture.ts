/** A whole board as it was at one moment, for exports. */
import { setImmediate } from 'node:timers/promises'
import type { CardContent } from '../../core/card.ts'
import { atOnce } from '../../platform/work/loop-turn.ts'
import { cardsOf, findCard, readContent, readRaw } from '../canvas/canvas.ts'
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

/** Cards that are read before others have their turn. */
const cardsAtOnce = 200

/** The board as it is when this begins to read. Others keep working meanwhile: what is left is read before they change it. */
export async function captureBoard(
  live: LiveBoards,
  boardId: string,
  options: { raw: boolean },
): Promise<Capture> {
  await catchUp(live, boardId)
  return live.documents.withDocument(boardId, async ({ document }) => {
    const groups = atOnce(presentGroups(document))
    const order: { id: string; z: number }[] = []
    for (const id of cardsOf(document).keys()) {
      const z = findCard(document, id)?.get('z')
      if (z !== undefined || findCard(document, id))
        order.push({ id, z: typeof z === 'number' && Number.isFinite(z) ? z : 0 })
    }
    order.sort((a, b) => a.z - b.z || (a.id < b.id ? -1 : 1))

    const cards: CapturedCard[] = []
    let rawLeft = rawLimits.board
    const read = (count: number) => {
      for (const { id } of order.slice(cards.length, cards.length + count)) {
        const shared = findCard(document, id)!
        const budget = { left: Math.min(rawLimits.card, rawLeft) }
        const raw = options.raw ? readRaw(shared, budget) : null
        rawLeft -= Math.min(rawLimits.card, rawLeft) - Math.max(budget.left, 0)
        cards.push({ id, content: readContent(shared), raw })
      }
    }
    const readRest = () => read(order.length)
    document.on('beforeTransaction', readRest)
    try {
      for (read(cardsAtOnce); cards.length < order.length; read(cardsAtOnce)) await setImmediate()
    } finally {
      document.off('beforeTransaction', readRest)
    }
    return { groups, cards }
  })
}
