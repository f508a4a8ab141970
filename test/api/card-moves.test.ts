/** Cards that move from one board to another. */
import { afterEach, expect, test } from 'vitest'
import * as Y from 'yjs'
import { verifyBoard } from '../../collab/log/verify.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { startService } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { listCards, makeBoard, makeCard, makeCards, nowhere, succeeded, type Shown } from './board.ts'

const { service, user } = await serviceOfFile({ config: { freeCardCap: 5 }, debounceMs: 50 })

afterEach(leaveAll)

const move = (from: string, to: string, ids: string[], by = user) =>
  by.api.post(`/boards/${from}/cards/move`, { to_board_id: to, card_ids: ids })

const idsOf = async (boardId: string, by = user) => (await listCards(by, boardId)).map(({ id }) => id).sort()

async function verified(...boardIds: string[]): Promise<void> {
  for (const boardId of boardIds) expect(await verifyBoard(service.database, boardId)).toEqual([])
}

/** Two boards, and cards on the first. */
async function scene(cards: Record<string, unknown>[], by = user) {
  const [from, to] = [await makeBoard(by), await makeBoard(by)]
  return { from: from.id, to: to.id, cards: await makeCards(by, from.id, cards) }
}

const rowsOf = (boardId: string) =>
  service.admin<Record<string, any>[]>`
    select card_id, deleted_at, cause, op, moved_from, created_at, updated_at
    from card_index
    where board_id = ${boardId}
    order by card_id`

test('[CM1] cards move with all their fields and their id, and are on the target alone', async () => {
  const fields = {
    kind: 'doc',
    title: 'T',
    body: 'B',
    html: '<p>b</p>',
    url: 'https://example.com/',
    color: 'red',
    w: 300,
    h: 200,
    z: 7.5,
    rotation: 30,
    props: { a: [1, { b: null }] },
    identifiers: [{ scope: 's', value: 'v' }],
    sub: 'sub',
    section_header: true,
    size_bytes: 12,
    file_name: 'f',
  }
  const { from, to, cards } = await scene([fields, { title: 'stays' }, { title: 'second' }])
  const [first, stays, second] = cards.map(({ id }) => id) as [string, string, string]
  const answer = await move(from, to, [second, first])
  expect(answer.status).toBe(200)
  expect(answer.body).toMatchObject({ moved: 2, not_found: [], renamed: {}, live: true, to_board_id: to })
  expect(answer.body.cards.map((card: Shown) => card.id)).toEqual([second, first])
  const { updated_at: _before, ...expected } = cards[0]!
  expect(answer.body.cards[1]).toMatchObject(expected)
  expect(await idsOf(from)).toEqual([stays])
  expect(await idsOf(to)).toEqual([first, second].sort())
  const listed = (await listCards(user, to, '&include=props,identifiers')).find(({ id }) => id === first)!
  expect(listed).toEqual(answer.body.cards[1])
  await verified(from, to)
})

test('[CM2] created_at goes along, the source keeps a tombstone of the same operation, and updated_at is that of the move', async () => {
  const { from, to, cards } = await scene([{}])
  const id = cards[0]!.id
  await service.admin`update card_index set created_at = '2020-01-02T03:04:05Z' where card_id = ${id}`
  const { body } = await move(from, to, [id])
  expect(body.cards[0].created_at).toBe('2020-01-02T03:04:05.000Z')
  const [gone] = await rowsOf(from)
  const [there] = await rowsOf(to)
  expect(gone).toMatchObject({
    card_id: id,
    cause: 'move',
    op: there!['op'],
    deleted_at: there!['updated_at'],
  })
  expect(there).toMatchObject({ cause: 'move', moved_from: from, deleted_at: null })
  expect(there!['updated_at'].toISOString()).toBe(body.cards[0].updated_at)
  // There and back again.
  expect((await move(to, from, [id])).body.cards[0].created_at).toBe('2020-01-02T03:04:05.000Z')
  expect(await idsOf(from)).toEqual([id])
  expect(await idsOf(to)).toEqual([])
  const feed = `/boards/${to}/cards?source=index&since=1970-01-01T00:00:00Z&deleted=1`
  await until(
    async () => (await user.api.get(feed)).body.cards[0]?.deleted === true,
    'a follower learns of it',
  )
  await verified(from, to)
})

