import { expect, test } from 'vitest'
import { verifyBoard } from '../../collab/log/verify.ts'
import { layoutNames } from '../../core/layout/solve.ts'
import { openEditor, type Editor } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { listCards, makeBoard, makeCards, nowhere, succeeded, type Shown } from './board.ts'
import { overlaps, places, scattered } from './layout.ts'

const { service, user } = await serviceOfFile({ workers: false })

const arrange = (boardId: string, body?: unknown) => user.api.post(`/boards/${boardId}/arrange`, body)
const byId = (cards: { id: string }[]) => cards.toSorted((a, b) => (a.id < b.id ? -1 : 1))

test('[Z30] arranging lays out the whole board, justified by default, and answers where each card is', async () => {
  const board = await makeBoard(user)
  const [a, b, c] = await makeCards(user, board.id, [
    { x: 500, y: 300, w: 400, h: 200 },
    { x: 90, y: 100, w: 300, h: 300 },
    { x: 700, y: 110, w: 100, h: 100 },
  ])
  const answer = await arrange(board.id)
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    board_id: board.id,
    layout: 'justified',
    cards: [
      { id: b!.id, x: 90, y: 100, w: 180, h: 180 },
      { id: c!.id, x: 290, y: 100, w: 180, h: 180 },
      { id: a!.id, x: 490, y: 100, w: 360, h: 180 },
    ],
    moved: 3,
    not_found: [],
    dry_run: false,
    live: true,
  })
  expect(byId(places(await listCards(user, board.id)))).toEqual(byId(answer.body.cards))
  const rows =
    await service.admin`select card_id as id, x, y, w, h from card_index where board_id = ${board.id} order by 1`
  expect([...rows]).toEqual(byId(answer.body.cards))
})

test('[Z30] every layout arranges without overlap, and arranging again moves nothing', async () => {
  for (const layout of layoutNames) {
    const board = await makeBoard(user)
    await makeCards(
      user,
      board.id,
      scattered(40).map((card) => ({ ...card, rotation: 0 })),
    )
    const first = succeeded(await arrange(board.id, { layout }))
    expect([first.layout, first.cards.length]).toEqual([layout, 40])
    expect(overlaps(await listCards(user, board.id))).toEqual([])
    const second = succeeded(await arrange(board.id, { layout }))
    expect([layout, second.moved, second.cards]).toEqual([layout, 0, first.cards])
  }
})

test('[Z31] options are heeded by the layouts they belong to, and ignored by others', async () => {
  const board = await makeBoard(user)
  await makeCards(
    user,
    board.id,
    Array.from({ length: 7 }, () => ({})),
  )
  const plan = async (body: object) => succeeded(await arrange(board.id, { dry_run: true, ...body })).cards
  const corners = (cards: Shown[]) => cards.map(({ x, y }: any) => [x, y])
  expect(corners(await plan({ layout: 'grid', columns: 3, gap: 10, width: 860 }))).toEqual([
    [0, 0],
    [290, 0],
    [580, 0],
    [0, 190],
    [290, 190],
    [580, 190],
    [0, 380],
  ])
  expect(new Set(corners(await plan({ layout: 'masonry', columns: 2 })).map(([x]) => x)).size).toBe(2)
  expect((await plan({ row_height: 90, width: 100_000 })).map(({ h }: any) => h)).toEqual(Array(7).fill(90))
  expect((await plan({ layout: 'row', gap: 0 })).map(({ x }: any) => x)).toEqual([
    0, 280, 560, 840, 1120, 1400, 1680,
  ])
  expect((await plan({ layout: 'column', gap: 5.4 })).map(({ y }: any) => y)).toEqual([
    0, 185, 370, 555, 740, 925, 1110,
  ])
  expect(await plan({ layout: 'grid', row_height: 4000 })).toEqual(await plan({ layout: 'grid' }))
  expect(await plan({ layout: 'justified', columns: 1 })).toEqual(await plan({}))
  expect(await plan({ unknown: true })).toEqual(await plan({}))
})

