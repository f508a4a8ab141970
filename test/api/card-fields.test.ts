import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cardFields, fieldEntries, fileFields, kinds } from '../../core/card.ts'
import { openEditor } from '../support/editor.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { cardsOn, listCards, makeBoard, makeCard, type Shown } from './board.ts'
import { makeFiles } from './file.ts'

const { service, user } = await serviceOfFile({ workers: false })
const board = await makeBoard(user)
const { path, create, created, patch, shown } = cardsOn(user, board.id)

test('[C1] a card is created with its defaults, an id of the server, and reads the same', async () => {
  const answer = await user.api.post(path, { kind: 'note', id: 'mine', created_at: 'x', other: {} })
  expect(answer.status).toBe(201)
  const card = answer.body.cards[0]
  expect(answer.body).toEqual({ board_id: board.id, cards: [card], live: true })
  expect(card).toEqual({
    id: expect.stringMatching(/^[A-Za-z0-9_-]{16}$/),
    kind: 'note',
    title: null,
    body: null,
    html: null,
    url: null,
    image_key: null,
    alt: null,
    color: null,
    x: expect.any(Number),
    y: expect.any(Number),
    w: 280,
    h: 180,
    z: expect.any(Number),
    rotation: 0,
    section_header: false,
    props: null,
    identifiers: [],
    version: expect.any(String),
    created_at: expect.any(String),
    updated_at: card.created_at,
  })
  expect(await shown(card.id)).toEqual(card)
})

test('[C2] each of the eight kinds can be created, and changed into by a patch; any other is 400 that names them', async () => {
  const card = await created({})
  for (const kind of kinds) {
    expect((await created({ kind })).kind).toBe(kind)
    expect((await patch(card.id, { kind })).body.card.kind).toBe(kind)
  }
  for (const kind of ['grid', 'schedule', 'Note', '', 'x'.repeat(100), '__proto__']) {
    for (const answer of [await create({ kind }), await patch(card.id, { kind })]) {
      expect([kind, answer.status, answer.body.code]).toEqual([kind, 400, 'bad_request'])
      for (const known of kinds) expect(answer.body.error).toContain(known)
    }
  }
  const absent = await user.api.post(path, { title: 'a' })
  expect([absent.status, absent.body.error]).toEqual([400, expect.stringMatching(/^kind is required.*note/)])
  const batch = await user.api.post(path, { cards: [{ kind: 'note' }, { kind: 'grid' }] })
  expect([batch.status, batch.body.error]).toEqual([400, expect.stringMatching(/^cards\[1\]\.kind/)])
})

const textLimits = Object.fromEntries(
  fieldEntries.flatMap(([name, { json }]) =>
    typeof json === 'object' && json.maxLength !== undefined ? [[name, json.maxLength]] : [],
  ),
)

test('[C3] every text field holds its limit of characters, emoji counted as one; one more is 400, never cut', async () => {
  const card = await created({})
  await makeFiles(service, board, ['😀'.repeat(500)])
  for (const [field, limit] of Object.entries(textLimits)) {
    if (field === 'group_id' || field === 'html' || field === 'url') continue
    const most = '😀'.repeat(limit)
    expect((await created({ [field]: most }))[field], field).toBe(most)
    expect((await patch(card.id, { [field]: most })).body.card[field], field).toBe(most)
    for (const answer of [
      await create({ [field]: `${most}x` }),
      await patch(card.id, { [field]: `${most}x` }),
    ]) {
      expect([field, answer.status]).toEqual([field, 400])
      expect(answer.body.error).toBe(`${field} must be at most ${limit} characters.`)
    }
  }
  expect(await shown(card.id)).toMatchObject({ title: '😀'.repeat(300), sub: '😀'.repeat(300) })
  const url = `https://example.test/${'a'.repeat(2000 - 21)}`
  expect((await created({ url })).url).toBe(url)
  expect((await create({ url: `${url}a` })).status).toBe(400)
  const html = `<p>${'é'.repeat(40_000 - 7)}</p>`
  expect((await created({ html })).html).toBe(html)
  expect((await create({ html: `${html} ` })).status).toBe(400)
  expect((await create({ html: '&'.repeat(10_000) })).body.error).toMatch(
    /^html must be at most 40000 characters after it is sanitised/,
  )
})

