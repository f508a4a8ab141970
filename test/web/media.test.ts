/** Texts, links, the look of all kinds, the list, and the ends of a connection, in a real Chromium. */
import { afterAll, expect, onTestFinished, test } from 'vitest'
import * as Y from 'yjs'
import { makeBoard, makeCards } from '../api/board.ts'
import { violationsOf } from '../support/chromium.ts'
import { openEditor, until } from '../support/editor.ts'
import { htmlAttacks } from '../support/html-attacks.ts'
import { s3Credentials } from '../support/s3-double.ts'
import { startService } from '../support/service.ts'
import { silence } from '../support/silence.ts'
import { openSite, serves } from '../support/site.ts'
import { bucketName, newBucket, openS3Double } from '../support/store-drivers.ts'
import { card, eventually, openAs, saved } from './app.ts'
import { drop, paste, picture, png, tray } from './bring.ts'
import { ada, board, cards, emptyBoard, ofKind, page, service, user } from './media-scene.ts'

const site = await openSite()
afterAll(() => site.close())

/** A PDF with one empty page. Viewers repair the table of contents that it lacks. */
const onePage = Buffer.from(
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n' +
    '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n',
)

test('[WM3] a pasted text becomes a note, a link a card with its preview, and a list of links an import', async () => {
  await emptyBoard()
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

test('[WC32] a card has a field for each text that it shows, on the canvas and in the list', async () => {
  await makeCards(user, board.id, [
    { title: 'End', x: 0, y: 0, section_header: true },
    { kind: 'image', title: 'Harbour', x: 0, y: 100 },
  ])
  const line = () => page.getByRole('textbox', { name: 'Line below the title' })
  await card(page, 'End').dblclick()
  await line().fill('of the week')
  await page.keyboard.press('Escape')
  await page.getByText('of the week').waitFor()
  await page.getByRole('button', { name: 'Show the board as List' }).click()
  await page.getByRole('button', { name: 'Edit Section: End' }).click()
  expect(await page.locator('.entry textarea').count()).toBe(0)
  expect(await line().inputValue()).toBe('of the week')
  await line().fill('of the month')
  await page.keyboard.press('Escape')
  await page.getByText('of the month').waitFor()
  await page.getByRole('button', { name: 'Edit Picture: Harbour' }).click()
  await page.getByRole('textbox', { name: 'Text of Harbour' }).fill('at dawn')
  await page.keyboard.press('Escape')
  await page.getByText('Harbour – at dawn').waitFor()
  await page.getByRole('button', { name: 'Show the board as Canvas' }).click()
  await page.getByText('Harbour – at dawn').waitFor()
  await emptyBoard()
})

test('[WP21] an address leads to its card in the list too, wherever that is; a card that is not there is told', async () => {
  const long = await makeBoard(user, { name: 'Long', view: 'list' })
  const many = Array.from({ length: 320 }, (_, n) => ({ title: `Card ${n}`, x: 0, y: n * 200 }))
  const made = await makeCards(user, long.id, many)
  const at = (card: string) => page.goto(`${service.homeUrl}/app/boards/${long.id}?card=${card}`)
  await at(made.at(-1)!.id)
  const last = page.getByRole('article', { name: 'Note: Card 319' })
  const isLast = () => last.evaluate((entry: any) => entry === entry.ownerDocument.activeElement)
  await eventually(isLast).toBe(true)
  const { y, height } = (await last.boundingBox())!
  expect(y).toBeGreaterThan(0)
  expect(y + height).toBeLessThan(800)
  await page.getByRole('button', { name: 'Edit Note: Card 0' }).first().focus()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search boards and cards' }).fill('Card 319')
  await page.getByText('1 result.').waitFor()
  await page.keyboard.press('Enter')
  await eventually(isLast).toBe(true)
  const told = page.getByText('is not on the board')
  expect(await told.count()).toBe(0)
  await at(crypto.randomUUID())
  await told.waitFor()
  await page.goto(`${service.homeUrl}/app/boards/${board.id}`)
  await page.getByText('This board is empty.').waitFor()
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
