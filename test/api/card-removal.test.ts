/** Removed cards, and how they come back. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { openEditor, until, type Editor } from '../support/editor.ts'
import type { TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { cardsPath, findCard, makeBoard, makeCard, makeCards, succeeded, type Shown } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false })

const open = (board: Shown): Promise<Editor> =>
  openEditor(service.url, { boardId: board.id, token: user.token })

test('[C26] removing a card gives it back whole, and naming the way to restore it; a second time is 404', async () => {
  const board = await makeBoard(user)
  const card = await makeCard(user, board.id, {
    title: 'a',
    body: 'b',
    props: { a: 1 },
    identifiers: [{ scope: 's', value: 'v' }],
  })
  const path = `${cardsPath(board)}/${card.id}`
  const { status, body } = await user.api.delete(path)
  expect(status).toBe(200)
  expect(body).toEqual({
    deleted: true,
    card: { ...card, restore_token: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    restore_with: expect.stringContaining(`/boards/${board.id}/cards`),
    live: true,
  })
  expect(await findCard(user, board, card.id)).toBeUndefined()
  expect((await user.api.get(`${cardsPath(board)}?source=index`)).body.cards).toEqual([])
  expect((await user.api.delete(path)).status).toBe(404)
})

test('[C27] a bulk removal gives back every card in full, each once, and names those that are not there', async () => {
  const board = await makeBoard(user)
  const made = await makeCards(user, board.id, [{ title: 'a' }, { title: 'b' }, { title: 'c' }])
  const ids = made.map(({ id }) => id)
  const { status, body } = await user.api.delete(cardsPath(board), {
    card_ids: [ids[2], ids[0], 'gone', ids[0], 'a/b'],
  })
  expect(status).toBe(200)
  expect(body).toMatchObject({ board_id: board.id, deleted: 2, not_found: ['gone', 'a/b'], live: true })
  expect(body.cards.map(({ restore_token, ...card }: Shown) => [typeof restore_token, card])).toEqual([
    ['string', made[2]],
    ['string', made[0]],
  ])
  expect((await user.api.get(cardsPath(board))).body.total).toBe(1)
  const none = await user.api.delete(cardsPath(board), { card_ids: ['gone'] })
  expect([none.status, none.body.deleted, none.body.not_found]).toEqual([200, 0, ['gone']])
  for (const card_ids of [[], Array.from({ length: 1001 }, (_, n) => `${n}`), [5], 'x', undefined])
    expect((await user.api.delete(cardsPath(board), { card_ids })).status).toBe(400)
})

test('[C28] a card posted back is on the board again under a new id; without its token the posted fields alone come back', async () => {
  const board = await makeBoard(user)
  const fields = {
    title: 'a',
    body: 'b',
    html: '<p>b</p>',
    color: 'red',
    x: 5,
    y: 7,
    w: 300,
    h: 200,
    z: 3,
    rotation: 10,
    props: { a: 1 },
  }
  const card = await makeCard(user, board.id, fields)
  const { card: removed } = (await user.api.delete(`${cardsPath(board)}/${card.id}`)).body
  const { restore_token, ...plain } = removed
  for (const posted of [removed, plain, { ...removed, restore_token: restore_token.toUpperCase() }]) {
    const back = await user.api.post(cardsPath(board), posted)
    expect(back.status).toBe(201)
    const [restored] = back.body.cards
    expect(restored).toEqual({
      ...card,
      id: restored.id,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect(restored.id).not.toBe(card.id)
    expect(await findCard(user, board, restored.id, '&include=props,identifiers')).toEqual(restored)
  }
})

/** A card as the canvas app keeps it, with all that the API knows nothing of. */
async function ownedByEditor(board: Shown): Promise<{ editor: Editor; raw: any }> {
  const editor = await open(board)
  const content = new Y.XmlFragment()
  const card = editor.addCard('own', {
    kind: 'grid',
    title: 'Grid',
    body: 'some words',
    content,
    html: '<i>some words</i>',
    rotation: 7,
    w: 500,
  })
  const paragraph = new Y.XmlElement('paragraph')
  paragraph.setAttribute('align', 'left')
  content.insert(0, [paragraph])
  const bold = new Y.XmlText()
  paragraph.insert(0, [bold])
  bold.insert(0, 'some words', { bold: true })
  const grid = new Y.Map<unknown>()
  card.set('grid', grid)
  grid.set('rows', Y.Array.from<any>([1, { a: [2, 3] }]))
  card.set('adjust', { contrast: 1.5, curve: [0, 0.5, 1] })
  card.set('later', [{ deep: { deeper: true } }])
  await editor.saved()
  const raw = (await findCard(user, board, 'own', '&include=raw'))!['raw']
  expect(raw).toMatchObject({
    grid: { rows: [1, { a: [2, 3] }] },
    content: '<paragraph align="left"><bold>some words</bold></paragraph>',
  })
  return { editor, raw }
}

