import * as fc from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { listCards, makeBoard, makeCards, nowhere, succeeded, type Shown } from './board.ts'
import { makeFiles } from './file.ts'
import { fileKeysOf, randomBoard, type RandomBoard } from './random-cards.ts'

let service: TestService
let user: TestUser

beforeAll(async () => {
  service = await startService({ workers: false, debounceMs: 20, writeDeadlineMs: 120_000 })
  user = await service.user()
})
afterEach(() => leaveAll())
afterAll(() => service.stop())

const exportOf = async (boardId: string): Promise<any> =>
  succeeded(await user.api.get(`/boards/${boardId}/export`))

/** Past the client that holds answers against the API's description, which takes longer than the export. */
const download = (boardId: string, signal?: AbortSignal) =>
  fetch(`${service.url}/api/v1/boards/${boardId}/export`, {
    headers: { authorization: `Bearer ${user.token}` },
    ...(signal ? { signal } : {}),
  })

/** Creates large cards, past that client, too. */
async function fill(boardId: string, cards: object[]): Promise<void> {
  const response = await fetch(`${service.url}/api/v1/boards/${boardId}/cards`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ cards }),
  })
  await response.arrayBuffer()
  expect(response.status).toBe(201)
}

async function build(board: RandomBoard): Promise<string> {
  const made = await makeBoard(user, { name: board.name })
  const { id } = made
  await makeFiles(service, made, fileKeysOf(board))
  const groupIds: string[] = []
  for (const group of board.groups)
    groupIds.push(succeeded(await user.api.post(`/boards/${id}/groups`, group)).group.id)
  const cards = board.cards.map(({ group, ...card }) => ({
    ...card,
    ...(group !== undefined && groupIds[group] ? { group_id: groupIds[group] } : {}),
  }))
  if (cards.length > 0) succeeded(await user.api.post(`/boards/${id}/cards`, { cards }))
  return id
}

/** As a client restores an export: groups first, then the cards with the new groups' ids. */
async function postBack(exported: any): Promise<string> {
  const { id } = await makeBoard(user, { name: exported.board.name })
  const newIds = new Map<string, string>()
  for (const group of exported.groups)
    newIds.set(group.id, succeeded(await user.api.post(`/boards/${id}/groups`, group)).group.id)
  const cards = exported.cards.map((card: any) => ({
    ...card,
    ...(card.group_id ? { group_id: newIds.get(card.group_id) } : {}),
  }))
  for (let from = 0; from < cards.length; from += 1000)
    succeeded(await user.api.post(`/boards/${id}/cards`, { cards: cards.slice(from, from + 1000) }))
  return id
}

