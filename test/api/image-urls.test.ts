/** Signed URLs of files: `<img>` shows them without code. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setDisabled } from '../../sql/accounts/accounts.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, makeCard, succeeded } from './board.ts'
import { picture, png, upload } from './file.ts'
import { mint, serviceAccountOf } from './minting.ts'

const chromium = await chromiumOfFile()
const minuteMs = 60_000
/** Five past ten. URLs then end at eleven. */
const startMs = Date.UTC(2031, 0, 1, 10, 5)
const clock = { ms: startMs, now: () => clock.ms }
let service: TestService
let user: TestUser
let boardId: string
let key: string

beforeAll(async () => {
  service = await startService({ clock })
  user = await service.user()
  boardId = (await makeBoard(user)).id
  key = await uploaded()
})
afterAll(() => service.stop())

const uploaded = async (bytes: Buffer = png): Promise<string> =>
  (await upload(service, user, boardId, bytes)).body.image_key

const urlsOf = async ({ api }: Pick<TestUser, 'api'>, ...images: object[]) =>
  succeeded(await api.post('/images/urls', { images }))
const urlOf = async (asker: Pick<TestUser, 'api'>, image: object = { image_key: key }): Promise<string> =>
  (await urlsOf(asker, image)).images[0].url

/** As an `<img>` reads it: no header, no credentials. */
const statusOf = async (url: string) => (await fetch(url, { credentials: 'omit' })).status

test('[FR40] a signed URL is read without a token, and may be kept for as long as it is valid', async () => {
  clock.ms = startMs
  const answer = await urlsOf(user, { image_key: key }, { image_key: 'f0000' })
  expect(answer).toEqual({
    images: [{ image_key: key, w: null, url: expect.stringContaining(`/api/v1/images/${key}?`) }],
    not_found: ['f0000'],
    expires_at: '2031-01-01T11:00:00.000Z',
  })
  const response = await fetch(answer.images[0].url)
  expect(Buffer.from(await response.arrayBuffer()).equals(png)).toBe(true)
  expect(response.headers.get('cache-control')).toBe('private, max-age=3300, immutable')
  expect(response.headers.get('vary')).toBeNull()
  expect(response.headers.get('content-type')).toBe('image/png')
  const unsigned = await fetch(`${service.url}/api/v1/images/${key}`, {
    headers: { authorization: `Bearer ${user.token}` },
  })
  expect(unsigned.headers.get('vary')).toBe('authorization')
})

test('[FR41] URLs end at a half hour, half an hour to an hour ahead; asked again they are the same', async () => {
  clock.ms = startMs
  const url = await urlOf(user)
  clock.ms = startMs + 24 * minuteMs
  expect(await urlOf(user)).toBe(url)
  clock.ms = startMs + 25 * minuteMs
  expect(await urlOf(user)).not.toBe(url)
  expect(await statusOf(url)).toBe(200)
  clock.ms = startMs + 55 * minuteMs
  expect(await statusOf(url)).toBe(200)
  clock.ms += 1000
  expect(await statusOf(url)).toBe(401)
})

test('[FR42] a signature is for its key, width, format, end and account; each other one is 401', async () => {
  clock.ms = startMs
  const large = await uploaded(await picture(400, 300).png().toBuffer())
  const url = new URL(await urlOf(user, { image_key: large, w: 320 }))
  const response = await fetch(url)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/webp'])
  const changed = (change: (url: URL) => void) => {
    const other = new URL(url)
    change(other)
    return other.href
  }
  const other = await service.user()
  const forged = [
    changed((one) => (one.pathname = one.pathname.replace(large, key))),
    changed((one) => one.searchParams.set('w', '640')),
    changed((one) => one.searchParams.delete('w')),
    changed((one) => one.searchParams.set('format', 'avif')),
    changed((one) => one.searchParams.set('expires', String(Number(one.searchParams.get('expires')) + 1))),
    changed((one) => one.searchParams.set('by', other.userId)),
    changed((one) => one.searchParams.set('signature', 'A'.repeat(43))),
    changed((one) => one.searchParams.set('signature', '')),
    changed((one) => one.searchParams.delete('expires')),
  ]
  for (const one of forged) expect([one, await statusOf(one)]).toEqual([one, 401])
  expect(await statusOf(changed((one) => one.searchParams.delete('signature')))).toBe(401)
  // What is no width, or no account, is said as for any parameter.
  expect(await statusOf(changed((one) => one.searchParams.set('w', '321')))).toBe(400)
  expect(await statusOf(changed((one) => one.searchParams.set('by', 'x')))).toBe(400)
})

