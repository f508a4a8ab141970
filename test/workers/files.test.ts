import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import * as Y from 'yjs'
import type { ObjectStore } from '../../platform/storage/object-store.ts'
import { endUploads } from '../../workers/upkeep/end-uploads.ts'
import { reclaimFiles } from '../../workers/upkeep/reclaim.ts'
import { verifyFiles } from '../../workers/upkeep/verify-files.ts'
import { makeBoard } from '../api/board.ts'
import { picture, pngOf, read, sendParts, storedKeys, upload } from '../api/file.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

const dayMs = 24 * 3_600_000
let service: TestService
let user: TestUser
let boardId: string
let now = Date.now()
const clock = { now: () => now }

beforeAll(async () => {
  service = await startService({ workers: false, clock, debounceMs: 20 })
  user = await service.user()
})
afterAll(async () => {
  leaveAll()
  await service.stop()
})
beforeEach(async () => {
  boardId = (await makeBoard(user)).id
})

const parts = (files: ObjectStore = service.files) => ({
  database: service.database,
  pool: service.live.pool,
  files,
  clock,
  log: service.app.log,
  historyDays: { free: 0, pro: 0 },
})
const uploaded = async (): Promise<string> => (await upload(service, user, boardId)).body.image_key
const isThere = async (key: string) => (await service.files.head(key)) !== null
/** A day passes, and the sweeper goes round. */
async function days(count: number, files?: ObjectStore) {
  for (let day = 0; day < count; day += 1) {
    now += dayMs
    await reclaimFiles(parts(files))
  }
}
const used = async () => (await user.api.get('/me')).body.storage.used
const agree = async () => expect((await verifyFiles(service.database, service.files)).differences).toEqual([])

test('[RC1] an upload that nothing refers to goes after 30 days, with its smaller pictures and its place in the quota', async () => {
  const before = await used()
  const large = await picture(500, 300).png().toBuffer()
  const key = (await upload(service, user, boardId, large)).body.image_key
  expect((await read(service, user, `${key}?w=160`)).status).toBe(200)
  await days(29)
  expect((await read(service, user, key)).status).toBe(200)
  await days(3)
  expect((await read(service, user, key)).status).toBe(404)
  expect((await storedKeys(service)).filter((one) => one.includes(key))).toEqual([])
  expect(await used()).toBe(before)
  expect(await service.admin`select from images where image_key = ${key}`).toHaveLength(0)
  await agree()
})

test('[RC2] what a card refers to stays: by each field, in what only an editor knows, and in the trash', async () => {
  const keys = await Promise.all(Array.from({ length: 9 }, uploaded))
  const [image, file, poster, nested, linked, embedded, formatted, trashed, unused] = keys
  await user.api.post(`/boards/${boardId}/cards`, {
    cards: [
      { kind: 'image', image_key: image },
      { kind: 'pdf', file_key: file },
      { kind: 'video', poster_key: poster },
    ],
  })
  const other = await makeBoard(user)
  await user.api.post(`/boards/${other.id}/cards`, { kind: 'image', image_key: trashed })
  await user.api.delete(`/boards/${other.id}`)
  const editor = await openEditor(service.url, { boardId, token: user.token })
  editor.document.transact(() => {
    const card = new Y.Map<unknown>()
    card.set('kind', 'grid')
    const body = new Y.Text('words')
    body.insertEmbed(0, { picture: embedded })
    body.format(2, 2, { link: `/api/v1/images/${formatted}` })
    card.set('body', body)
    card.set('grid', { rows: [[{ picture: nested }]] })
    const content = new Y.XmlFragment()
    const picture = new Y.XmlElement('img')
    picture.setAttribute('src', `https://cork.example/api/v1/images/${linked}?w=320`)
    content.insert(0, [picture])
    card.set('content', content)
    editor.document.getMap('cards').set('grid-card', card)
  })
  await until(() => !editor.provider.hasUnsyncedChanges, 'the edit is committed')
  await days(35)
  for (const key of [image, file, poster, nested, linked, embedded, formatted, trashed])
    expect([key, await isThere(key!)]).toEqual([key, true])
  expect(await isThere(unused!)).toBe(false)
  await agree()
})

test('[RC3] 30 days after the last reference went the file goes; a reference that comes back keeps it', async () => {
  const [gone, back] = [await uploaded(), await uploaded()]
  const { body } = await user.api.post(`/boards/${boardId}/cards`, {
    cards: [
      { kind: 'image', image_key: gone },
      { kind: 'image', image_key: back },
    ],
  })
  await days(40)
  for (const card of body.cards)
    await user.api.patch(`/boards/${boardId}/cards/${card.id}`, { image_key: null })
  await days(29)
  expect([await isThere(gone), await isThere(back)]).toEqual([true, true])
  await user.api.patch(`/boards/${boardId}/cards/${body.cards[1].id}`, { image_key: back })
  await days(3)
  expect([await isThere(gone), await isThere(back)]).toEqual([false, true])
})

