/** The life of a board in a real Chromium, by the keyboard alone: nothing is clicked, and Tab and arrows lead the focus. */
import { afterAll, expect, test } from 'vitest'
import type { Locator } from 'playwright-core'
import { openEgress } from '../../platform/egress/egress.ts'
import { linkUrl } from '../../server/link-url.ts'
import { makeLink } from '../../sql/accounts/sign-in-links.ts'
import { listCards, makeBoard } from '../api/board.ts'
import { openPage } from '../support/chromium.ts'
import { until } from '../support/editor.ts'
import { startService } from '../support/service.ts'
import { openSite, serves } from '../support/site.ts'
import { forFile } from '../support/test-file.ts'
import { chromium, eventually } from './app.ts'

const site = await openSite()
const service = await startService({
  config: { logLevel: 'error' },
  egress: openEgress({ allow: ['127.0.0.1'] }),
  queueTickMs: 20,
})
afterAll(async () => {
  await service.stop()
  await site.close()
})
const ada = await service.user({ name: 'Ada Lund' })
const home = await makeBoard(ada, { name: 'Home' })
const context = await forFile(chromium.newContext({ viewport: { width: 1280, height: 800 } }))
const { page, complaints } = await openPage(context)

const within = 90_000
const row = (name: string) => page.getByRole('treeitem', { name, exact: true })
const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
const heading = (name: string) => page.getByRole('heading', { name, level: 1 })
const card = (title: string) => page.getByRole('group', { name: `Note: ${title}` })
const press = async (...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}

/** Presses Tab, or Shift+Tab, until this has the focus. */
async function tabTo(target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await target.waitFor()
  const hasFocus = () => target.evaluate((one: any) => one === one.ownerDocument.activeElement)
  for (let presses = 0; presses < 80; presses++) {
    if (await hasFocus()) return
    await press(key)
  }
  throw new Error(`${key} does not lead to ${String(target)}.`)
}

async function pressOn(target: Locator, key?: 'Tab' | 'Shift+Tab'): Promise<void> {
  await tabTo(target, key)
  await press('Enter')
}

/** Of the board that the test makes. */
let boardId: string
const cards = () => listCards(ada, boardId)
const titled = async (title: string) => (await cards()).find((one) => one['title'] === title)!
const groups = async () => (await ada.api.get<any>(`/boards/${boardId}/groups`)).body.groups
const places = async () => (await cards()).map(({ id, x, y }) => [id, x, y])
const read = async () => (await ada.api.get<any>(`/boards/${boardId}`)).body.board

test(
  '[WB17] by keyboard: a sign-in link leads in, a board is made inside another, named, and opened',
  async () => {
    const { code } = await service.database.asSystem((tx) => makeLink(tx, { userId: ada.userId, hours: 1 }))
    await page.goto(linkUrl(service.homeUrl, code, `/app/boards/${home.id}`))
    await pressOn(button('Open the board'))
    await heading('Home').waitFor()
    await tabTo(row('Home'))
    await press('Shift+F10')
    await page.getByRole('menu', { name: 'Actions for Home' }).waitFor()
    await press('ArrowDown', 'Enter')
    await page.getByRole('textbox', { name: 'Name of New board', exact: true }).waitFor()
    await page.keyboard.type('Harbour')
    await press('Enter')
    await row('Harbour').waitFor()
    await press('F2')
    await page.getByRole('textbox', { name: 'Name of Harbour', exact: true }).waitFor()
    await page.keyboard.type('Port')
    await press('Enter')
    await row('Port').waitFor()
    await press('Enter')
    await heading('Port').waitFor()
    boardId = page.url().split('/').at(-1)!
    expect(await read()).toMatchObject({ name: 'Port', parent_board_id: home.id })
  },
  within,
)

