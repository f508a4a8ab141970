import * as fc from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import * as Y from 'yjs'
import { verifyBoard } from '../../collab/log/verify.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import { processFaults } from '../support/process-faults.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

let service: TestService
let user: TestUser

beforeAll(async () => {
  service = await startService({ debounceMs: 50 })
  user = await service.user()
})

afterEach(() => leaveAll())

afterAll(async () => {
  await service.stop()
  expect(processFaults()).toEqual([])
})

async function boardWithEditor(): Promise<{ boardId: string; editor: Editor; path: string }> {
  const boardId = (await user.api.post('/boards', { name: 'Target' })).body.board.id as string
  const editor = await openEditor(service.url, { boardId, token: user.token })
  return { boardId, editor, path: `/boards/${boardId}/cards` }
}

/** Writes a value into a map as an editor could, past the checks of Y.Map. */
function put(map: Y.Map<unknown>, key: string, value: unknown): void {
  map.doc!.transact((transaction) => {
    const left = map._map.get(key) ?? null
    const { doc } = transaction
    const id = Y.createID(doc.clientID, Y.getState(doc.store, doc.clientID))
    new Y.Item(id, left, left?.lastId ?? null, null, null, map, key, new Y.ContentAny([value])).integrate(
      transaction,
      0,
    )
  })
}

/** All that the API does with the cards of a board goes on, whatever they are; none of it fails. */
async function expectApiWorks(path: string, ids: string[]): Promise<void> {
  const list = await user.api.get(`${path}?limit=500&include=raw,props,identifiers`)
  expect(list.status).toBe(200)
  const placed = await user.api.post(path, { kind: 'note', title: 'placed' })
  expect(placed.status).toBe(201)
  for (const id of ids) {
    const one = `${path}/${encodeURIComponent(id)}`
    const patched = await user.api.patch(one, {
      title: 'patched',
      body: 'new',
      x: 5,
      props: { constructor: 'x' },
    })
    expect([200, 404]).toContain(patched.status)
    if (patched.status === 404) continue
    expect(patched.body.card).toMatchObject({ title: 'patched', body: 'new', x: 5 })
    const deleted = await user.api.delete(one)
    expect(deleted.status).toBe(200)
    const restored = await user.api.post(path, deleted.body.card)
    expect([201, 400]).toContain(restored.status) // a kind of the editor's is refused without its token
    const whole = await user.api.post(path, {
      kind: deleted.body.card.kind,
      restore_token: deleted.body.card.restore_token,
      props: { constructor: 'y' },
    })
    expect(whole.status).toBe(201)
  }
}

const strange: Record<string, unknown> = {
  nothing: null,
  undefined: undefined,
  number: 7,
  'not a number': NaN,
  infinite: -Infinity,
  negative: -0,
  huge: 1e300,
  bigint: 123456789012345678n,
  bytes: new Uint8Array([1, 2, 3]),
  text: 'text',
  'text of nothing': '',
  'text with a NUL': 'a\0b',
  'half a character': '\ud800x',
  'long text': 'x'.repeat(1_000_000),
  list: [1, [2, [3]]],
  'list of kinds': ['note'],
  object: { a: { b: { c: { d: { e: { f: 1 } } } } } },
  'no text': { toString: 1, valueOf: 1 },
  'no JSON': { toJSON: 1 },
  'no class': JSON.parse('{"constructor": "x", "hasOwnProperty": 1, "then": 1, "length": -1}'),
  'bigint inside': { a: [1n] },
  'bytes inside': { a: new Uint8Array(3) },
  'NUL inside': { 'a\0': '\0' },
  'many keys': Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`k${n}`, n])),
  'many values': Array(20_000).fill(null),
}
const fields = [
  'kind',
  'title',
  'body',
  'html',
  'url',
  'color',
  'group_id',
  'x',
  'w',
  'z',
  'rotation',
  'size_bytes',
  'section_header',
  'props',
  'identifiers',
  'junk',
  '__proto__',
]