test('[C4] null, or an empty text, clears a text field; the fields of files are left out when empty', async () => {
  const full = Object.fromEntries(
    Object.keys(textLimits)
      .filter((field) => field !== 'group_id' && field !== 'body')
      .map((field) => [field, field === 'url' ? 'https://a.test/' : 'text']),
  )
  await makeFiles(service, board, ['text'])
  const always = ['title', 'body', 'html', 'url', 'image_key', 'alt', 'color']
  for (const empty of [null, '']) {
    const card = await created({ ...full, body: 'text', size_bytes: 5 })
    expect(card).toMatchObject({ ...full, size_bytes: 5 })
    const nothing = Object.fromEntries(['body', ...Object.keys(full)].map((field) => [field, empty]))
    const { body } = await patch(card.id, { ...nothing, size_bytes: null })
    for (const field of always) expect(body.card[field], field).toBeNull()
    for (const field of ['file_key', 'poster_key', 'file_name', 'mime', 'ext', 'sub', 'size_bytes'])
      expect(body.card, field).not.toHaveProperty(field)
    expect(await shown(card.id)).toEqual(body.card)
  }
})

test('[C5] x and y are rounded and lie within ±1,000,000', async () => {
  const card = await created({ x: 1.5, y: -1.5 })
  expect([card['x'], card['y']]).toEqual([2, -1])
  expect(Object.is((await created({ x: -0.4 }))['x'], 0)).toBe(true)
  expect(await created({ x: 1_000_000, y: -1_000_000 })).toMatchObject({ x: 1_000_000, y: -1_000_000 })
  for (const fields of [{ x: 1_000_001 }, { y: -1_000_001 }, { x: 1e300 }]) {
    expect((await create(fields)).status).toBe(400)
    expect((await patch(card.id, fields)).body.error).toMatch(/^[xy] must be [<>]= -?1000000/)
  }
})

test('[C6] w and h are clamped to 40 to 4000, rotation is wrapped into -180 to 180, size_bytes is rounded', async () => {
  const card = await created({ w: 1, h: 99_999, rotation: 270, size_bytes: 10.6 })
  expect(card).toMatchObject({ w: 40, h: 4000, rotation: -90, size_bytes: 11 })
  expect(await created({ w: -5, h: 40.5 })).toMatchObject({ w: 40, h: 40.5 })
  for (const [given, wrapped] of [
    [180, 180],
    [-180, -180],
    [181, -179],
    [-181, 179],
    [360, 0],
    [-360, 0],
    [725.5, 5.5],
    [1e9, -80],
  ] as const)
    expect((await patch(card.id, { rotation: given })).body.card.rotation, String(given)).toBe(wrapped)
  expect((await patch(card.id, { w: 5000, h: 0 })).body.card).toMatchObject({ w: 4000, h: 40 })
  expect((await patch(card.id, { size_bytes: -1 })).status).toBe(400)
  expect(await shown(card.id)).toMatchObject({ w: 4000, h: 40, rotation: -80, size_bytes: 11 })
})

test('[C7] a number past all bounds of JSON is 400', async () => {
  const card = await created({})
  for (const field of ['x', 'y', 'w', 'h', 'z', 'rotation', 'size_bytes']) {
    for (const value of ['1e999', '-1e999']) {
      const answers = [
        await user.api.send('POST', path, `{"kind":"note","x":0,"y":0,"${field}":${value}}`),
        await user.api.send('PATCH', `${path}/${card.id}`, `{"${field}":${value}}`),
      ]
      for (const answer of answers) expect([field, answer.status]).toEqual([field, 400])
    }
  }
})

test('[C8] z may be any fraction; without one a card goes above all that the index knows', async () => {
  const board = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  const z = async (fields: object) =>
    (await user.api.post(path, { kind: 'note', x: 0, y: 0, ...fields })).body.cards[0].z
  expect(await z({})).toBe(1)
  expect(await z({ z: 7.25 })).toBe(7.25)
  expect(await z({})).toBe(8.25)
  expect(await z({ z: -3 })).toBe(-3)
  const batch = await user.api.post(path, {
    cards: [{ kind: 'note' }, { kind: 'note', z: 20 }, { kind: 'note' }],
  })
  expect(batch.body.cards.map((card: Shown) => card['z'])).toEqual([9.25, 20, 21])
  const card = await makeCard(user, board.id)
  await user.api.patch(`${path}/${card.id}`, { z: 50 })
  expect(await z({})).toBe(51)
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  editor.addCard('high', { z: 700 })
  await editor.saved()
  await service.flush(board.id)
  expect(await z({})).toBe(701)
  expect(await z({ z: 1e12 })).toBe(1e12)
  expect(await z({})).toBe(1e12)
  expect((await user.api.post(path, { kind: 'note', z: 1e12 + 1 })).status).toBe(400)
})

test('[C9] url takes http, https and mailto, whatever else is 400', async () => {
  const fine = ['http://a.test', 'HTTPS://a.test/x?y#z', 'mailto:a@b.test', 'https://пример.test/ü']
  for (const url of fine) expect((await created({ kind: 'link', url })).url).toBe(url)
  const card = await created({ kind: 'link' })
  for (const url of [
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ftp://a.test',
    'vbscript:x',
    'a.test',
    '//a.test',
    '/x',
    'https://',
    'http:// bad',
  ]) {
    for (const answer of [await create({ kind: 'link', url }), await patch(card.id, { url })]) {
      expect([url, answer.status]).toEqual([url, 400])
      expect(answer.body.error).toMatch(/^url must be an http, https or mailto URL/)
    }
  }
})

