/** Cards and their files: which keys a card may name, what it tells of its file, and what moves along with it. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { digest, picture, png, pngOf, read, upload } from './file.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import type { TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, succeeded, type Shown } from './board.ts'

const { service, user } = await serviceOfFile({
  workers: false,
  debounceMs: 20,
  config: { storageBytes: { free: 100_000, pro: 10 ** 9 } },
})
const board = await makeBoard(user)
/** Of another owner, in whose workspace `user` is an editor, and a member of it who sees nothing else. */
let owner: TestUser
let reader: TestUser
let other: Shown

async function otherWorkspace(tier: 'free' | 'pro' = 'pro') {
  owner = await service.user({ tier })
  reader = await service.user()
  await service.member(owner.workspaceId, user, 'editor')
  await service.member(owner.workspaceId, reader, 'viewer')
  other = await makeBoard(owner)
}

const uploaded = async (bytes = png): Promise<string> =>
  (await upload(service, user, board.id, bytes)).body.image_key
const used = async (who: TestUser) => (await who.api.get('/me')).body.storage.used
const rowsOf = (key: string) =>
  service.admin`
    select workspace_id, board_id, bytes::integer as bytes, created_by from images where image_key = ${key} order by created_at`
const move = (from: Shown, to: Shown, ids: string[]) =>
  user.api.post(`/boards/${from.id}/cards/move`, { to_board_id: to.id, card_ids: ids })

test('[FR10] an image card tells width, height and bytes of its file wherever a card is answered', async () => {
  const key = await uploaded()
  const figures = { width: 40, height: 30, bytes: png.length }
  const path = `/boards/${board.id}/cards`
  const sent = { kind: 'image', image_key: key, x: 0, y: 0, width: 7, height: 7, bytes: 7 }
  const [card] = succeeded(await user.api.post(path, sent)).cards
  expect(card).toMatchObject({ ...figures, w: 280, h: 180 })
  const listed = async (who = user) =>
    succeeded(await who.api.get(path)).cards.find((one: Shown) => one.id === card.id)
  expect(await listed()).toMatchObject(figures)
  expect(succeeded(await user.api.get(`${path}/${card.id}`)).card).toMatchObject(figures)
  expect(succeeded(await user.api.patch(`${path}/${card.id}`, { alt: 'x' })).card).toMatchObject(figures)
  const patched = await user.api.patch(path, { cards: [{ id: card.id, alt: 'y' }] })
  expect(succeeded(patched).cards[0]).toMatchObject(figures)
  const second = await makeBoard(user)
  expect(succeeded(await move(board, second, [card.id])).cards[0]).toMatchObject(figures)
  expect(succeeded(await move(second, board, [card.id])).cards[0]).toMatchObject(figures)
  // Neither another kind of card, nor another image.
  const [pdf, note] = succeeded(
    await user.api.post(path, { cards: [{ kind: 'pdf', image_key: key }, { kind: 'image' }] }),
  ).cards
  for (const field of ['width', 'height', 'bytes'])
    expect([pdf[field], note[field]]).toEqual([undefined, undefined])
  const removed = succeeded(await user.api.delete(`${path}/${card.id}`)).card
  expect(removed).toMatchObject(figures)
  expect(succeeded(await user.api.post(path, removed)).cards[0]).toMatchObject(figures)
})

test('[FR10] an image without a size has null, and one that the reader may not see tells nothing', async () => {
  const cut = await uploaded(png.subarray(0, 20))
  const path = `/boards/${board.id}/cards`
  const [card] = succeeded(await user.api.post(path, { kind: 'image', image_key: cut })).cards
  const unsized = { width: null, height: null, bytes: 20 }
  expect(card).toMatchObject(unsized)
  expect(succeeded(await user.api.get(`${path}/${card.id}`)).card).toMatchObject(unsized)
  const guest = await service.user()
  const mine = await makeBoard(user)
  await service.share(mine.id, guest, 'viewer')
  await makeCard(user, mine.id, { kind: 'image', image_key: cut }) // a file of another board
  const [seen] = succeeded(await guest.api.get(`/boards/${mine.id}/cards`)).cards
  const alone = succeeded(await guest.api.get(`/boards/${mine.id}/cards/${seen.id}`)).card
  for (const shown of [seen, alone]) {
    expect(shown.image_key).toBe(cut)
    for (const field of ['width', 'height', 'bytes']) expect(shown).not.toHaveProperty(field)
  }
})

