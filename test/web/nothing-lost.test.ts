/** What somebody typed, chose or named is not lost, and is not taken from others. */
import { expect, onTestFinished, test } from 'vitest'
import type { Page } from 'playwright-core'
import { wordsOf } from '../../web/board/reasons.ts'
import { makeBoard } from '../api/board.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/editor.ts'
import { freePort } from '../support/free-port.ts'
import { testDataDir } from '../support/instance.ts'
import { startService, type TestUser } from '../support/service.ts'
import { card, eventually, openAs, saved, state } from './app.ts'

/** A service that can be stopped and started at its address. */
async function restartable() {
  const testDatabase = await cloneDatabase()
  onTestFinished(() => testDatabase.drop())
  const [port, dataDir] = await Promise.all([freePort(), testDataDir()])
  const config = { logLevel: 'error', port, dataDir } as const
  const start = async () => {
    const service = await startService({ testDatabase, config, queueTickMs: 20 })
    onTestFinished(() => service.stop())
    return service
  }
  return { testDatabase, first: await start(), start }
}

/** A board with one card, whose text is empty. */
async function boardWithTour(user: TestUser, name: string) {
  const board = await makeBoard(user, { name })
  await user.api.post(`/boards/${board.id}/cards`, { kind: 'note', title: 'Tour', body: '' })
  return board
}

const stores = 'indexedDB.databases().then((all) => all.map(({ name }) => name).join())'
const row = (page: Page, name: string) => page.getByRole('treeitem', { name, exact: true })
const edit = async (page: Page, title: string, text: string) => {
  await card(page, title).dblclick()
  await page.getByRole('textbox', { name: `Text of ${title}` }).waitFor()
  await page.keyboard.type(text)
}