test('[C9] a url of another scheme that an editor wrote is not handed on', async () => {
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  editor.addCard('sly', { kind: 'link', url: 'javascript:alert(1)' })
  editor.addCard('plain', { kind: 'link', url: 'https://a.test' })
  await editor.saved()
  const cards = (await user.api.get(`${path}?limit=500`)).body.cards as { id: string; url: string | null }[]
  expect(cards.find(({ id }) => id === 'sly')!.url).toBeNull()
  expect(cards.find(({ id }) => id === 'plain')!.url).toBe('https://a.test')
})

test('[C10] html is sanitised when the API writes it', async () => {
  const dirty =
    '<p onclick="x()">a<script>alert(1)</script><a href="javascript:x">b</a><img src=x onerror=y></p>'
  const clean = '<p>a<a>b</a></p>'
  const card = await created({ html: dirty })
  expect(card['html']).toBe(clean)
  expect((await patch(card.id, { html: `${dirty}${dirty}` })).body.card.html).toBe(clean + clean)
  const raw = (await listCards(user, board.id, '&include=raw')).find(({ id }) => id === card.id)!
  expect(raw['raw'].html).toBe(clean + clean)
  expect((await created({ html: '<script>x</script>' })).html).toBeNull()
})

test('[C11] section_header and sub are kept and can be taken back', async () => {
  const card = await created({ section_header: true, sub: 'below' })
  expect(card).toMatchObject({ section_header: true, sub: 'below' })
  expect(await shown(card.id)).toMatchObject({ section_header: true, sub: 'below' })
  const { body } = await patch(card.id, { section_header: false, sub: null })
  expect(body.card.section_header).toBe(false)
  expect(body.card).not.toHaveProperty('sub')
  expect((await patch(card.id, { section_header: null })).status).toBe(400)
})

test('[C16] whatever mixture of fields is written comes back, from the answer, the list and the index alike', async () => {
  const text = (limit: number) =>
    fc.option(
      fc
        .string({ unit: 'grapheme', maxLength: Math.min(limit, 40) })
        .filter((one) => !one.includes('\u0000') && one.isWellFormed()),
    )
  const key = text(cardFields.image_key.limit)
  const fields = fc.record(
    {
      kind: fc.constantFrom(...kinds),
      title: text(300),
      body: text(cardFields.body.limit),
      alt: text(300),
      color: text(40),
      sub: text(300),
      mime: text(200),
      ext: text(20),
      image_key: key,
      file_key: key,
      poster_key: key,
      file_name: text(300),
      x: fc.integer({ min: -1e6, max: 1e6 }),
      y: fc.integer({ min: -1e6, max: 1e6 }),
      w: fc.double({ min: 40, max: 4000, noNaN: true }),
      z: fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((z) => z + 0),
      rotation: fc.integer({ min: -180, max: 180 }),
      section_header: fc.boolean(),
      size_bytes: fc.option(fc.nat()),
      props: fc.option(
        fc.dictionary(
          fc.string({ minLength: 1, maxLength: 5 }).filter((key) => key !== '__proto__'),
          fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown),
          { maxKeys: 3, noNullPrototype: true },
        ),
      ),
    },
    { requiredKeys: ['kind', 'x', 'y'] },
  )
  const board = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  const expected = (sent: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null && value !== ''))
  await fc.assert(
    fc.asyncProperty(fields, fields, async (first, { kind: _kind, ...second }) => {
      // A card may only name files that are there.
      const keys = [first, second].flatMap((one) => fileFields.flatMap((field) => one[field] || []))
      await makeFiles(service, board, keys)
      const made = await user.api.post(path, first)
      expect(made.status, made.text).toBe(201)
      const card = made.body.cards[0]
      expect(card).toMatchObject(expected(first))
      const { body } = await user.api.patch(`${path}/${card.id}`, second)
      expect(body.card).toMatchObject(expected({ ...first, ...second }))
      const [listed, indexed] = await Promise.all([
        user.api.get(`${path}?include=props,identifiers&limit=500`),
        user.api.get(`${path}?source=index&limit=500`),
      ])
      expect(listed.body.cards.find((one: Shown) => one.id === card.id)).toEqual(body.card)
      const { id, kind, title, x, y, image_key, version, updated_at } = body.card
      expect(indexed.body.cards.find((one: Shown) => one.id === card.id)).toEqual({
        id,
        kind,
        title,
        x,
        y,
        image_key,
        version,
        updated_at,
      })
    }),
    { numRuns: 60 },
  )
})
