/** What the eye needs: the app's letters, words that can be read on any colour, and the colours of the system. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { makeBoard, makeCards } from '../api/board.ts'
import { startService } from '../support/service.ts'
import { card, eventually, openAs } from './app.ts'

const service = await startService({ config: { logLevel: 'error' } })
afterAll(() => service.stop())
const ada = await service.user({ name: 'Ada Lund' })

/** Soft ones, as the app offers them, the ends of all scales, and what only looks like a colour. */
const colors = [
  ...['#ffd966', '#f4b6c2', '#7aa2f7', '#9aa0a6', 'white', 'black', 'red', 'lime', 'blue', 'yellow'],
  ...['#00000000', 'rgb(0 0 0 / 10%)', 'currentColor', 'oklch(0.1 0.4 30)', 'color(display-p3 0 1 0)'],
]
const board = await makeBoard(ada, { name: 'Colours' })
await makeCards(
  ada,
  board.id,
  colors.map((color, n) => ({
    ...{ kind: 'link', title: `Card ${n}`, body: 'In words', url: 'https://example.com', color },
    ...{ x: (n % 5) * 300, y: Math.floor(n / 5) * 200, w: 280, h: 180 },
  })),
)
const { page, complaints, requests } = await openAs(service, ada, board.id)

test('[WL1] the letters are the app’s own, and come from the service', async () => {
  const loaded = () =>
    page.evaluate<string[]>(
      `[...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family)`,
    )
  await eventually(loaded).toContain('Inter Variable')
  const fonts = requests.filter((url) => url.endsWith('.woff2'))
  expect(fonts.length).toBeGreaterThan(0)
  for (const url of fonts) {
    expect(new URL(url).origin).toBe(service.homeUrl)
    const answer = await fetch(url)
    expect(answer.headers.get('cache-control')).toContain('immutable')
  }
  const licenses = await (await fetch(`${service.homeUrl}/app/licenses.md`)).text()
  expect(licenses).toContain('SIL OPEN FONT LICENSE')
  expect(complaints).toEqual([])
})

test('[WL2] the words of a card can be read on any colour, light and dark', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const contrasts = await contrastsOf(page)
    expect(contrasts).toHaveLength(3 * colors.length)
    for (const { color, words, contrast } of contrasts)
      expect(contrast, `${words} on ${color}, ${colorScheme}`).toBeGreaterThan(4.5)
  }
  await page.emulateMedia({ colorScheme: 'light' })
})

test('[WL3] where the system sets the colours, what is selected and pressed has its highlight', async () => {
  await page.emulateMedia({ forcedColors: 'active' })
  const [chosen, other] = ['Card 0', 'Card 1'].map((title) => card(page, title))
  await chosen!.click()
  const outlineOf = (one: Locator | undefined) =>
    one!
      .locator('.card')
      .evaluate((shown: any): string => shown.ownerDocument.defaultView.getComputedStyle(shown).outline)
  const highlight = await systemColor(page, 'Highlight')
  expect(await outlineOf(chosen)).toBe(`${highlight} solid 3px`)
  expect(await outlineOf(other)).toContain('none')
  const bar = page.getByRole('toolbar', { name: 'Selected cards' })
  const menu = bar.getByRole('button', { name: /^Colour/ })
  await menu.click()
  expect(await groundOf(menu)).toBe(highlight)
  expect(await groundOf(bar.getByRole('button', { name: 'Copy' }))).not.toBe(highlight)
  await page.emulateMedia({ forcedColors: 'none' })
})

test('[WL4] a panel beside the canvas leaves the whole board in view, or the middle of a view that somebody has chosen', async () => {
  const history = page.getByRole('button', { name: 'History' })
  const widthBecomes = (isLess: boolean, than: number) =>
    eventually(async () => (await viewOf(page)).width < than).toBe(isLess)
  /** In units of the board, or thousandths of the zoom. */
  const distanceTo = async ({ x, y, zoom }: typeof whole) => {
    const now = await viewOf(page)
    return Math.max(Math.abs(now.x - x), Math.abs(now.y - y), 1000 * Math.abs(now.zoom - zoom))
  }
  const whole = await viewOf(page)
  await history.click()
  await widthBecomes(true, whole.width)
  await eventually(async () => (await viewOf(page)).zoom).toBeLessThan(0.9 * whole.zoom)
  await history.click()
  await eventually(() => distanceTo(whole)).toBeLessThan(2)
  await page.getByRole('button', { name: 'Zoom In' }).click()
  await eventually(async () => (await viewOf(page)).zoom).toBeGreaterThan(1.1 * whole.zoom)
  const chosen = await viewOf(page)
  await history.click()
  await widthBecomes(true, chosen.width)
  await eventually(() => distanceTo(chosen)).toBeLessThan(2)
  await history.click()
})

interface Shown {
  color: string
  words: string
  contrast: number
}

/** The least contrast of the words of each card. Colours of all spaces are painted, to get them as red, green and blue. */
const contrastsOf = (on: Page): Promise<Shown[]> =>
  on.evaluate<Shown[]>(`(() => {
    const paint = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true })
    const channels = (colors) => {
      for (const color of colors) {
        paint.fillStyle = color
        paint.fillRect(0, 0, 1, 1)
      }
      return [...paint.getImageData(0, 0, 1, 1).data.slice(0, 3)].map((value) => value / 255)
    }
    const luminance = (rgb) => {
      const [r, g, b] = rgb.map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const styleOf = (element) => getComputedStyle(element)
    const page = styleOf(document.body).backgroundColor
    return [...document.querySelectorAll('.card')].flatMap((card) =>
      [...card.querySelectorAll('h3, .description, .address')].map((element) => {
        const grounds = [page, styleOf(card).backgroundColor]
        const [ground, words] = [channels(grounds), channels([...grounds, styleOf(element).color])].map(luminance)
        const [light, dark] = ground > words ? [ground, words] : [words, ground]
        return { color: card.style.getPropertyValue('--tint'), words: element.className || 'title', contrast: (light + 0.05) / (dark + 0.05) }
      }),
    )
  })()`)

const groundOf = (element: Locator): Promise<string> =>
  element.evaluate(
    (shown: any): string => shown.ownerDocument.defaultView.getComputedStyle(shown).backgroundColor,
  )

const systemColor = (on: Page, name: string): Promise<string> =>
  on.evaluate<string>(`(() => {
    const probe = document.body.appendChild(document.createElement('div'))
    probe.style.cssText = 'forced-color-adjust: none; color: ${name}'
    const color = getComputedStyle(probe).color
    probe.remove()
    return color
  })()`)

/** The middle of what is seen of the board, and its zoom. */
const viewOf = (on: Page) =>
  on.evaluate<{ width: number; x: number; y: number; zoom: number }>(`(() => {
    const { width, height } = document.querySelector('.react-flow').getBoundingClientRect()
    const { a, e, f } = new DOMMatrix(getComputedStyle(document.querySelector('.react-flow__viewport')).transform)
    return { width, x: (width / 2 - e) / a, y: (height / 2 - f) / a, zoom: a }
  })()`)
