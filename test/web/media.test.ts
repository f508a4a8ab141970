/** Files, links, the look of all kinds, the list, and the ends of a connection, in a real Chromium. */
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import sharp from 'sharp'
import * as Y from 'yjs'
import { openEgress } from '../../platform/egress/egress.ts'
import { makeBoard, makeCards } from '../api/board.ts'
import { violationsOf } from '../support/chromium.ts'
import { openEditor, until } from '../support/editor.ts'
import { htmlAttacks } from '../support/html-attacks.ts'
import { s3Credentials } from '../support/s3-double.ts'
import { startService, type TestUser } from '../support/service.ts'
import { silence } from '../support/silence.ts'
import { openSite, serves } from '../support/site.ts'
import { bucketName, newBucket, openS3Double } from '../support/store-drivers.ts'
import { card, eventually, openAs, saved, state, type Window } from './app.ts'
import { drop, paste } from './bring.ts'

const site = await openSite()
const service = await startService({
  workers: false,
  egress: openEgress({ allow: ['127.0.0.1'] }),
  config: { logLevel: 'error', documentBytes: { free: 10_000, pro: 100_000_000 } },
})
afterAll(async () => {
  await service.stop()
  await site.close()
})
const user = await service.user({ name: 'Ada' })
const board = await makeBoard(user, { name: 'Media' })
await makeCards(user, board.id, [{ title: 'Start' }])
const ada = await openAs(service, user, board.id)
const { page } = ada
await card(page, 'Start').waitFor()

const cardsOf = async (owner: TestUser, id: string): Promise<any[]> =>
  (await owner.api.get(`/boards/${id}/cards?limit=500`)).body.cards
const cards = () => cardsOf(user, board.id)
const ofKind = async (kind: string) => (await cards()).filter((one) => one.kind === kind)
const tray = (page: Page): Locator => page.getByRole('region', { name: 'Uploads and imports' })
const picture = (width: number, height: number, background = '#3a7') =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer()
const png = (name: string, buffer: Buffer) => ({ name, mimeType: 'image/png', buffer })

/** A PDF with one empty page. Viewers repair the table of contents that it lacks. */
const onePage = Buffer.from(
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n' +
    '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n',
)

async function emptyBoard(): Promise<void> {
  const ids = (await cards()).map(({ id }) => id)
  if (ids.length > 0) await user.api.delete(`/boards/${board.id}/cards`, { card_ids: ids })
  await eventually(() => page.locator('.react-flow__node').count()).toBe(0)
}

test('[WM1] dropped files become cards at that place, side by side, in their proportions; what is refused says why', async () => {
  const at = { x: 600, y: 300 }
  const [wide, tall] = [await picture(600, 300), await picture(200, 400)]
  await drop(page, { files: [png('wide.png', wide), png('tall.png', tall)] }, at)
  await until(async () => (await ofKind('image')).length === 2, 'both pictures are on the board')
  const [first, second] = (await ofKind('image')).sort((a, b) => a.x - b.x)
  expect(first).toMatchObject({ w: 480, h: 240, file_name: 'wide.png', width: 600, height: 300 })
  expect(second).toMatchObject({ w: 200, h: 400, x: first.x + 500, y: first.y })
  const shown = page.getByRole('img', { name: 'wide.png' })
  await eventually(() => shown.evaluate((img: any) => img.naturalWidth)).toBeGreaterThan(300)
  const box = (await shown.boundingBox())!
  expect(Math.abs(box.x + box.width / 2 - at.x)).toBeLessThan(3)
  expect(Math.abs(box.y + box.height / 2 - at.y)).toBeLessThan(3)
  await eventually(() => tray(page).count()).toBe(0)

  const text = (name: string, mimeType: string, text: string) => ({
    name,
    mimeType,
    buffer: Buffer.from(text),
  })
  await page
    .locator('input[type=file]')
    .setInputFiles([
      text('plan.pdf', 'application/pdf', '%PDF-1.4\n'),
      text('notes.md', 'text/markdown', '# Plan\n\n- one\r\n- two'),
      text('song.mp3', 'audio/mpeg', 'ID3 and more'),
      text('data.bin', 'application/octet-stream', 'bytes'),
      text('empty.bin', 'application/octet-stream', ''),
      png('broken.png', Buffer.from('no picture')),
    ])
  const kinds = ['pdf', 'doc', 'audio', 'file']
  const added = async () => (await cards()).map(({ kind }) => kind).filter((kind) => kinds.includes(kind))
  await until(async () => (await added()).length === kinds.length, 'all files are here')
  expect(new Set(await added())).toEqual(new Set(kinds))
  expect((await ofKind('doc'))[0]).toMatchObject({ title: 'notes', body: '# Plan\n\n- one\n- two' })
  expect((await ofKind('pdf'))[0]).toMatchObject({ file_name: 'plan.pdf', ext: 'pdf', size_bytes: 9 })
  await tray(page).getByText('This file is empty.').waitFor()
  await tray(page).getByText('The contents of this file are not what its name says.').waitFor()
  for (const name of ['empty.bin', 'broken.png'])
    await tray(page)
      .getByRole('button', { name: `Close ${name}` })
      .click()
  expect(ada.complaints.splice(0).filter((one) => !one.includes('415'))).toEqual([])
  await emptyBoard()
})

