import type { Made } from '../../sql/made.ts'
import type { CardShape } from '../../core/card.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { arrangeAgain, type planArrangement } from '../../core/layout/arrange.ts'
import type { LayoutOptions, CardPlace } from '../../core/layout/arrangement.ts'
import type { LayoutName } from '../../core/layout/solve.ts'
import { limits } from '../../core/limits.ts'
import { inTurns } from '../../platform/work/loop-turn.ts'
import { task } from '../../platform/work/worker-pool.ts'
import { requireWritable } from '../access.ts'
import { Draft } from './build.ts'
import type { Written } from '../commit/write-request.ts'
import { cardsOf, findCard, readShapes, shapesOf } from '../canvas/canvas.ts'
import { showLive, type LiveBoards } from './live.ts'
import { offload } from './offload.ts'
import { catchUp } from './read.ts'

export interface ArrangeRequest {
  account: string
  boardId: string
  layout: LayoutName
  options: LayoutOptions
  /** The cards to arrange. Null: all cards of the board. */
  ids: string[] | null
  dryRun: boolean
  /** Returns what to store with the commit of this plan; see `BuiltWrite.made`. */
  remember?(plan: ArrangePlan): Made[]
}

export interface ArrangePlan {
  places: CardPlace[]
  /** The places that differ from the card's present place or size. */
  moved: CardPlace[]
  notFound: string[]
}

const arrangeTask = task<typeof planArrangement>(
  new URL('../../core/layout/arrange.ts', import.meta.url),
  'planArrangement',
)

/**
 * Largest number of cards that is arranged on the main thread, while the commit is assembled. A larger board is arranged
 * in a worker thread.
 */
export const inlineCards = 4000

/** Attempts to arrange a large board. An attempt fails when the board changes between the reading and the commit. */
const maxAttempts = 5

/** Changes only the cards' places and sizes. The plan takes into account all writes before the commit. */
export async function arrangeCards(
  live: LiveBoards,
  request: ArrangeRequest,
): Promise<{ cards: CardPlace[]; moved: number; notFound: string[]; live: boolean }> {
  const { boardId, account } = request
  await requireWritable(live.database, account, boardId)
  let plan: ArrangePlan = { places: [], moved: [], notFound: [] }
  const written = await live.documents.withDocument(boardId, async ({ document }) => {
    await catchUp(live, boardId)
    const write = (planned: (() => ArrangePlan) | null): Promise<Written> =>
      live.queue.write(boardId, {
        account,
        reads: 'board',
        *build(head) {
          plan = planned ? planned() : planOf(request, readShapes(document), solveHere)
          const draft = new Draft(head)
          for (const { id, ...change } of plan.moved) {
            yield
            const shared = findCard(document, id) // null: an editor has removed it meanwhile
            if (shared) draft.patchCard(shared, { id, change }, null)
          }
          if (request.remember) draft.write.made = request.remember(plan)
          return draft.finish()
        },
      })
    if (cardsOf(document).size <= inlineCards) {
      if (!request.dryRun) return write(null)
      plan = planOf(request, readShapes(document), solveHere)
      return null
    }
    for (let attempt = 1; ; attempt++) {
      let isStale = false
      const stale = () => (isStale = true)
      document.on('beforeTransaction', stale)
      try {
        const shapes = await inTurns(shapesOf(document))
        const found = await planElsewhere(live, request, shapes)
        if (request.dryRun) {
          plan = found
          return null
        }
        return await write(() => {
          if (isStale) throw movedOn
          return found
        })
      } catch (error) {
        if (error !== movedOn || attempt === maxAttempts) throw error
      } finally {
        document.off('beforeTransaction', stale)
      }
    }
  })
  return {
    cards: plan.places,
    moved: plan.moved.length,
    notFound: plan.notFound,
    live: written ? await showLive(live, boardId, written.seq) : true,
  }
}

const movedOn = new ServiceError(
  'conflict',
  'The board changes faster than it can be arranged. Try again, or name some of its cards in card_ids.',
)

type Arrange = Parameters<typeof planArrangement>[0]

const solveHere = ({ layout, cards, rest, options }: Arrange) => arrangeAgain(layout, cards, rest, options)

async function planElsewhere(
  live: LiveBoards,
  request: ArrangeRequest,
  shapes: Map<string, CardShape>,
): Promise<ArrangePlan> {
  const input = inputOf(request, shapes)
  const solved = await offload(live.pool, arrangeTask, input, request.account)
  if ('refused' in solved) throw badRequest(solved.refused)
  return planOf(request, shapes, () => solved.places)
}

function inputOf({ layout, options, ids }: ArrangeRequest, shapes: Map<string, CardShape>): Arrange {
  const asked = ids && new Set(ids)
  const cards: (CardShape & { id: string })[] = []
  const rest: CardShape[] = []
  for (const [id, shape] of shapes) {
    if (!asked || asked.has(id)) cards.push({ id, ...shape })
    else rest.push(shape)
  }
  return { layout, cards, rest, options }
}

function planOf(
  request: ArrangeRequest,
  shapes: Map<string, CardShape>,
  solve: (input: Arrange) => CardPlace[],
): ArrangePlan {
  const places = solve(inputOf(request, shapes))
  const isElsewhere = ({ id, x, y, w, h }: CardPlace) => {
    const shape = shapes.get(id)!
    return shape.x !== x || shape.y !== y || shape.w !== w || shape.h !== h
  }
  const moved = places.filter(isElsewhere)
  if (moved.length > limits.cardsPerCommit) {
    throw badRequest(
      `${moved.length} cards would move, and one request moves at most ${limits.cardsPerCommit}: name some in card_ids.`,
    )
  }
  return { places, moved, notFound: [...new Set(request.ids)].filter((id) => !shapes.has(id)) }
}
