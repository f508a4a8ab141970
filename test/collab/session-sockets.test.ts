/** Canvases of people who are signed in: opened by the cookie, and closed when the session ends. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { person, rightPassword, signIn, type Person } from '../api/sign-in.ts'
import { Browser } from '../support/browser.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

const withinMs = 2000

let service: TestService
let ada: Person

beforeAll(async () => {
  service = await startService()
  ada = await person(service)
  await signIn(ada.browser, ada)
})

afterEach(leaveAll)
afterAll(() => service.stop())

const newBoard = async (user: TestUser = ada): Promise<string> =>
  (await user.api.post('/boards', { name: 'Signed in' })).body.board.id

/** A socket as a browser opens it from a page of `origin`. */
async function socketOf(browser: Browser, headers: Record<string, string> = { origin: browser.url }) {
  const cookie = await browser.jar.getCookieString(browser.url)
  return class extends WebSocket {
    constructor(url: string) {
      super(url, { headers: { cookie, ...headers } })
    }
  }
}

async function open(browser: Browser, boardId: string, headers?: Record<string, string>): Promise<Editor> {
  return openEditor(service.url, {
    boardId,
    token: '',
    webSocket: await socketOf(browser, headers),
    reconnect: false,
  })
}

async function expectRefused(boardId: string, webSocket: new (url: string) => WebSocket, token = '') {
  const editor = await openEditor(service.url, {
    boardId,
    token,
    webSocket,
    expectRefusal: true,
  })
  expect(editor.cards.size).toBe(0)
  expect(editor.provider.isSynced).toBe(false)
}

/** Signed in once more, in another browser. */
async function elsewhere({ email }: Person): Promise<Browser> {
  const browser = new Browser(service.homeUrl)
  await signIn(browser, { email })
  return browser
}

const isCutOff = (editor: Editor) => () => editor.closes.some(({ code }) => code === 4403)

test('[SI10] the stock provider without a token opens a canvas by the cookie, and writes as the account may', async () => {
  const boardId = await newBoard()
  const editor = await open(ada.browser, boardId)
  expect(editor.provider.authorizedScope).toBe('read-write')
  editor.addCard('by-cookie')
  await editor.saved()
  expect((await ada.api.get(`/boards/${boardId}/cards`)).body.total).toBe(1)

  const guest = await person(service)
  await signIn(guest.browser, guest)
  await expectRefused(boardId, await socketOf(guest.browser))
  await service.share(boardId, guest, 'viewer')
  const viewing = await open(guest.browser, boardId)
  expect(viewing.provider.authorizedScope).toBe('readonly')
  await service.share(boardId, guest, 'editor')
  await until(() => viewing.provider.authorizedScope === 'read-write', 'the guest may write', withinMs)
})

test('[SI11] a cookie opens canvases for pages of this service alone; a token does for any', async () => {
  const boardId = await newBoard()
  const own = new URL(service.homeUrl)
  for (const origin of [
    'https://evil.example',
    'null',
    `http://evil.example:${own.port}`,
    `http://localhost.evil.example:${own.port}`,
    `http://${own.hostname}:1`,
    `ftp://${own.host}`,
    `${service.homeUrl}.evil.example`,
    'not a URL',
  ])
    await expectRefused(boardId, await socketOf(ada.browser, { origin }))
  await expectRefused(boardId, await socketOf(ada.browser, {})) // no browser leaves it out
  await expectRefused(boardId, await socketOf(new Browser(service.homeUrl)))
  // A wrong token is not made good by the cookie.
  await expectRefused(boardId, await socketOf(ada.browser), 'cork_wrong')
  const foreign = await socketOf(new Browser(service.homeUrl), { origin: 'https://canvas.example' })
  const editor = await openEditor(service.url, { boardId, token: ada.token, webSocket: foreign })
  editor.addCard('by-token')
  await editor.saved()
})

test('[SI11] behind a proxy the origin is that of PUBLIC_URL, or of the host that was asked for', async () => {
  const proxied = await startService({ config: { publicUrl: 'https://boards.example' } })
  const user = await person(proxied)
  const page = await fetch(`${proxied.url}/login`)
  const [form = ''] = page.headers.getSetCookie()
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(await page.text()) ?? []
  const answer = await fetch(`${proxied.url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: form.split(';')[0]! },
    body: new URLSearchParams({ csrf, email: user.email, password: rightPassword }),
  })
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0]!)
    .join('; ')
  const boardId = await newBoard(user)
  const socket = (headers: Record<string, string>) =>
    class extends WebSocket {
      constructor(url: string) {
        super(url, { headers: { cookie, ...headers } })
      }
    }
  const opens = (headers: Record<string, string>, expectRefusal: boolean) =>
    openEditor(proxied.url, { boardId, token: '', webSocket: socket(headers), expectRefusal })
  expect((await opens({ origin: 'https://boards.example' }, false)).provider.isSynced).toBe(true)
  expect(
    (await opens({ origin: 'https://alias.example', host: 'alias.example' }, false)).provider.isSynced,
  ).toBe(true)
  for (const headers of [
    { origin: 'http://boards.example', host: 'boards.example' },
    { origin: 'https://alias.example', host: 'boards.example' },
  ])
    expect((await opens(headers, true)).provider.isSynced).toBe(false)
  leaveAll()
  await proxied.stop()
})

test('[SI12] logging out closes the canvases of that session within 2 s, and no others', async () => {
  const boardId = await newBoard()
  const leaving = await elsewhere(ada)
  const copied = await leaving.copy()
  const [gone, kept] = [await open(leaving, boardId), await open(ada.browser, boardId)]
  const settings = await leaving.open('/settings')
  await leaving.submit(settings.forms.find(({ action }) => action === '/logout')!)
  await until(isCutOff(gone), 'the canvas is closed', withinMs)
  await expectRefused(boardId, await socketOf(copied))
  kept.addCard('goes-on')
  await kept.saved()
  expect(kept.closes).toEqual([])
})

test('[SI12] logging out everywhere, a new password and an expired session close canvases within 2 s; tokens go on', async () => {
  const boardId = await newBoard()
  const byToken = await openEditor(service.url, { boardId, token: ada.token, reconnect: false })
  const everywhere = async (browser: Browser) => {
    const form = (await browser.open('/settings/sessions/end-all')).form('/logout')
    expect(form.fields.map(([name]) => name)).toEqual(['csrf', 'everywhere'])
    await browser.submit(form)
  }
  const newPassword = async (browser: Browser) => {
    const settings = await browser.open('/settings')
    const password = rightPassword
    await browser.submit(settings.form('/settings/password'), { current: password, new: password })
  }
  const expire = () => service.admin`update sessions set expires_at = now() where user_id = ${ada.userId}`
  for (const end of [everywhere, newPassword, expire]) {
    const [one, other] = [await elsewhere(ada), await elsewhere(ada)]
    const editors = [await open(one, boardId), await open(other, boardId)]
    await end(one)
    for (const editor of editors) await until(isCutOff(editor), `closed by ${end.name}`, withinMs)
    await expectRefused(boardId, await socketOf(other))
  }
  byToken.addCard('goes-on')
  await byToken.saved()
  expect(byToken.closes).toEqual([])
  ada.browser = await elsewhere(ada)
})