test('[WM1] a file that the plan of the owner does not allow is refused in words', async () => {
  const owner = await service.user({ tier: 'free', name: 'Fred' })
  const { id } = await makeBoard(owner)
  const fred = await openAs(service, owner, id)
  await saved(fred.page)
  const file = { name: 'film.mp4', mimeType: 'video/mp4', buffer: Buffer.from('film') }
  await fred.page.locator('input[type=file]').setInputFiles([file])
  await tray(fred.page).getByText('The plan of the board’s owner takes only pictures').waitFor()
  await expectFull(fred, owner, id)
})

/** [WM6] The storage of the owner's documents is used up. */
async function expectFull({ page }: Window, owner: TestUser, boardId: string): Promise<void> {
  const editor = await openEditor(service.homeUrl, { boardId, token: owner.token })
  onTestFinished(() => editor.leave())
  editor.addCard('large', { kind: 'note', title: 'Large', props: { filling: 'x'.repeat(12_000) } })
  await editor.saved()
  await page.getByRole('alert').filter({ hasText: 'You can go on here' }).waitFor()
  await page.reload()
  await page.getByRole('alert').filter({ hasText: 'so the board takes no changes' }).waitFor()
  await eventually(() => state(page).textContent()).toBe('Read-only: the storage is full')
}

/** How many parts the page knows to have arrived, as it is kept on the device. */
const keptParts = `new Promise((resolve) => {
  const opening = indexedDB.open('corkboard uploads')
  opening.onsuccess = () => {
    const all = opening.result.transaction('states').objectStore('states').getAll()
    all.onsuccess = () => resolve(all.result.flatMap(({ etags }) => Object.keys(etags)).length)
  }
})`

test('[WM2] a large file goes in parts; after a lost connection and a reload it goes on with what is missing', async () => {
  const puts: number[] = []
  let isDown = true
  await page.context().route('**/storage/parts?*', async (route) => {
    const part = Number(new URL(route.request().url()).searchParams.get('part'))
    if (isDown && part === 3) return route.abort('connectionreset')
    puts.push(part)
    return route.continue()
  })
  const buffer = Buffer.alloc(17 * 1024 * 1024, 'film')
  await page
    .locator('input[type=file]')
    .setInputFiles([{ name: 'film.mov', mimeType: 'video/quicktime', buffer }])
  const bar = tray(page).getByRole('progressbar', { name: 'Upload of film.mov' })
  await eventually(() => bar.getAttribute('value')).toBe(String(16 * 1024 * 1024))
  await eventually(() => page.evaluate(keptParts)).toBe(2)
  await page.reload()
  await bar.waitFor()
  isDown = false
  await until(async () => (await ofKind('video')).length === 1, 'the film is on the board', 20_000)
  expect((await ofKind('video'))[0]).toMatchObject({ file_name: 'film.mov', size_bytes: buffer.length })
  expect(puts.toSorted((a, b) => a - b)).toEqual([1, 2, 3])
  await eventually(() => tray(page).count()).toBe(0)
  await eventually(() => page.evaluate('localStorage.getItem("corkboard: uploads")')).toBe(null)
  await page.context().unroute('**/storage/parts?*')
  ada.complaints.length = 0
  await emptyBoard()
})

