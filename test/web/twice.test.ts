/** What happens when something is done twice, meanwhile by somebody else, or taken back. */
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { makeBoard, makeCards } from '../api/board.ts'
import { until } from '../support/editor.ts'
import { startService } from '../support/service.ts'
import { card, chromium, eventually, openAs, saved } from './app.ts'

const service = await startService({
  config: { logLevel: 'error', appEventPollSeconds: 1 },
  queueTickMs: 20,
})
afterAll(() => service.stop())
const ada = await service.user({ name: 'Ada Lund' })
const ben = await service.user({ name: 'Ben Ito' })
const cleo = await service.user({ name: 'Cleo' })
await service.member(ada.workspaceId, ben, 'editor')
const titles = async (boardId: string): Promise<string[]> =>
  (await ada.api.get(`/boards/${boardId}/cards`)).body.cards.map(({ title }: any) => title)

test('[WC21] a board that somebody else restores, or shares again, opens again by itself', async () => {
  const board = await makeBoard(ada, { name: 'Harbour' })
  await makeCards(ada, board.id, [{ title: 'Lighthouse' }])
  await service.share(board.id, cleo, 'editor')
  const [adas, cleos] = [await openAs(service, ada, board.id), await openAs(service, cleo, board.id)]
  const both = [adas.page, cleos.page]
  for (const page of both) await card(page, 'Lighthouse').waitFor()
  const alert = (page: (typeof both)[number], text: string) =>
    page.getByRole('alert').filter({ hasText: text }).waitFor()
  await ben.api.delete(`/boards/${board.id}`)
  for (const page of both) await alert(page, 'This board is in the trash.')
  // The second window finds the board in the trash when it opens.
  await cleos.page.reload()
  await alert(cleos.page, 'This board is in the trash.')
  await ben.api.post(`/boards/${board.id}/restore`)
  for (const page of both) await saved(page)
  await card(cleos.page, 'Lighthouse').dblclick()
  await cleos.page.getByRole('textbox', { name: 'Title' }).fill('Lighthouse of Cleo')
  await until(async () => (await titles(board.id)).includes('Lighthouse of Cleo'), 'the title is written')
  await card(adas.page, 'Lighthouse of Cleo').waitFor()

  await ada.api.delete(`/boards/${board.id}/shares/${cleo.userId}`)
  await alert(cleos.page, 'Your access to this board has ended.')
  await service.share(board.id, cleo, 'viewer')
  await card(cleos.page, 'Lighthouse of Cleo').waitFor()
  await until(
    async () => (await cleos.page.locator('.state').textContent()) === 'Read-only',
    'the board is open again',
  )
  expect(await cleos.page.getByRole('alert').count()).toBe(0)
}, 60_000)

test('[WP15] a board whose creation is slow is made once, however often Enter is pressed', async () => {
  const board = await makeBoard(ada, { name: 'Start' })
  const { page } = await openAs(service, ada, board.id)
  const made: string[] = []
  await page.route('**/api/v1/boards', async (route) => {
    made.push(route.request().method())
    await new Promise((resolve) => setTimeout(resolve, 500))
    await route.continue()
  })
  const field = page.getByLabel('Name of a new board in')
  await field.fill('Pier')
  await field.press('Enter')
  await field.press('Enter')
  await page.getByRole('button', { name: 'Create' }).click({ force: true })
  await page.getByRole('heading', { name: 'Pier', level: 1 }).waitFor()
  expect(made).toEqual(['POST'])
  const { body } = await ada.api.get('/boards')
  expect(body.boards.filter(({ name }: any) => name === 'Pier')).toHaveLength(1)
})