/** What a rebuilt board has in common with the first: all but ids and times, groups by their place. */
function comparable({ groups, cards }: any) {
  const place = new Map(groups.map(({ id }: any, at: number) => [id, at]))
  return {
    groups: groups.map(({ id: _i, created_at: _c, ...group }: any) => group),
    cards: cards
      .map(({ id: _i, created_at: _c, updated_at: _u, version: _v, raw: _r, group_id, ...card }: any) => ({
        ...card,
        group: group_id === undefined ? null : place.get(group_id),
      }))
      .sort((a: any, b: any) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
  }
}

test('[EX1] an export has the board, its groups, and each card as a listing shows it, with raw', async () => {
  const board = await makeBoard(user, {
    name: 'Whole',
    identifiers: [{ scope: 'export', value: 'one' }],
  })
  await makeFiles(service, board, ['k'])
  const { group } = succeeded(await user.api.post(`/boards/${board.id}/groups`, { name: 'G', color: 'red' }))
  await makeCards(user, board.id, [
    { title: 'top', z: 9, props: { a: [1] }, identifiers: [{ scope: 's', value: 'v' }] },
    { kind: 'file', file_key: 'k', file_name: 'n', z: 3, group_id: group.id, body: 'words' },
  ])
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  const grid = editor.addCard('grid-1', { kind: 'grid', z: 1 })
  grid.set('grid', { rows: [[1, 2]] })
  grid.set('content', new Y.XmlFragment())
  await editor.saved()
  await until(
    async () => (await user.api.get(`/boards/${board.id}/cards?source=index`)).body.cards.length === 3,
    'indexed',
  )
  const answer = await user.api.get(`/boards/${board.id}/export?format=json`)
  const body: any = succeeded(answer)
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(Object.keys(body)).toEqual(['format', 'version', 'exported_at', 'board', 'groups', 'cards'])
  expect([body.format, body.version]).toEqual(['json', 1])
  expect(Math.abs(Date.parse(body.exported_at) - Date.now())).toBeLessThan(10_000)
  expect(body.board).toEqual({ ...succeeded(await user.api.get(`/boards/${board.id}`)).board })
  expect(body.groups).toEqual(succeeded(await user.api.get(`/boards/${board.id}/groups`)).groups)
  const listed = await listCards(user, board.id, '&include=props,identifiers,raw')
  expect(body.cards.map(({ id }: Shown) => id)).toEqual(listed.map(({ id }) => id))
  expect(body.cards.map(({ title }: Shown) => title)).toEqual([null, null, 'top'])
  expect(body.cards).toEqual(listed)
  expect(body.cards[0].raw).toMatchObject({ kind: 'grid', grid: { rows: [[1, 2]] } })
  expect(await exportOf(board.id)).toMatchObject({ format: 'json' }) // also when nobody asks for it
})

test('[EX1] an empty board exports no groups and no cards', async () => {
  const board = await makeBoard(user)
  expect(await exportOf(board.id)).toMatchObject({ board: { id: board.id }, groups: [], cards: [] })
})

test('[EX2] an export that is posted back rebuilds the board: fields, groups, who is in which', async () => {
  await fc.assert(
    fc.asyncProperty(randomBoard, async (board) => {
      const exported = await exportOf(await build(board))
      expect(exported.cards.length).toBe(board.cards.length)
      const again = await exportOf(await postBack(exported))
      expect(comparable(again)).toEqual(comparable(exported))
    }),
    { numRuns: 40, interruptAfterTimeLimit: 90_000 }, // what it finds is told before the test is cut off
  )
}, 120_000)

test('[EX2] U+0000 in the raw form of a card is no obstacle, since a posted raw is ignored', async () => {
  const board = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  editor.addCard('a', { kind: 'note', title: 'no\u0000thing', grid: [{ 'k\u0000': 1 }] })
  editor.addCard('b', { kind: 'note', title: 'more', body: new Y.Text('x\u0000y') })
  await editor.saved()
  const exported = await exportOf(board.id)
  expect(exported.cards[0].raw.title).toBe('no\u0000thing')
  expect(comparable(await exportOf(await postBack(exported)))).toEqual(comparable(exported))
  const { id } = await makeBoard(user)
  for (const card of exported.cards) succeeded(await user.api.post(`/boards/${id}/cards`, card))
  expect(comparable(await exportOf(id))).toEqual(comparable(exported))
  for (const field of [
    { title: '\u0000' },
    { props: { raw: '\u0000' } },
    { props: { a: [{ raw: '\u0000' }] } },
  ]) {
    const refused = await user.api.post(`/boards/${id}/cards`, { kind: 'note', raw: '\u0000', ...field })
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringMatching(/^(title|props)/)])
  }
})

test('[EX3] an export is of one moment: an edit that changes many cards is in it whole or not at all', async () => {
  const board = await makeBoard(user)
  const cards = await makeCards(
    user,
    board.id,
    Array.from({ length: 900 }, (_, n) => ({ title: 'round 0', y: n })),
  )
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  const state = { running: true }
  const editing = (async () => {
    for (let round = 1; state.running; round += 1) {
      editor.document.transact(() => {
        for (const { id } of cards) editor.cards.get(id)!.set('title', `round ${round}`)
      })
      await editor.saved(30_000)
    }
  })()
  const seen = new Set<string>()
  try {
    for (let n = 0; n < 12; n += 1) {
      const exported: any = await (await download(board.id)).json()
      expect(exported.cards.length).toBe(900)
      const titles = new Set<string>(exported.cards.map(({ title }: Shown) => title))
      expect([...titles]).toHaveLength(1)
      for (const { raw, title } of exported.cards) expect(raw.title).toBe(title)
      seen.add([...titles][0]!)
    }
  } finally {
    state.running = false
    await editing
  }
  expect(seen.size).toBeGreaterThan(1)
}, 60_000)

test('[EX9] an export of a board that changes takes no bytes from joins, nor from edits that are not committed yet', async () => {
  const board = await makeBoard(user)
  const cards = await makeCards(
    user,
    board.id,
    Array.from({ length: 500 }, () => ({ body: 'b'.repeat(4000) })),
  )
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  const state = { running: true }
  const editing = (async () => {
    for (let round = 1; state.running; round += 1) {
      // Large, so that it has memory of its own.
      editor.cards.get(cards[round % cards.length]!.id)!.set('own', `${round} `.repeat(10_000))
      await editor.saved(30_000)
    }
  })()
  try {
    const isCopied = () => service.inMemory(board.id).some(({ shared }) => shared.isEncoded)
    for (let n = 0; n < 10 || (!isCopied() && n < 100); n += 1)
      expect((await exportOf(board.id)).cards).toHaveLength(500)
    expect(isCopied()).toBe(true)
  } finally {
    state.running = false
    await editing
  }
  await editor.saved()
  const joins = await openEditor(service.url, { boardId: board.id, token: user.token })
  expect(joins.document.toJSON()).toEqual(editor.document.toJSON())
}, 60_000)