test('[WM2] a page that ends before it has forgotten a file makes no second card of it', async () => {
  // Nothing is forgotten, as when the page ends just then.
  await page.evaluate('IDBObjectStore.prototype.delete = function () { return this.get("nothing") }')
  await drop(page, { files: [png('once.png', await picture(60, 40))] }, { x: 600, y: 300 })
  await until(async () => (await ofKind('image')).length === 1, 'the picture is on the board')
  await eventually(() => tray(page).count()).toBe(0)
  const [made] = await ofKind('image')
  const resumed = page.waitForResponse((response) => response.url().includes('/uploads?'))
  await page.reload()
  await resumed
  await eventually(() => page.evaluate('localStorage.getItem("corkboard: uploads")')).toBe(null)
  expect((await ofKind('image')).map(({ id }) => id)).toEqual([made.id])
  await emptyBoard()
})

test('[WM3] a pasted text becomes a note, a link a card with its preview, and a list of links an import', async () => {
  const head =
    '<html><head><title>The launch</title><meta name="description" content="All about it"></head></html>'
  site.pages.set('/page', serves(head, 'text/html'))
  site.pages.set('/photo.png', serves(await picture(900, 300), 'image/png'))
  await paste(page, 'Some **words**\nand more')
  await until(
    async () => (await ofKind('note'))[0]?.body === 'Some **words**\nand more',
    'the note is written',
  )
  await paste(page, `${site.url}/page`)
  await until(async () => (await ofKind('link')).length === 1, 'the link is on the board')
  expect((await ofKind('link'))[0]).toMatchObject({ title: 'The launch', body: 'All about it' })
  await page.getByRole('link', { name: '127.0.0.1' }).waitFor()

  const list = [`${site.url}/page`, `${site.url}/photo.png`, `${site.url}/missing`, `${site.url}/slow`]
  await drop(page, { data: { 'text/uri-list': list.join('\r\n') } }, { x: 500, y: 400 })
  await tray(page).getByText('1 added, 1 here already, 2 failed').waitFor()
  await tray(page).getByText(`${site.url}/missing`).waitFor()
  expect(await tray(page).getByText('answered with status 404').count()).toBe(2)
  site.pages.set('/slow', serves(head, 'text/html'))
  await tray(page).getByRole('button', { name: 'Try again' }).click()
  await tray(page).getByText('1 added, 1 failed').waitFor()
  expect(await violationsOf(page)).toEqual([])
  await tray(page).getByRole('button', { name: 'Add as links' }).click()
  await until(
    async () => (await ofKind('link')).some(({ url }) => url === `${site.url}/missing`),
    'the plain link',
  )
  await eventually(() => tray(page).count()).toBe(0)
  expect(ada.complaints).toEqual([])
  await emptyBoard()
})

test('[WM4] each kind of card shows what it is', async () => {
  const sound = { name: 'Sound.wav', mimeType: 'audio/wav', buffer: silence() }
  await drop(page, { files: [png('Lake.png', await picture(1600, 800)), sound] }, { x: 400, y: 250 })
  await until(async () => (await cards()).length === 2, 'picture and sound are here')
  await makeCards(user, board.id, [
    { title: 'Rich', body: 'kept', html: '<p>kept <b>bold</b></p>', y: 400 },
    { kind: 'link', title: 'Docs', body: 'All operations', url: 'https://example.com/docs', y: 400 },
    { kind: 'doc', title: 'Minutes', body: '## Agenda\n\n1. Budget', y: 400 },
    { kind: 'pdf', file_name: 'Contract.pdf', ext: 'pdf', size_bytes: 1_250_000, y: 700 },
    { kind: 'video', title: 'No film', y: 700 },
    { section_header: true, title: 'Chapter', sub: 'One', y: 1000 },
  ])
  const editor = await openEditor(service.homeUrl, { boardId: board.id, token: user.token })
  onTestFinished(() => editor.leave())
  editor.addCard('gone', { kind: 'image', image_key: 'fAAAAAAAAAAAAAAAAAAAAAAAA.png', x: 0, y: 1200 })
  editor.addCard('own', { kind: 'palette', title: 'Colours', x: 300, y: 1200 })
  await page.getByRole('button', { name: 'Fit View' }).click()
  const lake = page.getByRole('img', { name: 'Lake.png' })
  const naturalWidth = () => lake.evaluate((img: any) => img.naturalWidth)
  await eventually(naturalWidth).toBeGreaterThan(0)
  expect(await naturalWidth()).toBeLessThanOrEqual(640)
  await page.evaluate(`document.querySelector('audio').play()`)
  await eventually(() => page.evaluate(`document.querySelector('audio').currentTime`)).toBeGreaterThan(0.2)
  await page.locator('.words b', { hasText: 'bold' }).waitFor()
  await page.getByRole('heading', { name: 'Agenda' }).waitFor()
  await page.getByText('PDF · 1.3 MB').waitFor()
  await page.getByText('No video yet.').waitFor()
  await page.getByText('This picture is gone, or you may not see it.').waitFor()
  await page.locator('.card.foreign', { hasText: 'palette' }).waitFor()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await violationsOf(page), colorScheme).toEqual([])
  }
  await lake.hover()
  await page.keyboard.down('Control')
  await page.mouse.wheel(0, -1000)
  await page.keyboard.up('Control')
  await eventually(naturalWidth).toBe(960)
  expect(ada.complaints).toEqual([])
  await emptyBoard()
})

