/** Everything one does with cards on the canvas of the app, alone and together, in a real Chromium. */
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { Page } from 'playwright-core'
import { makeBoard } from '../api/board.ts'
import { violationsOf } from '../support/chromium.ts'
import { openEditor, until } from '../support/editor.ts'
import { startService } from '../support/service.ts'
import { card, eventually, openAs, placeOf, saved } from './app.ts'

const service = await startService({ workers: false, config: { logLevel: 'error' } })
afterAll(() => service.stop())
const adaUser = await service.user({ name: 'Ada Byron' })
const benUser = await service.user({ name: 'Ben Ito' })
await service.member(adaUser.workspaceId, benUser, 'editor')
const { api } = adaUser
const board = await makeBoard(adaUser, { name: 'Cards' })

const note = (title: string, x: number, y: number, more: object = {}) => ({
  ...{ kind: 'note', title, x, y, w: 200, h: 100, ...more },
})
await api.post(`/boards/${board.id}/cards`, {
  cards: [note('One', 0, 0), note('Two', 260, 40), note('Three', 540, 90, { body: 'third' })],
})
const [ada, ben] = [await openAs(service, adaUser, board.id), await openAs(service, benUser, board.id)]
for (const { page } of [ada, ben]) await card(page, 'One').waitFor()

const cardsOf = async (boardId = board.id): Promise<any[]> =>
  (await api.get(`/boards/${boardId}/cards`)).body.cards
const titled = async (title: string) => (await cardsOf()).find((one) => one.title === title)
const groupsOf = async (): Promise<any[]> => (await api.get(`/boards/${board.id}/groups`)).body.groups
const bar = (page: Page) => page.getByRole('toolbar', { name: 'Selected cards' })

async function deselect(page: Page) {
  await page.locator('.react-flow').first().focus()
  await page.keyboard.press('Escape')
}

/** Selects cards by clicks near their upper left corner. */
async function choose(page: Page, ...titles: string[]) {
  await deselect(page)
  for (const [at, title] of titles.entries())
    await card(page, title).click({ position: { x: 30, y: 20 }, modifiers: at > 0 ? ['Control'] : [] })
  await bar(page).waitFor()
}

/** How far the board is moved on the screen, and the zoom. */
const viewOf = async (page: Page): Promise<number[]> => {
  const transform = await page.locator('.react-flow__viewport').evaluate((one: any) => one.style.transform)
  return String(transform)
    .match(/-?[\d.]+/g)!
    .map(Number)
}

async function pick(page: Page, menu: string, choice: string) {
  await bar(page).getByRole('button', { name: menu }).click()
  await bar(page).getByRole('button', { name: choice, exact: true }).click()
  await page.keyboard.press('Escape')
}

test('[WC2] colour, order, heading, copies and removal are for all selected cards, one step of undo each', async () => {
  const { page } = ada
  await choose(page, 'One', 'Two')
  await pick(page, 'Colour', 'Yellow')
  await until(async () => (await titled('Two')).color === '#ffd966', 'the colour is written')
  expect((await titled('One')).color).toBe('#ffd966')
  const tint = () =>
    card(ben.page, 'One')
      .locator('.card')
      .evaluate((one: any) => one.style.cssText)
  await eventually(tint).toContain('#ffd966')
  await page.keyboard.press('Control+z')
  await until(async () => !(await titled('One')).color && !(await titled('Two')).color, 'undone for both')

  await pick(page, 'Place', 'To the front')
  await until(async () => (await titled('One')).z > (await titled('Three')).z, 'One is in front')
  expect((await titled('Two')).z).toBeGreaterThan((await titled('One')).z)
  await bar(page).getByRole('button', { name: 'Heading' }).click()
  await card(ben.page, 'One').locator('.card.section h2').waitFor()
  await bar(page).getByRole('button', { name: 'Heading' }).click()
  await card(ben.page, 'One').locator('.card.section h2').waitFor({ state: 'detached' })

  await bar(page).getByRole('button', { name: 'Duplicate' }).click()
  await until(async () => (await cardsOf()).length === 5, 'both are there twice')
  const copies = (await cardsOf()).filter(({ title }) => title === 'One')
  expect(Math.abs(copies[0].x - copies[1].x)).toBe(24)
  // The copies are selected now.
  await bar(page).getByRole('button', { name: 'Remove' }).click()
  await until(async () => (await cardsOf()).length === 3, 'the copies are removed')
  expect(await violationsOf(page)).toEqual([])
})

