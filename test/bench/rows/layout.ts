import { defaultOptions, type LayoutCard } from '../../../core/layout/arrangement.ts'
import { layoutNames, solveLayout } from '../../../core/layout/solve.ts'
import type { Bench, Measure, Row } from '../bench.ts'
import { rowOf, type Compared } from '../compare.ts'
import { formatNumber } from '../table.ts'
import { send } from '../timed-request.ts'

const boundMs = 50
const small = 1_000
const large = 10_000
const repeats = 15

/** The layout functions alone, on cards of all kinds and proportions, with rotated cards, headings and groups. */
export const layout: Measure = {
  name: 'layout',
  summary: 'the layout solver at 1,000 cards against its bound, and its cost per card at 10,000',
  needsCorkboard: true,
  run: (bench) => Promise.resolve(solverRows(bench)),
}

function solverRows(bench: Bench): Row[] {
  const [few, many] = [mixedCards(small), mixedCards(large)]
  const times: Compared<number> = { subject: [], reference: [] }
  const bound: number[] = []
  for (let run = 0; run < bench.runs; run++) {
    const [ofSmall, ofLarge] = [slowestMs(few), slowestMs(many)]
    times.reference.push((ofSmall / small) * 1000)
    times.subject.push((ofLarge / large) * 1000)
    bound.push(ofSmall)
    bench.progress(
      `layout, run ${run + 1} of ${bench.runs}: the slowest takes ${formatNumber(ofSmall)} ms for ${formatNumber(small)} cards, ${formatNumber(ofLarge)} ms for ${formatNumber(large)}`,
    )
  }
  return [
    rowOf({ subject: bound, reference: bound.map(() => boundMs) }, (ms) => ms, {
      name: `slowest layout of ${formatNumber(small)} cards`,
      unit: 'ms p50',
      referenceName: 'its bound',
      target: { atMost: 1 },
    }),
    rowOf(times, (perCard) => perCard, {
      name: `slowest layout of ${formatNumber(large)} cards`,
      unit: 'µs per card',
      referenceName: `of ${formatNumber(small)}`,
      target: { atMost: 2 },
    }),
  ]
}

/** Returns the median time of the slowest layout. */
function slowestMs(cards: LayoutCard[]): number {
  const medians = layoutNames.map((name) => {
    const times = Array.from({ length: repeats }, () => {
      const from = performance.now()
      solveLayout(name, cards, defaultOptions)
      return performance.now() - from
    })
    return times.toSorted((a, b) => a - b)[Math.floor(repeats / 2)]!
  })
  return Math.max(...medians)
}

function mixedCards(count: number): LayoutCard[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `card-${n}`,
    kind: n % 2 ? 'image' : 'note',
    w: 40 + ((n * 7919) % 1000),
    h: 40 + ((n * 104_729) % 1000),
    rotation: n % 9 === 0 ? n % 180 : 0,
    section_header: n % 97 === 0,
    sub: null,
    group_id: n % 5 === 0 ? `group-${n % 250}` : null,
  }))
}

const cardsPerRequest = 1_000

/** One request that moves every card of a board, compared with the same moves as bulk changes. */
export const arrange: Measure = {
  name: 'arrange',
  summary: 'POST of arrange on a board of 10,000 cards against the same moves by PATCH',
  needsCorkboard: true,
  async run(bench) {
    const corkboard = await bench.corkboard()
    const [board] = (await corkboard.createBoards(1)) as [string]
    for (let sent = 0; sent < large; sent += cardsPerRequest)
      await send(corkboard, 'POST', `/boards/${board}/cards`, { cards: newCards(sent) })
    const compared: Compared<number> = { subject: [], reference: [] }
    for (let run = 0; run < bench.runs; run++) {
      // Layouts alternate, so that every request moves all cards.
      const { ms, body } = await send(corkboard, 'POST', `/boards/${board}/arrange`, {
        layout: run % 2 ? 'masonry' : 'justified',
      })
      const { cards } = body as { cards: { id: string; x: number; y: number; w: number; h: number }[] }
      let patchMs = 0
      for (let from = 0; from < cards.length; from += cardsPerRequest) {
        const moves = cards
          .slice(from, from + cardsPerRequest)
          .map(({ id, x, y, w, h }) => ({ id, x: x + 10, y: y + 10, w: w + 1, h: h + 1 }))
        patchMs += (await send(corkboard, 'PATCH', `/boards/${board}/cards`, { cards: moves })).ms
      }
      compared.subject.push(ms)
      compared.reference.push(patchMs)
      bench.progress(
        `arrange of ${formatNumber(large)} cards, run ${run + 1} of ${bench.runs}: ${formatNumber(ms)} ms, by PATCH ${formatNumber(patchMs)} ms`,
      )
    }
    return [
      rowOf(compared, (ms) => ms, {
        name: `arrange of ${formatNumber(large)} cards`,
        unit: 'ms',
        referenceName: `${large / cardsPerRequest} PATCH of ${formatNumber(cardsPerRequest)}`,
        target: { atMost: 1 },
      }),
    ]
  },
}

function newCards(from: number): object[] {
  return Array.from({ length: cardsPerRequest }, (_, k) => {
    const n = from + k
    const [x, y] = [(n % 100) * 300, Math.floor(n / 100) * 200]
    return {
      kind: n % 3 ? 'note' : 'image',
      title: `Card ${n}`,
      x,
      y,
      w: 100 + (n % 300),
      h: 100 + (n % 200),
    }
  })
}