test('[RC3] a removed card keeps its file for as long as it can be restored', async () => {
  const key = await uploaded()
  const { body } = await user.api.post(`/boards/${boardId}/cards`, { kind: 'image', image_key: key })
  await days(35)
  await service.admin`update card_index set updated_at = updated_at` // nothing of this is an edit
  const removed = await user.api.delete(`/boards/${boardId}/cards/${body.cards[0].id}`)
  expect(removed.status).toBe(200)
  await service.admin`update removed_cards set removed_at = ${new Date(now)} where board_id = ${boardId}`
  await days(31)
  expect(await isThere(key)).toBe(true)
  await days(31)
  expect(await isThere(key)).toBe(false)
})

/** An editor makes a card with this file. */
async function nameOnBoard(key: string, place: { boardId: string; token: string }): Promise<void> {
  const editor = await openEditor(service.url, place)
  editor.document.transact(() => {
    const card = new Y.Map<unknown>([
      ['kind', 'image'],
      ['image_key', key],
    ])
    card.set('body', new Y.Text())
    editor.document.getMap('cards').set('named', card)
  })
  await until(() => !editor.provider.hasUnsyncedChanges, 'the edit is committed')
}

test('[RC8] a file that moved to another workspace leaves the first one after 30 days, and stays in the other', async () => {
  const owner = await service.user()
  await service.member(owner.workspaceId, user, 'editor')
  const other = await makeBoard(owner)
  const key = await uploaded()
  const usedBefore = await used()
  const { body } = await user.api.post(`/boards/${boardId}/cards`, { kind: 'image', image_key: key })
  const card_ids = [body.cards[0].id]
  await user.api.post(`/boards/${boardId}/cards/move`, { to_board_id: other.id, card_ids })
  await days(29)
  expect(await service.admin`select from images where image_key = ${key}`).toHaveLength(2)
  await days(4)
  expect(await service.admin`select workspace_id from images where image_key = ${key}`).toEqual([
    { workspace_id: owner.workspaceId },
  ])
  expect(await used()).toBeLessThan(usedBefore)
  expect((await read(service, owner, key)).status).toBe(200)
  await agree()
  await user.api.delete(`/boards/${other.id}/cards/${card_ids[0]}`)
  await service.admin`update removed_cards set removed_at = ${new Date(now)} where board_id = ${other.id}`
  await days(65)
  expect(await isThere(key)).toBe(false)
  await agree()
})

test('[RC8] a file that a board of a workspace without it names stays where it is', async () => {
  const stranger = await service.user()
  const other = await makeBoard(stranger)
  const key = await uploaded()
  await nameOnBoard(key, { boardId: other.id, token: stranger.token })
  await days(35)
  expect((await read(service, user, key)).status).toBe(200)
  expect((await read(service, stranger, key)).status).toBe(404)
})

test('[RC9] a board that cannot be read holds up no other, and the files of its workspace stay until it can', async () => {
  const [stranger, key] = [await service.user(), await uploaded()]
  const other = await makeBoard(stranger)
  const orphan = (await upload(service, stranger, other.id)).body.image_key
  await user.api.post(`/boards/${boardId}/cards`, { kind: 'image', image_key: key })
  const broken = (await makeBoard(user)).id
  await user.api.post(`/boards/${broken}/cards`, { kind: 'note', title: 'a card' })
  const [row] = await service.admin`select updates from board_updates where board_id = ${broken}`
  const write = (updates: Buffer) =>
    service.admin`update board_updates set updates = ${updates} where board_id = ${broken}`
  await write(Buffer.of(0))
  await user.api.delete(`/boards/${boardId}`)
  await service.admin`delete from boards where id = ${boardId}`
  await days(35)
  expect([await isThere(orphan), await isThere(key)]).toEqual([false, true])
  await write(row!['updates'])
  await days(33)
  expect(await isThere(key)).toBe(false)
})

test('[RC4] a file that is condemned is gone for everybody, and comes back when a reference had slipped in', async () => {
  const key = await uploaded()
  await reclaimFiles(parts())
  now += 30 * dayMs
  await reclaimFiles(parts())
  expect((await read(service, user, key)).status).toBe(404)
  expect(await isThere(key)).toBe(true)
  // By an editor, who asks nobody.
  const editor = await openEditor(service.url, { boardId, token: user.token })
  editor.document.transact(() => {
    const card = new Y.Map<unknown>([
      ['kind', 'image'],
      ['image_key', key],
    ])
    card.set('body', new Y.Text())
    editor.document.getMap('cards').set('late', card)
  })
  await until(() => !editor.provider.hasUnsyncedChanges, 'the edit is committed')
  await days(2)
  expect((await read(service, user, key)).status).toBe(200)
})