test('[WC3] cards are aligned, spread, nudged and turned, by the bar, by keys and by the handle', async () => {
  const { page } = ada
  await choose(page, 'One', 'Two', 'Three')
  expect(await violationsOf(page)).toEqual([])
  await pick(page, 'Align', 'Align top')
  await until(async () => (await cardsOf()).every(({ y }) => y === 0), 'all tops are at 0')
  await pick(page, 'Align', 'Spread across')
  await until(async () => (await titled('Two')).x === 270, 'the gaps are the same')
  await page.locator('.react-flow__node-card.selected').first().focus()
  await page.keyboard.press('.')
  await until(async () => (await cardsOf()).every(({ rotation }) => rotation === 15), 'all are turned')
  await page.keyboard.press('Control+z')
  await until(async () => (await cardsOf()).every(({ rotation }) => !rotation), 'none is turned')
  await page.keyboard.press('ArrowDown')
  await until(async () => (await cardsOf()).every(({ y }) => y > 0), 'all have moved')
  await page.keyboard.press('Control+z')

  await choose(page, 'One')
  const handle = (await page.locator('.handles .turn').boundingBox())!
  const box = (await card(page, 'One').boundingBox())!
  await page.mouse.move(handle.x + 8, handle.y + 8)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width + 90, box.y + box.height / 2, { steps: 4 })
  expect((await titled('One')).rotation).toBeFalsy()
  await page.mouse.up()
  await until(async () => (await titled('One')).rotation === 90, 'it is turned to the right')
  await eventually(() =>
    card(ben.page, 'One')
      .locator('.card')
      .evaluate((one: any) => one.style.rotate),
  ).toBe('90deg')
  await pick(page, 'Place', 'Straighten')
  await until(async () => !(await titled('One')).rotation, 'it is straight')
})

test('[WC12] a turned card is resized along its own axes, and the opposite corner stays', async () => {
  const { page } = ada
  await api.patch(`/boards/${board.id}/cards/${(await titled('One')).id}`, { rotation: 90 })
  await choose(page, 'One')
  const before = await titled('One')
  // Its lower right corner is at the lower left now.
  const shown = (await card(page, 'One').locator('.card').boundingBox())!
  const perPixel = before.h / shown.width
  await page.mouse.move(shown.x, shown.y + shown.height)
  await page.mouse.down()
  await page.mouse.move(shown.x - 30, shown.y + shown.height + 60, { steps: 4 })
  expect((await titled('One')).w).toBe(before.w)
  await page.mouse.up()
  await until(async () => (await titled('One')).w > before.w, 'it is larger')
  const after = await titled('One')
  expect(Math.abs(after.w - before.w - 60 * perPixel)).toBeLessThan(3)
  expect(Math.abs(after.h - before.h - 30 * perPixel)).toBeLessThan(3)
  // What was its upper left corner is at the upper right.
  const corner = ({ x, y, w, h }: any) => [x + w / 2 + h / 2, y + h / 2 - w / 2]
  const [was, is] = [corner(before), corner(after)]
  expect(Math.max(...was.map((one, at) => Math.abs(one - is[at]!)))).toBeLessThanOrEqual(1)
  await page.keyboard.press('Control+z')
  await until(async () => (await titled('One')).w === before.w, 'one step takes it back')
  await pick(page, 'Place', 'Straighten')
  await until(async () => !(await titled('One')).rotation, 'it is straight')
})