test('[UP14] a card that moves takes its files along: a row of their own, charged, with an event', async () => {
  await otherWorkspace()
  const bytes = await picture(500, 20).png().toBuffer()
  const key = await uploaded(bytes)
  const card = await makeCard(user, board.id, { kind: 'image', image_key: key })
  expect((await read(service, reader, key)).status).toBe(404)
  const before = await used(user)
  expect(succeeded(await move(board, other, [card.id])).cards[0]).toMatchObject({ width: 500, height: 20 })
  const got = await read(service, reader, key)
  expect([got.status, digest(got.bytes)]).toEqual([200, digest(bytes)])
  expect(succeeded(await reader.api.get(`/boards/${other.id}/cards`)).cards[0]).toMatchObject({ width: 500 })
  expect(await rowsOf(key)).toMatchObject([
    { workspace_id: user.workspaceId, board_id: board.id },
    { workspace_id: owner.workspaceId, board_id: other.id, bytes: bytes.length, created_by: user.userId },
  ])
  expect([await used(user), await used(owner)]).toEqual([before, bytes.length])
  expect(succeeded(await owner.api.get('/images')).images).toMatchObject([
    { image_key: key, board_id: other.id },
  ])
  const events = await service.admin`
    select board_id, origin from events where type = 'image.created' and resource_id = ${key} order by id`
  expect(events).toEqual([
    { board_id: board.id, origin: 'api' },
    { board_id: other.id, origin: 'api' },
  ])
  // There and back, and there again: nothing more.
  succeeded(await move(other, board, [card.id]))
  succeeded(await move(board, other, [card.id]))
  expect(await rowsOf(key)).toHaveLength(2)
})

test('[UP14] files that only an editor knows of come along, those that the mover cannot read do not', async () => {
  await otherWorkspace()
  const stranger = await service.user()
  const foreign = (await upload(service, stranger, (await makeBoard(stranger)).id)).body.image_key
  const nested = await uploaded()
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  editor.document.transact(() => {
    const card = new Y.Map<unknown>([
      ['kind', 'grid'],
      ['image_key', foreign],
    ])
    card.set('body', new Y.Text())
    card.set('grid', [{ picture: nested }])
    editor.document.getMap('cards').set('grid-of-two', card)
  })
  await until(() => !editor.provider.hasUnsyncedChanges, 'the edit is committed')
  succeeded(await move(board, other, ['grid-of-two']))
  expect((await read(service, reader, nested)).status).toBe(200)
  expect((await read(service, reader, foreign)).status).toBe(404)
  expect(await rowsOf(foreign)).toHaveLength(1)
})

test('[UP14] a card that is posted, changed, matched or restored brings its files too', async () => {
  await otherWorkspace()
  const path = `/boards/${other.id}/cards`
  const keys = await Promise.all(Array.from({ length: 6 }, () => uploaded()))
  const posted = { kind: 'image', image_key: keys[0], x: 0, y: 0 }
  const [card] = succeeded(await user.api.post(path, posted)).cards
  succeeded(await user.api.patch(`${path}/${card.id}`, { image_key: keys[1] }))
  succeeded(await user.api.patch(path, { cards: [{ id: card.id, poster_key: keys[2] }] }))
  const identifiers = [{ scope: 's', value: 'v' }]
  for (const image_key of [keys[3], keys[4]])
    succeeded(await user.api.post(path, { kind: 'image', image_key, identifiers, on_conflict: 'identifier' }))
  const kept = await makeCard(user, board.id, { kind: 'image', image_key: keys[5] })
  const { restore_token } = succeeded(await user.api.delete(`/boards/${board.id}/cards/${kept.id}`)).card
  succeeded(await user.api.post(path, { kind: 'image', restore_token }))
  for (const key of keys) expect((await read(service, reader, key)).status).toBe(200)
  expect(await used(owner)).toBe(6 * png.length)
  // A write that finds no card brings nothing.
  const unused = await uploaded()
  expect((await user.api.patch(`${path}/none`, { image_key: unused })).status).toBe(404)
  expect(await rowsOf(unused)).toHaveLength(1)
})

