import type { CDPSession, Page } from 'playwright-core'
import type { Corkboard, Measure, Row } from '../bench.ts'
import { rowOf } from '../compare.ts'
import { formatNumber } from '../table.ts'
import { withTables } from '../tables.ts'
import { send } from '../timed-request.ts'
import { fillGrid, launch, openApp } from './app-page.ts'

const cards = 200
const minutes = 60
/** By then all parts of the app are loaded and compiled, and undo has as many steps as it keeps. */
const warmMinutes = 12
/** What a busy person does in a minute. The board is the same afterwards. */
const aMinute = { letters: 60, drags: 6, newCards: 5, undos: 5, pans: 10, zooms: 4, byOthers: 3 }
/** Others on the board, each of whom moves this often. A minute that is compressed to five seconds has as many positions as two people make. */
const others = { people: 10, perSecond: 10 }
const atMost = 1.05

/**
 * An hour of editing in as many minutes of `--seconds` (five) as an hour has: with `--seconds 60` it is a real hour. What
 * the page holds afterwards is compared with what a page holds that opens the same board then, and works for some minutes:
 * a board grows with each edit, since Yjs remembers that something was removed.
 */
export const webHour: Measure = {
  name: 'web-hour',
  summary: 'the app: what the page holds after an hour of editing, beside a page that opens the board then',
  needsCorkboard: true,
  run: (bench) =>
    withTables(bench, async (sql) => {
      const corkboard = await bench.corkboard()
      const [board] = (await corkboard.createBoards(1)) as [string]
      await fillGrid(corkboard, board, cards, { columns: 20, w: 240, h: 140, gap: 40 })
      const browser = await launch()
      try {
        const one = await watched(await openApp(browser, sql, corkboard, board))
        const late = await after(one, minutes)
        await one.page.context().close()
        const another = await watched(await openApp(browser, sql, corkboard, board))
        return rowsOf(await after(another, warmMinutes), late)

        async function after({ page, session }: Watched, end: number): Promise<Held> {
          const crowd = bench.load.run('crowd', {
            ...{ server: corkboard.editors, board, moves: true, ...others },
            seconds: end * bench.seconds,
          })
          for (let minute = 0; minute < end; minute++) {
            const overMs = performance.now() + bench.seconds * 1000
            await live(page, corkboard, board, minute)
            await page.waitForTimeout(Math.max(0, overMs - performance.now()))
            if ((minute + 1) % 3 === 0) bench.progress(`minute ${minute + 1}: ${told(await heldBy(session))}`)
          }
          await crowd
          await quiet(page)
          const held = await heldBy(session)
          bench.progress(`after ${end} minutes: ${told(held)}`)
          return held
        }
      } finally {
        await browser.close()
      }
    }),
}

interface Watched {
  page: Page
  session: CDPSession
}

const watched = async ({ page }: { page: Page }): Promise<Watched> => ({
  page,
  session: await page.context().newCDPSession(page),
})

/** What the page holds after garbage collection. */
interface Held {
  heapMb: number
  nodes: number
  listeners: number
}

async function heldBy(session: CDPSession): Promise<Held> {
  // What ends with the first collection may free more.
  for (let n = 0; n < 2; n++) await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const { nodes, jsEventListeners: listeners } = await session.send('Memory.getDOMCounters')
  return { heapMb: usedSize / 2 ** 20, nodes, listeners }
}

const told = ({ heapMb, nodes, listeners }: Held) =>
  `${formatNumber(heapMb)} MB, ${nodes} nodes, ${listeners} listeners`

const rowsOf = (early: Held, late: Held): Row[] =>
  (
    [
      ['heap', 'MB', 'heapMb'],
      ['DOM', 'nodes', 'nodes'],
      ['DOM', 'listeners', 'listeners'],
    ] as const
  ).map(([name, unit, key]) =>
    rowOf({ subject: [late[key]], reference: [early[key]] }, (figure) => figure, {
      ...{ name: `${name} after an hour of editing`, unit },
      ...{ referenceName: 'a new page', target: { atMost } },
    }),
  )

/** Until the others are gone, all is saved, and nothing glows. */
async function quiet(page: Page): Promise<void> {
  const busy = `document.querySelectorAll('.cursor, .glow, .state:not(.saved)').length === 0`
  await page.waitForFunction(busy, undefined, { timeout: 60_000 })
  await page.keyboard.press('Escape')
  await page.waitForTimeout(2000)
}

