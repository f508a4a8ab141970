import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { openEditor, until, type Editor } from '../support/editor.ts'
import { serviceOfFile } from '../support/test-file.ts'
import {
  cardsPath,
  findCard,
  listCards,
  makeBoard,
  makeCard,
  makeCards,
  succeeded,
  type Shown,
} from './board.ts'
import { makeFiles } from './file.ts'

const { service, user } = await serviceOfFile({ workers: false })

const open = (board: Shown): Promise<Editor> =>
  openEditor(service.url, { boardId: board.id, token: user.token })

test('[C17] a batch holds 1 to 1,000 cards, is written whole or not at all, and is answered in its order', async () => {
  const board = await makeBoard(user)
  const path = cardsPath(board)
  const cards = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ kind: 'note', title: `${n}`, x: 0, y: 0 }))
  expect((await user.api.post(path, { cards: [] })).status).toBe(400)
  const over = await user.api.post(path, { cards: cards(1001) })
  expect([over.status, over.body.error]).toEqual([400, 'cards must hold at most 1000 entries.'])
  const bad = [...cards(5), { kind: 'note', x: 0, y: 0, w: 'wide' }]
  expect((await user.api.post(path, { cards: bad })).body.error).toMatch(/^cards\[5\]\.w/)
  expect((await user.api.get(path)).body.total).toBe(0)
  const most = await user.api.post(path, { cards: cards(1000) })
  expect(most.status).toBe(201)
  expect(most.body.cards.map((card: Shown) => card['title'])).toEqual(cards(1000).map(({ title }) => title))
  expect(new Set(most.body.cards.map((card: Shown) => card.id)).size).toBe(1000)
})

test('[C18] the live list is in order of z, then id, by pages, with the total', async () => {
  const board = await makeBoard(user)
  const made = await makeCards(
    user,
    board.id,
    Array.from({ length: 25 }, (_, n) => ({ z: n % 5 })),
  )
  const order = made.toSorted((a, b) => a['z'] - b['z'] || (a.id < b.id ? -1 : 1)).map(({ id }) => id)
  const page = async (query: string) => (await user.api.get(`${cardsPath(board)}?${query}`)).body
  expect((await page('')).cards.map((card: Shown) => card.id)).toEqual(order)
  const first = await page('limit=10')
  expect(first).toMatchObject({
    board_id: board.id,
    total: 25,
    limit: 10,
    offset: 0,
    has_more: true,
    next_offset: 10,
  })
  const last = await page('limit=10&offset=20')
  expect(last).toMatchObject({ total: 25, has_more: false, next_offset: null })
  expect(last.cards.map((card: Shown) => card.id)).toEqual(order.slice(20))
  expect(await page('offset=99')).toMatchObject({ cards: [], total: 25, has_more: false, next_offset: null })
})

test('[C19] a walk of the index by cursor meets every card once, also while cards come and go', async () => {
  const board = await makeBoard(user)
  const path = cardsPath(board)
  await makeFiles(service, board, ['k'])
  const stay = await makeCards(
    user,
    board.id,
    Array.from({ length: 30 }, (_, n) => ({ title: `${n}`, image_key: 'k' })),
  )
  const met: Shown[] = []
  let query = 'source=index&limit=7'
  for (let more = true; more;) {
    const { body } = await user.api.get(`${path}?${query}`)
    expect(body).toMatchObject({ board_id: board.id, source: 'index', limit: 7 })
    expect(body).not.toHaveProperty('total')
    met.push(...body.cards)
    more = body.has_more
    expect(body.next_cursor === null).toBe(!more)
    query = `limit=7&cursor=${encodeURIComponent(body.next_cursor)}` // a cursor alone continues the walk
    const added = await makeCard(user, board.id, { title: 'late' })
    await user.api.delete(`${path}/${added.id}`)
  }
  const kept = met.filter((card) => card['title'] !== 'late')
  expect(kept.map(({ id }) => id)).toEqual(stay.map(({ id }) => id).toSorted())
  expect(kept[0]).toEqual({
    id: kept[0]!.id,
    kind: 'note',
    title: expect.any(String),
    x: expect.any(Number),
    y: 0,
    image_key: 'k',
    version: expect.any(String),
    updated_at: expect.any(String),
  })
  const other = await makeBoard(user)
  const { next_cursor } = (await user.api.get(`${path}?source=index&limit=1`)).body
  for (const cursor of [next_cursor, 'x', `${other.id}|`, `${other.id}|a|b`, `${other.id}|a/b`]) {
    const answer = await user.api.get(`${cardsPath(other)}?source=index&cursor=${encodeURIComponent(cursor)}`)
    expect([cursor, answer.status, answer.body.code]).toEqual([cursor, 400, 'bad_request'])
  }
})