test('[WS7] a secret that is shown once is kept until it is dismissed, and is called copied when it was', async () => {
  const board = await makeBoard(ada, { name: 'Secrets' })
  const { page } = await openAs(service, ada, board.id)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const dialog = page.getByRole('dialog')
  const button = (name: string) => dialog.getByRole('button', { name, exact: true })
  const invite = async (email: string) => {
    await dialog.getByLabel('E-mail address, or').fill(email)
    await button('Invite').click()
    await dialog.getByText(email).waitFor()
    return dialog.getByLabel('Invitation', { exact: true }).inputValue()
  }
  await page.getByRole('button', { name: 'Share' }).click()
  const first = await invite('dora@example.test')
  await button('Copy').click()
  await button('Copied').waitFor()
  const second = await invite('emil@example.test')
  expect(second).not.toBe(first)
  expect(await button('Copied').count()).toBe(0)
  await button('Copy').click()
  await button('Copied').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(second)

  await page.mouse.click(20, 700)
  expect(await dialog.getByLabel('Invitation', { exact: true }).inputValue()).toBe(second)
  await button('Done').click()
  await page.mouse.click(20, 700)
  await eventually(() => dialog.count()).toBe(0)
})

test('[WS8] what changed after the preview of a restore is shown before it is restored', async () => {
  const board = await makeBoard(ada, { name: 'Restored' })
  await makeCards(ada, board.id, [{ title: 'Lighthouse' }])
  await ada.api.post(`/boards/${board.id}/versions`, { name: 'Approved' })
  await makeCards(ada, board.id, [{ title: 'Crane', x: 400 }])
  const { page } = await openAs(service, ada, board.id)
  await page.getByRole('button', { name: 'History' }).click()
  const panel = page.getByRole('complementary', { name: 'History' })
  await panel.getByRole('button', { name: 'Named versions' }).click()
  await panel.getByRole('button', { name: /^Approved/ }).click()
  await panel.getByRole('button', { name: 'Restore…' }).click()
  const restored = panel.getByRole('list', { name: 'What is restored' })
  await restored.getByText('Crane').waitFor()
  await makeCards(ben, board.id, [{ title: 'Ferry', x: 800 }])
  await panel.getByRole('button', { name: 'Restore the board' }).click()
  await panel.getByRole('alert').filter({ hasText: 'The board has changed meanwhile.' }).waitFor()
  await restored.getByText('Ferry').waitFor()
  expect((await titles(board.id)).toSorted()).toEqual(['Crane', 'Ferry', 'Lighthouse'])
  await restored.getByRole('checkbox', { name: /Ferry/ }).uncheck()
  await panel.getByRole('button', { name: 'Restore 1 card' }).click()
  await until(async () => !(await titles(board.id)).includes('Crane'), 'the board is restored')
  expect((await titles(board.id)).toSorted()).toEqual(['Ferry', 'Lighthouse'])
})

