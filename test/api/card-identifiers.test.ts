/** Identifiers that are unique on a board, and cards that are written by them. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type * as Y from 'yjs'
import { verifyBoard } from '../../collab/log/verify.ts'
import { boundingBox } from '../../core/layout/box.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { listCards, makeBoard, makeCard, makeCards, succeeded, type Shown } from './board.ts'

let testDatabase: TestDatabase
let service: TestService
let elsewhere: TestService
let user: TestUser

beforeAll(async () => {
  testDatabase = await cloneDatabase()
  service = await startService({ testDatabase, config: { freeCardCap: 3 } })
  elsewhere = await startService({ testDatabase, config: { freeCardCap: 3 } })
  user = await service.user()
})

afterEach(() => leaveAll())

afterAll(async () => {
  await elsewhere.stop()
  await service.stop()
  await testDatabase.drop()
})

const named = (value: string, fields: object = {}) => ({
  kind: 'note',
  identifiers: [{ scope: 's', value }],
  ...fields,
})
const at = (x: number) => ({ x, y: 0 })
const cardsPath = (boardId: string) => `/boards/${boardId}/cards`
const post = (boardId: string, cards: object[], more: object = {}, by = user) =>
  by.api.post(cardsPath(boardId), { cards, ...more })
const upsert = (boardId: string, cards: object[], more: object = {}, by = user) =>
  post(boardId, cards, { on_conflict: 'identifier', ...more }, by)
const all = (boardId: string) => listCards(user, boardId, '&include=props,identifiers')
const titles = async (boardId: string) => (await all(boardId)).map(({ title }) => title as string).sort()

test('[CM30] creating, changing or restoring a card with an identifier of another one is 409 that names it, and changes nothing', async () => {
  const { id: boardId } = await makeBoard(user)
  const [taken, other] = await makeCards(user, boardId, [named('a'), named('b')])
  const before = await all(boardId)
  const expectTaken = (answer: { status: number; body: any }) => {
    expect([answer.status, answer.body.code]).toEqual([409, 'conflict'])
    expect(answer.body.error).toContain('{"scope":"s","value":"a"}')
    expect(answer.body.error).toContain(taken!.id)
  }
  expectTaken(await post(boardId, [named('new', at(0)), named('a', at(0))]))
  expectTaken(await post(boardId, [named('a')]))
  expectTaken(await user.api.post(cardsPath(boardId), named('a', at(0))))
  expectTaken(await user.api.patch(`${cardsPath(boardId)}/${other!.id}`, named('a')))
  expect(await all(boardId)).toEqual(before)

  const removed = succeeded<any>(await user.api.delete(`${cardsPath(boardId)}/${taken!.id}`)).card
  expect((await post(boardId, [named('a', at(900))])).status).toBe(201)
  const [holder] = (await all(boardId)).filter(({ identifiers }) => identifiers[0]?.value === 'a')
  const again = await post(boardId, [{ kind: 'note', restore_token: removed.restore_token, ...at(0) }])
  expect([again.status, again.body.error]).toEqual([409, expect.stringContaining(holder!.id)])
  expect((await post(boardId, [{ ...removed, identifiers: [] }])).status).toBe(201)
  // Another board has its own.
  expect((await post((await makeBoard(user)).id, [named('a')])).status).toBe(201)
})

test('[CM31] identifiers can be kept, exchanged and given up; two cards of one request with the same are 400', async () => {
  const { id: boardId } = await makeBoard(user)
  const [a, b] = (await makeCards(user, boardId, [named('a'), named('b')])).map(({ id }) => id)
  const patch = (cards: object[]) => user.api.patch(cardsPath(boardId), { cards })
  expect((await patch([{ id: a, ...named('a'), title: 'same' }])).status).toBe(200)
  expect(
    (
      await patch([
        { id: a, ...named('b') },
        { id: b, ...named('a') },
      ])
    ).status,
  ).toBe(200)
  const twice = await patch([
    { id: a, ...named('c') },
    { id: b, ...named('c') },
  ])
  expect([twice.status, twice.body.error]).toEqual([400, expect.stringContaining('"c"')])
  const created = await post(boardId, [named('d', at(0)), named('d', at(9))])
  expect([created.status, created.body.error]).toEqual([400, expect.stringContaining('"d"')])
  expect(
    (
      await patch([
        { id: a, identifiers: [] },
        { id: b, ...named('b') },
      ])
    ).status,
  ).toBe(200)
  expect((await post(boardId, [named('a', at(0))])).status).toBe(201)
})

test('[CM32] what an editor pasted is no fault of those that are there: both can be changed, and neither given anew', async () => {
  const { id: boardId } = await makeBoard(user)
  const card = await makeCard(user, boardId, named('x'))
  const editor = await openEditor(service.url, { boardId, token: user.token })
  editor.addCard('pasted', named('x', { x: 5000 }))
  await editor.saved()
  for (const id of ['pasted', card.id])
    expect((await user.api.patch(`${cardsPath(boardId)}/${id}`, named('x', { title: id }))).status).toBe(200)
  expect((await post(boardId, [named('x', at(0))])).status).toBe(409)
  const refused = await upsert(boardId, [named('x')])
  expect(refused.status).toBe(400)
  for (const id of ['pasted', card.id]) expect(refused.body.error).toContain(id)
})

test('[CM33] what an editor did a moment ago counts', async () => {
  const { id: boardId } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId, token: user.token })
  editor.addCard('mine', named('e', { title: 'by the editor' }))
  await editor.saved()
  expect((await post(boardId, [named('e', at(0))])).status).toBe(409)
  const { body } = await upsert(boardId, [named('e', { title: 'by the API' })])
  expect(body).toMatchObject({
    created: 0,
    updated: 1,
    cards: [{ id: 'mine', title: 'by the API', created: false }],
  })
  editor.cards.delete('mine')
  await editor.saved()
  expect((await post(boardId, [named('e', at(0))])).status).toBe(201)
})

test('[CM34] with on_conflict a card that carries an identifier of an entry keeps its id and takes only what is sent', async () => {
  const { id: boardId } = await makeBoard(user)
  const identifiers = [
    { scope: 's', value: 'k1' },
    { scope: 't', value: 'k1' },
  ]
  const [known] = await makeCards(user, boardId, [
    {
      kind: 'doc',
      title: 'known',
      body: 'text',
      html: '<p>text</p>',
      x: 70,
      y: 80,
      w: 300,
      color: 'red',
      props: { a: 1 },
      identifiers,
    },
  ])
  const { status, body } = await upsert(boardId, [named('k1', { kind: 'doc', title: 'new' })])
  expect(status).toBe(201)
  expect(body).toMatchObject({ board_id: boardId, created: 0, updated: 1, live: true })
  const [card] = body.cards
  const { updated_at: _updated, ...rest } = known!
  expect(card).toEqual({
    ...rest,
    title: 'new',
    identifiers: [identifiers[0]],
    created: false,
    version: expect.any(String),
    updated_at: expect.any(String),
  })
  const { created: _created, ...shown } = card
  expect(await all(boardId)).toEqual([shown])
  // A body alone clears the html, and an entry without identifiers is always new.
  const second = await upsert(boardId, [named('k1', { kind: 'doc', body: 'other' }), { kind: 'note' }])
  expect(second.body).toMatchObject({
    created: 1,
    updated: 1,
    cards: [{ id: known!.id, html: null }, { created: true }],
  })
  // Sent again, nothing changes.
  const before = await all(boardId)
  await upsert(boardId, [named('k1', { kind: 'doc', body: 'other' })])
  expect(await all(boardId)).toEqual(before)
  expect(await verifyBoard(service.database, boardId)).toEqual([])
})

test('[CM35] of a mixed batch some cards are created and some changed, in one commit, answered in its order', async () => {
  const { id: boardId } = await makeBoard(user)
  const known = await makeCards(
    user,
    boardId,
    Array.from({ length: 300 }, (_, n) => named(`n${n * 2}`, { title: 'old', body: `body ${n}` })),
  )
  const editor = await openEditor(service.url, { boardId, token: user.token })
  const entries = Array.from({ length: 600 }, (_, n) => named(`n${n}`, { title: `t${n}`, body: `new ${n}` }))
  const [before] = await service.admin`select seq from board_documents where board_id = ${boardId}`
  const { body } = await upsert(boardId, entries)
  const [after] = await service.admin`select seq from board_documents where board_id = ${boardId}`
  expect(after!['seq']).toBe(before!['seq'] + 1)
  expect(body).toMatchObject({ created: 300, updated: 300, live: true })
  expect(body.cards.map(({ title }: Shown) => title)).toEqual(entries.map(({ title }: any) => title))
  expect(body.cards.filter((_: Shown, n: number) => n % 2 === 0).map(({ id }: Shown) => id)).toEqual(
    known.map(({ id }) => id),
  )
  expect(body.cards.map(({ created }: any) => created)).toEqual(entries.map((_, n) => n % 2 === 1))
  await until(() => editor.cards.size === 600, 'the editor has them', 1000)
  expect(String(editor.cards.get(known[7]!.id)!.get('body'))).toBe('new 14')
  expect(await verifyBoard(service.database, boardId)).toEqual([])
})

test('[CM36] cards that are created beside changed ones lie in free space, or in the layout alone', async () => {
  const { id: boardId } = await makeBoard(user)
  const [known] = await makeCards(user, boardId, [named('a', { x: 0, y: 0 })])
  const moved = await upsert(boardId, [named('a', { x: 320, y: 10 }), named('b'), named('c')])
  const cards: any[] = moved.body.cards
  const boxes = cards.map((card) => boundingBox(card))
  for (const [n, a] of boxes.entries())
    for (const b of boxes.slice(n + 1))
      expect(a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h).toBe(false)
  const laid = await upsert(boardId, [named('a', { title: 'A' }), named('d'), named('e')], {
    layout: 'column',
  })
  const [a, d, e] = laid.body.cards
  expect([a.id, a.x, a.y]).toEqual([known!.id, 320, 10])
  expect([e.x, e.y]).toEqual([d.x, d.y + d.h + 20])
})

test('[CM37] entries that cannot be told apart are 400 that names them, and nothing is written', async () => {
  const { id: boardId } = await makeBoard(user)
  const [a, b] = await makeCards(user, boardId, [
    {
      ...named('a'),
      identifiers: [
        { scope: 's', value: 'a' },
        { scope: 's', value: 'a2' },
      ],
    },
    named('b'),
  ])
  const before = await all(boardId)
  const refused: [object[], string[]][] = [
    [
      [named('x'), named('x')],
      ['cards[0]', 'cards[1]', '"x"'],
    ],
    [
      [
        named('y'),
        {
          kind: 'note',
          identifiers: [
            { scope: 's', value: 'a' },
            { scope: 's', value: 'b' },
          ],
        },
      ],
      ['cards[1]', a!.id, b!.id],
    ],
    [
      [named('a'), named('a2')],
      ['cards[0]', 'cards[1]', a!.id],
    ],
    [[named('z'), { kind: 'chart' }], ['cards[1].kind']],
    [[named('z'), { identifiers: [] }], ['cards[1].kind is required']],
  ]
  for (const [cards, names] of refused) {
    const { status, body } = await upsert(boardId, cards)
    expect(status).toBe(400)
    for (const name of names) expect(body.error).toContain(name)
  }
  const unknown = await post(boardId, [named('z')], { on_conflict: 'title' })
  expect([unknown.status, unknown.body.error]).toEqual([
    400,
    expect.stringContaining('on_conflict must be one of: identifier'),
  ])
  expect(await all(boardId)).toEqual(before)
})

test('[CM38] 50 concurrent calls with one identifier make one card, over two processes too', async () => {
  const { id: boardId } = await makeBoard(user)
  const there = new ApiClient(elsewhere.url, user.token)
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      (n % 2 ? user.api : there).post(cardsPath(boardId), {
        on_conflict: 'identifier',
        ...named('one', { title: `t${n}`, ...(n % 3 ? at(n) : {}) }),
      }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
  expect(answers.filter(({ body }) => body.created === 1)).toHaveLength(1)
  expect(answers.filter(({ body }) => body.updated === 1)).toHaveLength(49)
  expect(new Set(answers.map(({ body }) => body.cards[0].id)).size).toBe(1)
  expect(await all(boardId)).toHaveLength(1)
  expect(await verifyBoard(service.database, boardId)).toEqual([])
})

test('[CM39] 50 concurrent creates with one identifier make one card and 49 refusals, over two processes too', async () => {
  const { id: boardId } = await makeBoard(user)
  const there = new ApiClient(elsewhere.url, user.token)
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      (n % 2 ? user.api : there).post(cardsPath(boardId), named('one', at(n))),
    ),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
  expect(await all(boardId)).toHaveLength(1)
})

test('[CM40] two mirrors that write overlapping batches at the same time leave each identifier once', async () => {
  const { id: boardId } = await makeBoard(user)
  const there = new ApiClient(elsewhere.url, user.token)
  const batch = (from: number, title: string) =>
    Array.from({ length: 100 }, (_, n) => named(`m${from + n}`, { title }))
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      (n % 2 ? user.api : there).post(cardsPath(boardId), {
        on_conflict: 'identifier',
        cards: batch(n * 20, `t${n}`),
      }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
  const values = (await all(boardId)).map(({ identifiers }) => identifiers[0].value)
  expect(values).toHaveLength(280)
  expect(new Set(values).size).toBe(280)
  expect(answers.reduce((sum, { body }) => sum + body.created, 0)).toBe(280)
  expect(await verifyBoard(service.database, boardId)).toEqual([])
})

test('[CM41] the cap counts what is created and not what is changed', async () => {
  const free = await service.user({ tier: 'free' })
  const { id: boardId } = await makeBoard(free)
  expect((await upsert(boardId, [named('a'), named('b'), named('c')], {}, free)).status).toBe(201)
  expect((await upsert(boardId, [named('a'), named('b'), named('c')], {}, free)).body).toMatchObject({
    updated: 3,
  })
  expect((await upsert(boardId, [named('a', { title: 'no' }), named('d')], {}, free)).status).toBe(402)
  expect((await listCards(free, boardId)).filter(({ title }) => title === 'no')).toEqual([])
})

test('[CM42] an editor who types in a card keeps typing while it is written by its identifier', async () => {
  const { id: boardId } = await makeBoard(user)
  const card = await makeCard(user, boardId, named('t', { body: '' }))
  const editor = await openEditor(service.url, { boardId, token: user.token })
  const text = editor.cards.get(card.id)!.get('body') as Y.Text
  const writes = Array.from({ length: 20 }, async (_, n) => {
    text.insert(text.length, `w${n} `)
    return upsert(boardId, [named('t', { title: `t${n}` })])
  })
  for (const answer of await Promise.all(writes)) expect(answer.body.updated).toBe(1)
  await editor.saved()
  const [shown] = await all(boardId)
  for (let n = 0; n < 20; n++) expect(shown!['body']).toContain(`w${n} `)
})

test('[CM43] a card comes back by its restore token when its identifier is free, and is changed in place when it is not', async () => {
  const { id: boardId } = await makeBoard(user)
  const card = await makeCard(user, boardId, named('r', { title: 'first' }))
  const removed = succeeded<any>(await user.api.delete(`${cardsPath(boardId)}/${card.id}`)).card
  const entry = { kind: 'note', restore_token: removed.restore_token, title: 'back' }
  const first = (await upsert(boardId, [entry])).body
  expect(first).toMatchObject({ created: 1, cards: [{ identifiers: [{ scope: 's', value: 'r' }] }] })
  expect((await upsert(boardId, [entry])).body).toMatchObject({
    updated: 1,
    cards: [{ id: first.cards[0].id }],
  })
  expect(await titles(boardId)).toEqual(['back'])
})
