import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { repairBoard } from '../../collab/log/verify.ts'
import { publishBoard } from '../../sql/boards/schedule.ts'
import { openEditor, until } from '../support/editor.ts'
import { startService } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, succeeded } from './board.ts'

const { service, user } = await serviceOfFile({ debounceMs: 20 })

const versionOf = async (boardId: string, cardId: string, by = user): Promise<string> =>
  succeeded(await by.api.get(`/boards/${boardId}/cards/${cardId}`)).card.version

test('[CV2] each change of a card changes its version, and what is no change leaves it', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id, { title: 'A', body: 'one' })
  const path = `/boards/${id}/cards/${card.id}`
  const seen = [card['version']]
  const changes = {
    title: 'B',
    body: 'two',
    x: 5,
    color: '#fff',
    props: { a: 1 },
    alt: 'x',
    mime: 'a/b',
    z: 9,
  }
  for (const [field, value] of Object.entries(changes)) {
    const { version } = succeeded(await user.api.patch(path, { [field]: value })).card
    expect([field, seen.includes(version)]).toEqual([field, false])
    expect(succeeded(await user.api.patch(path, { [field]: value })).card.version).toBe(version)
    seen.push(version)
  }
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  const map = editor.cards.get(card.id)!
  const content = new Y.XmlFragment()
  const edits: Record<string, () => unknown> = {
    typing: () => (map.get('body') as Y.Text).insert(0, 'x'),
    'a key of the editor’s own': () => map.set('grid', { rows: 2 }),
    'a value inside it': () => map.set('grid', { rows: 3 }),
    'rich text': () => map.set('content', content),
    'a change of rich text': () => content.insert(0, [new Y.XmlText('words')]),
  }
  for (const [what, edit] of Object.entries(edits)) {
    edit()
    await editor.saved()
    const version = await versionOf(id, card.id)
    expect([what, seen.includes(version)]).toEqual([what, false])
    seen.push(version)
  }
  map.set('title', map.get('title'))
  editor.addCard('other')
  await editor.saved()
  await makeCard(user, id, { title: 'Another' })
  expect(await versionOf(id, card.id)).toBe(seen.at(-1))
  map.set('title', 'A')
  await editor.saved()
  const there = await versionOf(id, card.id)
  map.set('title', 'B')
  await editor.saved()
  expect([there === seen.at(-1), await versionOf(id, card.id)]).toEqual([false, seen.at(-1)])
})

test('[CV2] the version is the same wherever a card is read, and survives compaction, reload and rebuild', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id, {
    title: 'A',
    body: 'one',
    html: '<b>x</b>',
    props: { b: [1], a: {} },
  })
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  editor.cards.get(card.id)!.set('grid', { b: 1, a: [{ d: 1, c: 2 }] })
  await editor.saved()
  editor.leave()
  await service.flush(id)
  const version = await versionOf(id, card.id)
  const epoch = '1970-01-01T00:00:00Z'
  const everywhere = async (by = user) => {
    const lists = [
      'cards',
      'cards?include=raw',
      'cards?source=index',
      `cards?source=index&since=${epoch}`,
      'export',
    ]
    for (const list of lists) {
      const { cards } = succeeded(await by.api.get(`/boards/${id}/${list}`))
      expect([list, cards.map((shown: any) => shown.version)]).toEqual([list, [version]])
    }
    expect(await versionOf(id, card.id, by)).toBe(version)
  }
  await everywhere()
  for (let n = 0; n < 3; n++) await user.api.patch(`/boards/${id}/cards/${card.id}`, { x: n + 1 })
  await user.api.patch(`/boards/${id}/cards/${card.id}`, { x: card['x'] })
  await service.nodes[0]!.compactor.compact(id)
  await everywhere()
  const fresh = await startService({ testDatabase: service.testDatabase, workers: false })
  await everywhere(await fresh.token(user, {}))
  await service.admin`delete from card_index where board_id = ${id}`
  await repairBoard(fresh.database, id)
  await everywhere()
  await fresh.stop()
})