test(
  '[WB17, WC12] by keyboard: cards are made, moved, resized, coloured, turned, arranged, grouped, copied, and it is undone',
  async () => {
    site.pages.set('/harbour', serves('<html><head><title>All harbours</title></head></html>', 'text/html'))
    await pressOn(button('Add card'))
    await page.keyboard.type('Paint it white')
    await press('Shift+Tab')
    await page.keyboard.type('Lighthouse')
    await press('Escape')
    await until(async () => (await cards())[0]?.['title'] === 'Lighthouse', 'the note is written')
    const { x, y, w, h } = await titled('Lighthouse')
    await press('ArrowRight', 'ArrowRight')
    await until(async () => (await titled('Lighthouse')).x === x + 10, 'it has moved')
    await press('Control+ArrowRight', 'Control+Shift+ArrowDown')
    await until(async () => (await titled('Lighthouse')).h === h + 20, 'it is larger')
    expect(await titled('Lighthouse')).toMatchObject({ x: x + 10, y, w: w + 5 })
    await press('.')
    await until(async () => (await titled('Lighthouse'))['rotation'] === 15, 'it is turned')
    await pressOn(button('Colour'))
    await pressOn(button('Yellow'))
    await until(async () => (await titled('Lighthouse'))['color'] === '#ffd966', 'it is yellow')
    await press('Escape')

    // A link is pasted. Its address is cut from a card, which is removed.
    await pressOn(button('Add card'))
    await page.keyboard.type(`${site.url}/harbour`)
    await press('Control+a', 'Control+x', 'Escape', 'Delete', 'Control+v')
    await until(async () => (await cards()).some(({ kind }) => kind === 'link'), 'the link is there')
    expect((await cards()).find(({ kind }) => kind === 'link')).toMatchObject({ title: 'All harbours' })
    await pressOn(button('Add card'))
    await press('Shift+Tab')
    await page.keyboard.type('Ferry')
    await press('Escape')
    await until(async () => (await cards()).some(({ title }) => title === 'Ferry'), 'the second note')
    expect(await cards()).toHaveLength(3)

    // Ctrl+Enter adds the card in focus to the selection.
    await tabTo(card('Lighthouse'), 'Shift+Tab')
    await press('Control+Enter')
    await eventually(() => page.locator('.react-flow__node-card.selected').count()).toBe(2)
    const before = await places()
    await press('Control+a')
    await pressOn(button('Arrange…'))
    await page.getByRole('dialog', { name: 'Arrange cards' }).waitFor()
    await press('ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown')
    await page.getByText('The board shows how it will be.').waitFor()
    expect(await page.getByRole('radio', { name: 'One column' }).isChecked()).toBe(true)
    await press('Enter')
    await until(async () => String(await places()) !== String(before), 'the cards are arranged')
    await press('Control+g')
    await until(async () => (await groups()).length === 1, 'they are a group')
    await press('Control+z')
    await until(async () => (await groups()).length === 0, 'the group is undone')
    await press('Control+z')
    await until(async () => String(await places()) === String(before), 'the layout is undone')

    await press('Control+a', 'Control+c')
    await tabTo(row('Port'), 'Shift+Tab')
    await press('ArrowLeft', 'Enter')
    await heading('Home').waitFor()
    await tabTo(button('Add card'))
    await button('Keys').waitFor()
    await press('Control+v')
    await until(async () => (await listCards(ada, home.id)).length === 3, 'the cards are on both boards')
    const titles = (await listCards(ada, home.id)).map(({ title }) => title)
    expect(new Set(titles)).toEqual(new Set(['All harbours', 'Ferry', 'Lighthouse']))
  },
  within,
)

