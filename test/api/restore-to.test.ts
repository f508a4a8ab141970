/** Bringing a board back to what it was: `restore-to`. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { shareBoard } from '../../sql/accounts/accounts.ts'
import { openEditor, until, type Editor } from '../support/editor.ts'
import type { TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { listCards, makeBoard, makeCard, makeCards, succeeded, type Shown } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false, debounceMs: 20, nodes: 1 })
const { admin, compactor } = service

const cardsPath = (boardId: string) => `/boards/${boardId}/cards`
const positionOf = async (boardId: string): Promise<number> => {
  await service.flush(boardId)
  const [head] = await admin<{ seq: number }[]>`select seq from board_documents where board_id = ${boardId}`
  return head!.seq
}
const restore = (boardId: string, as_of: number, more: object = {}, who = user) =>
  who.api.post(`/boards/${boardId}/restore-to`, { as_of: String(as_of), ...more })
const rawOf = async (boardId: string) =>
  Object.fromEntries((await listCards(user, boardId, '&include=raw')).map(({ id, raw }) => [id, raw]))
const groupsOf = async (boardId: string) =>
  (await user.api.get(`/boards/${boardId}/groups`)).body.groups as Shown[]
const told = (list: Shown[]) => new Map(list.map(({ id, change }) => [id, change]))

/** A card with rich text and what only the editor knows. */
function addRich(editor: Editor, id: string, words: string): void {
  const card = editor.addCard(id, { title: id, body: words, grid: { rows: [1, [2, null]] }, z: 7 })
  const content = new Y.XmlFragment()
  card.set('content', content)
  const paragraph = new Y.XmlElement('paragraph')
  content.insert(0, [paragraph])
  const text = new Y.XmlText()
  paragraph.insert(0, [text])
  text.insert(0, words, { bold: true })
}

test('[HB1] restore-to brings the board back whole, live, in one operation, with one event of each type, and can be undone', async () => {
  const { id } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  const { group } = succeeded(await user.api.post(`/boards/${id}/groups`, { name: 'Group' }))
  const [kept, changed, removed] = await makeCards(user, id, [
    { title: 'Kept', group_id: group.id },
    { title: 'Changed', body: 'one two', props: { a: 1 }, identifiers: [{ scope: 's', value: 'v' }], z: 5 },
    { title: 'Removed', group_id: group.id, kind: 'link', url: 'https://example.test/' },
  ])
  addRich(editor, 'rich', 'Bold words')
  addRich(editor, 'rich-gone', 'More words')
  await editor.saved()
  const position = await positionOf(id)
  const [before, groups] = [await rawOf(id), await groupsOf(id)]

  await user.api.patch(cardsPath(id), {
    cards: [
      { id: changed!.id, title: 'New', body: 'one 2', props: null, identifiers: [], z: 9, color: 'red' },
    ],
  })
  await user.api.delete(cardsPath(id), { card_ids: [removed!.id] })
  await user.api.delete(`/boards/${id}/groups/${group.id}`)
  await until(() => !editor.cards.has(removed!.id), 'the editor has the removal')
  const rich = editor.cards.get('rich')!
  ;(rich.get('content') as Y.XmlFragment).delete(0, 1)
  rich.set('own', { more: true })
  rich.delete('grid')
  editor.cards.delete('rich-gone')
  addRich(editor, 'later', 'Later')
  await editor.saved()
  await service.flush(id)
  const after = await rawOf(id)

  const eventsOf = async () =>
    await admin<{ type: string }[]>`select type from events where board_id = ${id} order by occurred_at, type`
  const auditOf = async () =>
    await admin`select action from audit_operations where action = 'board.restore_to' and resource_ids @> ${[id]}`
  const known = (await eventsOf()).length
  const answer = await restore(id, position)
  const restored = succeeded(answer)
  expect(restored).toMatchObject({ board_id: id, as_of: { position }, dry_run: false, live: true })
  expect([restored.skipped, restored.not_found]).toEqual([[], []])
  expect(told(restored.changes)).toEqual(
    new Map([
      [changed!.id, 'changed'],
      [group.id, 'created'],
      [kept!.id, 'changed'],
      ['later', 'removed'],
      [removed!.id, 'created'],
      ['rich', 'changed'],
      ['rich-gone', 'created'],
    ]),
  )
  expect([await rawOf(id), await groupsOf(id)]).toEqual([before, groups])
  expect(editor.cards.get('rich')!.get('content')!.toString()).toContain('<bold>Bold words</bold>')
  expect(editor.cards.has('later')).toBe(false)
  const [back] = (await listCards(user, id)).filter(({ id }) => id === removed!.id)
  expect(back!['created_at']).toBe(removed!['created_at'])
  const types = (await eventsOf()).slice(known).map(({ type }) => type)
  expect(types.toSorted()).toEqual(['card.created', 'card.deleted', 'card.updated'])
  expect(await auditOf()).toHaveLength(1)
  const [entry] = succeeded(await user.api.get(`/boards/${id}/history`)).entries
  expect(entry).toMatchObject({ action: 'board.restore_to', counts: { added: 2, changed: 3, removed: 1 } })

  const request_id = answer.headers.get('x-request-id')
  const undone = succeeded(await user.api.post(`/boards/${id}/undo`, { request_id }))
  expect([undone.not_undone, await rawOf(id), await groupsOf(id)]).toEqual([[], after, []])
  expect(await restore(id, await positionOf(id))).toMatchObject({ status: 200, body: { changes: [] } })
  editor.leave()
})