test('[WC4] a group is made, dragged with its cards, renamed, shaped and dissolved', async () => {
  const { page } = ada
  await choose(page, 'Two', 'Three')
  await page.keyboard.press('Control+g')
  const name = page
    .getByRole('button', { name: 'Group', exact: true })
    .and(page.locator('.group-name button'))
  await name.waitFor()
  const before = [await titled('Two'), await titled('Three')]
  expect(before[0].group_id).toBe(before[1].group_id)
  const from = (await name.boundingBox())!
  await page.mouse.move(from.x + 10, from.y + 10)
  await page.mouse.down()
  await page.mouse.move(from.x + 10, from.y + 110, { steps: 4 })
  const shown = await placeOf(page, 'Three')
  await eventually(() => placeOf(ben.page, 'Three')).toEqual(shown)
  await page.mouse.up()
  await until(async () => (await titled('Three')).y > before[1].y + 50, 'the drop is written')
  const after = [await titled('Two'), await titled('Three')]
  expect(after[1].y - before[1].y).toBe(after[0].y - before[0].y)
  expect((await titled('One')).y).toBe(0)
  await page.keyboard.press('Control+z')
  await until(async () => (await titled('Three')).y === before[1].y, 'one step takes it back')

  await name.click()
  await bar(page).getByRole('button', { name: 'Group' }).click()
  await bar(page).getByRole('textbox', { name: 'Name of the group' }).fill('Pair')
  await bar(page).getByRole('button', { name: 'Follow the cards’ outline' }).click()
  await ben.page.locator('.box.hug', { hasText: 'Pair' }).waitFor()
  expect(await groupsOf()).toMatchObject([{ name: 'Pair', shape: 'hug' }])
  await bar(page).getByRole('button', { name: 'Ungroup' }).click()
  await until(async () => (await groupsOf()).length === 0, 'the group is gone')
  expect((await cardsOf()).map(({ group_id }) => group_id ?? null)).toEqual([null, null, null])
})

test('[WC5] a layout is shown before it is written, and one step of undo takes it back', async () => {
  const { page } = ada
  await page.locator('.react-flow').first().focus()
  await page.keyboard.press('Control+a')
  await saved(page)
  const before = (await cardsOf()).map(({ x, y }) => [x, y])
  await bar(page).getByRole('button', { name: 'Arrange…' }).click()
  const panel = page.getByRole('dialog', { name: 'Arrange cards' })
  await panel.getByRole('radio', { name: 'One column' }).check()
  const lefts = async () =>
    new Set(await Promise.all(['One', 'Two', 'Three'].map(async (title) => (await placeOf(page, title)).x)))
  await eventually(async () => (await lefts()).size).toBe(1)
  expect((await cardsOf()).map(({ x, y }) => [x, y])).toEqual(before)
  expect(await violationsOf(page)).toEqual([])
  await panel.getByRole('button', { name: 'Apply' }).click()
  await until(async () => new Set((await cardsOf()).map(({ x }) => x)).size === 1, 'it is written')
  await page.getByRole('button', { name: 'Undo' }).click()
  await until(
    async () => (await cardsOf()).every(({ x, y }, at) => x === before[at]![0] && y === before[at]![1]),
    'undone',
  )
})

