/** Lays out cards that are on a board. */
import { randomUUID } from 'node:crypto'
import type * as Y from 'yjs'
import { ServiceError } from '../core/errors.ts'
import { arrangeAgain } from '../core/layout/arrange.ts'
import type { LayoutName, LayoutOptions, Seat } from '../core/layout/arrangement.ts'
import { limits } from '../core/limits.ts'
import { requireWritable } from './access.ts'
import { buildPatch, emptyWrite, finish } from './build.ts'
import { findCard, readShapes, type CardShape } from './canvas.ts'
import { UpdateBuilder } from './edit.ts'
import { showLive, type LiveBoards } from './live.ts'
import { cardRow } from './project.ts'
import { catchUp } from './read.ts'

export interface ArrangeRequest {
  account: string
  boardId: string
  layout: LayoutName
  options: LayoutOptions
  /** Null: the whole board. */
  ids: string[] | null
  dryRun: boolean
  /** What is to be kept with the commit of this plan; see `BuiltWrite.made`. */
  remember?(plan: ArrangePlan): string[]
}

export interface ArrangePlan {
  seats: Seat[]
  /** Those of the seats that are not where the card is. */
  moved: Seat[]
  notFound: string[]
}

/** Changes nothing of a card but its place and size. What was written to the board before the commit counts. */
export async function arrangeCards(
  live: LiveBoards,
  request: ArrangeRequest,
): Promise<{ cards: Seat[]; moved: number; notFound: string[]; live: boolean }> {
  const { boardId, account } = request
  await requireWritable(live.database, account, boardId)
  let plan: ArrangePlan = { seats: [], moved: [], notFound: [] }
  const written = await live.documents.withDocument(boardId, async ({ document }) => {
    await catchUp(live, boardId)
    if (request.dryRun) {
      plan = planArrangement(document, request)
      return null
    }
    return live.queue.write(boardId, {
      op: randomUUID(),
      account,
      reads: 'board',
      build(head) {
        plan = planArrangement(document, request)
        const builder = new UpdateBuilder(head.apiClient, head.apiClock)
        const write = emptyWrite()
        for (const { id, ...change } of plan.moved) {
          const { content, interior } = buildPatch(builder, findCard(document, id)!, { id, change })
          write.rows.push(cardRow(id, content, interior))
        }
        if (request.remember) write.made = request.remember(plan)
        return finish(write, builder)
      },
    })
  })
  return {
    cards: plan.seats,
    moved: plan.moved.length,
    notFound: plan.notFound,
    live: written ? await showLive(live, boardId, written.seq) : true,
  }
}

function planArrangement(document: Y.Doc, { layout, options, ids }: ArrangeRequest): ArrangePlan {
  const shapes = readShapes(document)
  const asked = ids && new Set(ids)
  const cards: (CardShape & { id: string })[] = []
  const rest: CardShape[] = []
  for (const [id, shape] of shapes) {
    if (!asked || asked.has(id)) cards.push({ id, ...shape })
    else rest.push(shape)
  }
  const seats = arrangeAgain(layout, cards, rest, options)
  const isElsewhere = ({ id, x, y, w, h }: Seat) => {
    const shape = shapes.get(id)!
    return shape.x !== x || shape.y !== y || shape.w !== w || shape.h !== h
  }
  const moved = seats.filter(isElsewhere)
  if (moved.length > limits.cardsPerCommit) {
    throw new ServiceError(
      'bad_request',
      `${moved.length} cards would move, and one request moves at most ${limits.cardsPerCommit}: name some in card_ids.`,
    )
  }
  return {
    seats,
    moved,
    notFound: asked ? [...asked].filter((id) => !shapes.has(id)) : [],
  }
}
