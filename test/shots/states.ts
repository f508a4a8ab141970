/**
 * The states of the app that `npm run shots` takes pictures of. To add one: a name, and how to get there from a window in
 * which Ada is signed in. `done` takes back what would be seen in the next state.
 */
import type { Page, WebSocketRoute } from 'playwright-core'
import { until } from '../support/editor.ts'
import { drop } from '../web/bring.ts'
import type { Stage } from './stage.ts'

export interface State {
  name: string
  /** Which of its pictures is shown in the docs. */
  inDocs?: '390-light' | '820-light' | '1440-light' | '1440-dark'
  open(stage: Stage): Promise<unknown>
  done?(stage: Stage): Promise<unknown>
}

const asList = ({ page }: Stage) => page.getByRole('button', { name: 'Show the board as List' }).click()
const asCanvas = ({ page }: Stage) => page.getByRole('button', { name: 'Show the board as Canvas' }).click()
const workspaceOf = ({ service, ada }: Stage) =>
  `${service.homeUrl}/app/workspaces/${ada.workspaceId}/settings`
/** The menu is loaded after the first look. */
const openMenu = (page: Page) =>
  until(async () => {
    await cardOf(page, 'Try it').click({ button: 'right' })
    return page.getByRole('menu').isVisible()
  }, 'the menu is there')

const cardOf = (page: Page, title: string) =>
  page.locator('.react-flow__node-card').filter({ has: page.locator(`.card :text-is("${title}")`) })

/** Who is on the board beside Ada, while the picture is taken. */
let company: { leave(): void } | null = null
/** The sockets of the window, and whether the network takes no more of them. */
const sockets: WebSocketRoute[] = []
let isCut = false