test('[HB2] with card_ids only these cards come back, with the groups that they were in; the others stay', async () => {
  const { id } = await makeBoard(user)
  const { group } = succeeded(
    await user.api.post(`/boards/${id}/groups`, { name: 'Group', color: '#ff0000' }),
  )
  const [first, second, third] = await makeCards(user, id, [
    { title: 'A', group_id: group.id },
    { title: 'B' },
    { title: 'C' },
  ])
  const position = await positionOf(id)
  await user.api.patch(cardsPath(id), {
    cards: [first, second, third].map((card) => ({ id: card!.id, title: 'New' })),
  })
  await user.api.delete(`/boards/${id}/groups/${group.id}`)
  await user.api.delete(cardsPath(id), { card_ids: [second!.id] })
  for (const dry_run of [true, false]) {
    const asked = { card_ids: [first!.id, second!.id, 'none'], dry_run }
    const answer = succeeded(await restore(id, position, asked))
    expect(told(answer.changes)).toEqual(
      new Map([
        [first!.id, 'changed'],
        [group.id, 'created'],
        [second!.id, 'created'],
      ]),
    )
    expect([answer.not_found, answer.dry_run]).toEqual([['none'], dry_run])
    if (dry_run) expect(await positionOf(id)).toBe(position + 3)
  }
  const left = await listCards(user, id)
  expect(new Map(left.map(({ id, title, group_id }) => [id, [title, group_id ?? null]]))).toEqual(
    new Map([
      [first!.id, ['A', group.id]],
      [second!.id, ['B', null]],
      [third!.id, ['New', null]],
    ]),
  )
  expect(await groupsOf(id)).toMatchObject([{ id: group.id, color: '#ff0000', card_count: 1 }])
})

test('[HB3] cards that were moved to another board, or from one, are left where they are and listed', async () => {
  const [board, other] = [await makeBoard(user), await makeBoard(user)]
  const [away, stays] = await makeCards(user, board.id, [{ title: 'Away' }, { title: 'Stays' }])
  const here = await makeCard(user, other.id, { title: 'Here' })
  const position = await positionOf(board.id)
  const move = (from: Shown, to: Shown, card: Shown) =>
    user.api.post(`${cardsPath(from.id)}/move`, { to_board_id: to.id, card_ids: [card.id] })
  await move(board, other, away!)
  await move(other, board, here)
  await user.api.patch(`${cardsPath(board.id)}/${stays!.id}`, { title: 'New' })
  const answer = succeeded(await restore(board.id, position))
  expect(told(answer.changes)).toEqual(new Map([[stays!.id, 'changed']]))
  expect(new Map(answer.skipped.map(({ id, reason }: Shown) => [id, reason]))).toEqual(
    new Map([
      [away!.id, 'moved'],
      [here.id, 'moved'],
    ]),
  )
  // After 30 days its tombstone is gone.
  await admin`delete from card_index where board_id = ${board.id} and card_id = ${away!.id}`
  expect(succeeded(await restore(board.id, position)).skipped).toHaveLength(2)
  await move(other, board, away!)
  expect(told(succeeded(await restore(board.id, position)).changes)).toEqual(new Map([[away!.id, 'changed']]))
  expect(new Set((await listCards(user, board.id)).map(({ title }) => title))).toEqual(
    new Set(['Away', 'Here', 'Stays']),
  )
})