test('[CV2] a card that is moved or restored as it was has its version', async () => {
  const [from, to] = [await makeBoard(user), await makeBoard(user)]
  const card = await makeCard(user, from.id, { title: 'A', body: 'one', props: { a: 1 } })
  const editor = await openEditor(service.url, { boardId: from.id, token: user.token })
  editor.cards.get(card.id)!.set('grid', { rows: 2 })
  await editor.saved()
  const version = await versionOf(from.id, card.id)
  const move = { to_board_id: to.id, card_ids: [card.id] }
  const { cards } = succeeded(await user.api.post(`/boards/${from.id}/cards/move`, move))
  expect([cards[0].version, await versionOf(to.id, card.id)]).toEqual([version, version])
  const removed = succeeded(await user.api.delete(`/boards/${to.id}/cards/${card.id}`)).card
  const restored = succeeded(await user.api.post(`/boards/${to.id}/cards`, removed)).cards[0]
  expect([removed.version, restored.version]).toEqual([version, version])
  expect(await versionOf(to.id, restored.id)).toBe(version)
  expect(
    await versionOf(to.id, succeeded(await user.api.post(`/boards/${to.id}/cards`, card)).cards[0].id),
  ).toBe(card['version'])
})

test('[CV6] a board is changed and deleted only in the version that was read', async () => {
  const parent = await makeBoard(user)
  const board = await makeBoard(user, { parent_board_id: parent.id, props: { a: 1 } })
  const path = `/boards/${board.id}`
  const guest = await service.user()
  await service.share(board.id, guest, 'editor')
  await makeCard(user, board.id)
  const version = async (by = user) => succeeded(await by.api.get(path)).board.version
  expect([await version(), await version(guest)]).toEqual([board['version'], board['version']])
  succeeded(await user.api.patch(path, { name: board['name'], props: { a: 1 } }))
  expect(await version()).toBe(board['version'])
  succeeded(await user.api.delete(`/boards/${parent.id}`))
  const epoch = '1970-01-01T00:00:00Z'
  for (const list of ['workspace=', 'deleted=1&since=' + epoch, 'since=' + epoch]) {
    const query = list.replace('workspace=', `workspace=${user.workspaceId}`)
    let listed: { version: string } | undefined
    // A write under way holds the newest of a feed back for a moment.
    await until(async () => {
      const { boards } = succeeded(await user.api.get(`/boards?${query}&include=props&limit=500`))
      listed = boards.find(({ id }: { id: string }) => id === board.id)
      return listed !== undefined
    }, `the board is in ${list}`)
    expect([list, listed!.version]).toEqual([list, board['version']])
  }

  const send = (method: 'PATCH' | 'DELETE', tag: string, body?: object) =>
    user.api.send<any>(method, path, body, { 'if-match': `"${tag}"` })
  const seen = [board['version']]
  const others = [
    () => service.database.asUser(user.userId, (tx) => publishBoard(tx, board.id)),
    async () =>
      succeeded(await user.api.post('/boards/move', { board_ids: [board.id], parent_board_id: null })),
    async () => succeeded(await send('PATCH', await version(), { name: 'New' })),
  ]
  for (const change of others) {
    await change()
    const { body } = await user.api.get(path)
    expect(seen).not.toContain(body.board.version)
    for (const method of ['PATCH', 'DELETE'] as const) {
      const refused = await send(method, seen.at(-1)!, { name: 'Mine' })
      expect([refused.status, refused.body.code, refused.body.board]).toEqual([
        412,
        'precondition_failed',
        body.board,
      ])
    }
    seen.push(body.board.version)
  }
  const deleted = await send('DELETE', seen.at(-1)!)
  expect([deleted.body.board.deleted, seen.includes(deleted.body.board.version)]).toEqual([true, false])
})