test('[WC6] cards are copied and pasted on their board and to another, where files go through the API', async () => {
  const { page } = ada
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const upload = await fetch(`${service.homeUrl}/api/v1/uploads?board=${board.id}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaUser.token}`, 'content-type': 'image/png' },
    body: pixel,
  })
  const { image_key } = (await upload.json()) as { image_key: string }
  await api.post(`/boards/${board.id}/cards`, {
    kind: 'image',
    title: 'Dot',
    image_key,
    x: 0,
    y: 300,
    w: 120,
    h: 120,
  })
  await card(page, 'Dot').waitFor()
  await choose(page, 'One', 'Dot')
  await page.keyboard.press('Control+c')
  await page.keyboard.press('Control+v')
  await until(async () => (await cardsOf()).length === 6, 'both are pasted')
  await page.keyboard.press('Delete')
  await until(async () => (await cardsOf()).length === 4, 'and removed')

  // Another workspace, whose people can not read the files of this one.
  const other = await makeBoard(benUser, { name: 'Other' })
  await service.share(other.id, adaUser, 'editor')
  await choose(page, 'One', 'Dot')
  await page.keyboard.press('Control+c')
  const elsewhere = await page.context().newPage()
  await elsewhere.goto(`${service.homeUrl}/app/boards/${other.id}`)
  await elsewhere.locator('.react-flow__pane').click({ position: { x: 300, y: 300 } })
  await elsewhere.getByRole('button', { name: 'Keys' }).waitFor()
  await elsewhere.keyboard.press('Control+v')
  const pasted = async () => (await benUser.api.get(`/boards/${other.id}/cards`)).body.cards
  await until(async () => (await pasted()).length === 2, 'both are on the other board')
  const dot = (await pasted()).find(({ kind }: any) => kind === 'image')
  expect(dot).toMatchObject({ title: 'Dot', image_key, width: 1, height: 1 })
  await elsewhere.close()
  await api.delete(`/boards/${board.id}/cards`, { card_ids: [(await titled('Dot')).id] })
  await card(page, 'Dot').waitFor({ state: 'detached' })
})

test('[WC7] the selections of others are shown; one follows a view; agents and guests are told apart', async () => {
  await choose(ben.page, 'Two')
  await ada.page.locator('.selection-of', { hasText: 'Ben Ito' }).waitFor()
  await deselect(ben.page)
  await ada.page.locator('.selection-of').waitFor({ state: 'detached' })

  const people = ada.page.getByRole('list', { name: 'Who is here' })
  await people.getByRole('button', { name: 'Ben Ito' }).click()
  await ada.page.getByText('Following Ben Ito').waitFor()
  for (let n = 0; n < 3; n++) await ben.page.getByRole('button', { name: 'Zoom In' }).click()
  // The middle of the view is shown in whole units of the board.
  const differs = async () => {
    const [here, there] = [await viewOf(ada.page), await viewOf(ben.page)]
    return Math.max(...here.map((one, at) => Math.abs(one - there[at]!)))
  }
  await eventually(differs).toBeLessThan(2)
  await ada.page.mouse.move(600, 500)
  await ada.page.mouse.wheel(0, 40)
  await ada.page.getByText('Following Ben Ito').waitFor({ state: 'detached' })

  const { body: account } = await api.post('/service-accounts', {
    workspace_id: adaUser.workspaceId,
    name: 'Importer',
  })
  const { body: made } = await api.post(`/boards/${board.id}/links`, { role: 'viewer' })
  const { body: guest } = await service.anonymous.post('/links/open', { token: made.token, name: 'Dora' })
  for (const { access_token: token } of [account, guest]) {
    const editor = await openEditor(service.homeUrl, { boardId: board.id, token })
    onTestFinished(() => editor.leave())
    editor.provider.setAwarenessField('cursor', { x: 0, y: 0 })
  }
  await people.getByRole('button', { name: 'Importer (agent)' }).waitFor()
  await people.getByRole('button', { name: 'Dora (guest)' }).waitFor()
  expect(await violationsOf(ada.page)).toEqual([])
})

