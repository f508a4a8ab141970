/** What is done to selected cards while something else goes on: a preview, or somebody else. */
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { Page } from 'playwright-core'
import { makeBoard } from '../api/board.ts'
import { until } from '../support/editor.ts'
import { startService } from '../support/service.ts'
import { card, eventually, openAs, placeOf } from './app.ts'

const service = await startService({ workers: false, config: { logLevel: 'error' } })
afterAll(() => service.stop())
const ada = await service.user({ name: 'Ada Byron' })

/** A board with cards in a row, which is open, and shown whole. */
async function openBoard(...titles: string[]) {
  const { id } = await makeBoard(ada, { name: 'Cards' })
  const cards = titles.map((title, at) => ({ kind: 'note', title, x: at * 300, y: at * 40, w: 200, h: 100 }))
  await ada.api.post(`/boards/${id}/cards`, { cards })
  const { page } = await openAs(service, ada, id)
  onTestFinished(() => page.context().close())
  for (const title of titles) await card(page, title).waitFor()
  const read = async (title: string) =>
    (await ada.api.get(`/boards/${id}/cards`)).body.cards.find((one: any) => one.title === title)
  return { id, page, read }
}

const bar = (page: Page) => page.getByRole('toolbar', { name: 'Selected cards' })
const selected = (page: Page) => page.locator('.react-flow__node.selected').count()

/** A press near the upper left corner of a card, and a move of the pointer. */
async function drag(page: Page, from: { x: number; y: number }, dx: number, dy: number) {
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move(from.x + dx, from.y + dy, { steps: 5 })
}

/** Draws a frame around the cards, with Shift. */
async function frame(page: Page, ...titles: string[]) {
  const boxes = await Promise.all(titles.map((title) => card(page, title).boundingBox()))
  const [left, top] = [Math.min(...boxes.map((box) => box!.x)), Math.min(...boxes.map((box) => box!.y))]
  const right = Math.max(...boxes.map((box) => box!.x + box!.width))
  const bottom = Math.max(...boxes.map((box) => box!.y + box!.height))
  await page.keyboard.down('Shift')
  await drag(page, { x: left - 15, y: top - 15 }, right - left + 30, bottom - top + 30)
  await page.mouse.up()
  await page.keyboard.up('Shift')
  await eventually(() => selected(page)).toBe(titles.length)
}

test('[WC22] cards that were selected by a frame take the pointer as before: drag, double click and menu', async () => {
  const { page, read } = await openBoard('One', 'Two', 'Three')
  await frame(page, 'One', 'Two')
  const one = (await card(page, 'One').boundingBox())!
  await page.mouse.click(one.x + 30, one.y + 20, { button: 'right' })
  await page.getByRole('menu').waitFor()
  await page.keyboard.press('Escape')

  await frame(page, 'One', 'Two')
  await drag(page, { x: one.x + 30, y: one.y + 20 }, 0, 60)
  await page.mouse.up()
  await until(async () => (await read('One')).y > 0 && (await read('Two')).y > 40, 'both have moved')

  await page.mouse.dblclick(one.x + 30, one.y + 80)
  await page.getByRole('textbox', { name: 'Text of One' }).waitFor()
})

test('[WC23] while a layout is shown, no card is dragged or resized: what is shown is what is applied', async () => {
  const { page, read } = await openBoard('One', 'Two', 'Three')
  await frame(page, 'One', 'Two', 'Three')
  await bar(page).getByRole('button', { name: 'Arrange…' }).click()
  const panel = page.getByRole('dialog', { name: 'Arrange cards' })
  await panel.getByRole('radio', { name: 'One column' }).check()
  const apply = panel.getByRole('button', { name: 'Apply' })
  /** Seen from the first card: a drag moves the canvas. */
  const places = async () => {
    const [one, ...others] = [
      await placeOf(page, 'One'),
      await placeOf(page, 'Two'),
      await placeOf(page, 'Three'),
    ]
    return others.map(({ x, y }) => [x - one!.x, y - one!.y])
  }
  await eventually(async () => (await places()).map(([x]) => x)).toEqual([0, 0])
  const shown = await places()
  const two = await placeOf(page, 'Two')
  await drag(page, { x: two.x + 30, y: two.y + 20 }, 150, 20)
  expect(await places()).toEqual(shown)
  await page.mouse.up()
  await card(page, 'Two').click({ position: { x: 30, y: 20 }, modifiers: ['Control'] })
  await card(page, 'Three').click({ position: { x: 30, y: 20 }, modifiers: ['Control'] })
  await eventually(() => selected(page)).toBe(1)
  expect(await page.locator('.grip').count()).toBe(0)
  expect(await places()).toEqual(shown)
  expect((await read('Two')).x).toBe(300)
  await apply.click()
  await until(async () => (await read('Two')).x === (await read('One')).x, 'the layout is written')
  expect(await places()).toEqual(shown)
  await page.locator('.grip').first().waitFor()
})

