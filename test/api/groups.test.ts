import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { openEditor, until } from '../support/editor.ts'
import { startService } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { listCards, makeBoard, makeCard, makeCards, nowhere, succeeded, type Shown } from './board.ts'
import { groupsOf, groupsPath, shared } from './group.ts'

const { service, user } = await serviceOfFile({ workers: false })

const { makeGroup, listGroups } = groupsOf(user)

test('[U1] a group is created with its defaults, or as it is sent, and is listed the same', async () => {
  const board = await makeBoard(user)
  const from = Date.now()
  const first = await user.api.post(groupsPath(board.id), { name: '  Scene 1 ' })
  expect(first.status).toBe(200)
  const { group } = first.body
  expect(group).toEqual({
    id: expect.stringMatching(/^[\w-]{16}$/),
    name: 'Scene 1',
    color: null,
    shape: 'box',
    outline: true,
    card_count: 0,
    created_at: expect.any(String),
  })
  expect(first.body.live).toBe(true)
  expect(Date.parse(group.created_at)).toBeGreaterThanOrEqual(from)
  const second = await makeGroup(board.id, { name: 'b', color: '#ff0', shape: 'hug', outline: false })
  expect(second).toMatchObject({ name: 'b', color: '#ff0', shape: 'hug', outline: false })
  expect(await listGroups(board.id)).toEqual([group, second])
})

test('[U2] bad input is 400 that names the field and what it accepts, and changes nothing', async () => {
  const board = await makeBoard(user)
  const group = await makeGroup(board.id, { name: 'Kept' })
  const bad: [object, RegExp][] = [
    [{ name: '' }, /^name must not be empty/],
    [{ name: ' \n ' }, /^name must not be empty/],
    [{ name: 'x'.repeat(201) }, /^name must be at most 200/],
    [{ name: 7 }, /^name must be a string/],
    [{ name: null }, /^name must be a string/],
    [{ name: 'a', color: 'x'.repeat(41) }, /^color must be at most 40/],
    [{ name: 'a', color: 1 }, /^color must be a string or null/],
    [{ name: 'a', shape: 'round' }, /^shape must be one of: box, hug/],
    [{ name: 'a', shape: null }, /^shape/],
    [{ name: 'a', outline: 'yes' }, /^outline must be a boolean/],
    [[], /^The body/],
  ]
  for (const [body, message] of bad) {
    for (const answer of [
      await user.api.post(groupsPath(board.id), body),
      await user.api.patch(`${groupsPath(board.id)}/${group.id}`, body),
    ]) {
      expect([body, answer.status, answer.body.code]).toEqual([body, 400, 'bad_request'])
      expect(answer.body.error).toMatch(message)
    }
  }
  expect((await user.api.post(groupsPath(board.id), {})).body.error).toMatch(/^name is required/)
  expect((await user.api.get(`${groupsPath(board.id)}?limit=0`)).status).toBe(400)
  expect(await listGroups(board.id)).toEqual([group])
  expect(await makeGroup(board.id, { name: '😀'.repeat(200), unknown: 1 })).toMatchObject({
    name: '😀'.repeat(200),
  })
})

test('[U3] without a token 401, without the scope 403, on a board or for a group that is not there 404', async () => {
  const board = await makeBoard(user)
  const group = await makeGroup(board.id)
  const one = `${groupsPath(board.id)}/${group.id}`
  const calls: [string, string, unknown][] = [
    ['GET', groupsPath(board.id), undefined],
    ['POST', groupsPath(board.id), { name: 'a' }],
    ['PATCH', one, { name: 'a' }],
    ['DELETE', one, undefined],
  ]
  const reader = await service.token(user, { scopes: ['read', 'delete'] })
  const writer = await service.token(user, { scopes: ['write'] })
  for (const [method, path, body] of calls) {
    expect((await service.anonymous.send(method, path, body)).status).toBe(401)
    expect((await reader.api.send(method, path, body)).status).toBe(method === 'GET' ? 200 : 403)
    expect((await user.api.send(method, path.replace(board.id, nowhere), body)).status).toBe(404)
    expect((await user.api.send(method, path.replace(board.id, 'x'), body)).status).toBe(400)
  }
  for (const id of ['none', 'a%2Fb', 'x'.repeat(65)]) {
    expect((await user.api.patch(`${groupsPath(board.id)}/${id}`, { name: 'a' })).status).toBe(404)
    expect((await user.api.delete(`${groupsPath(board.id)}/${id}`)).status).toBe(404)
  }
  const other = await makeBoard(user)
  expect((await user.api.delete(`${groupsPath(other.id)}/${group.id}`)).status).toBe(404)
  expect((await writer.api.delete(one)).status).toBe(200) // no card goes, so `write` is enough
})