test('[WS9] the focus stays on the button of a form or a question while the request is under way, and goes to what is shown once', async () => {
  const board = await makeBoard(ada, { name: 'Keys' })
  const { page } = await openAs(service, ada, board.id)
  const focused = () =>
    page.evaluate<string>('document.activeElement.textContent || document.activeElement.value')
  const settings = `${service.homeUrl}/app/workspaces/${ada.workspaceId}/settings`
  await page.goto(`${settings}#service-accounts`)
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Importer')
  await page.getByRole('button', { name: 'Create account' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('Copy the token now.').waitFor()
  expect(await focused()).toBe(await page.getByLabel('Token', { exact: true }).inputValue())
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let requests = 0
  await page.route('**/service-accounts/*', async (route) => {
    requests += 1
    await released
    await route.fulfill({ status: 403, json: { error: 'Not today.', code: 'forbidden' } })
  })
  await page.getByRole('button', { name: 'Retire Importer' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await eventually(() => requests).toBe(1)
  expect(await focused()).toBe('Retire')
  release()
  await page.getByRole('alert').filter({ hasText: 'Not today.' }).waitFor()
  expect([await focused(), requests]).toEqual(['Retire', 1])

  await page.goto(`${settings}#members`)
  await page.getByLabel('E-mail address', { exact: true }).fill('fred@example.test')
  await page.getByRole('button', { name: 'Invite' }).focus()
  await page.keyboard.press('Enter')
  await page.getByLabel('Invitation', { exact: true }).waitFor()
  expect(await focused()).toBe('Invite')
})

test('[WS10] what is deleted in one window leaves the list of another one, too, when it is deleted there', async () => {
  const board = await makeBoard(ada, { name: 'Two windows' })
  const { page } = await openAs(service, ada, board.id)
  const { body: hook } = await ada.api.post('/webhooks', {
    ...{ workspace_id: ada.workspaceId, url: 'https://harbour.example/', name: 'Office', events: ['*'] },
  })
  await page.goto(`${service.homeUrl}/app/workspaces/${ada.workspaceId}/settings#webhooks`)
  await page.getByRole('button', { name: 'Delete Office' }).click()
  await ada.api.delete(`/webhooks/${hook.webhook?.id ?? hook.id}`)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('There is no webhook yet.').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})

test('[WS11] the present gets a name when all of it is saved, so that the version has it', async () => {
  const board = await makeBoard(ada, { name: 'Named' })
  await makeCards(ada, board.id, [{ title: 'Lighthouse' }])
  const { page } = await openAs(service, ada, board.id)
  const held: (() => void)[] = []
  let isHeld = false
  await page.routeWebSocket('**/collab/**', (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((message) => {
      if (isHeld) held.push(() => server.send(message))
      else server.send(message)
    })
  })
  await page.reload()
  await card(page, 'Lighthouse').waitFor()
  await saved(page)
  await page.getByRole('button', { name: 'History' }).click()
  isHeld = true
  await card(page, 'Lighthouse').dblclick()
  await page.getByRole('textbox', { name: 'Title' }).fill('Lamp')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Name this version…' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Approved')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'Your changes are not saved yet.' }).waitFor()
  const versions = async () => (await ada.api.get(`/boards/${board.id}/versions`)).body.versions
  expect(await versions()).toEqual([])
  isHeld = false
  for (const send of held) send()
  await saved(page)
  await page.getByRole('button', { name: 'Name it' }).click()
  await until(async () => (await versions()).length === 1, 'the version is there')
  const [{ id }] = await versions()
  const { body } = await ada.api.get(`/boards/${board.id}/cards?as_of=${id}`)
  expect(body.cards.map(({ title }: any) => title)).toEqual(['Lamp'])
})

test('[WP16] a lost connection is told in words by whatever needs it', async () => {
  const lost = 'The service can’t be reached. Check the connection.'
  const board = await makeBoard(ada, { name: 'Far' })
  const { page } = await openAs(service, ada, board.id)
  await page.getByRole('button', { name: 'Schedule', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Schedule' })
  await dialog.getByRole('button', { name: 'Publish' }).waitFor()
  await page.context().setOffline(true)
  await dialog.getByRole('button', { name: 'Publish' }).click()
  await dialog.getByRole('alert').filter({ hasText: lost }).waitFor()
  await page.keyboard.press('Escape')
  await page.context().setOffline(false)

  // The token has ended, and there is no connection for another one.
  await page.route('**/oauth/**', (route) => route.abort())
  await page.route('**/api/v1/boards', (route) => route.fulfill({ status: 401, json: {} }))
  await page.getByLabel('Name of a new board in').fill('Never')
  await page.keyboard.press('Enter')
  await page.locator('.notice').filter({ hasText: lost }).waitFor()
  // A proxy answers while the service restarts. That is no end of the session.
  await page.route('**/oauth/**', (route) => route.fulfill({ status: 502, body: 'Bad gateway' }))
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await page.getByLabel('Name of a new board in').press('Enter')
  await page.locator('.notice').filter({ hasText: lost }).waitFor()

  const { body: link } = await ada.api.post(`/boards/${board.id}/links`, { role: 'viewer' })
  const context = await chromium.newContext()
  onTestFinished(() => context.close())
  const guest = await context.newPage()
  await guest.goto(`${service.homeUrl}/app/open#${link.token}`)
  await guest.getByLabel('Your name').fill('Dora')
  await context.setOffline(true)
  await guest.getByRole('button', { name: 'Open the board' }).click()
  await guest.getByRole('alert').filter({ hasText: lost }).waitFor()
  expect(await guest.getByLabel('Your name').inputValue()).toBe('Dora')
})