test('[WC8] what a program writes glows for a moment, what people write does not', async () => {
  for (const { page } of [ada, ben]) await page.getByRole('button', { name: 'Fit View' }).click()
  await ada.page.getByRole('button', { name: 'Keys' }).waitFor()
  // A glow is short, and a busy machine may look too late.
  await ada.page.evaluate(`
    window.glows = []
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes)
        for (const { className, style } of addedNodes)
          if (className === 'glow') glows.push(style.transform)
    }).observe(document.querySelector('.react-flow__viewport-portal'), { childList: true, subtree: true })`)
  const three = await titled('Three')
  await choose(ben.page, 'One')
  await ben.page.keyboard.press('ArrowDown')
  const isSeen = async () => (await placeOf(ada.page, 'One')).y === (await placeOf(ben.page, 'One')).y
  await until(async () => (await titled('One')).y > 0 && (await isSeen()), 'Ben has moved a card')
  await api.patch(`/boards/${board.id}/cards/${three.id}`, { body: 'by a program' })
  await eventually(() => ada.page.evaluate('glows')).toEqual([`translate(${three.x}px, ${three.y}px)`])
  await ada.page.locator('.glow').waitFor({ state: 'detached' })
})

test('[WC9] two fingers zoom, and a long press adds to the selection', async () => {
  const { page } = await openAs(service, benUser, board.id, { hasTouch: true })
  await card(page, 'One').waitFor()
  const client = await page.context().newCDPSession(page)
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...points: [number, number][]) =>
    client.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) })
  const zoom = async () => (await viewOf(page))[2]!
  const before = await zoom()
  await touch('touchStart', [600, 600], [700, 600])
  for (const by of [20, 40, 60]) await touch('touchMove', [600 - by, 600], [700 + by, 600])
  await touch('touchEnd')
  await eventually(zoom).toBeGreaterThan(before * 1.5)
  await page.getByRole('button', { name: 'Fit View' }).click()
  for (const title of ['One', 'Three']) {
    const { x, y } = await placeOf(page, title)
    await touch('touchStart', [x + 30, y + 20])
    await card(page, title).and(page.locator('.selected')).waitFor()
    await touch('touchEnd')
  }
  expect(await page.locator('.react-flow__node-card.selected').count()).toBe(2)
})

test('[WC10] a question mark shows the keys of the canvas; a letter outside of it does nothing', async () => {
  const { page } = ada
  await page.locator('.react-flow').first().focus()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.keyboard.press('Escape')
  const { length } = await cardsOf()
  await page.getByRole('link', { name: 'Settings' }).focus()
  await page.keyboard.press('n')
  await page.locator('.react-flow').first().focus()
  await page.keyboard.press('n')
  await page.keyboard.type('By a key')
  await page.keyboard.press('Escape')
  await until(async () => (await cardsOf()).length === length + 1, 'one card is added')
  expect([...ada.complaints, ...ben.complaints]).toEqual([])
})

test('[WC11] of a large board only what is near the view is in the page, and all of it is in the overview and the selection', async () => {
  const large = await makeBoard(adaUser, { name: 'Large' })
  const all = Array.from({ length: 2000 }, (_, n) =>
    note(`No ${n}`, (n % 50) * 240, Math.floor(n / 50) * 140, { body: 'Some **words**' }),
  )
  const { body } = await api.post(`/boards/${large.id}/cards`, { cards: all.slice(0, 1000) })
  await api.post(`/boards/${large.id}/cards`, { cards: all.slice(1000) })
  const { page } = ada
  await page.goto(`${service.homeUrl}/app/boards/${large.id}`)
  await card(page, 'No 0').waitFor()
  const count = () => page.locator('.react-flow__node-card').count()
  expect(await count()).toBeLessThan(400)
  const box = (await page.getByRole('img', { name: 'Overview of the board' }).boundingBox())!
  await page.mouse.click(box.x + box.width / 2, box.y + box.height - 12)
  await card(page, 'No 0').waitFor({ state: 'detached' })
  expect(await count()).toBeLessThan(400)
  // All of them are selected and moved, also those that are not in the page.
  await page.locator('.react-flow').first().focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('ArrowDown')
  const first = async () => (await api.get(`/boards/${large.id}/cards/${body.cards[0].id}`)).body.card
  await until(async () => (await first()).y > 0, 'the first card has moved, too')
})