test('[X30] a field with any value, in any field, breaks neither the board, nor the API, nor the index', async () => {
  const { boardId, editor, path } = await boardWithEditor()
  editor.addCard('innocent', { title: 'innocent' })
  const ids: string[] = []
  for (const field of fields) {
    for (const [name, value] of Object.entries(strange)) {
      if (
        (field !== 'junk' && field !== 'props' && name.startsWith('many')) ||
        (name === 'long text' && field !== 'title')
      )
        continue
      const id = `${field}_${name.replaceAll(' ', '-')}`
      ids.push(id)
      put(editor.addCard(id, { x: ids.length * 300 }), field, value)
    }
  }
  await editor.saved()
  expect(await verifyBoard(service.database, boardId)).toEqual([])
  const list = await user.api.get(`${path}?limit=500&include=raw,props,identifiers`)
  const shown = new Map(list.body.cards.map((card: { id: string }) => [card.id, card]))
  expect(shown.get('innocent')).toMatchObject({ title: 'innocent' })
  for (const name of ['nothing', 'number', 'list of kinds', 'no text'])
    expect(shown.has(`kind_${name.replaceAll(' ', '-')}`)).toBe(false)
  expect(shown.get('junk_bigint')).toMatchObject({ raw: { junk: '123456789012345678' } })
  expect(shown.get('junk_bytes')).toMatchObject({ raw: { junk: 'AQID' } })
  expect(shown.get('props_bigint-inside')).toMatchObject({ props: null })
  await expectApiWorks(
    path,
    ids.filter((_, n) => n % 11 === 0),
  )
  await until(async () => (await verifyBoard(service.database, boardId)).length === 0, 'the index follows')
  await expectMemoryEqualsLog(service, boardId)
}, 60_000)

test('[X30] cards of any shape, by hundreds at random', async () => {
  const { boardId, editor, path } = await boardWithEditor()
  const value = fc.oneof(
    fc.anything({ withBigInt: true, maxDepth: 4 }),
    fc.constantFrom(...Object.values(strange)),
    fc
      .constantFrom('text', 'array', 'map', 'xml', 'xmlText', 'fragment')
      .map((kind) => ({ [Symbol.for('type')]: kind })),
  )
  const card = fc.record({
    id: fc.oneof(
      fc.string({ maxLength: 12, unit: 'binary' }),
      fc.constantFrom(
        '__proto__',
        'constructor',
        'a/b',
        'x'.repeat(100),
        '',
        '\0',
        '\ud800',
        '..',
        'a'.repeat(70_000),
      ),
      fc.stringMatching(/^[\w-]{1,64}$/),
    ),
    entries: fc.array(fc.tuple(fc.oneof(fc.constantFrom(...fields), fc.string({ maxLength: 5 })), value), {
      maxLength: 8,
    }),
    where: fc.constantFrom('cards', 'groups'),
    shape: fc.constantFrom('map', 'map', 'map', 'array', 'text', 'xml', 'plain'),
  })
  const ids = new Set<string>()
  fc.assert(
    fc.property(card, ({ id, entries, where, shape }) => {
      const root = editor.document.getMap<unknown>(where)
      if (shape !== 'map') {
        if (shape === 'plain') put(root, id, { kind: 'note' })
        else root.set(id, sharedType(shape))
        return
      }
      const map = new Y.Map<unknown>()
      root.set(id, map)
      map.set(where === 'cards' ? 'kind' : 'name', 'note')
      for (const [key, given] of entries) {
        const kind = (given as Record<symbol, string> | null)?.[Symbol.for('type')]
        if (kind !== undefined) map.set(key, sharedType(kind))
        else if (isStorable(given)) put(map, key, given)
      }
      if (where === 'cards' && /^[\w-]{1,64}$/.test(id)) ids.add(id)
    }),
    { numRuns: 400, seed: 9 },
  )
  await editor.saved(20_000)
  expect(await verifyBoard(service.database, boardId)).toEqual([])
  expect(ids.size).toBeGreaterThan(20)
  await expectApiWorks(path, [...ids].slice(0, 25))
  await until(async () => (await verifyBoard(service.database, boardId)).length === 0, 'the index follows')
  await expectMemoryEqualsLog(service, boardId)
}, 60_000)