async function zoomTo(page: Page, most: number): Promise<void> {
  const shown = page.locator('.react-flow__node-card')
  await page.mouse.move(640, 400)
  await page.keyboard.down('Control')
  for (let n = 0; n < 40 && (await shown.count()) > most; n++) await page.mouse.wheel(0, -60)
  await page.keyboard.up('Control')
}

async function live(page: Page, corkboard: Corkboard, board: string, minute: number): Promise<void> {
  const { mouse, keyboard } = page
  // Wheels that a busy machine drops would move the view away in time.
  await page.getByRole('button', { name: 'Fit View' }).click()
  await zoomTo(page, 60)
  const places = await placesOf(page)
  const placeOf = (n: number) => places[(minute + n) % places.length]!
  await type(page, placeOf(0), aMinute.letters / 2)
  for (let n = 0; n < aMinute.drags / 2; n++) await dragThereAndBack(page, placeOf(n + 1))
  for (let n = 0; n < aMinute.newCards; n++) {
    await page.getByRole('button', { name: 'Add card' }).click()
    await keyboard.type('An idea')
    await keyboard.press('Escape')
    await keyboard.press('Delete')
  }
  for (let n = 0; n < aMinute.undos; n++) await keyboard.press('Control+z')
  for (let n = 0; n < aMinute.undos; n++) await keyboard.press('Control+y')
  await mouse.move(640, 400)
  for (let n = 0; n < aMinute.pans; n++)
    for (let step = 0; step < 6; step++) await mouse.wheel(n % 2 ? -90 : 90, n % 2 ? -60 : 60)
  await keyboard.down('Control')
  for (let n = 0; n < aMinute.zooms; n++)
    for (let step = 0; step < 4; step++) await mouse.wheel(0, n % 2 ? -40 : 40)
  await keyboard.up('Control')
  for (let n = 0; n < aMinute.byOthers; n++) await writeAsAnother(corkboard, board, minute)
  if (minute % 3 === 2)
    for (const view of ['List', 'Canvas']) {
      await page.getByRole('button', { name: `Show the board as ${view}` }).click()
      await page
        .locator(view === 'List' ? '.entry' : '.react-flow__node-card')
        .first()
        .waitFor()
    }
}

type Place = [x: number, y: number]

/** The middles of cards that are seen as a whole, away from the tools. */
const placesOf = (page: Page): Promise<Place[]> =>
  page.evaluate(`[...document.querySelectorAll('.react-flow__node-card')]
    .map((card) => card.getBoundingClientRect())
    .filter(({ left, right, top, bottom }) => left > 270 && right < 1100 && top > 130 && bottom < 640)
    .map(({ left, top, width, height }) => [left + width / 2, top + height / 2])`)

async function type(page: Page, [x, y]: Place, letters: number): Promise<void> {
  await page.mouse.dblclick(x, y)
  const text = page.locator('.card .form textarea')
  await text.waitFor()
  await text.focus()
  await page.keyboard.type('What is typed here. '.repeat(letters).slice(0, letters))
  for (let n = 0; n < letters; n++) await page.keyboard.press('Backspace')
  await page.keyboard.press('Escape')
}

async function dragThereAndBack({ mouse }: Page, [x, y]: Place): Promise<void> {
  for (const [from, to] of [
    [0, 30],
    [30, 0],
  ] as const) {
    await mouse.move(x + from, y + from)
    await mouse.down()
    await mouse.move(x + to, y + to, { steps: 10 })
    await mouse.up()
  }
}

/** Writes by the API: a card that comes and goes, and one that changes. */
async function writeAsAnother(corkboard: Corkboard, board: string, minute: number): Promise<void> {
  const path = `/boards/${board}/cards`
  const fields = { kind: 'note', title: `From elsewhere ${minute}`, x: 0, y: -400, w: 240, h: 140 }
  const { body } = await send(corkboard, 'POST', path, { cards: [fields] })
  const { id } = (body as { cards: [{ id: string }] }).cards[0]
  await send(corkboard, 'PATCH', `${path}/${id}`, { title: 'Changed elsewhere' })
  await send(corkboard, 'DELETE', path, { card_ids: [id] })
}