test('[C20] a patch changes only what is sent; updated_at moves with a change and created_at never', async () => {
  const board = await makeBoard(user)
  const card = await makeCard(user, board.id, {
    title: 'a',
    body: 'b',
    color: 'red',
    props: { a: 1 },
    rotation: 5,
  })
  const path = `${cardsPath(board)}/${card.id}`
  await until(() => Date.now() > Date.parse(card['updated_at']) + 1, 'the clock moves on')
  const changed = await user.api.patch(path, { title: 'c', id: 'other', created_at: null })
  expect(changed.status).toBe(200)
  const { updated_at, version } = changed.body.card
  expect(changed.body).toEqual({ card: { ...card, title: 'c', updated_at, version }, live: true })
  expect(changed.body.card.updated_at > card['updated_at']).toBe(true)
  await until(() => Date.now() > Date.parse(changed.body.card.updated_at) + 1, 'the clock moves on')
  for (const fields of [{}, { title: 'c' }, { x: card['x'] + 0.2 }])
    expect((await user.api.patch(path, fields)).body.card).toEqual(changed.body.card)
  expect((await user.api.patch(`${cardsPath(board)}/nothing`, { title: 'x' })).status).toBe(404)
})

test('[C21] a bulk patch changes up to 1,000 cards, names those that are not there, and is written whole or not at all', async () => {
  const board = await makeBoard(user)
  const path = cardsPath(board)
  const made = await makeCards(
    user,
    board.id,
    Array.from({ length: 1000 }, (_, n) => ({ title: `${n}` })),
  )
  const patches = made.map(({ id }, n) => ({ id, title: `new ${n}`, y: 500 }))
  const { body, status } = await user.api.patch(path, {
    cards: [...patches.slice(0, 998), { id: 'gone' }, { id: 'a/b', title: 'x' }],
  })
  expect(status).toBe(200)
  expect(body).toMatchObject({ board_id: board.id, updated: 998, not_found: ['gone', 'a/b'], live: true })
  expect(body.cards.map((card: Shown) => [card.id, card['title']])).toEqual(
    patches.slice(0, 998).map(({ id, title }) => [id, title]),
  )
  for (const cards of [
    [],
    [...patches, { id: 'x' }],
    [{ title: 'x' }],
    [{ id: made[0]!.id, w: 'x' }],
    [patches[999], { id: made[0]!.id, group_id: 'none' }],
  ])
    expect((await user.api.patch(path, { cards })).status).toBe(400)
  expect(await findCard(user, board, made[999]!.id)).toMatchObject({ title: '999', y: 0 })
  const twice = await user.api.patch(path, {
    cards: [
      { id: made[5]!.id, title: 'a', html: '<p>a</p>', color: 'red' },
      { id: made[5]!.id, title: 'b', body: 'text' },
    ],
  })
  expect(twice.body.cards).toHaveLength(1)
  expect(twice.body.cards[0]).toMatchObject({ title: 'b', color: 'red', body: 'text', html: null })
})

test('[C22] a patch of body alone clears html and removes the content that an editor keeps; one of html, or without body, does not', async () => {
  const board = await makeBoard(user)
  const editor = await open(board)
  const [kept, cleared] = ['kept', 'cleared'].map((id) => {
    const content = new Y.XmlFragment()
    editor.addCard(id, { body: 'old words', html: '<p>old</p>', content })
    content.insert(0, [new Y.XmlText('old words')])
    return id
  })
  await editor.saved()
  const one = await user.api.patch(`${cardsPath(board)}/${cleared}`, { body: 'new words' })
  expect(one.body.card).toMatchObject({ body: 'new words', html: null })
  await until(() => !editor.cards.get(cleared!)!.has('content'), 'the stale content is gone')
  expect(String(editor.cards.get(cleared!)!.get('body'))).toBe('new words')
  expect(editor.cards.get(cleared!)!.has('html')).toBe(false)
  const two = await user.api.patch(`${cardsPath(board)}/${kept}`, { title: 'x', html: '<p>new</p>' })
  expect(two.body.card).toMatchObject({ body: 'old words', html: '<p>new</p>' })
  const both = await user.api.patch(`${cardsPath(board)}/${kept}`, { body: 'third', html: '<b>third</b>' })
  expect(both.body.card).toMatchObject({ body: 'third', html: '<b>third</b>' })
  await until(() => !editor.cards.get('kept')!.has('content'), 'its content is gone too')
})

