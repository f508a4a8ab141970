/** What changed on a board: its history, the life of a card, and the difference of two moments. */
import { expect, test } from 'vitest'
import { openEditor } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { openAgent } from '../support/mcp.ts'
import type { TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, makeCards, succeeded, type Shown } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false, debounceMs: 20, nodes: 1 })
const { compactor, admin } = service

const cardsPath = (boardId: string) => `/boards/${boardId}/cards`
const historyOf = async (who: TestUser, path: string, query = ''): Promise<any> =>
  succeeded(await who.api.get(`${path}/history?${query}`))
const told = (entries: Shown[]) =>
  entries.map(({ by, action, counts, fields }) => [by, action, counts, fields])
const counts = (added: number, changed: number, removed: number, groups = 0) => ({
  added,
  changed,
  removed,
  groups,
})

/** Every page of a history. */
async function walk(who: TestUser, path: string, query: string, limit = 2): Promise<Shown[]> {
  const entries: Shown[] = []
  for (let cursor = ''; ;) {
    const page = await historyOf(
      who,
      path,
      `${query}&limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    entries.push(...page.entries)
    if (!page.has_more) return entries
    cursor = page.next_cursor
  }
}

test('[HL1, HL2] the history has one entry for each request and each burst of an editor, newest first; who, how, what; before a compaction and after it', async () => {
  const { id } = await makeBoard(user)
  const other = await makeBoard(user)
  const ada = await service.user({ name: 'Ada' })
  await service.member(user.workspaceId, ada, 'editor')
  const [card, second] = await makeCards(user, id, [{ title: 'A' }, { title: 'B' }])
  const editor = await openEditor(service.url, { boardId: id, token: ada.token })
  for (let n = 0; n < 5; n++) editor.addCard(`drawn-${n}`)
  await editor.saved()
  const patched = await user.api.patch(`${cardsPath(id)}/${card!.id}`, { title: 'C', x: 7 })
  await user.api.delete(`${cardsPath(id)}/${second!.id}`)
  const moved = succeeded(
    await user.api.post(`${cardsPath(id)}/move`, { to_board_id: other.id, card_ids: [card!.id] }),
  )
  expect(moved.moved).toBe(1)
  const expected = [
    ['move', 'card.move', counts(0, 0, 1), []],
    ['api', 'card.delete', counts(0, 0, 1), []],
    ['api', 'card.update', counts(0, 1, 0), ['title', 'x']],
    ['editor', null, counts(5, 0, 0), []],
    ['api', 'card.create', counts(2, 0, 0), []],
  ]
  for (const isCompacted of [false, true]) {
    if (isCompacted) await compactor.compact(id)
    const { entries, has_more, next_cursor } = await historyOf(user, `/boards/${id}`)
    expect([isCompacted, told(entries)]).toEqual([isCompacted, expected])
    expect([has_more, next_cursor]).toEqual([false, null])
    expect(entries[0]).toMatchObject({ other_board_id: other.id, card_ids: [card!.id] })
    expect(entries[2]).toMatchObject({
      request_id: patched.headers.get('x-request-id'),
      actors: [{ user_id: user.userId, display_name: expect.any(String) }],
      token_ids: [user.tokenId],
      card_ids: [card!.id],
    })
    expect(entries[2].summary).toMatch(/^User \d+ changed 1 card \(title, x\) through the API\.$/)
    expect(entries[3]).toMatchObject({ actors: [{ user_id: ada.userId, display_name: 'Ada' }] })
    expect(entries[3].summary).toBe('Ada added 5 cards.')
    expect(entries[2].before).toBe(entries[2].position - 1)
    expect(told(await walk(user, `/boards/${id}`, ''))).toEqual(expected)
    expect(told(await walk(user, `/boards/${id}`, `actor=${ada.userId}`))).toEqual([expected[3]])
    expect(told(await walk(user, `/boards/${id}`, `card_id=${second!.id}`))).toEqual([
      expected[1],
      expected[4],
    ])
    const { at } = entries[2]
    expect(told(await walk(user, `/boards/${id}`, `until=${at}`))).toEqual(expected.slice(2))
    expect(told(await walk(user, `/boards/${id}`, `since=${at}`))).toEqual(expected.slice(0, 3))
  }
  editor.leave()
})

test('[HL3] pages of a history with many segments have each entry once', async () => {
  const { id } = await makeBoard(user)
  for (let cut = 0; cut < 4; cut++) {
    for (let n = 0; n < 3; n++) await makeCard(user, id, { title: `${cut} ${n}` })
    if (cut < 3) await compactor.compact(id)
  }
  const entries = await walk(user, `/boards/${id}`, '')
  expect(entries.map(({ position }) => position)).toEqual(Array.from({ length: 12 }, (_, n) => 12 - n))
  const bad = await user.api.get(`/boards/${id}/history?cursor=${(await makeBoard(user)).id}|1.0`)
  expect([bad.status, (await user.api.get(`/boards/${id}/history?since=x`)).status]).toEqual([400, 400])
})

test('[HL4] agents are told apart, and history has no names: an erased account has none', async () => {
  const { id } = await makeBoard(user)
  const made = succeeded(
    await user.api.post('/service-accounts', {
      workspace_id: user.workspaceId,
      name: 'Robot',
      scopes: ['write'],
    }),
  )
  const agent = new ApiClient(service.url, made.access_token)
  succeeded(await agent.post(cardsPath(id), { kind: 'note' }))
  const { entries } = await historyOf(user, `/boards/${id}`)
  expect(entries[0].by).toBe('agent')
  await admin`update users set display_name = null where id = ${entries[0].actors[0].user_id}`
  const later = await historyOf(user, `/boards/${id}`)
  expect(later.entries[0].actors[0].display_name).toBeNull()
})

test('[HL5] the life of a card follows it to the boards that it came from, where the caller may see them', async () => {
  const [first, second] = [await makeBoard(user), await makeBoard(user)]
  const card = await makeCard(user, first.id, { title: 'One' })
  await user.api.patch(`${cardsPath(first.id)}/${card.id}`, { title: 'Two' })
  await user.api.post(`${cardsPath(first.id)}/move`, { to_board_id: second.id, card_ids: [card.id] })
  await user.api.patch(`${cardsPath(second.id)}/${card.id}`, { title: 'Three' })
  await user.api.delete(`${cardsPath(second.id)}/${card.id}`)
  const path = `${cardsPath(second.id)}/${card.id}`
  const life = [
    [second.id, 'card.delete'],
    [second.id, 'card.update'],
    [second.id, 'card.move'],
    [first.id, 'card.update'],
    [first.id, 'card.create'],
  ]
  const lifeOf = (entries: Shown[]) => entries.map(({ board_id, action }) => [board_id, action])
  for (const board of [null, first, second]) {
    if (board) await compactor.compact(board.id)
    expect(lifeOf((await historyOf(user, path)).entries)).toEqual(life)
    for (const limit of [1, 2, 3]) expect(lifeOf(await walk(user, path, '', limit))).toEqual(life)
  }
  const guest = await service.user()
  await service.share(second.id, guest, 'viewer')
  expect((await guest.api.get(`${path}/history`)).status).toBe(403)
  await admin`update board_shares set history_since = '2020-01-01' where user_id = ${guest.userId}`
  const seen = await historyOf(guest, path)
  expect(lifeOf(seen.entries)).toEqual(life.slice(0, 3))
  expect([seen.has_more, seen.next_cursor]).toEqual([false, null])
  expect(lifeOf(await walk(guest, path, '', 3))).toEqual(life.slice(0, 3))
  expect(seen.entries[2]).toMatchObject({ other_board_id: null, token_ids: [] })
})

test('[HL6] a diff lists cards and groups that were added, removed and changed, field by field, texts in pieces', async () => {
  const { id } = await makeBoard(user)
  const [kept, changed, gone] = await makeCards(user, id, [
    { title: 'Kept' },
    { title: 'Changed', body: 'one two three' },
    { title: 'Gone' },
  ])
  await compactor.compact(id)
  await user.api.patch(`${cardsPath(id)}/${changed!.id}`, { body: 'one 2 three', color: '#ff0000' })
  await user.api.delete(`${cardsPath(id)}/${gone!.id}`)
  const added = await makeCard(user, id, { title: 'New' })
  const { group } = succeeded(await user.api.post(`/boards/${id}/groups`, { name: 'Group' }))
  const diff = succeeded(await user.api.get(`/boards/${id}/diff?from=1`))
  const byId = new Map<string, Shown>(diff.cards.map((card: Shown) => [card.id, card]))
  expect([diff.total, byId.has(kept!.id)]).toEqual([3, false])
  expect(byId.get(added.id)).toMatchObject({ change: 'added' })
  expect(byId.get(gone!.id)).toMatchObject({ change: 'removed' })
  expect(byId.get(gone!.id)!['fields']).toContainEqual({ field: 'title', before: 'Gone', after: null })
  expect(byId.get(changed!.id)).toMatchObject({ change: 'changed' })
  expect(byId.get(changed!.id)!['fields']).toEqual([
    {
      ...{ field: 'body', before: 'one two three', after: 'one 2 three' },
      diff: [
        { op: 'kept', text: 'one ' },
        { op: 'removed', text: 'two' },
        { op: 'added', text: '2' },
        { op: 'kept', text: ' three' },
      ],
    },
    { field: 'color', before: null, after: '#ff0000' },
  ])
  expect(diff.groups).toMatchObject([{ id: group.id, change: 'added' }])
  const pages = await Promise.all(
    [0, 1, 2].map(async (offset) =>
      succeeded(await user.api.get(`/boards/${id}/diff?from=1&limit=1&offset=${offset}`)),
    ),
  )
  expect(pages.flatMap(({ cards }) => cards)).toEqual(diff.cards)
  expect(pages.map(({ has_more }) => has_more)).toEqual([true, true, false])
  const back = succeeded(await user.api.get(`/boards/${id}/diff?from=${diff.to.position}&to=1`))
  expect(back.cards.find((card: Shown) => card.id === added.id)).toMatchObject({ change: 'removed' })
  expect((await user.api.get(`/boards/${id}/diff?from=1&to=99`)).status).toBe(404)
})

test('[HL7] agents read the history with board_history, and a past state with read_cards', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id, { title: 'Before' })
  await user.api.patch(`${cardsPath(id)}/${card.id}`, { title: 'After' })
  const agent = await openAgent(service.url, user.token)
  const { entries } = await agent.does('board_history', { board_id: id })
  expect(entries).toMatchObject([
    { by: 'api', position: 2 },
    { by: 'api', position: 1 },
  ])
  const past = await agent.does('read_cards', { board_id: id, as_of: '1' })
  expect(past.cards).toMatchObject([{ title: 'Before' }])
})