test('[HB4] restoring needs the right to write and to see the moment, `delete` to remove cards, and room for what comes back', async () => {
  const owner = await service.user({ tier: 'free' })
  const { id } = await makeBoard(owner)
  const cards = await makeCards(
    owner,
    id,
    Array.from({ length: 60 }, () => ({})),
  )
  const full = await positionOf(id)
  const ids = cards.map((card) => card.id)
  const status = async (who: TestUser, as_of: number, more: object = {}) => {
    const { status, body } = await restore(id, as_of, more, who)
    return [status, body.code]
  }
  const writer = await service.token(owner, { scopes: ['read', 'write'] })
  for (const dry_run of [true, false]) {
    expect(await status(writer, 0, { dry_run })).toEqual([403, 'insufficient_scope'])
    expect(await status(writer, 0, { dry_run, card_ids: [ids[0]] })).toEqual([403, 'insufficient_scope'])
  }
  const [viewer, guest, stranger] = [await service.user(), await service.user(), await service.user()]
  await service.member(owner.workspaceId, viewer, 'viewer')
  await service.share(id, guest, 'editor')
  expect(await status(viewer, full)).toEqual([403, 'forbidden'])
  expect(await status(guest, full)).toEqual([403, 'forbidden'])
  expect(await status(stranger, full)).toEqual([404, 'not_found'])
  await service.database.asSystem((tx) =>
    shareBoard(tx, { boardId: id, userId: guest.userId, role: 'editor', history: true }),
  )
  expect(await status(guest, 0)).toEqual([404, 'not_found'])
  expect(await status(guest, full)).toEqual([200, undefined])
  expect(await status(owner, full + 1)).toEqual([404, 'not_found'])
  expect((await owner.api.post(`/boards/${id}/restore-to`, { as_of: 'x' })).status).toBe(400)
  expect((await owner.api.post(`/boards/${id}/restore-to`, {})).status).toBe(400)

  await owner.api.delete(cardsPath(id), { card_ids: ids })
  await makeCards(
    owner,
    (await makeBoard(owner)).id,
    Array.from({ length: 41 }, () => ({})),
  )
  for (const dry_run of [true, false]) {
    expect(await status(owner, full, { dry_run })).toEqual([402, 'limit_reached'])
    expect((await owner.api.get(`${cardsPath(id)}?limit=1`)).body.total).toBe(0)
  }
  expect(await status(owner, full, { card_ids: ids.slice(0, 59) })).toEqual([200, undefined])
  await owner.api.delete(`/boards/${id}`)
  expect(await status(owner, full)).toEqual([409, 'conflict'])
})

test('[HB5] a card does not come back with an identifier that another card has by now', async () => {
  const { id } = await makeBoard(user)
  const identifiers = [{ scope: 's', value: 'v' }]
  const card = await makeCard(user, id, { identifiers })
  const position = await positionOf(id)
  await user.api.delete(`${cardsPath(id)}/${card.id}`)
  const { id: other } = await makeCard(user, id, { identifiers })
  const refused = await restore(id, position, { card_ids: [card.id] })
  expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
  expect(refused.body.error).toContain(other)
  expect(succeeded(await restore(id, position)).changes).toHaveLength(2)
})

test('[HB6] a restore beside an editor who types loses nothing of what it does not concern', async () => {
  const { id } = await makeBoard(user)
  const cards = await makeCards(
    user,
    id,
    Array.from({ length: 300 }, (_, n) => ({ title: `A ${n}`, body: 'first words' })),
  )
  const position = await positionOf(id)
  await compactor.compact(id)
  await user.api.patch(cardsPath(id), {
    cards: cards.map((card) => ({ id: card.id, title: 'New', body: 'other words' })),
  })
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  let typed = 0
  const type = () => {
    editor.addCard(`typed-${typed}`, { title: 'Mine' })
    const body = editor.cards.get(cards[typed % 3]!.id)!.get('body') as Y.Text
    body.insert(body.length, ` w${typed++}.`)
  }
  type()
  await editor.saved()
  const own = cards.slice(3).map((card) => card.id)
  const [answer] = await Promise.all([
    restore(id, position, { card_ids: own }),
    (async () => {
      for (let n = 0; n < 40; n++) {
        type()
        await new Promise((resolve) => setImmediate(resolve))
      }
    })(),
  ])
  expect(succeeded(answer).changes).toHaveLength(297)
  await editor.saved()
  await service.flush(id)
  const now = new Map((await listCards(user, id)).map((card) => [card.id, card]))
  for (let n = 0; n < typed; n++) {
    expect(now.has(`typed-${n}`)).toBe(true)
    expect(now.get(cards[n % 3]!.id)!['body']).toContain(` w${n}.`)
  }
  for (const one of own)
    expect(now.get(one)).toMatchObject({ body: 'first words', title: expect.stringMatching(/^A/) })
  // Of the whole board: what is typed while it is restored stays.
  const body = editor.cards.get(cards[9]!.id)!.get('body') as Y.Text
  body.insert(0, 'gone ')
  await editor.saved()
  const restored = restore(id, position)
  await until(() => !editor.cards.has('typed-0'), 'the editor is shown the restored board')
  body.insert(0, 'later ')
  succeeded(await restored)
  await editor.saved()
  expect((await rawOf(id))[cards[9]!.id]).toMatchObject({ body: 'later first words' })
  editor.leave()
})