test('[Z32] a bad option is 400 that names the field and what it accepts, and changes nothing', async () => {
  const board = await makeBoard(user)
  await makeCards(user, board.id, scattered(5))
  const before = await listCards(user, board.id)
  const bad: [object, RegExp][] = [
    [{ layout: 'spiral' }, /^layout must be one of: justified, masonry, grid, row, column/],
    [{ layout: null }, /^layout/],
    [{ gap: -1 }, /^gap must be >= 0/],
    [{ gap: 1001 }, /^gap must be <= 1000/],
    [{ gap: '20' }, /^gap must be a number/],
    [{ width: 99 }, /^width must be >= 100/],
    [{ width: 100_001 }, /^width must be <= 100000/],
    [{ row_height: 39 }, /^row_height must be >= 40/],
    [{ row_height: 4001 }, /^row_height must be <= 4000/],
    [{ layout: 'grid', row_height: 0 }, /^row_height/],
    [{ columns: 0 }, /^columns must be >= 1/],
    [{ columns: 101 }, /^columns must be <= 100/],
    [{ card_ids: [] }, /^card_ids must hold at least 1/],
    [{ card_ids: Array.from({ length: 1001 }, (_, n) => `c${n}`) }, /^card_ids must hold at most 1000/],
    [{ card_ids: 'x' }, /^card_ids must be an array/],
    [{ card_ids: [7] }, /^card_ids\[0\] must be a string/],
    [{ dry_run: 'yes' }, /^dry_run must be a boolean/],
    [[], /./],
  ]
  for (const [body, message] of bad) {
    const answer = await arrange(board.id, body)
    expect([body, answer.status, answer.body.code]).toEqual([body, 400, 'bad_request'])
    expect(answer.body.error).toMatch(message)
  }
  expect((await arrange(board.id, '{"gap":1e999}')).status).toBe(400)
  expect((await arrange(nowhere, {})).status).toBe(404)
  expect((await arrange('x', {})).status).toBe(400)
  expect((await service.anonymous.post(`/boards/${board.id}/arrange`, {})).status).toBe(401)
  const reader = await service.token(user, { scopes: ['read', 'delete'] })
  expect((await reader.api.post(`/boards/${board.id}/arrange`, {})).body.code).toBe('insufficient_scope')
  expect(await listCards(user, board.id)).toEqual(before)
})

test('[Z33] dry_run answers what would be, and writes nothing', async () => {
  const board = await makeBoard(user)
  await makeCards(user, board.id, scattered(30))
  const before = await listCards(user, board.id)
  const [{ seq }] = (await service.admin`select seq from board_documents where board_id = ${board.id}`) as any
  const planned = succeeded(await arrange(board.id, { layout: 'masonry', dry_run: true }))
  expect([planned.dry_run, planned.live, planned.moved]).toEqual([true, true, 30])
  expect(await listCards(user, board.id)).toEqual(before)
  expect(
    ((await service.admin`select seq from board_documents where board_id = ${board.id}`) as any)[0].seq,
  ).toBe(seq)
  expect(succeeded(await arrange(board.id, { layout: 'masonry' }))).toEqual({ ...planned, dry_run: false })
})

test('[Z34] a part of a board lands on none of the rest, in every layout', async () => {
  for (const layout of layoutNames) {
    const board = await makeBoard(user)
    const cards = await makeCards(user, board.id, scattered(60))
    const chosen = cards.filter((_, n) => n % 3 === 0).map(({ id }) => id)
    const answer = succeeded(
      await arrange(board.id, { layout, card_ids: [...chosen, chosen[0], 'missing', 'a/b', 'missing'] }),
    )
    expect(answer.cards.map(({ id }: Shown) => id).toSorted()).toEqual(chosen.toSorted())
    expect(answer.not_found).toEqual(['missing', 'a/b'])
    const after = await listCards(user, board.id)
    const [part, rest] = [true, false].map((is) => after.filter(({ id }) => chosen.includes(id) === is)) as [
      Shown[],
      Shown[],
    ]
    expect(overlaps(part, rest)).toEqual([])
    expect(places(byId(rest) as Shown[])).toEqual(
      places(byId(cards.filter(({ id }) => !chosen.includes(id))) as Shown[]),
    )
    expect(byId(places(part))).toEqual(byId(answer.cards))
  }
  const board = await makeBoard(user)
  const [card] = await makeCards(user, board.id, [
    { x: 7, y: 9 },
    { x: 5000, y: 9 },
  ])
  expect(succeeded(await arrange(board.id, { card_ids: [card!.id] })).cards).toEqual([
    { id: card!.id, x: 7, y: 9, w: 280, h: 180 },
  ])
  expect(succeeded(await arrange(board.id, { card_ids: ['none'] }))).toMatchObject({
    cards: [],
    moved: 0,
    not_found: ['none'],
  })
})

