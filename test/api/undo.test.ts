/** Undoing what a request or an actor did, where nobody else has changed the same since. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { formattedCard } from '../hostile/attacks/updates.ts'
import { openEditor, until } from '../support/editor.ts'
import { ApiClient, type ApiAnswer } from '../support/http.ts'
import type { TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { listCards, makeBoard, makeCard, makeCards, succeeded, type Shown } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false, debounceMs: 20, nodes: 1 })
const { compactor, admin } = service
const other = await service.user({ name: 'Other' })
await service.member(user.workspaceId, other, 'editor')

const cardsPath = (boardId: string) => `/boards/${boardId}/cards`
const undo = (boardId: string, body: object, who: TestUser = user) =>
  who.api.post(`/boards/${boardId}/undo`, body)
const undone = async (boardId: string, body: object, who: TestUser = user) =>
  succeeded(await undo(boardId, body, who))
const requestOf = (answer: ApiAnswer<any>) => ({ request_id: answer.headers.get('x-request-id')! })
const rawOf = async (boardId: string) => {
  await service.flush(boardId)
  return Object.fromEntries((await listCards(user, boardId, '&include=raw')).map(({ id, raw }) => [id, raw]))
}
const patch = (boardId: string, id: string, fields: object, who: TestUser = user) =>
  who.api.patch(`${cardsPath(boardId)}/${id}`, fields)
const reasons = (list: Shown[]) => list.map(({ id, fields, reason }) => [id, fields, reason])
const changes = (list: Shown[]) => list.map(({ id, change, fields }) => [id, change, fields])

test('[HU1] undo writes the value from before only where the value is still the one that was written; from the log and from segments', async () => {
  for (const isCompacted of [false, true]) {
    const { id } = await makeBoard(user)
    const [first, second] = await makeCards(user, id, [{ title: 'A', x: 1, props: { a: 1 } }, { title: 'B' }])
    if (isCompacted) await compactor.compact(id)
    const asked = await user.api.patch(cardsPath(id), {
      cards: [
        { id: first!.id, title: 'A2', x: 2, props: null, color: '#ff0000' },
        { id: second!.id, title: 'B2', y: 9 },
      ],
    })
    await patch(id, first!.id, { x: 3 }, other)
    await user.api.delete(`${cardsPath(id)}/${second!.id}`)
    if (isCompacted) await compactor.compact(id)
    const before = await rawOf(id)
    const expected = {
      undone: [[first!.id, 'changed', ['color', 'props', 'title']]],
      not_undone: [
        [first!.id, ['x'], 'changed_since'],
        [second!.id, ['title', 'y'], 'gone'],
      ],
    }
    for (const dry_run of [true, false]) {
      const answer = await undone(id, { ...requestOf(asked), dry_run }, other)
      expect([isCompacted, answer.dry_run, answer.live]).toEqual([isCompacted, dry_run, true])
      const sorted = (list: any[]) => list.map(([id, what, fields]) => [id, what, fields])
      expect(
        sorted(
          changes(answer.undone).map(([id, change, fields]) => [id, change, (fields as string[]).toSorted()]),
        ),
      ).toEqual(expected.undone)
      const kept = reasons(answer.not_undone).map(([id, fields, why]) => [
        id,
        (fields as string[]).toSorted(),
        why,
      ])
      expect(kept.toSorted((a, b) => (a[2] as string).localeCompare(b[2] as string))).toEqual(
        expected.not_undone,
      )
      if (dry_run) expect(await rawOf(id)).toEqual(before)
    }
    expect((await rawOf(id))[first!.id]).toMatchObject({ title: 'A', x: 3, props: { a: 1 } })
    expect((await rawOf(id))[first!.id]).not.toHaveProperty('color')
    // There is nothing left to undo.
    expect((await undone(id, requestOf(asked))).undone).toEqual([])
  }
})

test('[HU2] created cards are removed, unless somebody else changed them; removed ones come back whole, with their ids', async () => {
  const { id } = await makeBoard(user)
  const { group } = succeeded(await user.api.post(`/boards/${id}/groups`, { name: 'Group' }))
  const editor = await openEditor(service.url, { boardId: id, token: other.token })
  const card = editor.addCard('rich', { title: 'Rich', own: { deep: [1] }, group_id: group.id })
  card.set('content', new Y.XmlFragment())
  await editor.saved()
  const before = await rawOf(id)
  const removed = await user.api.delete(`${cardsPath(id)}/rich`)
  await user.api.delete(`/boards/${id}/groups/${group.id}`)
  const made = await user.api.post(cardsPath(id), {
    cards: [
      { kind: 'note', title: 'Alone' },
      { kind: 'note', title: 'Touched' },
    ],
  })
  const [alone, touched] = succeeded(made).cards
  await patch(id, touched.id, { color: 'red' }, other)

  const writer = await service.token(user, { scopes: ['write'] })
  const lacking = await undone(id, requestOf(made), writer)
  expect(lacking.undone).toEqual([])
  expect(reasons(lacking.not_undone)).toEqual([
    [alone.id, [], 'needs_delete'],
    [touched.id, [], 'changed_since'],
  ])
  const answer = await undone(id, requestOf(made))
  expect(answer.undone).toEqual([
    { type: 'card', id: alone.id, change: 'removed', fields: [], restore_token: expect.any(String) },
  ])
  expect(reasons(answer.not_undone)).toEqual([[touched.id, [], 'changed_since']])
  const again = { kind: 'note', x: 0, y: 0, restore_token: answer.undone[0].restore_token }
  expect(succeeded(await user.api.post(cardsPath(id), again)).cards[0].title).toBe('Alone')

  // The group that the card was in is gone, unless its removal is undone, too.
  const back = await undone(id, requestOf(removed))
  expect(changes(back.undone)).toEqual([['rich', 'created', []]])
  const { group_id: _group, ...ungrouped } = before['rich']
  expect((await rawOf(id))['rich']).toEqual(ungrouped)
  await until(
    () => editor.cards.get('rich')?.get('content') instanceof Y.XmlFragment,
    'the editor has it whole',
  )
  expect(reasons((await undone(id, requestOf(removed))).not_undone)).toEqual([['rich', [], 'exists']])
  editor.leave()
})

test('[HU3] groups: one that was made goes unless cards of others are in it, one that was removed comes back, with its cards', async () => {
  const { id } = await makeBoard(user)
  const [one, two] = await makeCards(user, id, [{}, {}])
  const since = new Date().toISOString()
  const group = async (name: string, card: Shown) => {
    const { group } = succeeded(await user.api.post(`/boards/${id}/groups`, { name }))
    await patch(id, card.id, { group_id: group.id })
    return group.id as string
  }
  const [own, shared] = [await group('Own', one!), await group('Shared', two!)]
  const { id: third } = await makeCard(other, id, { group_id: shared })
  const answer = await undone(id, { actor: user.userId, since })
  expect(reasons(answer.not_undone)).toEqual([[shared, [], 'in_use']])
  const ids = async () => (await user.api.get(`/boards/${id}/groups`)).body.groups.map(({ id }: Shown) => id)
  expect(await ids()).toEqual([shared])
  expect(own).not.toBe(shared)
  const gone = await user.api.delete(`/boards/${id}/groups/${shared}`)
  const back = (await undone(id, requestOf(gone))).undone
  expect(new Map(back.map(({ id, change }: Shown) => [id, change]))).toEqual(
    new Map([
      [shared, 'created'],
      [third, 'changed'],
    ]),
  )
  expect((await rawOf(id))[third]).toMatchObject({ group_id: shared })
})

test('[HU4] an actor is an account, a token, an agent or `me`, in a span; what others did stays', async () => {
  const { id } = await makeBoard(user)
  const made = succeeded(
    await user.api.post('/service-accounts', {
      workspace_id: user.workspaceId,
      name: 'Robot',
      scopes: ['write'],
    }),
  )
  const robot = new ApiClient(service.url, made.access_token)
  const second = await service.token(user, {})
  const cards = await makeCards(user, id, [{ x: 0 }, { x: 0 }, { x: 0 }, { x: 0 }])
  const [a, b, c, d] = cards.map((card) => card.id) as [string, string, string, string]
  const since = new Date().toISOString()
  const move = () =>
    Promise.all([
      patch(id, a, { x: 1 }),
      patch(id, b, { x: 1 }, second),
      robot.patch(`${cardsPath(id)}/${c}`, { x: 1 }),
      patch(id, d, { x: 1 }, other),
    ])
  const places = async () =>
    Object.values(await rawOf(id))
      .map(({ x }: any) => x)
      .join('')
  const order = (await listCards(user, id)).map((card) => card.id)
  expect(order.toSorted()).toEqual([a, b, c, d].toSorted())
  const left = async (body: object, who = user) => {
    await move()
    await undone(id, { since, ...body }, who)
    const now = await rawOf(id)
    return [a, b, c, d].map((card) => now[card].x).join('')
  }
  expect(await places()).toBe('0000')
  expect(await left({ actor: 'me' })).toBe('0111')
  expect(await left({ actor: second.tokenId.toUpperCase() })).toBe('1011')
  expect(await left({ actor: user.userId })).toBe('0011')
  expect(await left({ actor: made.service_account.id })).toBe('1101')
  expect(await left({ actor: 'me' }, other)).toBe('1110')
  expect(await left({ actor: 'me', until: since })).toBe('1111')
  // An id that changed nothing here may be a misspelled one.
  for (const actor of ['nobody', crypto.randomUUID(), `${user.userId} `]) {
    const refused = await undo(id, { since, actor })
    expect([actor, refused.status, refused.body.code]).toEqual([actor, 404, 'not_found'])
    expect(refused.body.error).toContain('actor')
    expect((await undo(id, { since, actor, dry_run: true })).status).toBe(404)
  }
  // A request of somebody else is not mine.
  const theirs = await patch(id, d, { x: 5 }, other)
  expect((await undo(id, { actor: 'me', ...requestOf(theirs) })).status).toBe(404)
})

test('[HU5] of a text, changes of others at other places are kept; at the same place nothing is undone', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id, { body: 'one two three four', html: '<b>x</b>' })
  const editor = await openEditor(service.url, { boardId: id, token: other.token })
  const body = () => editor.cards.get(card.id)!.get('body') as Y.Text
  const write = async (text: string) => {
    const asked = await patch(id, card.id, { body: text })
    await until(() => String(body()) === text, 'the editor has the text')
    return asked
  }
  const far = await write('one 2 three four')
  body().insert(body().length, ' five')
  await editor.saved()
  const answer = await undone(id, requestOf(far))
  expect(answer.not_undone).toEqual([])
  expect(answer.undone[0].fields.toSorted()).toEqual(['body', 'html'])
  expect((await rawOf(id))[card.id]).toMatchObject({ body: 'one two three four five', html: '<b>x</b>' })

  const near = await write('one 2 three four five')
  body().insert(5, '!')
  await editor.saved()
  expect(reasons((await undone(id, requestOf(near))).not_undone)).toEqual([
    [card.id, ['body', 'html'], 'changed_since'],
  ])
  expect((await rawOf(id))[card.id]).toMatchObject({ body: 'one 2! three four five' })

  // An open canvas makes rich text from what the API wrote. It is made again from the text that comes back.
  const rich = await write('rich')
  editor.cards.get(card.id)!.set('content', new Y.XmlFragment())
  await editor.saved()
  expect((await undone(id, requestOf(rich))).not_undone).toEqual([])
  await until(() => String(body()) === 'one 2! three four five', 'the editor has the text from before')
  expect(editor.cards.get(card.id)!.has('content')).toBe(false)

  // Rich text that was there all the time is not made by a canvas.
  editor.cards.get(card.id)!.set('content', new Y.XmlFragment())
  await editor.saved()
  const [head] = await admin<{ seq: number }[]>`select seq from board_documents where board_id = ${id}`
  body().insert(0, 'late ')
  await editor.saved()
  const restored = await user.api.post(`/boards/${id}/restore-to`, { as_of: String(head!.seq) })
  expect((await undone(id, requestOf(restored))).not_undone).toEqual([])
  await until(() => String(body()) === 'late one 2! three four five', 'the editor has the text from before')
  expect(editor.cards.get(card.id)!.has('content')).toBe(true)
  editor.leave()
})

test('[HU6] what moves between boards did is not undone, and says so; an unknown change is 404, an incomplete request 400', async () => {
  const [board, target] = [await makeBoard(user), await makeBoard(user)]
  const card = await makeCard(user, board.id, {})
  const body = { to_board_id: target.id, card_ids: [card.id] }
  const moved = await user.api.post(`${cardsPath(board.id)}/move`, body)
  for (const { id } of [board, target])
    expect(reasons((await undone(id, requestOf(moved))).not_undone)).toEqual([[card.id, [], 'moved']])
  const [entry] = succeeded(await user.api.get(`/boards/${target.id}/history`)).entries
  const byOperation = await undone(target.id, { operation_id: entry.operation_id })
  expect(reasons(byOperation.not_undone)).toEqual([[card.id, [], 'moved']])
  const statusOf = async (given: object) => (await undo(board.id, given)).status
  expect(await statusOf({ request_id: 'none' })).toBe(404)
  expect(await statusOf({ operation_id: crypto.randomUUID() })).toBe(404)
  const endsFirst = { actor: 'me', since: '2030-01-02T00:00:00Z', until: '2030-01-01T00:00:00Z' }
  for (const bad of [{}, { actor: 'me' }, { actor: 'me', since: 'x' }, endsFirst, { request_id: '' }])
    expect([bad, await statusOf(bad)]).toEqual([bad, 400])
})

test('[HU7] undoing needs the right to write and to see the past, room for the cards, and a board that is not in the trash', async () => {
  const owner = await service.user({ tier: 'free' })
  const { id } = await makeBoard(owner)
  const [viewer, guest, stranger] = [await service.user(), await service.user(), await service.user()]
  await service.member(owner.workspaceId, viewer, 'viewer')
  await service.share(id, guest, 'editor')
  const cards = await makeCards(
    owner,
    id,
    Array.from({ length: 60 }, () => ({})),
  )
  const removed = await owner.api.delete(cardsPath(id), { card_ids: cards.map((card) => card.id) })
  const status = async (who: TestUser, more: object = {}) => {
    const { status, body } = await undo(id, { ...requestOf(removed), ...more }, who)
    return [status, body.code]
  }
  expect(await status(viewer)).toEqual([403, 'forbidden'])
  expect(await status(guest)).toEqual([403, 'forbidden'])
  expect(await status(stranger)).toEqual([404, 'not_found'])
  expect(await status(await service.token(owner, { scopes: ['read'] }))).toEqual([403, 'insufficient_scope'])
  // A guest sees, and undoes, only what was done since the history is shared.
  await admin`update board_shares set history_since = clock_timestamp() where user_id = ${guest.userId}`
  expect(await status(guest)).toEqual([404, 'not_found'])
  const { id: more } = await makeBoard(owner)
  await makeCards(
    owner,
    more,
    Array.from({ length: 41 }, () => ({})),
  )
  for (const dry_run of [true, false])
    expect(await status(owner, { dry_run })).toEqual([402, 'limit_reached'])
  await owner.api.delete(`/boards/${id}`)
  expect(await status(owner)).toEqual([409, 'conflict'])
})

test('[HU8] changes by editors are undone by account; a change that somebody else made in between is kept', async () => {
  const { id } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  editor.addCard('card', { title: 'A', x: 0 })
  await editor.saved()
  const since = new Date(Date.now() + 1).toISOString()
  await until(() => Date.now() > Date.parse(since), 'the next change has a later time')
  const card = editor.cards.get('card')!
  const wrote = async (title: string) => {
    card.set('title', title)
    await editor.saved()
  }
  await wrote('B')
  card.set('x', 5)
  await wrote('C')
  await patch(id, 'card', { title: 'Theirs' }, other)
  await until(() => card.get('title') === 'Theirs', 'the editor has the title')
  await wrote('D')
  await compactor.compact(id)
  const answer = await undone(id, { actor: user.userId, since })
  expect([answer.not_undone, answer.undone[0].fields.toSorted()]).toEqual([[], ['title', 'x']])
  expect((await rawOf(id))['card']).toMatchObject({ title: 'Theirs', x: 0 })
  editor.leave()
})

test('[HU11] an editor’s Y.UndoManager undoes that editor’s steps only, before and after the API went back', async () => {
  const { id } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  const undoManager = new Y.UndoManager([editor.cards, editor.groups], {
    trackedOrigins: new Set([null, 'canvas']),
    captureTimeout: 0,
  })
  editor.addCard('card', { title: 'A', body: 'one' })
  const card = editor.cards.get('card')!
  const body = card.get('body') as Y.Text
  const step = async (change: () => void) => {
    editor.document.transact(change, 'canvas')
    await editor.saved()
  }
  await step(() => card.set('x', 5))
  await step(() => body.insert(3, ' two'))
  await step(() => card.set('title', 'B'))
  const [head] = await admin<{ seq: number }[]>`select seq from board_documents where board_id = ${id}`
  await patch(id, 'card', { title: 'Theirs', body: 'three one two', color: '#ff0000' }, other)
  await until(() => card.get('title') === 'Theirs', 'the editor has the change')
  succeeded(await user.api.post(`/boards/${id}/restore-to`, { as_of: String(head!.seq) }))
  await until(() => card.get('title') === 'B' && !card.has('color'), 'the editor has the restored card')
  expect(undoManager.undoStack).toHaveLength(4)
  const after = async () => {
    undoManager.undo()
    await editor.saved()
    return (await rawOf(id))['card']
  }
  // The title was set anew, so its step changes nothing and is skipped. The earlier ones are the editor’s own, still.
  expect(await after()).toMatchObject({ title: 'B', body: 'one', x: 5 })
  expect(await after()).toMatchObject({ title: 'B', body: 'one', x: 0 })
  undoManager.destroy()
  editor.leave()
})

test('[WK34] a restore and an undo tell whether a text has changed that is too large to be compared as JSON', async () => {
  const { id } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  const strangers = await openEditor(service.url, { boardId: id, token: other.token })
  Y.applyUpdate(editor.document, formattedCard(600, 'card'), 'canvas')
  await editor.saved()
  await service.flush(id)
  const { position } = succeeded(await user.api.get(`/boards/${id}/history`)).entries[0]
  const text = () => editor.cards.get('card')!.get('body') as Y.Text
  const restore = async () =>
    succeeded(await user.api.post(`/boards/${id}/restore-to`, { as_of: String(position) })).changes

  const titled = await patch(id, 'card', { title: 'New' })
  expect(changes(await restore())).toEqual([['card', 'changed', ['title']]])
  expect((await undone(id, requestOf(titled))).not_undone).toEqual([])

  // What the editor did is undone, as long as nobody else has changed the text since.
  const undoText = async (write: () => void) => {
    const since = new Date(Date.now() + 1).toISOString()
    await until(() => Date.now() > Date.parse(since), 'the next change has a later time')
    write()
    await editor.saved()
    return () => undone(id, { actor: user.userId, since })
  }
  let undoIt = await undoText(() => text().delete(500, 100))
  expect(text().length).toBe(500)
  expect(changes((await undoIt()).undone)).toEqual([['card', 'changed', ['body']]])
  await until(() => text().length === 600, 'the text is back')
  undoIt = await undoText(() => text().delete(500, 100))
  await until(() => (strangers.cards.get('card')!.get('body') as Y.Text).length === 500, 'others see it')
  ;(strangers.cards.get('card')!.get('body') as Y.Text).delete(499, 1)
  await strangers.saved()
  const kept = await undoIt()
  expect([kept.undone, reasons(kept.not_undone)]).toEqual([[], [['card', ['body'], 'changed_since']]])

  expect(changes(await restore())).toEqual([['card', 'changed', ['body']]])
  await until(() => text().length === 600, 'the text is restored')
})