test('[CM3] a card moves to and fro between boards any number of times', async () => {
  const { from, to, cards } = await scene([{ body: 'round and round' }])
  const id = cards[0]!.id
  const editor = await openEditor(service.url, { boardId: from, token: user.token })
  const other = await openEditor(service.url, { boardId: to, token: user.token })
  for (let n = 0; n < 20; n++) {
    const [here, there] = n % 2 === 0 ? [from, to] : [to, from]
    expect((await move(here, there, [id])).body).toMatchObject({ moved: 1, live: true })
    await until(
      () => editor.cards.has(id) === (there === from) && other.cards.has(id) === (there === to),
      'both canvases',
    )
  }
  expect(String(editor.cards.get(id)!.get('body'))).toBe('round and round')
  await service.compactor.compact(from)
  await service.compactor.compact(to)
  expect((await move(from, to, [id])).body.moved).toBe(1)
  expect(await idsOf(to)).toEqual([id])
  await verified(from, to)
})

test('[CM4] what only the editor knows goes along whole: grids, rich text, nested types, values that are no JSON', async () => {
  const { from, to } = await scene([{}])
  const editor = await openEditor(service.url, { boardId: from, token: user.token })
  const card = editor.addCard('grid-1', { kind: 'grid', title: 'Grid', body: 'text' })
  editor.document.transact(() => {
    const grid = new Y.Map<unknown>()
    card.set('grid', grid)
    const rows = new Y.Array<unknown>()
    grid.set('rows', rows)
    const row = new Y.Map<unknown>()
    rows.push([1, row, { plain: true }, new Uint8Array([1, 2, 3])])
    row.set('text', new Y.Text('cell'))
    ;(row.get('text') as Y.Text).format(0, 2, { bold: true })
    const content = new Y.XmlFragment()
    card.set('content', content)
    const paragraph = new Y.XmlElement('paragraph')
    paragraph.setAttribute('align', 'left')
    content.push([paragraph])
    paragraph.push([new Y.XmlText('rich ')])
    ;(paragraph.get(0) as Y.XmlText).insert(5, 'bold', { strong: {} })
    card.set('big', 1234567890123n)
    card.set('nothing', undefined)
    card.set('bytes', new Uint8Array([9, 8]))
    card.set('group_id', 7)
  })
  ;(card.get('body') as Y.Text).insert(0, 'more ')
  ;(card.get('grid') as Y.Map<unknown>).delete('gone')
  await editor.saved()
  const before = (await listCards(user, from, '&include=raw')).find(({ id }) => id === 'grid-1')!
  const { group_id: _dropped, ...raw } = before['raw']
  const { body } = await move(from, to, ['grid-1'])
  expect(body.moved).toBe(1)
  const [after] = await listCards(user, to, '&include=raw')
  expect(after!['raw']).toEqual(raw)
  expect(after!['raw'].grid.rows[1].text).toBe('cell')
  expect(after!['raw'].content).toBe('<paragraph align="left">rich <strong>bold</strong></paragraph>')
  const there = await openEditor(service.url, { boardId: to, token: user.token })
  const moved = there.cards.get('grid-1')!
  expect(moved.get('big')).toBe(1234567890123n)
  expect(moved.has('nothing') && moved.get('nothing') === undefined).toBe(true)
  expect(moved.get('bytes')).toEqual(new Uint8Array([9, 8]))
  expect(moved.has('group_id')).toBe(false)
  const text = ((moved.get('grid') as Y.Map<any>).get('rows') as Y.Array<any>).get(1).get('text') as Y.Text
  expect(text.toDelta()).toEqual([{ insert: 'ce', attributes: { bold: true } }, { insert: 'll' }])
  // And it goes on living.
  text.insert(4, 's')
  ;(moved.get('body') as Y.Text).insert(0, 'even ')
  await there.saved()
  const [later] = await listCards(user, to, '&include=raw')
  expect(later).toMatchObject({
    kind: 'grid',
    body: 'even more text',
    raw: { grid: { rows: [1, { text: 'cells' }, {}, 'AQID'] } },
  })
  await verified(from, to)
})

test('[CM5] the group stays behind', async () => {
  const { from, to, cards } = await scene([{}])
  const { group } = succeeded<any>(await user.api.post(`/boards/${from}/groups`, { name: 'G' }))
  succeeded(await user.api.patch(`/boards/${from}/cards/${cards[0]!.id}`, { group_id: group.id }))
  const { body } = await move(from, to, [cards[0]!.id])
  expect(body.cards[0]).not.toHaveProperty('group_id')
  expect((await listCards(user, to))[0]).not.toHaveProperty('group_id')
  const { groups } = succeeded<any>(await user.api.get(`/boards/${from}/groups`))
  expect(groups).toMatchObject([{ id: group.id, card_count: 0 }])
  expect(succeeded<any>(await user.api.get(`/boards/${to}/groups`)).groups).toEqual([])
  await verified(from, to)
})