test('[FR43] nobody gets a URL of a file that they may not see, and a URL ends with the rights of its account', async () => {
  clock.ms = startMs
  const stranger = await service.user()
  expect(await urlsOf(stranger, { image_key: key })).toMatchObject({ images: [], not_found: [key] })
  const member = await service.user()
  await service.member(user.workspaceId, member, 'viewer')
  const [left, disabled] = [await urlOf(member), await urlOf(user)]
  expect(await statusOf(left)).toBe(200)
  await service.member(user.workspaceId, member, 'none')
  expect(await statusOf(left)).toBe(404)
  await service.database.asSystem((tx) => setDisabled(tx, user.userId, true))
  expect(await statusOf(disabled)).toBe(404)
  await service.database.asSystem((tx) => setDisabled(tx, user.userId, false))
})

test('[FR44] a URL of a session ends with it, and with the sessions of its user', async () => {
  const minter = await serviceAccountOf(service, user)
  const other = await makeBoard(user)
  const minted = (board_ids: string[]) => mint(service, minter, { board_ids, ttl_seconds: 600 })
  const session = await minted([boardId])
  clock.ms = Date.parse(session.session.issued_at)
  const { images, expires_at } = await urlsOf(session, { image_key: key })
  expect(Date.parse(expires_at)).toBeLessThanOrEqual(Date.parse(session.session.expires_at))
  expect(await statusOf(images[0].url)).toBe(200)
  expect(await urlsOf(await minted([other.id]), { image_key: key })).toMatchObject({ not_found: [key] })
  succeeded(await minter.api.delete('/sessions', { user_id: 'u-1' }))
  expect(await statusOf(images[0].url)).toBe(404)
  clock.ms = startMs
})

test('[TM7] a URL of a session ends when its board, or the token that minted it, does; a later session does not revive it', async () => {
  const other = await makeBoard(user)
  const asked = async (minter: Awaited<ReturnType<typeof serviceAccountOf>>, boards: string[] | null) => {
    const session = await mint(service, minter, {
      ...(boards ? { board_ids: boards } : { workspace_id: user.workspaceId }),
    })
    clock.ms = Date.parse(session.session.issued_at)
    return urlOf(session)
  }
  const minter = await serviceAccountOf(service, user)
  const first = await asked(minter, [boardId])
  expect([await statusOf(first), await asked(minter, [boardId])]).toEqual([200, first])
  succeeded(await minter.api.delete('/sessions', { board_id: other.id }))
  expect(await statusOf(first)).toBe(200)
  succeeded(await minter.api.delete('/sessions', { board_id: boardId }))
  expect(await statusOf(first)).toBe(404)
  const second = await asked(minter, [boardId, other.id])
  expect([await statusOf(second), await statusOf(first)]).toEqual([200, 404])
  succeeded(await minter.api.delete('/sessions', { user_id: 'u-1' }))
  await mint(service, minter, { board_ids: [other.id] })
  expect(await statusOf(second)).toBe(404)
  for (const boards of [[boardId, other.id], null]) {
    const wide = await asked(minter, boards)
    expect(await statusOf(wide)).toBe(200)
    // The session ends whole, so its URLs do, too: also that of a file on another board.
    succeeded(await minter.api.delete('/sessions', { board_id: other.id }))
    expect(await statusOf(wide)).toBe(404)
  }
  const third = await asked(minter, [boardId])
  await service.admin`update tokens set revoked_at = now() where id = ${minter.tokenId}`
  expect(await statusOf(third)).toBe(404)
  const claimed = new URL(third)
  claimed.searchParams.set('session', `${user.tokenId}.9000000000000000`)
  expect(await statusOf(claimed.href)).toBe(401)
  claimed.searchParams.delete('session')
  expect(await statusOf(claimed.href)).toBe(401)
  clock.ms = startMs
})