test('[UP15] over the storage of the owner nothing moves and nothing is made: 402 with the numbers', async () => {
  await otherWorkspace('free')
  const [small, large] = [await uploaded(pngOf(60_000)), await uploaded(pngOf(40_001))]
  const path = `/boards/${other.id}/cards`
  const card = await makeCard(user, board.id, { kind: 'image', image_key: large })
  const [held] = succeeded(await user.api.post(path, { kind: 'image', image_key: small })).cards
  for (const refused of [
    await move(board, other, [card.id]),
    await user.api.post(path, { kind: 'image', image_key: large }),
    await user.api.patch(`${path}/${held.id}`, { image_key: large }),
    await user.api.patch(path, { cards: [{ id: held.id, image_key: large }] }),
  ]) {
    expect([refused.status, (refused.body as any).code]).toEqual([402, 'limit_reached'])
    expect((refused.body as any).error).toMatch(/100000 bytes, 60000 of them.* 40001/)
  }
  expect(
    succeeded(await user.api.get(`/boards/${board.id}/cards`)).cards.map(({ id }: Shown) => id),
  ).toContain(card.id)
  expect(succeeded(await user.api.get(path)).cards).toHaveLength(1)
  expect([await used(owner), (await rowsOf(large)).length]).toEqual([60_000, 1])
})

test('[UP15] moves and uploads that race for the last bytes of an owner never take more than there are', async () => {
  await otherWorkspace('free')
  const keys = await Promise.all(Array.from({ length: 8 }, () => uploaded(pngOf(30_000))))
  const cards = await Promise.all(
    keys.map((key) => makeCard(user, board.id, { kind: 'image', image_key: key })),
  )
  const answers = await Promise.all([
    ...cards.map((card) => move(board, other, [card.id])),
    ...keys.map(() => upload(service, user, other.id, pngOf(30_000))),
  ])
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status < 300)).toHaveLength(3)
  expect(statuses.filter((status) => status === 402)).toHaveLength(13)
  expect(await used(owner)).toBe(90_000)
})

test('[UP12] a card that names a file its writer cannot read is 404', async () => {
  const stranger = await service.user()
  const { id: boardId } = await makeBoard(user)
  const { body } = await upload(service, stranger, (await makeBoard(stranger)).id)
  const own = await upload(service, user, boardId)
  const path = `/boards/${boardId}/cards`
  for (const field of ['image_key', 'file_key', 'poster_key']) {
    const refused = await user.api.post(path, {
      cards: [{ kind: 'note' }, { kind: 'video', [field]: body.image_key }],
    })
    expect([refused.status, refused.body.error]).toEqual([404, `cards[1].${field}: ${noSuchFile}`])
  }
  const made = await user.api.post(path, {
    cards: [{ kind: 'image' }, { kind: 'image', image_key: own.body.image_key }],
  })
  expect(made.status).toBe(201)
  const [card] = made.body.cards
  expect((await user.api.patch(`${path}/${card.id}`, { image_key: body.image_key })).status).toBe(404)
  expect((await user.api.patch(path, { cards: [{ id: card.id, image_key: body.image_key }] })).status).toBe(
    404,
  )
  expect((await user.api.patch(`${path}/${card.id}`, { image_key: own.body.image_key })).status).toBe(200)
  expect((await user.api.get(path)).body.cards.map((one: any) => one.image_key)).toEqual([
    own.body.image_key,
    own.body.image_key,
  ])
})

const noSuchFile =
  "this file does not exist, or you can't read it. Upload it first (POST /uploads) or leave the field out."
const nobodysKey = () => `f${randomBytes(18).toString('base64url')}.png`
async function foreignKey(): Promise<string> {
  const stranger = await service.user()
  return (await upload(service, stranger, (await makeBoard(stranger)).id)).body.image_key
}