test('[WC14] what was typed offline outlasts the trash: it is sent when the board is restored', async () => {
  const { testDatabase, first, start } = await restartable()
  const user = await first.user({ name: 'Ada' })
  const board = await boardWithTour(user, 'Plan')
  const { page } = await openAs(first, user, board.id)
  await edit(page, 'Tour', 'Sail ')
  await saved(page)
  // The store asks the service for the account first.
  await eventually(() => page.evaluate<string>(stores)).toContain(`corkboard:${board.id}`)
  await first.stop()
  await eventually(() => state(page).textContent()).toContain('Offline')
  await page.keyboard.type('at noon')
  await eventually(() => state(page).textContent()).toBe('Offline, kept on this device')
  await testDatabase.admin`update boards set deleted_at = now() where id = ${board.id}`
  // Meanwhile somebody changed the date of a published board: a notification that no socket has heard.
  await testDatabase.admin`
    insert into notifications (user_id, workspace_id, board_id, type, data)
    values (${user.userId}, ${user.workspaceId}, ${board.id}, 'schedule.changed',
      '{"name": "Plan", "schedule": {"date": "2030-05-02"}, "before": {"date": "2030-05-01"}, "actor": {"name": "Ben"}}')`
  await start()
  await page
    .getByRole('alert')
    .filter({ hasText: 'This board is in the trash.' })
    .waitFor({ timeout: 40_000 })
  await page.getByRole('button', { name: 'Notifications, 1 unread' }).waitFor()
  page.on('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await page.getByRole('button', { name: 'Restore the board' }).click()
  await saved(page)
  await until(
    async () => (await user.api.get(`/boards/${board.id}/cards`)).body.cards[0].body === 'Sail at noon',
    'the service has what was typed offline',
  )
}, 90_000)

test('[WC19] a board that was opened while the service did not answer is kept on the device as soon as it does', async () => {
  const { first } = await restartable()
  const user = await first.user({ name: 'Ada' })
  const [other, board] = [await makeBoard(user, { name: 'Other' }), await boardWithTour(user, 'Plan')]
  const { page } = await openAs(first, user, other.id)
  let isAway = true
  let refusals = 0
  await page.route('**/api/v1/me', (route) => {
    if (!isAway) return route.continue()
    refusals += 1
    return refusals % 2 === 0 ? route.fulfill({ status: 503 }) : route.abort()
  })
  await row(page, 'Plan').click()
  await edit(page, 'Tour', 'Sail ')
  await saved(page)
  await eventually(() => refusals).toBeGreaterThan(2)
  expect(await page.evaluate<string>(stores)).not.toContain(board.id)
  isAway = false
  await eventually(() => page.evaluate<string>(stores)).toContain(`corkboard:${board.id}`)
  await first.stop()
  await page.keyboard.type('at noon')
  await eventually(() => state(page).textContent()).toBe('Offline, kept on this device')
}, 60_000)

test('[WC15] another board is not opened over unsaved changes without a question, nor by Back', async () => {
  const { first } = await restartable()
  const user = await first.user({ name: 'Ada' })
  const [one, two] = [await boardWithTour(user, 'One'), await makeBoard(user, { name: 'Two' })]
  const { page } = await openAs(first, user, two.id)
  // A browser that keeps nothing.
  await page.addInitScript('Object.defineProperty(globalThis, "indexedDB", { value: undefined })')
  await page.reload()
  await row(page, 'One').click()
  await card(page, 'Tour').waitFor()
  await edit(page, 'Tour', 'Sail')
  await saved(page)
  await first.stop()
  await page.keyboard.type(' at noon')
  await eventually(() => state(page).textContent()).toBe('Offline, not all is saved')
  const questions: string[] = []
  let isLeaving = false
  page.on('dialog', (dialog) => {
    questions.push(dialog.message())
    void (isLeaving ? dialog.accept() : dialog.dismiss())
  })
  const heading = () => page.getByRole('heading', { level: 1 }).textContent()
  await row(page, 'Two').click()
  await eventually(() => questions.length).toBe(1)
  expect(questions[0]).toContain('Not all changes of this board are saved')
  await page.evaluate('history.back()')
  await eventually(() => questions.length).toBe(2)
  expect([await heading(), new URL(page.url()).pathname]).toEqual(['One', `/app/boards/${one.id}`])
  await page.getByText('Sail at noon').waitFor()
  isLeaving = true
  await row(page, 'Two').click()
  await eventually(heading).toBe('Two')
}, 60_000)

test('[WC16] Ctrl+Z in a field beside the board is the undo of that field; a part that can’t be loaded fails alone', async () => {
  const { first } = await restartable()
  const user = await first.user({ name: 'Ada' })
  const board = await boardWithTour(user, 'Plan')
  const { page } = await openAs(first, user, board.id)
  await edit(page, 'Tour', 'Sail')
  await page.keyboard.press('Escape')
  await saved(page)
  await row(page, 'Plan').focus()
  await page.keyboard.press('F2')
  const field = page.getByRole('textbox', { name: 'Name of Plan' })
  await field.waitFor()
  await page.keyboard.type('Other')
  await page.keyboard.press('Control+z')
  expect(await field.inputValue()).not.toBe('Other')
  const text = async () => (await user.api.get(`/boards/${board.id}/cards`)).body.cards[0].body
  expect(await text()).toBe('Sail')

  // Somebody else gives the board a name meanwhile.
  await field.fill('Plan')
  await user.api.patch(`/boards/${board.id}`, { name: 'Plan of Ben' })
  await eventually(() => page.getByRole('heading', { level: 1 }).textContent()).toBe('Plan of Ben')
  await page.keyboard.press('Enter')
  await row(page, 'Plan of Ben').waitFor()
  expect((await user.api.get(`/boards/${board.id}`)).body.board.name).toBe('Plan of Ben')

  await page.route('**/assets/history-panel-*.js', (route) => route.abort())
  await page.getByRole('button', { name: 'History' }).click()
  await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor()
  expect(await state(page).textContent()).toBe('Saved')
  await card(page, 'Tour').waitFor()
}, 60_000)

test('[WC17] a layout that was chosen is applied when the board shows it, not one that was chosen before', async () => {
  const { first } = await restartable()
  const user = await first.user({ name: 'Ada' })
  const board = await makeBoard(user, { name: 'Plan' })
  for (let n = 0; n < 3; n++)
    await user.api.post(`/boards/${board.id}/cards`, { kind: 'note', title: `${n}`, x: n * 400, y: n * 50 })
  const { page } = await openAs(first, user, board.id)
  for (let n = 0; n < 3; n++) await card(page, `${n}`).waitFor()
  const arrange = page.getByRole('button', { name: 'Arrange…' })
  // The keys of the canvas work a moment after its cards are shown.
  await eventually(async () => {
    await page.locator('.react-flow').first().focus()
    await page.keyboard.press('Control+a')
    return arrange.isVisible()
  }).toBe(true)
  await arrange.click()
  const panel = page.getByRole('dialog', { name: 'Arrange cards' })
  const apply = panel.getByRole('button', { name: 'Apply' })
  await eventually(() => apply.isEnabled()).toBe(true)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/arrange', async (route) => {
    await released
    await route.continue()
  })
  await panel.getByRole('radio', { name: 'One column' }).check()
  expect(await apply.isDisabled()).toBe(true)
  await page.keyboard.press('Enter')
  release()
  await eventually(() => apply.isEnabled()).toBe(true)
  await apply.click()
  await until(async () => {
    const { cards } = (await user.api.get(`/boards/${board.id}/cards`)).body
    return new Set(cards.map(({ x }: { x: number }) => x)).size === 1
  }, 'one column is written')
}, 60_000)

test('[WC18] nobody is told that something is kept on the device when it is not', () => {
  const ended = { name: 'token-invalid' } as Parameters<typeof wordsOf>[0]
  const guest = wordsOf(ended, { wasOpen: true, isGuest: true, kept: false })
  expect(guest).toEqual({
    says: 'This guest link has ended. Copy what you need, and ask for another link.',
    offers: null,
  })
  const member = wordsOf(ended, { wasOpen: true, isGuest: false, kept: false })
  expect([member.offers, member.says.includes('stay on this device')]).toEqual(['sign in', false])
  const kept = wordsOf(ended, { wasOpen: true, isGuest: false, kept: true })
  expect([kept.offers, kept.says.includes('stay on this device')]).toEqual(['sign in', true])
})