test('[CM6] an id that the target has already is replaced, and the answer says so', async () => {
  const [{ id: from }, { id: to }] = [await makeBoard(user), await makeBoard(user)]
  const editor = await openEditor(service.url, { boardId: from, token: user.token })
  const other = await openEditor(service.url, { boardId: to, token: user.token })
  const identifiers = [{ scope: 's', value: 'pasted' }]
  editor.addCard('same', { title: 'original', identifiers })
  editor.addCard('own', { title: 'own' })
  other.addCard('same', { title: 'pasted', x: 5000, identifiers })
  await Promise.all([editor.saved(), other.saved()])
  const { body } = await move(from, to, ['same', 'own'])
  const id = body.renamed.same
  expect(body.renamed).toEqual({ same: expect.stringMatching(/^[\w-]{16}$/) })
  expect(body.cards.map((card: Shown) => [card.id, card['title']])).toEqual([
    [id, 'original'],
    ['own', 'own'],
  ])
  expect(await idsOf(from)).toEqual([])
  const titles = new Map((await listCards(user, to)).map((card) => [card.id, card['title']]))
  expect(titles).toEqual(
    new Map([
      ['same', 'pasted'],
      [id, 'original'],
      ['own', 'own'],
    ]),
  )
  await verified(from, to)
})

test('[CM7] ids that are not on the board are named, each once; nothing else happens for them', async () => {
  const { from, to, cards } = await scene([{}, {}])
  const [one, two] = cards.map(({ id }) => id) as [string, string]
  const { body } = await move(from, to, ['missing', one, one, 'a/b', 'missing'])
  expect(body).toMatchObject({ moved: 1, not_found: ['missing', 'a/b'], live: true })
  expect((await move(from, to, [one])).body).toMatchObject({ moved: 0, cards: [], not_found: [one] })
  expect(await idsOf(from)).toEqual([two])
  expect(await idsOf(to)).toEqual([one])
})

test('[CM10] bad input is 400 that names the field, and changes nothing', async () => {
  const { from, to, cards } = await scene([{}])
  const id = cards[0]!.id
  const path = `/boards/${from}/cards/move`
  const bad: [unknown, string][] = [
    [{ card_ids: [id] }, 'to_board_id is required'],
    [{ to_board_id: to }, 'card_ids is required'],
    [{ to_board_id: 'x', card_ids: [id] }, 'to_board_id must be a valid uuid'],
    [{ to_board_id: null, card_ids: [id] }, 'to_board_id must be a string'],
    [{ to_board_id: to, card_ids: [] }, 'card_ids must hold at least 1'],
    [{ to_board_id: to, card_ids: id }, 'card_ids must be an array'],
    [{ to_board_id: to, card_ids: [7] }, 'card_ids[0] must be a string'],
    [
      { to_board_id: to, card_ids: Array.from({ length: 1001 }, () => id) },
      'card_ids must hold at most 1000',
    ],
    [{ to_board_id: from, card_ids: [id] }, 'to_board_id must be another board'],
    [{ to_board_id: from.toUpperCase(), card_ids: [id] }, 'to_board_id must be another board'],
  ]
  for (const [body, message] of bad) {
    const answer = await user.api.post(path, body)
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
    expect(answer.body.error).toContain(message)
  }
  expect(await idsOf(from)).toEqual([id])
  expect((await move(from, to.toUpperCase(), [id])).status).toBe(200)
})

test('[CM11] both boards are checked: invisible 404, not writable 403, in the trash 409; nothing moves', async () => {
  const { from, to, cards } = await scene([{}])
  const id = cards[0]!.id
  const guest = await service.user()
  const expectRefused = async (to: string, status: number, message: string, by = guest, board = from) => {
    const answer = await move(board, to, [id], by)
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(message)])
  }
  expect((await service.anonymous.post(`/boards/${from}/cards/move`, {})).status).toBe(401)
  const reader = await service.token(user, { scopes: ['read', 'delete'] })
  const refused = await move(from, to, [id], reader)
  expect([refused.status, refused.body.code]).toEqual([403, 'insufficient_scope'])
  await expectRefused(to, 404, 'No such board')
  await service.share(from, guest, 'viewer')
  await expectRefused(to, 403, 'You may view this board')
  await service.share(from, guest, 'editor')
  await expectRefused(to, 404, 'to_board_id: no such board')
  await expectRefused(nowhere, 404, 'to_board_id: no such board', user)
  await expectRefused(to, 404, 'No such board', user, nowhere)
  await service.share(to, guest, 'viewer')
  await expectRefused(to, 403, 'to_board_id: you may view this board')
  await user.api.delete(`/boards/${to}`)
  await expectRefused(to, 409, 'to_board_id: the board is in the trash', user)
  await user.api.post(`/boards/${to}/restore`)
  await user.api.delete(`/boards/${from}`)
  await expectRefused(to, 409, 'The board is in the trash', user)
  await user.api.post(`/boards/${from}/restore`)
  expect(await idsOf(from)).toEqual([id])
  expect(await idsOf(to)).toEqual([])
  await service.share(to, guest, 'editor')
  expect((await move(from, to, [id], guest)).status).toBe(200)
})