test('[C23] html that an editor wrote is sanitised when it is read', async () => {
  const board = await makeBoard(user)
  const editor = await open(board)
  editor.addCard('dirty', { html: '<p onclick=x>a<script>b</script></p>' })
  await editor.saved()
  expect(await findCard(user, board, 'dirty')).toMatchObject({ html: '<p>a</p>' })
  const patched = await user.api.patch(`${cardsPath(board)}/dirty`, { title: 'x' })
  expect(patched.body.card.html).toBe('<p>a</p>')
  const removed = await user.api.delete(`${cardsPath(board)}/dirty`)
  expect(removed.body.card.html).toBe('<p>a</p>')
})

test('[C23] html that sanitising makes longer than its limit is cut when it is read, so that it can be sent back', async () => {
  const board = await makeBoard(user)
  const editor = await open(board)
  const link = '<a href="https://example.com">link</a>'
  const html = {
    signs: '&'.repeat(40_000),
    links: link.repeat(1000),
    open: '<blockquote>'.repeat(90) + 'x'.repeat(38_000),
    full: '😀'.repeat(40_000),
  }
  for (const [id, text] of Object.entries(html)) editor.addCard(id, { html: text })
  await editor.saved()
  const read = async (id: string): Promise<string> => (await findCard(user, board, id))!['html']
  expect(await read('signs')).toMatch(/^(&amp;){7000,}(&amp;a?m?p?)?$/)
  expect(await read('links')).toMatch(/^(<a href="https:\/\/example.com" rel="[a-z ]+">link<\/a>){400,}/)
  expect(await read('open')).toMatch(/^(<blockquote>){90}x{36000,}(<\/blockquote>){90}$/)
  expect(await read('full')).toBe(html.full)
  for (const id of Object.keys(html)) {
    const shown = await read(id)
    expect(Array.from(shown).length).toBeLessThanOrEqual(40_000)
    const { card } = succeeded(await user.api.delete(`${cardsPath(board)}/${id}`))
    const { restore_token: _, ...returned } = card
    const [restored] = succeeded(await user.api.post(cardsPath(board), returned)).cards
    expect(restored.html).toBe(shown)
  }
})

test('[C24] with body_base, what an editor types at the same time stays', async () => {
  const board = await makeBoard(user)
  const card = await makeCard(user, board.id, { body: 'one two three 😀' })
  const path = `${cardsPath(board)}/${card.id}`
  const editor = await open(board)
  const text = editor.cards.get(card.id)!.get('body') as Y.Text
  text.insert(0, 'zero ')
  await editor.saved()
  const merged = await user.api.patch(path, { body: 'one 2 three 😀!', body_base: 'one two three 😀' })
  expect(merged.body.card.body).toBe('zero one 2 three 😀!')
  await until(() => text.toString() === 'zero one 2 three 😀!', 'the editor has both')
  const without = await user.api.patch(path, { body: 'one' })
  expect(without.body.card.body).toBe('one')
  const fromEmpty = await user.api.patch(path, { body: 'x', body_base: null })
  expect(fromEmpty.body.card.body).toMatch(/^(onex|xone)$/)
  expect((await user.api.patch(path, { body: 'x', body_base: 5 })).status).toBe(400)
  text.insert(0, 'a\0b')
  await editor.saved()
  const unstorable = await user.api.patch(path, { body: 'x!', body_base: 'x' })
  expect(unstorable.body.card.body).toMatch(/^ab.*!/)
  expect((await user.api.patch(path, { title: 'still' })).body.card.body).toBe(unstorable.body.card.body)
  expect((await user.api.patch(path, { body: 'x', body_base: 'x'.repeat(20_001) })).status).toBe(400)
})

test('[C25] with body_base no word is lost while an editor types and the API writes, both without pause', async () => {
  const board = await makeBoard(user)
  const card = await makeCard(user, board.id, { body: 'start' })
  const path = `${cardsPath(board)}/${card.id}`
  const editor = await open(board)
  const text = editor.cards.get(card.id)!.get('body') as Y.Text
  let typed = 0
  const typing = setInterval(() => text.insert(0, `e${typed++} `), 2)
  let body = 'start'
  for (let n = 0; n < 40; n++) {
    const answer = await user.api.patch(path, { body: `${body} a${n}`, body_base: body })
    expect(answer.status).toBe(200)
    body = answer.body.card.body
  }
  clearInterval(typing)
  await editor.saved()
  const words = (await findCard(user, board, card.id))!['body'].split(/\s+/)
  expect(words.toSorted()).toEqual(
    [
      'start',
      ...Array.from({ length: 40 }, (_, n) => `a${n}`),
      ...Array.from({ length: typed }, (_, n) => `e${n}`),
    ].toSorted(),
  )
  expect(text.toString().split(/\s+/)).toEqual(words)
  expect(typed).toBeGreaterThan(5)
})