test('[WM10] a card with a PDF shows its name and size, and opens it in a tab of its own', async () => {
  // In a window of its own, because the browser's viewer makes requests.
  const { page, complaints } = await openAs(service, user, board.id)
  const plan = { name: 'Plan.pdf', mimeType: 'application/pdf', buffer: onePage }
  await drop(page, { files: [plan] }, { x: 400, y: 250 })
  await until(async () => (await ofKind('pdf')).length === 1, 'the PDF is on the board')
  await page.getByText(/^PDF · \d+ KB/).waitFor()
  await page.getByRole('button', { name: 'Fit View' }).click()
  const opened = page.context().waitForEvent('page')
  await page.getByRole('button', { name: 'Open Plan.pdf' }).click()
  const tab = await opened
  await tab.waitForURL(({ protocol }) => protocol === 'blob:')
  await tab.close()
  expect(complaints).toEqual([])
  await emptyBoard()
})

test('[WM5] the list shows the board in reading order, and cards are added, edited and removed by keyboard', async () => {
  const { group } = (await user.api.post(`/boards/${board.id}/groups`, { name: 'Launch' })).body
  await makeCards(user, board.id, [
    { title: 'Third', x: 0, y: 300, group_id: group.id },
    { title: 'Second', x: 400, y: 15 },
    { title: 'First', x: 0, y: 0, body: 'Some **bold** words' },
    { title: 'Later', x: 0, y: 900 },
    { title: 'Also third', x: 0, y: 1200, group_id: group.id },
    { title: 'End', x: 0, y: 800, section_header: true },
  ])
  await page.getByRole('button', { name: 'Show the board as List' }).click()
  const headings = page.locator('.list :is(h2, h3)')
  const order = ['First', 'Second', 'Launch', 'Third', 'Also third', 'End', 'Later']
  await eventually(() => headings.allTextContents()).toEqual(order)
  expect(await page.locator('.list h2').allTextContents()).toEqual(['Launch', 'End'])
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await violationsOf(page), String(width)).toEqual([])
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('button', { name: 'Edit Note: First' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.type(' of all')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Control+End')
  await page.keyboard.type(', and more')
  expect(await violationsOf(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Add card' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.type('Last')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Remove Note: Second' }).focus()
  await page.keyboard.press('Enter')
  const now = ['First of all', 'Launch', 'Third', 'Also third', 'End', 'Later', 'Last']
  await eventually(() => headings.allTextContents()).toEqual(now)
  await saved(page)
  expect((await cards()).find(({ title }) => title === 'First of all').body).toBe(
    'Some **bold** words, and more',
  )
  await page.getByRole('button', { name: 'Show the board as Canvas' }).click()
  await card(page, 'Last').waitFor({ state: 'attached' })
  expect(ada.complaints).toEqual([])
  await emptyBoard()
})

test('[WM6] a board in the trash and an access that ended say so, and what to do; a restored board opens again', async () => {
  const ben = await service.user({ name: 'Ben' })
  const shared = await makeBoard(user, { name: 'Shared' })
  await makeCards(user, shared.id, [{ title: 'Here' }])
  await service.share(shared.id, ben, 'editor')
  const [own, bens] = [await openAs(service, user, shared.id), await openAs(service, ben, shared.id)]
  for (const { page } of [own, bens]) await card(page, 'Here').waitFor()
  await user.api.delete(`/boards/${shared.id}`)
  for (const { page } of [own, bens])
    await page.getByRole('alert').filter({ hasText: 'This board is in the trash.' }).waitFor()
  await bens.page.getByRole('button', { name: 'Restore the board' }).click()
  await bens.page.getByRole('alert').filter({ hasNotText: 'trash' }).waitFor()
  expect(await violationsOf(own.page)).toEqual([])
  await own.page.getByRole('button', { name: 'Restore the board' }).click()
  await saved(own.page)
  await bens.page.reload()
  await card(bens.page, 'Here').waitFor()
  await user.api.delete(`/boards/${shared.id}/shares/${ben.userId}`)
  await bens.page.getByRole('alert').filter({ hasText: 'Your access to this board has ended.' }).waitFor()
  await bens.page.getByRole('link', { name: 'Go to your boards' }).waitFor()
})

test('[WM7] what strangers write runs, loads and opens nothing, on the canvas, in the list and in file names', async () => {
  const dialogs: string[] = []
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    void dialog.dismiss()
  })
  const name = `<img src=x onerror=alert(1)>.png`
  await drop(page, { files: [png(name, await picture(100, 100))] }, { x: 300, y: 300 })
  await page.getByRole('img', { name }).waitFor()
  const editor = await openEditor(service.homeUrl, { boardId: board.id, token: user.token })
  onTestFinished(() => editor.leave())
  editor.document.transact(() => {
    for (const [n, text] of htmlAttacks.entries()) {
      const kind = ['note', 'doc', 'link', 'pdf', 'file', 'video', 'audio', 'image', 'shape'][n % 9]
      const hostile = {
        title: text,
        html: text,
        file_name: text,
        alt: text,
        sub: text,
        ext: text,
        color: text,
      }
      const place = { x: (n % 8) * 300, y: 300 + 200 * Math.floor(n / 8), section_header: n % 10 === 5 }
      const urls = { url: 'javascript:alert(1)', image_key: text, file_key: text, poster_key: text }
      const body = `${text} [x](javascript:alert(1)) ![x](https://evil.example/x.png)`
      editor.addCard(`hostile-${n}`, { kind, ...hostile, body, group_id: 'g', ...place, ...urls })
    }
    editor.groups.set(
      'g',
      new Y.Map<unknown>([
        ['name', htmlAttacks[3]],
        ['color', htmlAttacks[4]],
      ]),
    )
  })
  await eventually(async () => {
    await page.getByRole('button', { name: 'Fit View' }).click()
    return page.locator('.card').count()
  }).toBe(htmlAttacks.length + 1)
  await expectHarmless()
  await page.getByRole('button', { name: 'Show the board as List' }).click()
  await eventually(() => page.locator('.entry').count()).toBe(htmlAttacks.length + 1)
  await expectHarmless()
  await page.getByRole('button', { name: 'Show the board as Canvas' }).click()
  expect(dialogs).toEqual([])
  const { host } = new URL(service.homeUrl)
  const strange = ada.requests.filter((url) => !url.startsWith('blob:') && new URL(url).host !== host)
  expect(strange).toEqual([])
  // While the sanitizer parses such a text, the browser reports what the policy forbids.
  expect(ada.complaints.splice(0).filter((one) => !/Content Security Policy|404/.test(one))).toEqual([])
})