test('[U4] groups are listed in the order of creation, by pages, with the live count of their cards', async () => {
  const board = await makeBoard(user)
  const made: Shown[] = []
  for (let n = 0; n < 7; n++) made.push(await makeGroup(board.id, { name: `g${n}` }))
  const order = made
    .toSorted((a, b) => (a['created_at'] + a.id < b['created_at'] + b.id ? -1 : 1))
    .map(({ id }) => id)
  const pages = []
  for (let offset: number | null = 0; offset !== null;) {
    const { body }: any = await user.api.get(`${groupsPath(board.id)}?limit=3&offset=${offset}`)
    expect([body.limit, body.offset, body.has_more]).toEqual([3, offset, body.next_offset !== null])
    pages.push(body.groups.map(({ id }: Shown) => id))
    offset = body.next_offset
  }
  expect(pages.map((page) => page.length)).toEqual([3, 3, 1])
  expect(pages.flat()).toEqual(order)
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  const [card] = await makeCards(user, board.id, [{ group_id: order[0] }, { group_id: order[0] }, {}])
  editor.addCard('own', { group_id: order[0] })
  await editor.saved()
  const counts = async () => (await listGroups(board.id)).map(({ card_count }: any) => card_count)
  expect(await counts()).toEqual([3, 0, 0, 0, 0, 0, 0])
  editor.cards.get('own')!.set('group_id', order[6])
  await editor.saved()
  await user.api.delete(`/boards/${board.id}/cards/${card!.id}`)
  expect(await counts()).toEqual([1, 0, 0, 0, 0, 0, 1])
})

test('[U5] a patch changes only what is sent', async () => {
  const board = await makeBoard(user)
  const group = await makeGroup(board.id, { color: 'red', shape: 'hug' })
  await makeCard(user, board.id, { group_id: group.id })
  const one = `${groupsPath(board.id)}/${group.id}`
  const patch = async (body: object) => succeeded(await user.api.patch(one, body)).group
  const counted = { ...group, card_count: 1 }
  expect(await patch({})).toEqual(counted)
  expect(await patch({ name: ' New ' })).toEqual({ ...counted, name: 'New' })
  expect(await patch({ color: null, outline: false })).toEqual({
    ...counted,
    name: 'New',
    color: null,
    outline: false,
  })
  expect(await patch({ color: 'blue', shape: 'box', outline: true })).toEqual({
    ...counted,
    name: 'New',
    color: 'blue',
    shape: 'box',
  })
  expect(await listGroups(board.id)).toEqual([{ ...counted, name: 'New', color: 'blue', shape: 'box' }])
})

test('[U6] ungrouping removes the group and never its cards, all at once', async () => {
  const board = await makeBoard(user)
  const [group, other] = [await makeGroup(board.id), await makeGroup(board.id)]
  const cards = await makeCards(user, board.id, [
    { group_id: group.id, body: 'a' },
    { group_id: group.id },
    { group_id: other.id },
    {},
  ])
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  const seen: [boolean, number][] = []
  editor.document.on('update', () =>
    seen.push([
      editor.groups.has(group.id),
      [...editor.cards.values()].filter((card) => card.get('group_id') === group.id).length,
    ]),
  )
  const answer = await user.api.delete(`${groupsPath(board.id)}/${group.id}`)
  expect(answer.body).toEqual({ deleted: true, group: { ...group, card_count: 2 }, ungrouped: 2, live: true })
  await until(() => !editor.groups.has(group.id), 'the editor sees it go')
  expect(seen.filter(([has, count]) => has !== count > 0)).toEqual([])
  const after = await listCards(user, board.id)
  expect(after.map(({ id }) => id)).toEqual(cards.map(({ id }) => id))
  expect(after.map((card) => card['group_id'])).toEqual([undefined, undefined, other.id, undefined])
  expect(after[0]!['body']).toBe('a')
  const rows =
    await service.admin`select card_id, group_id from card_index where board_id = ${board.id} and group_id is not null`
  expect([...rows]).toEqual([{ card_id: cards[2]!.id, group_id: other.id }])
  expect((await listGroups(board.id)).map(({ id }) => id)).toEqual([other.id])
  expect((await user.api.delete(`${groupsPath(board.id)}/${group.id}`)).status).toBe(404)
  expect(
    (await user.api.patch(`/boards/${board.id}/cards/${cards[0]!.id}`, { group_id: group.id })).status,
  ).toBe(400)
  expect(
    (await user.api.post(`/boards/${board.id}/cards`, { kind: 'note', group_id: group.id })).status,
  ).toBe(400)
})