test('[UP40] a key of no file and one that the writer cannot read are the same 404, wherever a card names one anew', async () => {
  const board = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  const identifiers = [{ scope: 'up', value: '40' }]
  const on_conflict = 'identifier'
  const [card, second] = (
    await user.api.post(path, { cards: [{ kind: 'image', identifiers }, { kind: 'image' }] })
  ).body.cards
  const before = (await user.api.get(path)).body.cards
  const refusals = async (field: string, key: string) => {
    const named = { [field]: key }
    const answers = [
      ['', await user.api.post(path, { kind: 'image', ...named })],
      ['', await user.api.post(path, { kind: 'image', x: 0, y: 0, ...named })],
      ['cards[1].', await user.api.post(path, { cards: [{ kind: 'note' }, { kind: 'image', ...named }] })],
      ['', await user.api.patch(`${path}/${card.id}`, { title: 'x', ...named })],
      [
        'cards[1].',
        await user.api.patch(path, {
          cards: [
            { id: second.id, title: 'x' },
            { id: card.id, ...named },
          ],
        }),
      ],
      ['', await user.api.post(path, { kind: 'image', on_conflict, identifiers, ...named })],
      [
        'cards[1].',
        await user.api.post(path, {
          on_conflict,
          cards: [
            { kind: 'image', identifiers },
            { kind: 'image', ...named },
          ],
        }),
      ],
    ] as const
    for (const [where, { status, body }] of answers)
      expect([status, body.code, body.error]).toEqual([404, 'not_found', `${where}${field}: ${noSuchFile}`])
    return answers.map(([, { status, text }]) => [status, text])
  }
  for (const field of ['image_key', 'file_key', 'poster_key'])
    expect(await refusals(field, nobodysKey())).toEqual(await refusals(field, await foreignKey()))
  expect((await user.api.get(path)).body.cards).toEqual(before)
})

test('[UP41] a dead key that a card has already may be sent again; to another card it may not go', async () => {
  const identifiers = [{ scope: 'up', value: '41' }]
  for (const key of [nobodysKey(), await foreignKey()]) {
    const board = await makeBoard(user)
    const path = `/boards/${board.id}/cards`
    const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
    editor.addCard('has', { kind: 'image', image_key: key, identifiers })
    editor.addCard('none', { kind: 'image' })
    await editor.saved()
    const named = { image_key: key, title: 'again' }
    const patched = await user.api.patch(`${path}/has`, named)
    expect([patched.status, patched.body.card]).toMatchObject([200, named])
    const two = {
      cards: [
        { id: 'has', ...named },
        { id: 'none', ...named },
      ],
    }
    expect(await user.api.patch(path, two)).toMatchObject({
      status: 404,
      body: { error: `cards[1].image_key: ${noSuchFile}` },
    })
    expect((await user.api.patch(path, { cards: two.cards.slice(0, 1) })).status).toBe(200)
    expect((await user.api.patch(`${path}/has`, { poster_key: key })).status).toBe(404)
    const matched = await user.api.post(path, {
      kind: 'image',
      on_conflict: 'identifier',
      identifiers,
      ...named,
    })
    expect([matched.status, matched.body]).toMatchObject([
      201,
      { updated: 1, cards: [{ id: 'has', ...named }] },
    ])
    expect((await user.api.patch(`${path}/has`, { image_key: null })).status).toBe(200)
    expect((await user.api.patch(`${path}/has`, named)).status).toBe(404)
    expect((await user.api.delete(`${path}/has`)).status).toBe(200)
  }
  leaveAll()
})

test('[UP42] a removed card comes back with its dead keys, and with any that are sent along', async () => {
  for (const key of [nobodysKey(), await foreignKey()]) {
    const board = await makeBoard(user)
    const path = `/boards/${board.id}/cards`
    const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
    editor.addCard('card', { kind: 'image', image_key: key })
    await editor.saved()
    const { card } = (await user.api.delete(`${path}/card`)).body
    expect(card).toMatchObject({ image_key: key, restore_token: expect.any(String) })
    for (const extra of [{}, { poster_key: nobodysKey() }, { on_conflict: 'identifier' }]) {
      const { status, body } = await user.api.post(path, { ...card, ...extra })
      expect([status, body.cards[0].image_key]).toEqual([201, key])
    }
    expect((await user.api.post(path, { ...card, restore_token: undefined })).status).toBe(404)
    expect(
      (await user.api.post(path, { cards: [card, { kind: 'image', image_key: key }] })).body,
    ).toMatchObject({
      error: `cards[1].image_key: ${noSuchFile}`,
    })
  }
  leaveAll()
})