test('[WC24] who resizes a card that somebody moves meanwhile keeps the move, and undoes the resizing alone', async () => {
  const { id, page, read } = await openBoard('One', 'Two')
  await card(page, 'One').click({ position: { x: 30, y: 20 } })
  const grip = (await page.locator('.grip').nth(6).boundingBox())!
  await drag(page, { x: grip.x + grip.width / 2, y: grip.y + grip.height / 2 }, 60, 40)
  await ada.api.patch(`/boards/${id}/cards/${(await read('One')).id}`, { x: -100, y: 200 })
  await page.mouse.move(grip.x + 70, grip.y + 50)
  await page.mouse.up()
  await until(async () => (await read('One')).w > 200, 'it is resized')
  expect(await read('One')).toMatchObject({ x: -100, y: 200 })
  await page.locator('.react-flow').first().focus()
  await page.keyboard.press('Control+z')
  await until(async () => (await read('One')).w === 200, 'the resizing is undone')
  expect(await read('One')).toMatchObject({ x: -100, y: 200, h: 100 })
})

test('[WC25] Ctrl+Z and Ctrl+Y undo and redo in the list as well', async () => {
  const { id, page, read } = await openBoard('One', 'Two')
  await page.getByRole('button', { name: 'Show the board as List' }).click()
  await page.getByRole('button', { name: 'Remove Note: One' }).click()
  await until(async () => (await read('One')) === undefined, 'the card is removed')
  await page.keyboard.press('Control+z')
  await until(async () => (await read('One')) !== undefined, 'the card is back')
  await page.getByRole('article', { name: 'Note: One' }).waitFor()
  await page.keyboard.press('Control+y')
  await until(async () => (await read('One')) === undefined, 'the card is removed again')
  await page.keyboard.press('Control+z')
  await page.getByRole('article', { name: 'Note: One' }).waitFor()

  await page.getByRole('button', { name: 'Edit Note: Two' }).click()
  await page.getByRole('textbox', { name: 'Title' }).fill('Two and more')
  await until(async () => (await read('Two and more')) !== undefined, 'the title is written')
  await page.getByRole('textbox', { name: 'Title' }).press('Control+z')
  await until(async () => (await read('Two')) !== undefined, 'the title is undone')
  expect((await ada.api.get(`/boards/${id}/cards`)).body.cards).toHaveLength(2)
})

test('[WC26] a double click on a button that goes away adds no card below it', async () => {
  const { id, page } = await openBoard('One', 'Two')
  await card(page, 'One').click({ position: { x: 30, y: 20 } })
  await bar(page).getByRole('button', { name: 'Remove' }).dblclick()
  await eventually(() => card(page, 'One').count()).toBe(0)
  const count = async () => (await ada.api.get(`/boards/${id}/cards`)).body.cards.length
  await until(async () => (await count()) === 1, 'one card is left')
  expect(await page.getByRole('textbox', { name: 'Title' }).count()).toBe(0)
  const pane = (await page.locator('.react-flow__pane').boundingBox())!
  await page.mouse.dblclick(pane.x + 100, pane.y + 100)
  await page.getByRole('textbox', { name: 'Title' }).waitFor()
  await until(async () => (await count()) === 2, 'a double click beside all cards adds one')
})