export const states: State[] = [
  { name: 'demo', open: ({ open, boards }) => open(boards.demo) },
  {
    name: 'together',
    inDocs: '1440-light',
    async open({ open, others, boards, page }) {
      await open(boards.demo)
      company = await others()
      await page.locator('.cursor', { hasText: 'Importer (agent)' }).waitFor({ state: 'attached' })
      await page.locator('.selection-of').waitFor({ state: 'attached' })
    },
    async done({ page }) {
      company!.leave()
      await page.locator('.cursor').first().waitFor({ state: 'detached' })
    },
  },
  {
    name: 'several-selected',
    inDocs: '1440-dark',
    async open({ open, boards, page }) {
      await open(boards.demo)
      await cardOf(page, 'Before').click()
      await cardOf(page, 'After').click({ modifiers: ['Control'] })
      await page.getByRole('button', { name: /^Colour/ }).click()
    },
  },
  {
    name: 'search',
    inDocs: '1440-dark',
    async open({ open, boards, page }) {
      await open(boards.demo)
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('th')
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'history',
    inDocs: '1440-light',
    async open({ open, boards, page }) {
      await open(boards.demo)
      await page.getByRole('button', { name: 'History' }).click()
      await page.locator('.past-entry').first().waitFor()
    },
  },
  {
    name: 'share',
    inDocs: '1440-light',
    async open({ open, boards, page }) {
      await open(boards.shared)
      await page.getByRole('button', { name: 'Share', exact: true }).click()
      await page.locator('.panel .rows').first().waitFor()
    },
  },
  {
    name: 'demo-selected',
    async open({ open, boards, page }) {
      await open(boards.demo)
      await cardOf(page, 'Before').click()
    },
  },
  {
    name: 'demo-editing',
    inDocs: '1440-light',
    async open({ open, boards, page }) {
      await open(boards.demo)
      await cardOf(page, 'Try it').dblclick()
      await page.getByRole('textbox', { name: 'Text of Try it' }).waitFor()
    },
  },
  {
    name: 'card-menu',
    async open({ open, boards, page }) {
      await open(boards.demo)
      await openMenu(page)
    },
  },
  {
    name: 'card-history',
    async open({ open, boards, page }) {
      await open(boards.demo)
      await openMenu(page)
      await page.getByRole('menuitem', { name: 'History' }).click()
      await page.locator('.past-entry').last().click()
      await page.locator('.card.then').waitFor()
    },
  },
  { name: 'kinds', inDocs: '1440-light', open: ({ open, boards }) => open(boards.kinds) },
  {
    name: 'kinds-list',
    inDocs: '820-light',
    async open(stage) {
      await stage.open(stage.boards.kinds)
      await asList(stage)
      await stage.page.locator('.entry').first().waitFor()
    },
    done: asCanvas,
  },
  {
    name: 'demo-list',
    async open(stage) {
      await stage.open(stage.boards.demo)
      await asList(stage)
      await stage.page.locator('.entry').first().waitFor()
    },
    done: asCanvas,
  },
  {
    name: 'list-editing',
    inDocs: '390-light',
    async open(stage) {
      await stage.open(stage.boards.demo)
      await asList(stage)
      await stage.page.getByRole('button', { name: 'Edit Note: Try it' }).click()
    },
    done: asCanvas,
  },
  { name: 'empty', open: ({ open, boards }) => open(boards.empty) },
  {
    name: 'empty-list',
    async open(stage) {
      await stage.open(stage.boards.empty)
      await asList(stage)
    },
    done: asCanvas,
  },
  {
    name: 'uploading',
    inDocs: '1440-light',
    async open({ open, boards, page }) {
      await page.context().route('**/storage/parts?*', (route) => {
        const part = new URL(route.request().url()).searchParams.get('part')
        if (part === '1') return route.continue()
        return undefined
      })
      await open(boards.empty)
      const buffer = Buffer.alloc(17 * 1024 * 1024)
      await page
        .locator('input[type=file]')
        .setInputFiles([{ name: 'A walk.mov', mimeType: 'video/quicktime', buffer }])
      await page.locator('.tray progress[value]').waitFor()
    },
    async done({ page }) {
      await page.getByRole('button', { name: /^Cancel/ }).click()
      await page.context().unroute('**/storage/parts?*')
    },
  },
  {
    name: 'upload-refused',
    inDocs: '820-light',
    async open({ open, boards, page }) {
      await open(boards.empty)
      await page.locator('input[type=file]').setInputFiles([
        { name: 'holiday.png', mimeType: 'image/png', buffer: Buffer.from('no picture') },
        { name: 'empty.bin', mimeType: '', buffer: Buffer.alloc(0) },
      ])
      await page.locator('.tray li.failed').nth(1).waitFor()
    },
  },
  {
    name: 'import-results',
    async open({ open, boards, page, service }) {
      await open(boards.empty)
      await page.getByRole('button', { name: 'Add card' }).waitFor() // before, the board takes nothing
      const list = ['docs', 'no-such-page', 'neither-this'].map((path) => `${service.homeUrl}/${path}`)
      await drop(
        page,
        { data: { 'text/uri-list': list.join('\n') } },
        { x: 0.7 * page.viewportSize()!.width, y: 300 },
      )
      await page.locator('.tray .failures').waitFor()
    },
  },
  {
    name: 'dragging-files',
    async open({ open, boards, page }) {
      await open(boards.demo)
      // What takes drops is loaded after the first cards.
      await page.locator('.react-flow__controls').waitFor({ state: 'attached' })
      await page.evaluate(`{
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File(['x'], 'x.png'))
        document.querySelector('.react-flow__pane').dispatchEvent(new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true }))
      }`)
      await page.locator('.drop-here').waitFor()
    },
  },
  {
    name: 'boards-open',
    async open({ open, boards, page }) {
      await open(boards.demo)
      const button = page.getByRole('button', { name: 'Boards', exact: true })
      if (await button.isVisible()) await button.click()
    },
  },
  { name: 'in-the-trash', open: ({ open, boards }) => open(boards.trash) },
  { name: 'not-there', open: ({ open }) => open('00000000-0000-4000-8000-000000000000') },
  {
    name: 'read-only',
    open: ({ openAs, guest, boards }) => openAs(guest, boards.shared),
    done: ({ openAs, ada, boards }) => openAs(ada, boards.demo),
  },
  {
    name: 'offline',
    async open({ open, boards, page }) {
      await page.routeWebSocket('**/collab/**', (socket) => {
        if (isCut) return void socket.close()
        sockets.push(socket)
        socket.connectToServer()
      })
      await open(boards.demo)
      // What is not here yet would never come.
      await page.locator('.boards section').first().waitFor({ state: 'attached' })
      await page.locator('img.picture').waitFor()
      isCut = true
      for (const socket of sockets.splice(0)) await socket.close()
      await page.locator('.banner [role=alert]').waitFor()
    },
    async done() {
      isCut = false
    },
  },
  {
    name: 'signed-out',
    async open({ page, service }) {
      await page.context().clearCookies()
      await page.goto(`${service.homeUrl}/login`)
    },
    done: ({ openAs, ada, boards }) => openAs(ada, boards.demo),
  },
  { name: 'settings', open: ({ page, service }) => page.goto(`${service.homeUrl}/settings`) },
  {
    name: 'workspace-members',
    async open(stage) {
      await stage.page.goto(workspaceOf(stage))
      await stage.page.locator('.rows li').first().waitFor()
    },
  },
  {
    name: 'workspace-webhooks',
    async open(stage) {
      await stage.page.goto(workspaceOf(stage))
      await stage.page.getByRole('link', { name: 'Webhooks', exact: true }).click()
      await stage.page.getByRole('button', { name: 'New webhook' }).click()
    },
  },
  {
    name: 'guest-link',
    async open({ page, guestLink }) {
      await page.goto(guestLink)
      await page.getByLabel('Your name').waitFor()
    },
  },
]