function sharedType(kind: string): Y.AbstractType<any> {
  switch (kind) {
    case 'array':
      return Y.Array.from([1, { a: 1 }, 'x'])
    case 'map':
      return new Y.Map([['a', 1]])
    case 'text': {
      const text = new Y.Text('some text')
      text.insert(0, 'bold', { bold: true })
      text.insertEmbed(0, { image: 'x' })
      return text
    }
    case 'xmlText': {
      const text = new Y.XmlText()
      text.insert(0, 'rich', { b: { toString: 1 } })
      return text
    }
    case 'fragment':
    case 'xml': {
      const element = new Y.XmlElement('p')
      element.setAttribute('a', 'x')
      element.insert(0, [new Y.XmlText('inner')])
      return element
    }
    default:
      throw new Error(kind)
  }
}

/** A key __proto__ is refused at the gateway; of other objects than literals, nothing would arrive. */
function isStorable(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return true
  return !Object.hasOwn(value, '__proto__') && Object.values(value).every(isStorable)
}

test('[X31] keys that no index can hold do not keep the index from what it can hold', async () => {
  const { boardId, editor } = await boardWithEditor()
  editor.document.transact(() => {
    for (const id of ['\0', 'a\0b', '\ud800', 'x'.repeat(300_000), 'a/b', ' ']) editor.addCard(id)
    editor.addCard('fine', { title: 'fine' })
    for (const id of ['\0', '\ud800']) editor.groups.set(id, new Y.Map([['name', 'g']]))
  })
  await editor.saved()
  expect(await verifyBoard(service.database, boardId)).toEqual([])
  const rows = await service.admin`select card_id from card_index where board_id = ${boardId}`
  expect(rows.map((row) => row['card_id'])).toEqual(['fine'])
})

test('[X31] edits that touch no card leave nothing behind to be indexed', async () => {
  const { boardId, editor } = await boardWithEditor()
  editor.document.getMap('settings').set('theme', 'dark')
  await editor.saved()
  expect(await verifyBoard(service.database, boardId, { waitMs: 3000 })).toEqual([])
})

test('[X32] a huge card costs a bounded amount in an answer, and the others are shown whole', async () => {
  const { editor, path } = await boardWithEditor()
  const huge = editor.addCard('huge', { z: 0 })
  for (let n = 0; n < 4; n++) {
    huge.set(`junk${n}`, 'x'.repeat(2_000_000))
    await editor.saved()
  }
  editor.addCard('small', { z: 5, grid: { rows: [1, 2] } })
  await editor.saved()
  const list = await user.api.get(`${path}?include=raw`)
  expect(list.status).toBe(200)
  expect(list.text.length).toBeLessThan(5_000_000)
  const small = list.body.cards.find((card: { id: string }) => card.id === 'small')
  expect(small.raw.grid).toEqual({ rows: [1, 2] })
  const deleted = await user.api.delete(`${path}/huge`)
  expect(deleted.status).toBe(200)
})

test('[X33] a card comes back whole, its shared types too, whatever they hold', async () => {
  const { editor, path } = await boardWithEditor()
  const card = editor.addCard('c', { title: 'whole', body: 'words' })
  card.set('grid', Y.Array.from<any>([new Y.Map([['cell', new Y.Text('in a cell')]]), 'x']))
  card.set('content', sharedType('xml'))
  put(card, 'odd', { constructor: 'x', a: [undefined, 1n] })
  ;(card.get('body') as Y.Text).format(0, 5, { bold: true })
  await editor.saved()
  const deleted = await user.api.delete(`${path}/c`)
  await until(() => !editor.cards.has('c'), 'it is gone')
  const { restore_token, kind } = deleted.body.card
  const restored = await user.api.post(path, { kind, restore_token, title: 'changed' })
  expect(restored.status).toBe(201)
  const id = restored.body.cards[0].id as string
  await until(() => editor.cards.has(id), 'it is back')
  const back = editor.cards.get(id)!
  expect(back.get('title')).toBe('changed')
  expect((back.get('body') as Y.Text).toDelta()).toEqual([{ insert: 'words', attributes: { bold: true } }])
  expect((back.get('content') as Y.XmlElement).toString()).toBe('<p a="x">inner</p>')
  expect((back.get('grid') as Y.Array<any>).toJSON()).toEqual([{ cell: 'in a cell' }, 'x'])
  expect(back.get('odd')).toEqual({ constructor: 'x', a: [undefined, 1n] })
})