test(
  '[WB17, WC13] by keyboard: a card has a menu; the list is read; the search leads to a card',
  async () => {
    await tabTo(card('Ferry'))
    await press('Shift+F10')
    const menu = page.getByRole('menu', { name: 'Actions for the card' })
    await menu.waitFor()
    await press('ArrowDown', 'Enter')
    await until(async () => (await listCards(ada, home.id)).length === 6, 'the pasted cards are there twice')
    await menu.waitFor({ state: 'detached' })
    await press('Control+z')
    await until(async () => (await listCards(ada, home.id)).length === 3, 'and once again')

    await pressOn(button('Show the board as List'), 'Shift+Tab')
    const list = page.locator('.list')
    await list.getByRole('article', { name: 'Note: Lighthouse' }).getByText('Paint it white').waitFor()
    for (const name of ['Note: Ferry', 'Note: Lighthouse']) await tabTo(button(`Edit ${name}`))
    await pressOn(button('Show the board as Canvas'), 'Shift+Tab')
    await card('Ferry').waitFor()

    await press('Control+k')
    await page.getByRole('combobox', { name: 'Search boards and cards' }).waitFor()
    await page.keyboard.type('Port')
    await page.getByText('1 result.').waitFor()
    await press('Enter')
    await heading('Port').waitFor()
  },
  within,
)

test(
  '[WB17] by keyboard: a board is shared by address, and put on a date, published and cancelled',
  async () => {
    await pressOn(button('Share'))
    const dialog = page.getByRole('dialog', { name: 'Share “Port”' })
    await tabTo(dialog.getByLabel('E-mail address, or'))
    await page.keyboard.type('cleo@example.test')
    await press('Enter')
    await dialog.getByLabel('Invitation', { exact: true }).waitFor()
    await press('Escape')
    await dialog.waitFor({ state: 'detached' })
    const path = `/workspaces/${ada.workspaceId}/invitations`
    const { invitations } = (await ada.api.get<any>(path)).body
    expect(invitations).toMatchObject([{ email: 'cleo@example.test', board_id: boardId }])

    await pressOn(button('Schedule'))
    await tabTo(page.getByLabel('Date'))
    await page.keyboard.type('05012030')
    await pressOn(button('Save'))
    await until(async () => (await read()).scheduled_date === '2030-05-01', 'the date is set')
    await pressOn(button('Publish'))
    await page.getByText('Version 1 was published').waitFor()
    await pressOn(button('Cancel the schedule'))
    await page.getByText('The schedule is cancelled.').waitFor()
    expect((await read()).sched_status).toBe('cancelled')
    await press('Escape')
    await page.getByRole('dialog', { name: 'Schedule' }).waitFor({ state: 'detached' })
  },
  within,
)

test(
  '[WB17] by keyboard: a version is named and restored, and a board goes to the trash and back',
  async () => {
    await pressOn(button('History'))
    await pressOn(button('Name this version…'))
    await tabTo(page.getByRole('textbox', { name: 'Name', exact: true }))
    await page.keyboard.type('Approved')
    await press('Enter')
    await button(/^Approved/).waitFor()
    await tabTo(card('Lighthouse'), 'Shift+Tab')
    await press('Enter', 'Delete')
    await until(async () => (await cards()).length === 2, 'the card is removed')
    await pressOn(button(/^Approved/))
    await pressOn(button('Restore…'))
    await pressOn(button('Restore the board'))
    await until(async () => (await cards()).length === 3, 'the version is restored')

    // Tab leads to the row that had the focus last, and arrow keys to the others.
    await tabTo(row('Home'), 'Shift+Tab')
    await press('ArrowDown', 'Delete')
    await row('Port').waitFor({ state: 'detached' })
    expect((await read()).deleted).toBe(true)
    await pressOn(button('Trash'))
    await pressOn(button('Restore Port'))
    await until(async () => !(await read()).deleted, 'the board is restored')
    await press('Escape')
    await row('Port').waitFor()
  },
  within,
)

test(
  '[WB17] by keyboard: the person signs out',
  async () => {
    await pressOn(page.getByRole('link', { name: 'Your account' }))
    await page.waitForURL('**/settings')
    await pressOn(button('Log out'))
    await page.waitForURL('**/login**')
    await page.goto(`${service.homeUrl}/app/boards/${home.id}`)
    await page.waitForURL('**/login?next=*')
    expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
  },
  within,
)
