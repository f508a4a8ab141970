/** The app of `web/` in a real Chromium, on a service with its demo board. */
import { readdir, stat } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { demoText, makeDemo } from '../../server/demo.ts'
import { fillDemoBoard } from '../../server/demo-board.ts'
import { makeBoard } from '../api/board.ts'
import { violationsOf } from '../support/chromium.ts'
import { openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { repository } from '../support/instance.ts'
import { startService } from '../support/service.ts'
import { card, eventually, openAs, openWindow, placeOf, saved, scriptsBeforeCards, state } from './app.ts'

const service = await startService({ workers: false, config: { logLevel: 'error' } })
afterAll(() => service.stop())
const demo = (await makeDemo(service.database))!
await fillDemoBoard(demo, service.homeUrl)
const api = new ApiClient(service.homeUrl, demo.token)
const { body: me } = await api.get('/me')
const { body: demoBoard } = await api.get(`/boards/${demo.boardId}`)
const workspaceId = demoBoard.board.workspace_id

const [link = ''] = /http\S+\/login\/link\S+/.exec(demoText(demo, service.homeUrl)) ?? []
const ada = await openWindow(link)
await card(ada.page, 'Try it').waitFor()

async function member(name: string, role: 'editor' | 'viewer') {
  const user = await service.user({ name })
  await service.member(workspaceId, user, role)
  return user
}
const benUser = await member('Ben Ito', 'editor')
const ben = await openAs(service, benUser, demo.boardId)
await card(ben.page, 'Try it').waitFor()
const firstScripts = new Set(await scriptsBeforeCards(ben.page))

const cardsOf = async (boardId: string): Promise<any[]> =>
  (await api.get(`/boards/${boardId}/cards`)).body.cards
const titled = async (title: string) => (await cardsOf(demo.boardId)).find((one) => one.title === title)

test('[WB9] web/dist is built from the present sources', async () => {
  const newest = async (folder: string) => {
    const entries = await readdir(join(repository, folder), { recursive: true, withFileTypes: true })
    const files = entries.filter((one) => one.isFile() && !one.parentPath.includes('/web/dist'))
    const times = files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).mtimeMs)
    return Math.max(...(await Promise.all(times)))
  }
  const built = (await stat(join(repository, 'web/dist/index.html'))).mtimeMs
  for (const sources of ['web', 'client/editor', 'client/react'])
    expect(built, 'run npm run web:build').toBeGreaterThan(await newest(sources))
})