async function expectHarmless(): Promise<void> {
  const found = page.locator(
    ':is(.card, .entry, .box) :is(script, iframe, object, embed, form, style, link, meta, base, [onerror], [onclick])',
  )
  expect(await found.count()).toBe(0)
  const addresses = await page
    .locator(':is(.card, .entry) :is(a[href], img[src], video[src], audio[src])')
    .evaluateAll((elements: any[]) => elements.map(({ href, src }) => href ?? src))
  for (const address of addresses)
    expect(address).toMatch(
      /^(https:\/\/example\.com|https?:\/\/(x|evil\.example)\b|mailto:|http:\/\/127\.0\.0\.1:)/,
    )
}

test('[WM8] the policy lets the app send to the service and to the bucket of its files alone', async () => {
  const { url, close } = await openS3Double(newBucket())
  onTestFinished(close)
  const s3 = { ...s3Credentials, endpoint: url, bucket: bucketName }
  const other = await startService({ workers: false, config: { storage: { kind: 's3', s3 } } })
  onTestFinished(() => other.stop())
  const policyOf = async (at: string) =>
    (await fetch(`${at}/app/`)).headers.get('content-security-policy')!.split('; ')
  expect(await policyOf(other.homeUrl)).toContain(`connect-src 'self' ${new URL(url).origin}`)
  expect(await policyOf(service.homeUrl)).toContain(`connect-src 'self'`)
})