test('[U7] a group is on open canvases at once, made, changed and removed; one that an editor makes is listed at once', async () => {
  const board = await makeBoard(user)
  const editors = await Promise.all(
    [0, 1].map(() => openEditor(service.url, { boardId: board.id, token: user.token })),
  )
  const group = await makeGroup(board.id, { name: 'Made', color: 'red', shape: 'hug', outline: false })
  const seen = (what: string, condition: (groups: Y.Map<Y.Map<unknown>>) => boolean) =>
    until(() => editors.every(({ groups }) => condition(groups)), what, 1000)
  await seen('the new group', (groups) => groups.has(group.id))
  expect(editors[0]!.groups.get(group.id)!.toJSON()).toEqual({
    name: 'Made',
    color: 'red',
    shape: 'hug',
    outline: false,
    created_at: group['created_at'],
  })
  await user.api.patch(`${groupsPath(board.id)}/${group.id}`, { name: 'Changed' })
  await seen('the new name', (groups) => groups.get(group.id)?.get('name') === 'Changed')
  editors[0]!.groups.set(
    'own',
    shared({ name: 'Own', shape: 'hug', outline: false, created_at: '2020-01-01T00:00:00Z' }),
  )
  await editors[0]!.saved()
  expect(await listGroups(board.id)).toEqual([
    {
      id: 'own',
      name: 'Own',
      color: null,
      shape: 'hug',
      outline: false,
      card_count: 0,
      created_at: '2020-01-01T00:00:00.000Z',
    },
    { ...group, name: 'Changed' },
  ])
  expect(succeeded(await user.api.patch(`${groupsPath(board.id)}/own`, { color: 'blue' })).group.color).toBe(
    'blue',
  )
  expect(await makeCard(user, board.id, { group_id: 'own' })).toMatchObject({ group_id: 'own' })
  await user.api.delete(`${groupsPath(board.id)}/own`)
  await seen('its removal', (groups) => !groups.has('own'))
})

test('[U8] groups that editors wrote against all rules are left out or clamped, and harm nobody', async () => {
  const board = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  const good = await makeGroup(board.id)
  editor.document.transact(() => {
    const set = (id: string, value: unknown) => editor.groups.set(id, value as Y.Map<unknown>)
    for (const [id, value] of Object.entries({
      text: 'x',
      number: 7,
      list: ['a'],
      nothing: null,
      rich: new Y.Text('x'),
    }))
      set(id, value)
    set('nameless', shared({ color: 'red' }))
    set('bad-name', shared({ name: { a: 1 } }))
    set('a/b', shared({ name: 'slash' }))
    set('', shared({ name: 'empty' }))
    set('x'.repeat(65), shared({ name: 'long id' }))
    set(
      'clamped',
      shared({
        name: 'n'.repeat(10_000),
        color: 'c'.repeat(1000),
        shape: 'star',
        outline: 'no',
        created_at: 'soon',
      }),
    )
    set('odd-times', shared({ name: 'odd', created_at: 1e300, color: new Y.Map() }))
  })
  await editor.saved()
  const groups = await listGroups(board.id)
  expect(groups.map(({ id }) => id)).toEqual(['clamped', 'odd-times', good.id])
  expect(groups[0]).toEqual({
    id: 'clamped',
    name: 'n'.repeat(200),
    color: 'c'.repeat(40),
    shape: 'box',
    outline: true,
    card_count: 0,
    created_at: null,
  })
  expect(groups[1]).toMatchObject({ color: null, created_at: null })
  for (const id of ['text', 'rich', 'nameless', 'bad-name'])
    expect((await user.api.patch(`${groupsPath(board.id)}/${id}`, { name: 'a' })).status).toBe(404)
  expect(
    succeeded(await user.api.patch(`${groupsPath(board.id)}/clamped`, { shape: 'hug' })).group,
  ).toMatchObject({ shape: 'hug', name: 'n'.repeat(200) })
  expect((await user.api.delete(`${groupsPath(board.id)}/odd-times`)).status).toBe(200)
  await service.flush(board.id)
})