test('[Z35] only places and sizes change, and only of cards that move', async () => {
  const board = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  editor.addCard('grid-1', { kind: 'grid', x: 4000.4, y: 0, grid: { cells: [1, 2] }, z: 2.5, body: 'typed' })
  await editor.saved()
  await makeCards(user, board.id, scattered(10))
  await service.flush(board.id)
  const whole = () => listCards(user, board.id, '&include=raw,props,identifiers')
  const before = await whole()
  const { moved } = succeeded(await arrange(board.id, { layout: 'grid' }))
  expect(moved).toBeGreaterThan(8)
  const after = await whole()
  const rest = ({ x: _x, y: _y, w: _w, h: _h, raw, updated_at: _at, version: _version, ...others }: any) => {
    const { x: _rx, y: _ry, w: _rw, h: _rh, ...interior } = raw
    return { ...others, interior }
  }
  expect(after.map(rest)).toEqual(before.map(rest))
  expect(succeeded(await arrange(board.id, { layout: 'grid' })).moved).toBe(0)
  expect(await whole()).toEqual(after)
  const [one] = await makeCards(user, board.id, [{ x: 9000, y: 9000 }])
  const answer = succeeded(await arrange(board.id, { layout: 'grid' }))
  expect(answer.moved).toBe(1)
  const times = new Map((await whole()).map((card) => [card.id, card['updated_at']]))
  for (const card of after) expect(times.get(card.id)).toBe(card['updated_at'])
  expect(times.get(one!.id)).not.toBe(one!['updated_at'])
  expect(editor.cards.get('grid-1')!.get('body')!.toString()).toBe('typed')
})

test('[Z36] what is larger than a board is 400 and changes nothing', async () => {
  const board = await makeBoard(user)
  const tall = Array.from({ length: 1000 }, () => ({ w: 40, h: 4000 }))
  await makeCards(user, board.id, tall)
  const before = await listCards(user, board.id)
  const answer = await arrange(board.id, { width: 100, gap: 1000, row_height: 4000 })
  expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
  expect(answer.body.error).toMatch(/larger than a board/)
  expect(await listCards(user, board.id)).toEqual(before)
})

test('[Z39] what would move more than 20,000 cards is 400, and changes nothing; a part of them can be arranged', async () => {
  const board = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  editor.document.transact(() => {
    for (let n = 0; n < 20_002; n++) editor.addCard(`c${n}`, { x: n * 7, y: (n * 31) % 999 })
  })
  await editor.saved(30_000)
  const before = JSON.stringify(editor.cards.get('c500'))
  for (const dry_run of [true, false]) {
    const answer = await arrange(board.id, { dry_run })
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
    expect(answer.body.error).toMatch(/at most 20000: name some in card_ids/)
  }
  expect(JSON.stringify(editor.cards.get('c500'))).toBe(before)
  const card_ids = Array.from({ length: 1000 }, (_, n) => `c${n}`)
  expect(succeeded(await arrange(board.id, { card_ids })).cards).toHaveLength(1000)
}, 60_000)