test('[FR45] reads by signed URLs are audited under the account that asked, and count for the address alone', async () => {
  clock.ms = startMs
  const reader = await service.user({ name: 'Reader' })
  await service.member(user.workspaceId, reader, 'viewer')
  const url = await urlOf(reader)
  const home = new ApiClient(service.homeUrl, reader.token)
  const left = async () => Number((await home.get('/me')).headers.get('x-ratelimit-remaining'))
  const before = await left()
  for (let n = 0; n < 3; n++) expect(await statusOf(url)).toBe(200)
  expect(await left()).toBe(before - 1)
  const reads = async () =>
    succeeded(await reader.api.get('/audit')).entries.filter((entry: any) => entry.action === 'image.read')
  await until(async () => (await reads()).length === 3, 'the reads are audited')
  expect((await reads())[0]).toMatchObject({
    actor: { user_id: reader.userId, display_name: 'Reader', token_id: null },
    path: `/api/v1/images/${key}`,
    resource: { type: 'image', id: key },
  })
  const limited = (await fetch(url)).headers.get('x-ratelimit-limit')
  expect(limited).toBe('20000')
})

test('[FR46] with include=urls a card brings the URLs of its files, and a srcset of its image', async () => {
  clock.ms = startMs
  const large = await uploaded(await picture(700, 500).png().toBuffer())
  const card = await makeCard(user, boardId, { kind: 'image', image_key: large })
  await makeCard(user, boardId, { title: 'no file' })
  const one = succeeded(await user.api.get(`/boards/${boardId}/cards/${card.id}?include=urls`)).card
  const { cards } = succeeded(await user.api.get(`/boards/${boardId}/cards?include=urls`))
  expect(cards.find(({ id }: any) => id === card.id).urls).toEqual(one.urls)
  const { url, srcset } = one.urls.image_key
  expect(await statusOf(url)).toBe(200)
  const sources = srcset.split(', ').map((source: string) => source.split(' '))
  expect(sources.map(([, width]: string[]) => width)).toEqual(['160w', '320w', '640w'])
  for (const [source] of sources) expect(await statusOf(source)).toBe(200)
  const plain = succeeded(await user.api.get(`/boards/${boardId}/cards/${card.id}`)).card
  expect(plain.urls).toBeUndefined()
})

test('[FR47] a browser shows the srcset of a card on a page of another origin', async () => {
  const picked = await uploaded(await picture(700, 500).png().toBuffer())
  const card = await makeCard(user, boardId, { kind: 'image', image_key: picked })
  clock.ms = Date.now() // the browser's
  const path = `/boards/${boardId}/cards/${card.id}?include=urls`
  const { url, srcset } = succeeded(await user.api.get(path)).card.urls.image_key
  const page = await (await chromium.newContext({ viewport: { width: 400, height: 300 } })).newPage()
  await page.setContent(`<img src="${url}" srcset="${srcset}" sizes="300px">`)
  const shown = () =>
    page.evaluate<[string, number]>('[document.images[0].currentSrc, document.images[0].naturalWidth]')
  await until(async () => (await shown())[1] > 0, 'the image is shown')
  const [source] = await shown()
  expect(new URL(source).searchParams.get('w')).toBe('320')
})