test('[EX4] a board of 10,000 cards exports whole, in pieces, and others are served meanwhile', async () => {
  const board = await makeBoard(user)
  const body = 'words '.repeat(100)
  for (let from = 0; from < 10_000; from += 1000)
    await fill(
      board.id,
      Array.from({ length: 1000 }, (_, n) => ({
        kind: 'note',
        title: `Card ${from + n}`,
        body,
        x: 0,
        y: from + n,
      })),
    )
  let answered = 0
  const state = { running: true }
  const others = (async () => {
    while (state.running) {
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
      answered += 1
    }
  })()
  const before = process.memoryUsage().rss
  const counts = await Promise.all(
    Array.from({ length: 4 }, async () => ((await (await download(board.id)).json()) as any).cards.length),
  )
  state.running = false
  await others
  expect(counts).toEqual(Array(4).fill(10_000))
  expect(answered).toBeGreaterThan(20)
  expect(process.memoryUsage().rss - before).toBeLessThan(700 * 1024 * 1024)
}, 60_000)

test('[EX4] of one account two exports are held at a time; who goes away makes room for the next', async () => {
  const board = await makeBoard(user)
  const body = 'x'.repeat(19_000)
  // More than what the system buffers of two answers that nobody reads: up to 36 MB each.
  for (let batch = 0; batch < 2; batch++)
    await fill(
      board.id,
      Array.from({ length: 1000 }, () => ({ kind: 'note', body, x: 0, y: 0 })),
    )
  const leaving = new AbortController()
  // Heads have come, bodies are not read: both hold their turn.
  // They stay in use: the client breaks off the answer to a response that is garbage.
  const held = await Promise.all([download(board.id, leaving.signal), download(board.id, leaving.signal)])
  let third = false
  const waiting = download(board.id).then((response) => ((third = true), response))
  const other = await service.user()
  const theirs = await makeBoard(other)
  expect((await other.api.get(`/boards/${theirs.id}/export`)).status).toBe(200)
  expect(third).toBe(false)
  expect(held.map(({ bodyUsed }) => bodyUsed)).toEqual([false, false])
  leaving.abort()
  expect(((await (await waiting).json()) as any).cards).toHaveLength(2000)
}, 60_000)

test('[EX8] HEAD of an export writes none of its text, and makes room for the next', async () => {
  const board = await makeBoard(user)
  await makeCards(user, board.id, [{ title: 'a card' }])
  const written = service.nodes.map(({ live }) => vi.spyOn(live.html, 'contents'))
  for (let time = 0; time < 4; time++) {
    const { status, headers } = await fetch(`${service.url}/api/v1/boards/${board.id}/export`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${user.token}` },
    })
    const type = 'application/json; charset=utf-8'
    expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([200, type, null])
  }
  expect(written.flatMap((spy) => spy.mock.calls)).toEqual([])
  vi.restoreAllMocks()
  expect((await exportOf(board.id)).cards).toHaveLength(1)
})

test('[EX5] a board in the trash exports, and says that it lies there', async () => {
  const board = await makeBoard(user)
  await makeCards(user, board.id, [{ title: 'kept' }])
  succeeded(await user.api.delete(`/boards/${board.id}`))
  expect(await exportOf(board.id)).toMatchObject({ board: { deleted: true }, cards: [{ title: 'kept' }] })
  const omc: any = succeeded(await user.api.get(`/boards/${board.id}/export?format=omc`))
  expect(omc).toHaveLength(2)
})

test('[EX5] bad input, no token, no board, no right', async () => {
  const board = await makeBoard(user)
  for (const format of ['xml', '', 'JSON']) {
    const answer: any = await user.api.get(`/boards/${board.id}/export?format=${format}`)
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
    expect(answer.body.error).toContain('format')
    expect(answer.body.error).toContain('omc')
  }
  expect((await user.api.get('/boards/not-a-uuid/export')).status).toBe(400)
  expect((await user.api.get(`/boards/${nowhere}/export`)).status).toBe(404)
  expect((await service.anonymous.get(`/boards/${board.id}/export`)).status).toBe(401)
  expect((await (await service.user()).api.get(`/boards/${board.id}/export`)).status).toBe(404)
})