test('[C29] with its restore_token a card of a kind that only the app makes comes back with all that the editor owns', async () => {
  const board = await makeBoard(user)
  const { editor, raw } = await ownedByEditor(board)
  const { card } = (await user.api.delete(`${cardsPath(board)}/own`)).body
  expect(card).toMatchObject({ kind: 'grid', title: 'Grid', w: 500 })
  await until(() => editor.cards.size === 0, 'the card is gone for the editor')
  const back = succeeded(await user.api.post(cardsPath(board), card)).cards[0]
  expect((await findCard(user, board, back.id, '&include=raw'))!['raw']).toEqual(raw)
  await until(() => editor.cards.has(back.id), 'the editor has it again')
  const shared = editor.cards.get(back.id)!
  expect(shared.get('content')).toBeInstanceOf(Y.XmlFragment)
  expect(shared.get('grid')).toBeInstanceOf(Y.Map)
  expect(shared.get('body')).toBeInstanceOf(Y.Text)
  ;(shared.get('body') as Y.Text).insert(0, 'typed ')
  await editor.saved()
  expect(await findCard(user, board, back.id)).toMatchObject({ body: 'typed some words' })

  const { restore_token: _token, ...plain } = card
  expect((await user.api.post(cardsPath(board), plain)).status).toBe(400)
  const asNote = succeeded(await user.api.post(cardsPath(board), { ...plain, kind: 'note' })).cards[0]
  expect((await findCard(user, board, asNote.id, '&include=raw'))!['raw']).not.toHaveProperty('grid')
})

test('[C30] a restore takes what is posted over what was kept, on any board; a new body removes the old content', async () => {
  const [from, to] = [await makeBoard(user), await makeBoard(user)]
  await ownedByEditor(from)
  const { card } = (await user.api.delete(`${cardsPath(from)}/own`)).body
  const changed = succeeded(
    await user.api.post(cardsPath(to), {
      ...card,
      kind: 'note',
      title: null,
      body: 'other',
      rotation: 0,
      x: 9,
      y: 9,
    }),
  ).cards[0]
  expect(changed).toMatchObject({ kind: 'note', title: null, body: 'other', rotation: 0, x: 9, y: 9, w: 500 })
  const { raw } = (await findCard(user, to, changed.id, '&include=raw'))!
  expect(raw).toMatchObject({ grid: { rows: [1, { a: [2, 3] }] } })
  expect(raw).not.toHaveProperty('content')
  const { restore_token } = card
  const little = succeeded(await user.api.post(cardsPath(to), { kind: 'grid', restore_token })).cards[0]
  expect(little).toMatchObject({ kind: 'grid', title: 'Grid', body: 'some words', w: 500, rotation: 7 })
  const refused = await user.api.post(cardsPath(to), { kind: 'palette', restore_token })
  expect([refused.status, refused.body.error]).toEqual([400, expect.stringMatching(/kind.*note.*grid/)])
})

test('[C31] with a token a group that is gone is dropped; a token that is not the caller’s, unknown or too old is 400', async () => {
  const board = await makeBoard(user)
  const editor = await open(board)
  editor.groups.set('g', new Y.Map<unknown>(Object.entries({ name: 'Group' })))
  editor.addCard('in-group', { group_id: 'g' })
  await editor.saved()
  const { card } = (await user.api.delete(`${cardsPath(board)}/in-group`)).body
  expect(card.group_id).toBe('g')
  expect(succeeded(await user.api.post(cardsPath(board), card)).cards[0].group_id).toBe('g')
  editor.groups.delete('g')
  await editor.saved()
  expect(succeeded(await user.api.post(cardsPath(board), card)).cards[0]).not.toHaveProperty('group_id')
  const { restore_token, ...plain } = card
  expect((await user.api.post(cardsPath(board), plain)).status).toBe(400)

  const stranger = await service.user()
  const theirs = await makeBoard(stranger)
  const attempts: [who: TestUser, board: Shown, token: string][] = [
    [stranger, theirs, restore_token],
    [user, board, '00000000-0000-4000-8000-000000000000'],
    [user, board, 'nonsense'],
  ]
  for (const [who, board, token] of attempts) {
    const answer = await who.api.post(cardsPath(board), { kind: 'note', restore_token: token })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^restore_token/)])
  }
  await service.admin`update removed_cards set removed_at = now() - interval '30 days 1 minute'`
  expect((await user.api.post(cardsPath(board), card)).status).toBe(400)
})