test('[CM12] the cap is that of the target’s owner, all or nothing; between boards of one owner nothing is counted twice', async () => {
  const free = await service.user({ tier: 'free' })
  const { from, to, cards } = await scene([{}, {}, {}, {}, {}], free)
  const all = cards.map(({ id }) => id)
  expect((await move(from, to, all, free)).body.moved).toBe(5)
  // More than the plan holds, by an editor: moving makes it no worse.
  const editor = await openEditor(service.url, { boardId: to, token: free.token })
  editor.addCard('sixth', { x: 9000 })
  await editor.saved()
  await until(async () => (await rowsOf(to)).length === 6, 'it is indexed')
  expect((await move(to, from, all, free)).body.moved).toBe(5)
  const mine = await scene([{}, {}])
  const two = mine.cards.map(({ id }) => id)
  await service.share(from, user, 'editor')
  const refused = await move(mine.from, from, two)
  expect([refused.status, refused.body.code]).toEqual([402, 'limit_reached'])
  expect(refused.body.error).toContain('6 are used and 2 more')
  expect(await idsOf(mine.from)).toEqual([...two].sort())
  // Away from a free account there is room for as many again.
  expect((await move(from, mine.to, all)).body.moved).toBe(5)
  expect((await move(mine.from, from, two)).body.moved).toBe(2)
  await verified(from, to, mine.from, mine.to)
})

test('[CM13] a move is one card.moved, on the target, naming the source', async () => {
  const quiet = await startService({ workers: false }) // events stay in the outbox
  const owner = await quiet.user()
  const { from, to, cards } = await scene([{}, {}], owner)
  await quiet.admin`delete from events`
  const ids = cards.map(({ id }) => id)
  await move(from, to, ids, owner)
  const events = await quiet.admin`select type, board_id, from_board_id, card_ids, origin from events`
  expect([...events]).toEqual([
    { type: 'card.moved', board_id: to, from_board_id: from, card_ids: ids, origin: 'api' },
  ])
  await quiet.stop()
})

test('[CM14] both canvases show the move when it is answered `live: true`', async () => {
  const { from, to, cards } = await scene([{ body: 'seen' }])
  const id = cards[0]!.id
  const [a, b] = await Promise.all(
    [from, to].map((boardId) => openEditor(service.url, { boardId, token: user.token })),
  )
  const { body } = await move(from, to, [id])
  expect(body.live).toBe(true)
  await until(() => !a!.cards.has(id) && b!.cards.has(id), 'both canvases', 250)
  expect(String(b!.cards.get(id)!.get('body'))).toBe('seen')
})

test('[CM15] an identifier that another card of the target carries is 409 that names it, and nothing moves', async () => {
  const identifiers = [{ scope: 's', value: 'once' }]
  const { from, to, cards } = await scene([{ identifiers }, {}])
  const taken = await makeCard(user, to, { identifiers })
  const refused = await move(
    from,
    to,
    cards.map(({ id }) => id),
  )
  expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
  expect(refused.body.error).toContain('"once"')
  expect(refused.body.error).toContain(taken.id)
  expect(await idsOf(from)).toHaveLength(2)
  expect(await idsOf(to)).toEqual([taken.id])
})

test('[CM16] a moved card is removed and restored as any other', async () => {
  const { from, to } = await scene([{}])
  const editor = await openEditor(service.url, { boardId: from, token: user.token })
  editor.addCard('with-content', { title: 'A' }).set('grid', { rows: 3 })
  await editor.saved()
  await move(from, to, ['with-content'])
  const { cards } = succeeded<any>(
    await user.api.delete(`/boards/${to}/cards`, { card_ids: ['with-content'] }),
  )
  const { restore_token, kind } = cards[0]
  const back = succeeded<any>(
    await user.api.post(`/boards/${from}/cards`, { cards: [{ kind, restore_token }] }),
  )
  const listed = (await listCards(user, from, '&include=raw')).find(({ id }) => id === back.cards[0].id)!
  expect(listed['raw'].grid).toEqual({ rows: 3 })
  await verified(from, to)
})