test('[Z37] two editors type and drag while the board is arranged: nothing typed is lost, and all see the same', async () => {
  const board = await makeBoard(user)
  const cards = await makeCards(user, board.id, scattered(60))
  const editors = await Promise.all(
    [0, 1].map(() => openEditor(service.url, { boardId: board.id, token: user.token })),
  )
  const typing = { on: true }
  let words = 0
  const type = async (editor: Editor, who: string) => {
    for (let n = 0; typing.on; n++) {
      const card = editor.cards.get(cards[(n * 7) % 60]!.id)!
      ;(card.get('body') as any).insert(0, `${who}${n} `)
      if (n % 5 === 0) card.set('x', (n * 131) % 5000)
      words += 1
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const typists = editors.map((editor, n) => type(editor, n === 0 ? 'a' : 'b'))
  const own = cards.slice(0, 20).map(({ id }) => id)
  for (let step = 0; step < 25; step++) {
    const body = { layout: layoutNames[step % 5], ...(step % 3 === 0 ? { card_ids: own } : {}) }
    const answer = succeeded(await arrange(board.id, body))
    expect(answer.live).toBe(true)
    expect(answer.cards).toHaveLength(step % 3 === 0 ? 20 : 60)
  }
  typing.on = false
  await Promise.all(typists)
  expect(words).toBeGreaterThan(50)
  await Promise.all(editors.map((editor) => editor.saved()))
  const last = succeeded(await arrange(board.id, { layout: 'grid' }))
  const listed = await listCards(user, board.id)
  expect(byId(places(listed))).toEqual(byId(last.cards))
  for (const editor of editors) {
    const shown = [...editor.cards].map(([id, card]) => ({
      id,
      x: card.get('x'),
      y: card.get('y'),
      w: card.get('w'),
      h: card.get('h'),
    }))
    expect(byId(shown)).toEqual(byId(last.cards))
  }
  const text = listed.map(({ body }: any) => body).join(' ')
  const found = new Set(text.match(/\b[ab]\d+\b/g))
  expect(found.size).toBe(words)
  for (const [n] of cards.entries()) expect(text).toContain(`body ${n}`)
})

test('[Z38] two processes that arrange and write on one board at once leave one consistent state', async () => {
  const second = await startService({ testDatabase: service.testDatabase, workers: false })
  const board = await makeBoard(user)
  const made = await makeCards(user, board.id, scattered(30))
  const clients = [service, second].map(({ url }) => new ApiClient(url, user.token))
  const path = `/boards/${board.id}`
  const statuses = await Promise.all(
    clients.flatMap((client, n) => [
      ...Array.from({ length: 8 }, (_, step) =>
        client.post(`${path}/arrange`, { layout: layoutNames[(step + n) % 5] }),
      ),
      ...Array.from({ length: 8 }, () => client.post(`${path}/cards`, { kind: 'note' })),
      client.delete(`${path}/cards/${made[n]!.id}`),
      ...Array.from({ length: 8 }, (_, k) =>
        client.patch(`${path}/cards/${made[5 + k]!.id}`, { x: 9000 + k }),
      ),
    ]),
  )
  expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200, 201]))
  expect(await verifyBoard(service.database, board.id)).toEqual([]) // before the last one writes every row anew
  const last = succeeded(await clients[1]!.post(`${path}/arrange`, { layout: 'masonry' }))
  expect(last.cards).toHaveLength(30 + 16 - 2)
  for (const client of clients) {
    const { cards } = (await client.get(`${path}/cards?limit=500`)).body
    expect(byId(places(cards))).toEqual(byId(last.cards))
    expect(overlaps(cards)).toEqual([])
  }
  await second.stop()
})

test('[Z46] a large board is arranged off the main thread, from what it is at the commit', async () => {
  const { id: boardId } = await makeBoard(user)
  const path = `/boards/${boardId}`
  const count = 4100
  const editor = await openEditor(service.url, { boardId, token: user.token })
  editor.document.transact(() => {
    for (let n = 0; n < count; n++) editor.addCard(`c${n}`, { x: n * 7, y: 0 })
  })
  await editor.saved(30_000)
  const dry = await user.api.post(`${path}/arrange`, { layout: 'grid', dry_run: true })
  expect([dry.status, dry.body.cards.length]).toEqual([200, count])
  const arranging = user.api.post(`${path}/arrange`, { layout: 'grid' })
  editor.addCard('late', { x: 900_000, y: 900_000 })
  const arranged = await arranging
  await editor.saved()
  expect(arranged.status).toBe(200)
  const seats = new Map<string, { x: number; y: number }>(
    arranged.body.cards.map((seat: any) => [seat.id, seat]),
  )
  for (const card of await listCards(user, boardId)) {
    const seat = seats.get(card.id)
    // The card of the editor is in the layout, or came after it.
    if (seat || card.id !== 'late') expect([card['x'], card['y']]).toEqual([seat?.x, seat?.y])
  }
  const refused = await arrange(boardId, { width: 100, gap: 1000, row_height: 4000 })
  expect([refused.status, refused.body.code]).toEqual([400, 'bad_request'])
  expect(refused.body.error).toMatch(/larger than a board/)
}, 60_000)
