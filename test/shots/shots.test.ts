/**
 * `npm run shots -- FOLDER` takes pictures of all states, at three widths, light and dark. With `SHOTS_DOCS=1` those of the
 * docs are taken anew, too, with `SHOTS_CONTRAST=1` the system sets the colours. Without a folder, one state shows that it
 * works.
 */
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { chromiumOfFile } from '../support/chromium.ts'
import { repository } from '../support/instance.ts'
import { openScenery, openStage } from './stage.ts'
import { states, type State } from './states.ts'

const folder = process.env['SHOTS']
const wanted = process.env['SHOTS_ONLY']?.split(',')
const heights = { 390: 844, 820: 1100, 1440: 900 }
const schemes = ['light', 'dark'] as const
const forcedColors = process.env['SHOTS_CONTRAST'] ? 'active' : 'none'

const chromium = await chromiumOfFile()
const scenery = await openScenery(chromium)
afterAll(() => scenery.close())

test('[WM9] each state of the app is reached, and its picture is taken', { timeout: 1_200_000 }, async () => {
  const context = await chromium.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
  })
  const stage = await openStage(scenery, context)
  const chosen = folder ? states.filter(({ name }) => wanted?.includes(name) ?? true) : states.slice(0, 1)
  for (const state of chosen) {
    const pictures = await picturesOf(state, stage)
    expect(pictures, state.name).toHaveLength(folder ? 6 : 1)
    if (folder) await keep(state.name, pictures)
    if (process.env['SHOTS_DOCS']) await keepForDocs(state, pictures)
  }
  await context.close()
})

interface Picture {
  name: string
  png: Buffer
}

async function picturesOf(state: State, stage: Awaited<ReturnType<typeof openStage>>): Promise<Picture[]> {
  const pictures: Picture[] = []
  for (const [width, height] of Object.entries(heights)) {
    await stage.page.setViewportSize({ width: Number(width), height })
    await state.open(stage)
    for (const colorScheme of schemes) {
      await stage.page.emulateMedia({ colorScheme, reducedMotion: 'reduce', forcedColors })
      await settled(stage.page)
      pictures.push({ name: `${width}-${colorScheme}`, png: await stage.page.screenshot() })
      if (!folder) return pictures
    }
    await state.done?.(stage)
  }
  return pictures
}

/** Until nothing is on its way: pictures, the list of boards, and parts of the app that are loaded late. */
async function settled(page: Page): Promise<void> {
  const waiting = `document.querySelectorAll('.picture.waiting, .player.waiting, p.message, .boards:not(:has(section))').length
    + [...document.images].filter((one) => !one.complete).length
    + [...document.querySelectorAll('video')].filter(({ readyState }) => readyState < 2).length`
  await expect.poll(() => page.evaluate(waiting), { timeout: 10_000 }).toBe(0)
}

async function keepForDocs({ name, inDocs }: State, pictures: Picture[]): Promise<void> {
  const shown = pictures.find((one) => one.name === inDocs)
  if (!shown) return
  const file = join(repository, 'docs', name === 'together' ? 'app.webp' : `pictures/${name}.webp`)
  await sharp(shown.png)
    .resize({ width: name === 'together' ? 1440 : 1000, withoutEnlargement: true })
    .webp({ quality: 80 })
    .toFile(file)
}

/** Each picture by itself, and all six of a state on one sheet. */
async function keep(name: string, pictures: Picture[]): Promise<void> {
  const into = resolve(folder!)
  await mkdir(into, { recursive: true })
  for (const one of pictures) await sharp(one.png).toFile(join(into, `${name}-${one.name}.png`))
  const rowHeight = 600
  const cells = await Promise.all(
    pictures.map(({ png }) => sharp(png).resize({ height: rowHeight }).toBuffer({ resolveWithObject: true })),
  )
  let [left, widest] = [0, 0]
  const composed = cells.map(({ data, info }, at) => {
    // Light ones are above, dark ones below.
    const top = (at % 2) * (rowHeight + 10)
    const cell = { input: data, left, top }
    if (at % 2 === 1) left += info.width + 10
    widest = Math.max(widest, left)
    return cell
  })
  const background = '#888'
  await sharp({ create: { width: widest, height: 2 * rowHeight + 10, channels: 3, background } })
    .composite(composed)
    .png()
    .toFile(join(into, `sheet-${name}.png`))
}