test('[U9] a group is in its mirror with the write itself, and no flush follows', async () => {
  const board = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  const group = await makeGroup(board.id, { name: 'a' })
  const mirror = async () => [
    ...(await service.admin`
      select g.group_id as id, g.name, g.deleted_at is not null as gone, d.indexed_seq = d.seq as complete
      from group_index g join board_documents d using (board_id) where board_id = ${board.id}`),
  ]
  expect(await mirror()).toEqual([{ id: group.id, name: 'a', gone: false, complete: true }])
  expect(service.live.documents.find(board.id)!.outstanding).toBe(false)
  await user.api.patch(`${groupsPath(board.id)}/${group.id}`, { name: 'b' })
  expect(await mirror()).toEqual([{ id: group.id, name: 'b', gone: false, complete: true }])
  await user.api.delete(`${groupsPath(board.id)}/${group.id}`)
  expect(await mirror()).toEqual([{ id: group.id, name: 'b', gone: true, complete: true }])
  expect(service.live.documents.find(board.id)!.outstanding).toBe(false)
  editor.leave()
})

test('[C15] a group_id must be a group on the same board, whether its document is in memory or not', async () => {
  const [home, other] = [await makeBoard(user), await makeBoard(user)]
  const editor = await openEditor(service.url, { boardId: home.id, token: user.token })
  editor.groups.set('group-1', shared({ name: 'Scene', shape: 'hug', outline: true }))
  editor.groups.set('malformed', shared({ shape: 'hug' }))
  await editor.saved()
  const make = (boardId: string, group_id: unknown) =>
    user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: 0, y: 0, group_id })
  const grouped = await make(home.id, 'group-1')
  expect(grouped.body.cards[0].group_id).toBe('group-1')
  const card = grouped.body.cards[0]
  for (const [boardId, group] of [
    [home.id, 'none'],
    [home.id, 'malformed'],
    [home.id, 'a/b'],
    [other.id, 'group-1'],
    [home.id, 'x'.repeat(65)],
  ] as const) {
    const answer = await make(boardId, group)
    expect([group, answer.status]).toEqual([group, 400])
    expect(answer.body.error).toMatch(/^group_id/)
  }
  expect((await user.api.patch(`/boards/${home.id}/cards/${card.id}`, { group_id: 'none' })).status).toBe(400)
  const { body } = await user.api.patch(`/boards/${home.id}/cards/${card.id}`, { group_id: null })
  expect(body.card).not.toHaveProperty('group_id')
  expect(
    (await user.api.patch(`/boards/${home.id}/cards/${card.id}`, { group_id: 'group-1' })).body.card.group_id,
  ).toBe('group-1')
  await service.flush(home.id)
  const cold = await startService({ workers: false, testDatabase: service.testDatabase })
  const ask = async (group_id: string) => {
    const answer = await fetch(`${cold.url}/api/v1/boards/${home.id}/cards`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'note', x: 0, y: 0, group_id }),
    })
    return answer.status
  }
  expect([await ask('group-1'), await ask('none')]).toEqual([201, 400])
  expect(cold.live.documents.find(home.id)).toBeNull()
  await cold.stop()
})

test('[U12] a removed card that comes back does not come back into a group that is gone', async () => {
  const board = await makeBoard(user)
  const group = await makeGroup(board.id)
  const card = await makeCard(user, board.id, { group_id: group.id })
  const { restore_token } = (await user.api.delete(`/boards/${board.id}/cards/${card.id}`)).body.card
  await user.api.delete(`${groupsPath(board.id)}/${group.id}`)
  const back = succeeded(await user.api.post(`/boards/${board.id}/cards`, { kind: 'note', restore_token }))
    .cards[0]
  expect(back).not.toHaveProperty('group_id')
  const raw = await listCards(user, board.id, '&include=raw')
  expect(raw[0]!['raw']).not.toHaveProperty('group_id')
})

test('[U14] a group of more than 20,000 cards is not ungrouped in one request: 409, and nothing changes', async () => {
  const board = await makeBoard(user)
  const group = await makeGroup(board.id)
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  editor.document.transact(() => {
    for (let n = 0; n < 20_001; n++) editor.addCard(`c${n}`, { group_id: group.id })
  })
  await editor.saved(30_000)
  const refused = await user.api.delete(`${groupsPath(board.id)}/${group.id}`)
  expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
  expect((await listGroups(board.id))[0]!['card_count']).toBe(20_001)
  await user.api.patch(`/boards/${board.id}/cards/c7`, { group_id: null })
  const answer = await user.api.delete(`${groupsPath(board.id)}/${group.id}`)
  expect([answer.status, answer.body.ungrouped]).toEqual([200, 20_000])
  expect(editor.cards.size).toBe(20_001)
  await until(
    () => ![...editor.cards.values()].some((card) => card.has('group_id')),
    'the editor sees them out of it',
  )
}, 60_000)
