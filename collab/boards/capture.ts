/** Captures a whole board at one moment, for exports. */
import type * as Y from 'yjs'
import type { VersionedCard } from '../../core/card.ts'
import { inTurns, LoopTurn, type Steps } from '../../platform/work/loop-turn.ts'
import { findCard, rawReader } from '../canvas/canvas.ts'
import { cardOrder } from './card-order.ts'
import { presentGroups, type PresentedGroup } from './groups.ts'
import type { Json } from '../canvas/json.ts'
import type { LiveBoards } from './live.ts'
import { readCard } from '../canvas/project.ts'
import { catchUp } from './read.ts'

export interface CapturedCard extends VersionedCard {
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

/**
 * Captures the board at one moment, while editing continues. It reads the live document in turns. When somebody changes it
 * meanwhile, it reads a copy.
 */
export async function captureBoard(
  live: LiveBoards,
  boardId: string,
  { raw, account }: { raw: boolean; account: string },
): Promise<Capture> {
  await catchUp(live, boardId)
  const found = await live.documents.withDocument(
    boardId,
    async ({ document, shared }) => (await readUnchanged(document, raw)) ?? shared.missing(new Map()),
  )
  if ('cards' in found) return found
  const { base, tail } = found
  return live.documents.withCopies(account, async (open) =>
    inTurns(readWhole(await (tail ? open(base, tail) : open(base)), raw)),
  )
}

/** @returns null when the document changes before all of it is read */
async function readUnchanged(document: Y.Doc, raw: boolean): Promise<Capture | null> {
  const steps = readWhole(document, raw)
  const turn = new LoopTurn()
  const change = new AbortController()
  const noteChange = () => change.abort()
  document.on('update', noteChange)
  try {
    while (!change.signal.aborted) {
      const { done, value } = steps.next()
      if (done) return value
      if (turn.isOver()) await turn.next()
    }
    return null
  } finally {
    document.off('update', noteChange)
  }
}

/** Reads a whole document. Only a copy that nobody changes is read at one moment. */
export function* readWhole(document: Y.Doc, wantsRaw: boolean): Steps<Capture> {
  const groups = yield* presentGroups(document)
  const cards: CapturedCard[] = []
  const readRaw = rawReader(rawChars)
  for (const id of yield* cardOrder(document)) {
    yield
    const shared = findCard(document, id)!
    cards.push({ ...readCard(id, shared), raw: wantsRaw ? readRaw(shared) : null })
  }
  return { groups, cards }
}