test('[C32] what an editor wrote against all rules is left out or clamped, and harms neither list nor index nor writes', async () => {
  const board = await makeBoard(user)
  const editor = await open(board)
  const cyclic = new Y.Map<unknown>()
  editor.document.transact(() => {
    editor.addCard('fine', { title: 'fine' })
    const odd: Record<string, Record<string, unknown>> = {
      'no-kind': { kind: undefined },
      'number-kind': { kind: 5 },
      'list-kind': { kind: ['note'] },
      'object-kind': { kind: { toString: 1 } },
      'spaced-kind': { kind: 'a b' },
      'with/slash': {},
      ['x'.repeat(65)]: {},
    }
    for (const [id, fields] of Object.entries(odd)) editor.addCard(id, fields)
    editor.cards.set('no-map', 'text' as never)
    editor.addCard('clamped', {
      kind: 'moodboard',
      x: Number.NaN,
      y: Infinity,
      w: -5,
      h: 1e9,
      z: '7',
      rotation: 1e6,
      title: 'x'.repeat(100_000),
      url: 7,
      html: ['x'],
      color: '\ud800',
      size_bytes: -3,
      section_header: 'yes',
      identifiers: [{ scope: 's' }, 7, { scope: 'a', value: 'b' }],
      props: { big: 10n },
      alt: 'a\u0000b',
      group_id: 'nowhere',
    })
    editor.addCard('exotic', {
      props: new Y.Map(),
      grid: cyclic,
      big: 2n ** 60n,
      bytes: new Uint8Array([1, 2]),
      nothing: null,
      title: 3n,
    })
    cyclic.set('inner', new Y.Array())
  })
  editor.cards.get('clamped')!.set('body', 'a plain text')
  await editor.saved()
  const listed = await listCards(user, board.id, '&include=raw,props,identifiers')
  expect(listed.map(({ id }) => id).toSorted()).toEqual(['clamped', 'exotic', 'fine'])
  expect(listed.find(({ id }) => id === 'clamped')).toMatchObject({
    kind: 'moodboard',
    x: 0,
    y: 0,
    w: 40,
    h: 4000,
    z: 0,
    rotation: -80,
    title: 'x'.repeat(300),
    url: null,
    html: null,
    color: '\ufffd',
    size_bytes: 0,
    section_header: false,
    identifiers: [{ scope: 'a', value: 'b' }],
    props: null,
    alt: 'ab',
    body: 'a plain text',
  })
  expect(listed.find(({ id }) => id === 'exotic')).toMatchObject({
    title: null,
    props: null,
    raw: { grid: { inner: [] }, big: String(2n ** 60n), bytes: 'AQI=' },
  })
  await service.flush(board.id)
  expect(
    (await user.api.get(`${cardsPath(board)}?source=index`)).body.cards.map((card: Shown) => card.id),
  ).toEqual(['clamped', 'exotic', 'fine'])
  expect(
    (await user.api.patch(`${cardsPath(board)}/clamped`, { body: 'new', title: 'short', x: 3 })).body.card,
  ).toMatchObject({ body: 'new', title: 'short', x: 3 })
  expect((await user.api.patch(`${cardsPath(board)}/no-kind`, { title: 'x' })).status).toBe(404)
  const { card } = (await user.api.delete(`${cardsPath(board)}/exotic`)).body
  expect((await user.api.post(cardsPath(board), card)).status).toBe(201)
  expect((await user.api.post(cardsPath(board), { kind: 'note' })).status).toBe(201)
})

test('[C33] writers of one card at the same time all take effect: fields of their own, and the last of a shared one', async () => {
  const board = await makeBoard(user)
  const card = await makeCard(user, board.id)
  const path = `${cardsPath(board)}/${card.id}`
  await makeFiles(service, board, ['1', '2', '3'])
  const fields = ['title', 'alt', 'color', 'sub', 'image_key', 'file_key', 'mime', 'ext']
  const answers = await Promise.all(
    fields.flatMap((field) =>
      [1, 2, 3].map((n) => user.api.patch(path, { [field]: `${n}`, props: { [field]: n } })),
    ),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const after = (await findCard(user, board, card.id, '&include=props'))!
  for (const field of fields) expect(after[field], field).toMatch(/^[123]$/)
  expect(Object.keys(after['props'])).toHaveLength(1)
})
