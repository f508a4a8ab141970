import type { Browser, CDPSession, Page } from 'playwright-core'
import type { Sql } from 'postgres'
import type { Bench, Corkboard, Measure, Row } from '../bench.ts'
import { rowOf } from '../compare.ts'
import { formatNumber } from '../table.ts'
import { withTables } from '../tables.ts'
import { fillGrid, launch, openApp } from './app-page.ts'
import { settled } from './cpu.ts'

const [few, many] = [1_000, 10_000]
/** Cards that the window shows while its frames are measured. */
const shown = 300
const firstCardWithinMs = 1_000
const scriptPerFrameMs = 8
const seconds = 3
const cursors = 50
/** At full zoom a window shows about `shown` of them. */
const grid = { columns: 100, w: 60, h: 46, gap: 6 }

/**
 * The app in a real Chromium. Without a GPU a rate of frames would say nothing. So the time that scripts take of a frame
 * is measured.
 */
export const web: Measure = {
  name: 'web',
  summary: 'the app: the first card of 1,000, and scripting a frame on a board of 10,000 cards',
  needsCorkboard: true,
  run: (bench) =>
    withTables(bench, async (sql) => {
      const corkboard = await bench.corkboard()
      const [small, large] = (await corkboard.createBoards(2)) as [string, string]
      await fillGrid(corkboard, small, few, grid)
      await fillGrid(corkboard, large, many, grid)
      await settled(corkboard)
      const browser = await launch()
      try {
        const firstMs: number[] = []
        for (let run = 0; run < bench.runs; run++) {
          const times = await firstCard(browser, sql, corkboard, small)
          firstMs.push(times.firstMs)
          const [all, tasks] = [times.firstMs, times.taskMs].map(formatNumber)
          bench.progress(
            `first card, run ${run + 1} of ${bench.runs}: ${all} ms, of which the page worked ${tasks} ms`,
          )
        }
        return [
          bounded(`first card, cold, board of ${formatNumber(few)}`, 'ms', firstMs, firstCardWithinMs),
          ...(await frameRows(bench, browser, sql, corkboard, large)),
        ]
      } finally {
        await browser.close()
      }
    }),
}

const bounded = (name: string, unit: string, figures: number[], bound: number): Row =>
  rowOf({ subject: figures, reference: figures.map(() => bound) }, (figure) => figure, {
    ...{ name, unit, referenceName: 'its bound', target: { atMost: 1 } },
  })

async function firstCard(browser: Browser, sql: Sql, corkboard: Corkboard, board: string) {
  const { page, ...times } = await openApp(browser, sql, corkboard, board)
  await page.context().close()
  return times
}

async function frameRows(
  bench: Bench,
  browser: Browser,
  sql: Sql,
  corkboard: Corkboard,
  board: string,
): Promise<Row[]> {
  const { page } = await openApp(browser, sql, corkboard, board)
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const cards = page.locator('.react-flow__node-card')
  const { mouse } = page
  const [x, y] = [640, 400]
  await mouse.move(x, y)
  await page.keyboard.down('Control')
  for (let step = 0; step < 60 && (await cards.count()) > shown * 1.2; step++) await mouse.wheel(0, -40)
  await page.keyboard.up('Control')
  bench.progress(`${await cards.count()} of ${formatNumber(many)} cards are shown`)
  const acts: Record<string, () => Promise<unknown>> = {
    pan: () => during((n) => mouse.wheel(n % 60 < 30 ? 12 : -12, n % 40 < 20 ? 9 : -9)),
    zoom: async () => {
      await page.keyboard.down('Control')
      await during((n) => mouse.wheel(0, n % 2 ? 6 : -6))
      await page.keyboard.up('Control')
    },
    async drag() {
      await mouse.move(x, y)
      await mouse.down()
      await during((n) => mouse.move(x + (n % 50), y + (n % 30)))
      await mouse.up()
    },
    async [`${cursors} moving cursors`]() {
      const crowd = bench.load.run('crowd', {
        ...{ server: corkboard.editors, board, people: cursors, perSecond: 10, moves: true, seconds },
      })
      await page.waitForTimeout((seconds * 1000) / 2)
      const count = await page.locator('.cursor').count()
      await crowd
      if (count !== cursors) throw new Error(`${count} cursors were shown, of ${cursors}`)
    },
  }
  const rows: Row[] = []
  for (const [name, act] of Object.entries(acts)) {
    const figures: number[] = []
    for (let run = 0; run < bench.runs; run++) figures.push(await scriptMs(page, session, act))
    bench.progress(`${name}: ${figures.map(formatNumber).join(', ')} ms of scripting a frame`)
    rows.push(bounded(`${name}, ${formatNumber(many)} cards`, 'ms of a frame', figures, scriptPerFrameMs))
  }
  await page.context().close()
  return rows
}

async function during(act: (n: number) => Promise<unknown>): Promise<void> {
  const endMs = performance.now() + seconds * 1000
  for (let n = 0; performance.now() < endMs; n++) await act(n)
}

/** @returns ms of scripting for each frame that was made meanwhile */
async function scriptMs(page: Page, session: CDPSession, act: () => Promise<unknown>): Promise<number> {
  const script = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1000 * metrics.find(({ name }) => name === 'ScriptDuration')!.value
  }
  const countFrames = `window.frames_ = 0; (function frame() { window.frames_ += 1; window.asked_ = requestAnimationFrame(frame) })()`
  await page.evaluate(countFrames)
  const before = await script()
  await act()
  const used = (await script()) - before
  return used / ((await page.evaluate(`cancelAnimationFrame(window.asked_), window.frames_`)) as number)
}
