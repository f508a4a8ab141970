/** Files that become cards, in a real Chromium. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeBoard } from '../api/board.ts'
import { openEditor, until } from '../support/editor.ts'
import type { TestUser } from '../support/service.ts'
import { eventually, openAs, saved, state, type Window } from './app.ts'
import { drop, picture, png, tray } from './bring.ts'
import { ada, cards, emptyBoard, ofKind, page, service } from './media-scene.ts'

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

test('[WM12] an upload whose token ends while the service is away goes on when it is back', async () => {
  const { page } = ada
  let isAway = true
  await page.context().route('**/oauth/**', (route) => (isAway ? route.abort() : route.continue()))
  await page
    .context()
    .route('**/api/v1/uploads?*', (route) =>
      isAway
        ? route.fulfill({ status: 401, json: { error: 'The token has expired.', code: 'invalid_token' } })
        : route.continue(),
    )
  await drop(page, { files: [png('late.png', await picture(60, 40))] }, { x: 600, y: 300 })
  await tray(page).getByText('The service can’t be reached. The upload goes on when it is back.').waitFor()
  isAway = false
  await until(async () => (await ofKind('image')).length === 1, 'the picture is on the board', 20_000)
  await eventually(() => tray(page).count()).toBe(0)
  await page.context().unroute('**/oauth/**')
  await page.context().unroute('**/api/v1/uploads?*')
  await emptyBoard()
})

test('[WM13] a text file keeps its letters, in UTF-8, in UTF-16 and in the encoding of older Windows programs', async () => {
  const { page } = ada
  const words = 'Café über Größe'
  const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'text/plain', buffer })
  await page
    .locator('input[type=file]')
    .setInputFiles([
      file('utf8.txt', Buffer.from(words)),
      file('marked.txt', Buffer.from(`\ufeff${words}`)),
      file('utf16.txt', Buffer.from(`\ufeff${words}`, 'utf16le')),
      file('windows.txt', Buffer.from(words, 'latin1')),
    ])
  await until(async () => (await ofKind('doc')).length === 4, 'the texts are on the board')
  expect((await ofKind('doc')).map(({ body }) => body)).toEqual([words, words, words, words])
  await emptyBoard()
})

test('[WM14] a file that is changed or removed before it is sent is told as such, and not as a lost connection', async () => {
  const { page } = ada
  const folder = await mkdtemp(join(tmpdir(), 'files-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'changed.png')
  await writeFile(path, await picture(60, 40))
  await page.context().route('**/api/v1/uploads?*', (route) => route.abort())
  await page.locator('input[type=file]').setInputFiles(path)
  await tray(page).getByText('changed.png').first().waitFor()
  await writeFile(path, await picture(90, 90))
  await page.context().unroute('**/api/v1/uploads?*')
  await tray(page).getByText('This file could not be read.').waitFor()
  await page.getByRole('button', { name: 'Close changed.png' }).click()
  expect(await ofKind('image')).toEqual([])
})
