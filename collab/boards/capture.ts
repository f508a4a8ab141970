/** Captures a whole board at one moment, for exports. */
import * as Y from 'yjs'
import type { CardContent } from '../../core/card.ts'
import { inTurns, LoopTurn, type Steps } from '../../platform/work/loop-turn.ts'
import { cardsOf, findCard, rawReader, readContent } from '../canvas/canvas.ts'
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

/** Largest raw content of a board, in characters. It equals the largest document. */
const rawChars = 256 * 1024 * 1024

/** A board that may be read in one step when somebody is about to change it, and the CPU time for that. */
const atOnce = { cards: 1500, cpuMs: 20 }

/**
 * Captures the board at one moment, while editing continues. It reads the live document in turns. Before the first change
 * it reads the rest at once. When that takes too long, it keeps the encoded state and reads that instead.
 */
export async function captureBoard(
  live: LiveBoards,
  boardId: string,
  { raw, account }: { raw: boolean; account: string },
): Promise<Capture> {
  await catchUp(live, boardId)
  const found = await live.documents.withDocument(boardId, ({ document }) => readOrKeep(document, raw))
  if (!(found instanceof Uint8Array)) return found
  return inTurns(readBoard(await live.documents.open(found, account), raw))
}

async function readOrKeep(document: Y.Doc, raw: boolean): Promise<Capture | Uint8Array> {
  const steps = readBoard(document, raw)
  const turn = new LoopTurn()
  let found: Capture | Uint8Array | null = null
  const beforeChange = () => {
    if (found) return
    const isSmall = cardsOf(document).size <= atOnce.cards
    found = (isSmall ? finishWithin(atOnce.cpuMs, steps) : null) ?? Y.encodeStateAsUpdate(document)
  }
  document.on('beforeTransaction', beforeChange)
  try {
    while (!found) {
      const { done, value } = steps.next()
      if (done) found = value
      else if (turn.isOver()) await turn.next()
    }
    return found
  } finally {
    document.off('beforeTransaction', beforeChange)
  }
}

/** Takes the steps that are left. @returns null when they take longer */
function finishWithin<Result>(cpuMs: number, steps: Steps<Result>): Result | null {
  const begun = process.threadCpuUsage()
  for (let n = 1; ; n++) {
    const { done, value } = steps.next()
    if (done) return value
    if (n % 20 > 0) continue
    const { user, system } = process.threadCpuUsage(begun)
    if (user + system > cpuMs * 1000) return null
  }
}

function* readBoard(document: Y.Doc, wantsRaw: boolean): Steps<Capture> {
  const groups = yield* presentGroups(document)
  const cards: CapturedCard[] = []
  const readRaw = rawReader(rawChars)
  for (const id of yield* cardOrder(document)) {
    yield
    const shared = findCard(document, id)!
    cards.push({ id, content: readContent(shared), raw: wantsRaw ? readRaw(shared) : null })
  }
  return { groups, cards }
}