test('[WB1] the printed link leads to the demo board in the app, with its picture, its group and its cards', async () => {
  const { page } = ada
  expect(new URL(page.url()).pathname).toBe(`/app/boards/${demo.boardId}`)
  expect(await page.title()).toBe('Welcome · Corkboard')
  const picture = page.getByRole('img', { name: 'A lake between mountains at sunset' })
  await eventually(() => picture.evaluate((img: any) => img.naturalWidth)).toBeGreaterThan(280)
  await page.getByText('Launch', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Welcome' }).waitFor()
  await saved(page)
  expect(ada.complaints).toEqual([])
  // Who is signed in gets from the start page to the boards.
  const other = await page.context().newPage()
  await other.goto(service.homeUrl)
  await other.waitForURL(page.url())
  await other.close()
})

test('[WB2] a drag is seen in the other window while it lasts, and written when it ends', async () => {
  const before = await titled('Before')
  const from = await placeOf(ada.page, 'Before')
  const { mouse } = ada.page
  await mouse.move(from.x + 60, from.y + 20)
  await mouse.down()
  await mouse.move(from.x + 40, from.y + 120, { steps: 4 })
  const seen = () => placeOf(ben.page, 'Before').then(({ y }) => y - from.y)
  await eventually(seen).toBeGreaterThan(60)
  expect(await titled('Before')).toMatchObject({ x: before.x, y: before.y })
  await mouse.up()
  await until(async () => (await titled('Before')).y > before.y + 60, 'the drop is written')
  await eventually(() => placeOf(ben.page, 'Before')).toEqual(await placeOf(ada.page, 'Before'))
  await ada.page.getByRole('button', { name: 'Undo' }).click()
  await until(async () => (await titled('Before')).y === before.y, 'the drop is undone')
})

test('[WB3] two people type in one text at once, and both see the same; Saved means that the API has it', async () => {
  const texts = [ada.page, ben.page].map((page) => page.getByRole('textbox', { name: 'Text of After' }))
  for (const { page } of [ada, ben]) await card(page, 'After').dblclick()
  await Promise.all(texts.map((text) => text.waitFor()))
  const [adas, bens] = texts as [(typeof texts)[0], (typeof texts)[0]]
  await bens.evaluate((field: any) => field.setSelectionRange(0, 0))
  await Promise.all([
    adas.pressSequentially(' and the neighbours', { delay: 5 }),
    bens.pressSequentially('0. Rest ', { delay: 5 }),
  ])
  const whole = '0. Rest - Export\n- Thank everybody and the neighbours'
  for (const text of texts) await eventually(() => text.inputValue()).toBe(whole)
  for (const { page } of [ada, ben]) await page.keyboard.press('Escape')
  for (const { page } of [ada, ben]) await saved(page)
  expect((await titled('After')).body).toBe(whole)
})

test('[WC32] while somebody else writes the title too, the caret stays where it is', async () => {
  await card(ada.page, 'After').dblclick()
  const title = ada.page.getByRole('textbox', { name: 'Title' })
  await title.focus()
  await title.evaluate((field: any) => field.setSelectionRange(2, 2))
  const { id } = await titled('After')
  await api.patch(`/boards/${demo.boardId}/cards/${id}`, { title: 'The After' })
  await eventually(() => title.inputValue()).toBe('The After')
  await ada.page.keyboard.type('!')
  expect(await title.inputValue()).toBe('The Af!ter')
  await title.fill('After')
  await ada.page.keyboard.press('Escape')
  await saved(ada.page)
  expect((await titled('After')).id).toBe(id)
})

test('[WB4] who is here and where their cursors are is shown with their names, agents as such', async () => {
  await ben.page.mouse.move(700, 300, { steps: 3 })
  await ada.page.locator('.cursor', { hasText: 'Ben Ito' }).waitFor()
  await ada.page
    .getByRole('list', { name: 'Who is here' })
    .getByText('Ben Ito')
    .waitFor({ state: 'attached' })
  const { body } = await api.post('/service-accounts', { workspace_id: workspaceId, name: 'Importer' })
  const robot = await openEditor(service.homeUrl, { boardId: demo.boardId, token: body.access_token })
  onTestFinished(() => robot.leave())
  robot.provider.setAwarenessField('cursor', { x: 100, y: 100 })
  await ada.page.locator('.cursor', { hasText: 'Importer (agent)' }).waitFor()
})

test('[WB5] a card that the API writes is on the canvas, and goes from it; what strangers write does nothing', async () => {
  const attack = `<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>[x](javascript:window.hurt=1) https://evil.example/`
  const { document, leave } = await openEditor(service.homeUrl, { boardId: demo.boardId, token: demo.token })
  onTestFinished(leave)
  const { body } = await api.post(`/boards/${demo.boardId}/cards`, {
    cards: [
      { kind: 'note', title: 'By the API', body: attack, x: 0, y: -300 },
      { kind: 'doc', title: attack, body: 'x', html: '<p>kept <b>bold</b></p>', x: 300, y: -300 },
    ],
  })
  // An editor can write what the API refuses.
  const written = document.getMap<any>('cards')
  await until(() => body.cards.every(({ id }: any) => written.has(id)), 'the editor has the cards')
  const hostile = written.get(body.cards[1].id)
  hostile.set(
    'html',
    `<p>kept <b>bold</b></p>${attack}<style>*{display:none}</style><form action="//evil.example"><input></form><img src="https://evil.example/p.png">`,
  )
  hostile.set('color', 'red;background:url(https://evil.example/c.png)')
  written.get(body.cards[0].id).set('kind', 'shape')
  await ada.page.getByRole('button', { name: 'Fit View' }).click()
  const bold = ada.page.locator('.words b', { hasText: 'bold' })
  await bold.waitFor()
  await ada.page.locator('.card.foreign', { hasText: 'shape' }).waitFor()
  expect(await ada.page.evaluate('window.hurt')).toBeUndefined()
  expect(
    await ada.page
      .locator('.card :is(script, form, input, style, img[src*="evil"], a[href^="javascript"])')
      .count(),
  ).toBe(0)
  await api.delete(`/boards/${demo.boardId}/cards`, { card_ids: body.cards.map(({ id }: any) => id) })
  await bold.waitFor({ state: 'detached' })
  // While the sanitizer parses such a text, the browser reports what the policy forbids.
  for (const { complaints } of [ada, ben])
    expect(complaints.splice(0).filter((text) => !text.includes('Content Security Policy'))).toEqual([])
})

test('[WB6] the whole life of a card by the keyboard: add, write, move, undo, remove', async () => {
  const { page } = ada
  await page.getByRole('button', { name: 'Add card' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.type('Some **bold** words')
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.type('By keys')
  await page.keyboard.press('Escape')
  await page.locator('.card strong', { hasText: 'bold' }).waitFor()
  await until(async () => (await titled('By keys'))?.body === 'Some **bold** words', 'the card is written')
  const { x } = await titled('By keys')
  await page.keyboard.press('Shift+ArrowRight')
  await until(async () => (await titled('By keys')).x > x, 'the card has moved')
  await page.keyboard.press('Control+z')
  await until(async () => (await titled('By keys')).x === x, 'the move is undone')
  await page.keyboard.press('Delete')
  await until(async () => (await titled('By keys')) === undefined, 'the card is removed')

  await page.getByRole('button', { name: 'Add card' }).focus()
  await page.keyboard.press('Enter')
  const text = page.getByRole('textbox', { name: /^Text of/ })
  await text.waitFor()
  await page.keyboard.press('Control+z')
  await text.waitFor({ state: 'detached' })
  await card(page, 'Try it').focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await text.waitFor()
  await page.keyboard.press('Escape')
})

test('[WB7] a viewer sees the board and changes nothing; the end of the access is told in words', async () => {
  const cleo = await openAs(service, await member('Cleo', 'viewer'), demo.boardId)
  const { page } = cleo
  await eventually(() => state(page).textContent()).toBe('Read-only')
  const from = await placeOf(page, 'Try it')
  await page.mouse.move(from.x + 60, from.y + 12)
  await page.mouse.down()
  await page.mouse.move(from.x + 200, from.y + 90, { steps: 3 })
  await page.mouse.up()
  await card(page, 'After').dblclick()
  expect(await page.getByRole('textbox', { name: /^Text of/ }).count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Add card' }).count()).toBe(0)
  expect(await titled('Try it')).toMatchObject({ x: 0, y: 128 })
  await service.admin`delete from workspace_members where user_id <> ${me.user_id} and user_id <> ${benUser.userId}`
  await page.getByRole('alert').filter({ hasText: 'Your access to this board has ended' }).waitFor()
})

test('[WM11] a file that is dropped where nothing takes it leaves the page as it is', async () => {
  const dora = await openAs(service, await member('Dora', 'viewer'), demo.boardId)
  const { page } = dora
  await eventually(() => state(page).textContent()).toBe('Read-only')
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [join(repository, 'package.json')], dragOperationsMask: 1 }
  const before = page.url()
  for (const [x, y] of [
    [500, 400], // the board
    [300, 20], // its bar
  ] as const)
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await session.send('Input.dispatchDragEvent', { type, x, y, data })
  await page.waitForTimeout(500) // for the browser to open the file
  expect(page.url()).toBe(before)
  expect(
    page
      .context()
      .pages()
      .map((one) => one.url()),
  ).toEqual([before])
  await card(page, 'Try it').waitFor()
})

test('[WB8] the policy has no unsafe source, nothing is requested from elsewhere, and no token is kept or in an address', async () => {
  const answer = await fetch(ada.page.url())
  const policy = answer.headers.get('content-security-policy')!
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
  expect(policy).not.toContain('unsafe')
  for (const { page, requests } of [ada, ben]) {
    expect(requests.length).toBeGreaterThan(5)
    const { host } = new URL(service.homeUrl)
    expect(requests.filter((url) => !url.startsWith('blob:') && new URL(url).host !== host)).toEqual([])
    expect(requests.filter((url) => url.includes('cork_'))).toEqual([])
    const kept = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    )
    expect(kept).not.toContain('cork_')
  }
  expect([...ada.complaints, ...ben.complaints]).toEqual([])
})

test('[WB9] the first board loads at most 180 KB of JavaScript, compressed, from files that never change', async () => {
  let bytes = 0
  for (const url of firstScripts) {
    const answer = await fetch(url, { headers: { 'accept-encoding': 'br' } })
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('content-encoding')).toBe('br')
    bytes += gzipSync(await answer.bytes(), { level: 9 }).length
  }
  expect(bytes).toBeGreaterThan(100_000)
  expect(bytes).toBeLessThan(180_000)
})

test('[WB10] axe finds nothing serious on a board, light and dark, wide and narrow, nor while a card is edited', async () => {
  const { page } = ben
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1280, 390]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      expect(await violationsOf(page), `${colorScheme} ${width}`).toEqual([])
    }
  await page.setViewportSize({ width: 1280, height: 800 })
  await card(page, 'Try it').dblclick()
  await page.getByRole('textbox', { name: 'Text of Try it' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.keyboard.press('Escape')
})

test('[WB11] boards are created and opened from the list; a board that is not there says so', async () => {
  const { page } = ben
  await page
    .getByRole('textbox', { name: /^Name of a new board/ })
    .first()
    .fill('Plans')
  await page.getByRole('button', { name: 'Create' }).first().click()
  await page.getByRole('heading', { name: 'Plans', level: 1 }).waitFor()
  await page.locator('.react-flow__pane').dblclick({ position: { x: 300, y: 300 } })
  await page.keyboard.type('First')
  await saved(page)
  const boardId = page.url().split('/').at(-1)!
  expect(await (await benUser.api.get(`/boards/${boardId}/cards`)).body.cards).toMatchObject([
    { kind: 'note', body: 'First' },
  ])
  await page.getByRole('link', { name: 'Welcome' }).click()
  await card(page, 'Try it').waitFor()
  const { id: foreign } = await makeBoard(await service.user())
  for (const id of [foreign, foreign.slice(0, -1)]) {
    await page.goto(`${service.homeUrl}/app/boards/${id}`)
    await page.getByRole('alert').filter({ hasText: 'does not exist' }).waitFor()
  }
})

test('[WB13] without the built app the service runs, and says how to build it', async () => {
  const bare = await startService({ workers: false, webApp: new URL('nothing/', import.meta.url) })
  onTestFinished(() => bare.stop())
  for (const [path, status] of [
    ['/app/', 503],
    [`/app/boards/${demo.boardId}`, 503],
    ['/', 200],
  ] as const) {
    const answer = await fetch(bare.homeUrl + path)
    expect([path, answer.status]).toEqual([path, status])
    expect(await answer.text()).toContain('npm run web:build')
  }
})

test('[WB12] the app gets a token by the session without a consent page, and for its own pages alone', async () => {
  const query = new URLSearchParams({
    ...{ client_id: 'corkboard-app', response_type: 'code', state: 's', code_challenge_method: 'S256' },
    ...{ redirect_uri: `${service.homeUrl}/app/signed-in`, scope: 'read', code_challenge: 'x'.repeat(43) },
  })
  const context = ada.page.context()
  const elsewhere = await context.newPage()
  await elsewhere.route('https://elsewhere.example/', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<a href="${service.homeUrl}/oauth/authorize?${query.toString()}">go</a>`,
    }),
  )
  await elsewhere.goto('https://elsewhere.example/')
  await elsewhere.getByRole('link').click()
  await elsewhere.getByRole('button', { name: 'Allow' }).waitFor()
  await elsewhere.goto(`${service.homeUrl}/settings`)
  await elsewhere.getByText('No application is connected.').waitFor()
  await elsewhere.close()
  const stranger = await fetch(`${service.homeUrl}/oauth/authorize?${query.toString()}`)
  expect(new URL(stranger.url).pathname).toBe('/login')
})
