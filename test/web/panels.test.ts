/** The list of boards and its panels in real browsers: Ada owns a workspace, Ben is an editor of it. */
import { afterAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { listCards, makeBoard, makeCards } from '../api/board.ts'
import { violationsOf } from '../support/chromium.ts'
import { until } from '../support/editor.ts'
import { startService } from '../support/service.ts'
import { card, eventually, openAs, state } from './app.ts'

const service = await startService({ config: { logLevel: 'error' }, queueTickMs: 20 })
afterAll(() => service.stop())

const ada = await service.user({ name: 'Ada' })
const ben = await service.user({ name: 'Ben' })
const cleo = await service.user({ name: 'Cleo' })
await service.member(ada.workspaceId, ben, 'editor')
const film = await makeBoard(ada, { name: 'Film' })
const act = await makeBoard(ada, { name: 'Act one', parent_board_id: film.id })
const scene = await makeBoard(ada, { name: 'Scene 1', parent_board_id: act.id })
const studio = await makeBoard(ada, { name: 'Studio' })
const guestBoard = await makeBoard(cleo, { name: 'From Cleo' })
await service.share(guestBoard.id, ada, 'viewer')
await makeCards(ada, scene.id, [
  { title: 'Lighthouse', body: 'It stands far away from all others.', x: 2500, y: 1500 },
  { title: 'Near', x: 0, y: 0 },
])

const adas = await openAs(service, ada, film.id)
const { page } = adas
const row = (name: string, of: Page = page) => of.getByRole('treeitem', { name, exact: true })
const notice = (text: string) => page.locator('.notice', { hasText: text })
const focused = () => page.evaluate('document.activeElement.textContent')
const heading = (name: string) => page.getByRole('heading', { name, level: 1 })
const read = async (id: string) => (await ada.api.get(`/boards/${id}`)).body.board
const parentOf = (id: string) => read(id).then((board) => board.parent_board_id)
const press = async (...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}
const choose = async (board: string, item: string) => {
  await row(board).click({ button: 'right' })
  await page.getByRole('menuitem', { name: item }).click()
}

test('[WP1] the keyboard walks, opens and closes the tree; boards that are shared with the account are apart', async () => {
  await row('Film').focus()
  expect(await row('Act one').count()).toBe(0)
  await press('ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowDown')
  await eventually(focused).toContain('Scene 1')
  expect(await row('Scene 1').getAttribute('aria-level')).toBe('3')
  await press('ArrowLeft')
  await eventually(focused).toContain('Act one')
  await press('ArrowLeft')
  await row('Scene 1').waitFor({ state: 'detached' })
  await press('End', 'Home')
  await eventually(focused).toContain('Film')
  await press('s')
  await eventually(focused).toContain('Studio')
  await press('Enter')
  await heading('Studio').waitFor()
  expect(await page.getByRole('tree').count()).toBe(1)
  await page.getByRole('heading', { name: 'Shared with you' }).waitFor()
  await page.getByRole('link', { name: 'From Cleo' }).click()
  await heading('From Cleo').waitFor()
  // A board that is opened is shown in the tree.
  await page.goto(`${service.homeUrl}/app/boards/${scene.id}`)
  await row('Scene 1').waitFor()
})

test('[WP2] a board is created inside another, renamed, moved and put into the trash, by keyboard and by drag', async () => {
  await row('Studio').focus()
  await press('Shift+F10')
  await page.getByRole('menuitem', { name: 'Rename' }).waitFor()
  await press('ArrowDown', 'Enter')
  await page.getByRole('textbox', { name: 'Name of New board', exact: true }).waitFor()
  await page.keyboard.type('Props')
  await press('Enter')
  await row('Props').waitFor()
  const { boards } = (await ada.api.get<any>(`/boards?parent=${studio.id}`)).body
  expect(boards).toMatchObject([{ name: 'Props' }])
  const props: string = boards[0].id

  await row('Props').dragTo(row('Film'))
  const moved = notice('“Props” is now in “Film”')
  await moved.waitFor()
  expect(await parentOf(props)).toBe(film.id)
  await moved.getByRole('button', { name: 'Undo' }).click()
  await until(async () => (await parentOf(props)) === studio.id, 'the move is undone')

  await row('Film').focus()
  await press('Control+x')
  await row('Scene 1').focus()
  await press('Control+v') // a circle
  await row('Studio').focus()
  await press('Control+v')
  await until(async () => (await parentOf(film.id)) === studio.id, 'the board was pasted')
  // On a busy machine the page shows it later than the service says it.
  await eventually(() => row('Film').getAttribute('aria-level')).toBe('2')
  await choose('Film', 'Move to…')
  const top = page.getByRole('button', { name: /^Top level of/ })
  await top.waitFor()
  expect(await page.locator('.places').getByText('Act one').count()).toBe(0)
  await top.click()
  await until(async () => (await parentOf(film.id)) === null, 'the board is at the top')
  await eventually(() => row('Film').getAttribute('aria-level')).toBe('1')

  await row('Props').focus()
  await press('Delete')
  await row('Props').waitFor({ state: 'detached' })
  expect((await read(props)).deleted).toBe(true)
  await notice('“Props” is in the trash').getByRole('button', { name: 'Undo' }).click()
  await row('Props').waitFor()
})

test('[WP2] the only board is put into the trash, and is open again when that is undone', async () => {
  const lone = await service.user({ name: 'Lone' })
  const { id } = await makeBoard(lone, { name: 'Only' })
  const { page } = await openAs(service, lone, id)
  await page.getByRole('treeitem', { name: 'Only' }).focus()
  await page.keyboard.press('Delete')
  await page.getByText('This board is in the trash').waitFor()
  await page.getByText('“Only” is in the trash').locator('..').getByRole('button', { name: 'Undo' }).click()
  await page.locator('.react-flow').waitFor()
  await eventually(() => state(page).textContent()).toBe('Saved')
})

test('[WP3] boards come back from the trash, and cards that were removed from the open board', async () => {
  const { boards } = (await ada.api.get<any>(`/boards?parent=${studio.id}`)).body
  await ada.api.delete(`/boards/${boards[0].id}`)
  await row('Props').waitFor({ state: 'detached' })
  const [, near] = await listCards(ada, scene.id)
  await ada.api.delete(`/boards/${scene.id}/cards/${near!.id}`)
  await page.getByRole('button', { name: 'Trash' }).click()
  await page.getByRole('button', { name: 'Restore Props', exact: true }).click()
  await page.getByText('The trash is empty.').waitFor()
  await page.getByRole('button', { name: 'Show what Ada removed' }).click()
  await page.getByRole('button', { name: 'Bring it back' }).click()
  await page.getByText('They are on the board again.').waitFor()
  expect(await listCards(ada, scene.id)).toMatchObject([{ title: 'Lighthouse' }, { title: 'Near' }])
  await press('Escape')
  await row('Props').waitFor()
})

test('[WP4] Ctrl-K finds boards and cards, and leads to the card on its board, by the keyboard alone', async () => {
  await page.goto(`${service.homeUrl}/app/boards/${film.id}`)
  await heading('Film').waitFor()
  await press('Control+k')
  const field = page.getByRole('combobox', { name: 'Search boards and cards' })
  await field.waitFor()
  const options = page.getByRole('option')
  await eventually(() => options.allTextContents()).toEqual(
    ['Film', 'Scene 1', 'From Cleo', 'Studio'].map((name) => `${name}Board`),
  )
  await page.keyboard.type('studio')
  await page.getByText('1 result.').waitFor()
  await field.fill('zzz')
  await page.getByText('Nothing is called “zzz”').waitFor()
  await field.fill('lighthouse')
  await page.getByText('1 result.').waitFor()
  await press('ArrowDown', 'ArrowUp', 'Enter')
  await heading('Scene 1').waitFor()
  const middle = async () => {
    const box = (await card(page, 'Lighthouse').boundingBox())!
    const pane = (await page.locator('.react-flow').boundingBox())!
    return Math.hypot(
      box.x + box.width / 2 - pane.x - pane.width / 2,
      box.y + box.height / 2 - pane.y - pane.height / 2,
    )
  }
  await card(page, 'Lighthouse').waitFor()
  await eventually(middle).toBeLessThan(60)
  await page.getByRole('button', { name: 'Fit View' }).click()
  await eventually(middle).toBeGreaterThan(100)
  await press('Control+k')
  await field.fill('lighthouse')
  await page.getByText('1 result.').waitFor()
  await press('Enter')
  await eventually(middle).toBeLessThan(60)
  await press('Control+k')
  await field.fill('lighthouse')
  await page.getByText('1 result.').waitFor()
  await field.fill('studio')
  await press('Enter') // before the answer
  await heading('Studio').waitFor()
  await press('Control+k')
  await page.context().setOffline(true)
  await field.fill('lighthouse')
  await page.getByText('The service can’t be reached. Check the connection.').waitFor()
  await page.context().setOffline(false)
  await press('Escape')
  expect(adas.complaints.splice(0).filter((one) => !one.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([])
})

test('[WP5] a board is put on a date, published and cancelled; the bell counts, and its list leads to the board', async () => {
  const { page: bens } = await openAs(service, ben, film.id)
  await page.goto(`${service.homeUrl}/app/boards/${studio.id}`)
  const schedule = page.locator('button.schedule')
  await schedule.click()
  const label = page.getByRole('textbox', { name: 'Name of the day' })
  await label.fill('Day 1')
  await page.getByLabel('Date').fill('2030-05-01')
  expect(await page.getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Publish' }).click()
  await page.getByText('Version 1 was published').waitFor()
  await page.getByLabel('Date').fill('2030-05-02')
  await page.getByRole('button', { name: 'Save' }).click()
  await bens.getByRole('button', { name: 'Notifications, 1 unread' }).click()
  await bens.getByText('Ada moved “Studio” from').waitFor()
  await bens.getByRole('button', { name: 'Open the board' }).click()
  await bens.getByRole('heading', { name: 'Studio', level: 1 }).waitFor()
  await bens.getByRole('button', { name: 'Notifications', exact: true }).waitFor()
  const { notifications } = (await ben.api.get<any>('/notifications')).body
  expect(notifications).toMatchObject([{ read_at: expect.any(String) }])
  await page.getByRole('button', { name: 'Cancel the schedule' }).click()
  await page.getByText('The schedule is cancelled.').waitFor()
  expect(await read(studio.id)).toMatchObject({ sched_status: 'cancelled', sched_version: 1 })
  await press('Escape')
  expect(await schedule.textContent()).toBe('Day 1 · May 2 (cancelled)')
})

test('[WP11] what others do to boards shows in the list', async () => {
  const made = await makeBoard(ben, { name: 'By Ben', workspace_id: ada.workspaceId })
  await row('By Ben').waitFor()
  await ben.api.patch(`/boards/${made.id}`, { name: 'Renamed', parent_board_id: studio.id })
  await row('By Ben').waitFor({ state: 'detached' })
  await row('Studio').focus()
  await press('ArrowRight')
  await row('Renamed').waitFor()
  await choose('Renamed', 'Move to…')
  const [top, studios] = [/^Top level of/, 'Studio'].map((name) => page.locator('.places').getByText(name))
  await top!.waitFor()
  expect(await studios!.count()).toBe(0)
  await ben.api.patch(`/boards/${made.id}`, { parent_board_id: null })
  await studios!.waitFor()
  await top!.waitFor({ state: 'detached' })
  await press('Escape')
  await ben.api.delete(`/boards/${made.id}`)
  await row('Renamed').waitFor({ state: 'detached' })
  await service.share(guestBoard.id, ada, 'none')
  await page.getByRole('link', { name: 'From Cleo' }).waitFor({ state: 'detached' })
})

test('[WP13] a viewer is offered no action that only writers may take, in the list and in the trash', async () => {
  const dan = await service.user({ name: 'Dan' })
  await service.member(ada.workspaceId, dan, 'viewer')
  const { page: dans } = await openAs(service, dan, studio.id)
  await row('Studio', dans).focus()
  expect(await dans.getByRole('button', { name: /^Actions for/ }).count()).toBe(0)
  expect(await row('Studio', dans).getAttribute('draggable')).toBe('false')
  for (const key of ['F2', 'Delete', 'Control+x']) await dans.keyboard.press(key)
  await row('Film', dans).focus()
  await dans.keyboard.press('Control+v')
  await row('Studio', dans).click({ button: 'right' })
  expect(await dans.locator('input[aria-label^="Name of Studio"], [role="menu"]').count()).toBe(0)
  expect(await dans.locator('.notice').textContent()).toBe('')
  expect(await read(studio.id)).toMatchObject({ name: 'Studio', deleted: false, parent_board_id: null })
  expect(await dans.getByRole('textbox', { name: /^Name of a new board/ }).count()).toBe(1)
  const gone = await makeBoard(ada, { name: 'Gone' })
  await ada.api.delete(`/boards/${gone.id}`)
  await dans.getByRole('button', { name: 'Trash' }).click()
  await dans.getByText('The trash is empty.').waitFor()
  await dans.keyboard.press('Escape')
  await ada.api.patch(`/boards/${studio.id}`, { scheduled_date: '2031-02-03', day_label: 'Day 9' })
  await dans.reload()
  await dans.getByText(/^Day 9 · .* \(cancelled\)$/).waitFor()
  expect(await dans.getByRole('button', { name: /Schedule|Day 9|for all/ }).count()).toBe(0)
  // The same keys still lead through the tree.
  await row('Film', dans).focus()
  await dans.keyboard.press('Enter')
  await dans.getByRole('heading', { name: 'Film', level: 1 }).waitFor()
})

test('[WP14] the list shows how many people are on each board, as they come and go', async () => {
  const crowd = await makeBoard(ada, { name: 'Crowd' }) // who leaves another board at the same time does not count
  await page.goto(`${service.homeUrl}/app/boards/${film.id}`)
  const here = (name: string): Promise<string[]> =>
    row(name)
      .locator('.people-here')
      .evaluateAll((all: any[]) => all.map(({ title }) => title))
  await eventually(() => here('Film')).not.toEqual([])
  expect(await here('Crowd')).toEqual([])
  const eve = await service.user({ name: 'Eve' })
  await service.member(ada.workspaceId, eve, 'editor')
  const { page: eves } = await openAs(service, eve, crowd.id)
  const number = (texts: string[]) => Number.parseInt(texts[0] ?? '0', 10)
  await eventually(async () => number(await here('Crowd'))).toBe(1)
  await eves.close()
  await eventually(async () => number(await here('Crowd'))).toBe(0)
})

test('[WB16] who may change a board sets its view, and others find it like this; a choice of one’s own stays one’s own', async () => {
  const harbour = await makeBoard(ada, { name: 'Harbour' })
  await makeCards(ada, harbour.id, [{ title: 'Ferry' }])
  await ada.api.patch(`/boards/${harbour.id}`, { day_label: 'Day 1', scheduled_date: '2031-02-03' })
  const fay = await service.user({ name: 'Fay' })
  await service.share(harbour.id, fay, 'viewer')
  const { page: fays } = await openAs(service, fay, harbour.id)
  const canvas = (of: Page) => of.locator('.react-flow').waitFor()
  const list = (of: Page) => of.locator('.list').waitFor()
  const forAll = (view: string, of: Page = page) => of.getByRole('button', { name: `${view} for all` })
  const show = (view: string, of: Page = page) =>
    of.getByRole('button', { name: `Show the board as ${view}` }).click()

  await page.goto(`${service.homeUrl}/app/boards/${harbour.id}`)
  await canvas(page)
  expect(await forAll('Canvas').count()).toBe(0)
  await show('List')
  await forAll('List').click()
  await notice('“Harbour” opens as a list for everybody now.').waitFor()
  expect(await read(harbour.id)).toMatchObject({ view: 'list' })
  await eventually(() => forAll('List').count()).toBe(0)
  // Whoever has it open goes on as they were.
  expect(await fays.locator('.react-flow').count()).toBe(1)
  await fays.reload()
  await list(fays)
  await fays.getByText('Read-only').waitFor()

  await show('Canvas', fays)
  await canvas(fays)
  await fays.getByRole('list', { name: 'Who is here' }).waitFor()
  expect(await forAll('Canvas', fays).count()).toBe(0)
  await notice('“Harbour” opens as a list').getByRole('button', { name: 'Undo' }).click()
  await until(async () => (await read(harbour.id)).view === 'canvas', 'it is a canvas again')
  await ada.api.patch(`/boards/${harbour.id}`, { view: 'list' })
  const reopen = async () => {
    await fays.reload()
    // Then the board's view is known, too.
    await fays.getByText(/^Day 1 · /).waitFor()
  }
  await reopen()
  expect(await fays.locator('.react-flow').count()).toBe(1)
  for (const view of ['canvas', 'list']) {
    await ada.api.patch(`/boards/${harbour.id}`, { view })
    await reopen()
  }
  await list(fays)
})

test('[WP12] axe finds nothing serious on the panels, light and dark, wide and narrow', async () => {
  await ada.api.delete(`/boards/${act.id}`)
  const look = async (colorScheme: 'light' | 'dark', width: number, open: () => Promise<void>) => {
    await page.emulateMedia({ colorScheme })
    await open()
    await page.setViewportSize({ width, height: 800 })
    expect(await violationsOf(page), `${colorScheme} ${width}`).toEqual([])
    await press('Escape')
    await page.setViewportSize({ width: 1280, height: 800 })
  }
  await look('light', 1280, () => row('Studio').click({ button: 'right' }))
  await look('dark', 390, () => page.getByRole('button', { name: 'Trash' }).click())
  await look('dark', 1280, () => page.locator('button.schedule').click())
  await look('light', 390, async () => {
    await press('Control+k')
    await page.keyboard.type('lighthouse')
    await page.getByText('1 result.').waitFor()
  })
  await look('light', 390, () => page.getByRole('button', { name: /^Notifications/ }).click())
  expect(adas.complaints).toEqual([])
})