test('[RC10] a row that has just been condemned keeps the bytes when the row of another workspace goes', async () => {
  const owner = await service.user()
  const other = await makeBoard(owner)
  const key = await uploaded()
  await service.admin`
    insert into images (image_key, workspace_id, board_id, content_type, bytes)
    select image_key, ${owner.workspaceId}, ${other.id}, content_type, bytes from images where image_key = ${key}`
  await reclaimFiles(parts())
  const earlier = new Date(now - dayMs)
  await service.admin`update images set created_at = ${earlier} where image_key = ${key}`
  await service.admin`
    update images set unreferenced_since = ${earlier}
    where image_key = ${key} and workspace_id = ${user.workspaceId}`
  await days(30)
  expect(await service.admin`select workspace_id, condemned_at from images where image_key = ${key}`).toEqual(
    [{ workspace_id: owner.workspaceId, condemned_at: new Date(now) }],
  )
  await nameOnBoard(key, { boardId: other.id, token: owner.token })
  await days(2)
  expect((await read(service, owner, key)).status).toBe(200)
})

test('[RC5] a reclaim that breaks off between bytes and row is finished by the next round', async () => {
  const key = await uploaded()
  const dying: ObjectStore = {
    ...service.files,
    async remove(keys) {
      await service.files.remove(keys)
      throw new Error('the process ended')
    },
  }
  await reclaimFiles(parts())
  now += 30 * dayMs
  await days(2, dying)
  expect([
    await isThere(key),
    (await service.admin`select from images where image_key = ${key}`).length,
  ]).toEqual([false, 1])
  await agree()
  await days(1)
  expect(await service.admin`select from images where image_key = ${key}`).toHaveLength(0)
})

test('[UP13] uploads that end in between are cleared away when they expire, with their bytes, parts and places', async () => {
  const before = [await used(), await storedKeys(service)]
  const begun = await user.api.post(`/uploads/multipart?board=${boardId}`, { bytes: 1000 })
  const session = { board_id: boardId, key: begun.body.key, upload_id: begun.body.upload_id }
  const sent = await sendParts(user, session, pngOf(1000), begun.body.part_size, [1])
  const completed = await user.api.post(`/uploads/multipart?board=${boardId}`, { bytes: 1000 })
  const second = { board_id: boardId, key: completed.body.key, upload_id: completed.body.upload_id }
  const parts2 = await sendParts(user, second, pngOf(1000), completed.body.part_size, [1])
  await user.api.post('/uploads/multipart/complete', { ...second, parts: parts2 })
  // A completion that died after the store, and an upload that died before its row.
  await service.files.complete(session.key, session.upload_id, [
    { partNumber: 1, etag: sent[0]!.etag.replaceAll('"', '') },
  ])
  const dead = `f${randomBytes(18).toString('base64url')}.png`
  await service.admin`
    insert into uploads (image_key, workspace_id, board_id, content_type, bytes, expires_at)
    values (${dead}, ${user.workspaceId}, ${boardId}, 'image/png', 5000, ${new Date(now + 1000)})`
  await service.files.put(dead, (await import('node:stream')).Readable.from([Buffer.alloc(5000)]), {
    bytes: 5000,
    contentType: 'image/png',
  })
  await endUploads(parts())
  expect(await isThere(session.key)).toBe(true)
  now += 25 * 3_600_000
  await endUploads(parts())
  expect([await used(), await storedKeys(service)]).toEqual([
    (before[0] as number) + 1000,
    [...(before[1] as string[]), second.key].toSorted((a, b) => (a < b ? -1 : 1)),
  ])
  expect(await service.admin`select from uploads`).toHaveLength(0)
  await agree()
})

test('[UP13] one upload that cannot be ended holds up no other', async () => {
  const keys = ['a', 'b', 'c'].map((letter) => `f${letter.repeat(24)}.png`)
  for (const key of keys)
    await service.admin`
      insert into uploads (image_key, workspace_id, board_id, content_type, bytes, expires_at)
      values (${key}, ${user.workspaceId}, ${boardId}, 'image/png', 10, ${new Date(now - 1000)})`
  const failing: ObjectStore = {
    ...service.files,
    remove: (some) =>
      some[0] === keys[1] ? Promise.reject(new Error('not now')) : service.files.remove(some),
  }
  await endUploads(parts(failing))
  expect((await service.admin`select image_key from uploads`).map((row) => row['image_key'])).toEqual([
    keys[1],
  ])
  await endUploads(parts())
  expect(await service.admin`select from uploads`).toHaveLength(0)
})
