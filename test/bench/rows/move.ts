import type { CardServer, Measure } from '../bench.ts'
import { rowOf, type Compared } from '../compare.ts'
import { formatNumber } from '../table.ts'
import { send } from '../timed-request.ts'

const cardsPerRequest = 1_000
/** Number of other cards on each board. */
const others = 1_000

/**
 * One request that moves cards to another board, compared with two requests that post them there and delete them here.
 */
export const move: Measure = {
  name: 'move',
  summary: 'a move of 1,000 cards to another board against POST there and DELETE here',
  needsCorkboard: true,
  async run(bench) {
    const corkboard = await bench.corkboard()
    const boards = (await corkboard.createBoards(2)) as [string, string]
    for (const [n, board] of boards.entries())
      await send(corkboard, 'POST', `/boards/${board}/cards`, { cards: newCards(others, 50_000 * (n + 1)) })
    const compared: Compared<number> = { subject: [], reference: [] }
    let { ids, cards } = await make(corkboard, boards[0])
    for (let run = 0; run < bench.runs; run++) {
      const [from, to] = run % 2 ? [boards[1], boards[0]] : boards
      const moved = await send(corkboard, 'POST', `/boards/${from}/cards/move`, {
        to_board_id: to,
        card_ids: ids,
      })
      const back = await send(corkboard, 'POST', `/boards/${from}/cards`, { cards })
      const gone = await send(corkboard, 'DELETE', `/boards/${to}/cards`, { card_ids: ids })
      const referenceMs = back.ms + gone.ms
      compared.subject.push(moved.ms)
      compared.reference.push(referenceMs)
      bench.progress(
        `move of ${formatNumber(cardsPerRequest)} cards, run ${run + 1} of ${bench.runs}: ${formatNumber(moved.ms)} ms, by POST and DELETE ${formatNumber(referenceMs)} ms`,
      )
      await send(corkboard, 'DELETE', `/boards/${from}/cards`, { card_ids: idsOf(back.body) })
      ;({ ids, cards } = await make(corkboard, to))
    }
    return [
      rowOf(compared, (ms) => ms, {
        name: `move of ${formatNumber(cardsPerRequest)} cards`,
        unit: 'ms',
        referenceName: 'POST and DELETE',
        target: { atMost: 1 },
      }),
    ]
  },
}

async function make(corkboard: CardServer, board: string): Promise<{ ids: string[]; cards: object[] }> {
  const cards = newCards(cardsPerRequest, 0)
  const { body } = await send(corkboard, 'POST', `/boards/${board}/cards`, { cards })
  return { ids: idsOf(body), cards }
}

const idsOf = (body: unknown): string[] => (body as { cards: { id: string }[] }).cards.map(({ id }) => id)

const newCards = (count: number, x: number): object[] =>
  Array.from({ length: count }, (_, n) => ({
    kind: 'note',
    title: `Card ${n}`,
    body: 'Exterior, dusk. The crew waits for the rain to stop.',
    x: x + (n % 50) * 300,
    y: Math.floor(n / 50) * 200,
  }))
