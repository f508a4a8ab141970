import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { tools } from '../../api/mcp/tools.ts'
import { openEgress } from '../../platform/egress/egress.ts'
import { listCards, nowhere } from '../api/board.ts'
import { until } from '../support/editor.ts'
import { openSite, png, serves } from '../support/site.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'
import { makeScene, titlesOf, type Scene } from './scene.ts'

const site = await forFile(openSite())
const { service, user } = await serviceOfFile({
  workers: false,
  egress: openEgress({ allow: ['127.0.0.1'] }),
})

const titles = (boardId: string) => titlesOf(user, boardId)
const ids = (list: { id: string }[]) => list.map(({ id }) => id)

/** What each tool does, seen by its answer and by REST. */
const successes: Record<string, (scene: Scene) => Promise<void>> = {
  async list_workspaces({ agent }) {
    const { workspaces, has_more } = await agent.does('list_workspaces')
    expect(ids(workspaces)).toEqual([user.workspaceId])
    expect(has_more).toBe(false)
  },
  async search({ agent, board, cards }) {
    const name = `Needle ${randomUUID()}`
    await user.api.patch(`/boards/${board.id}`, { name })
    await user.api.patch(`/boards/${board.id}/cards/${cards[0]!.id}`, { body: `x ${name} y` })
    let found = await agent.does('search', { query: name })
    // A loaded machine may take longer to bring it into the index.
    await until(async () => {
      found = await agent.does('search', { query: name })
      return found.boards.items.length > 0 && found.cards.items.length > 0
    }, 'the board and the card are found')
    expect(ids(found.boards.items)).toEqual([board.id])
    expect(found.cards.items).toMatchObject([{ id: cards[0]!.id, excerpt: `x ${name} y` }])
    expect((await agent.does('search', { query: name, kind: 'card' })).boards.items).toEqual([])
  },
  async resolve({ agent, board, cards, identifier }) {
    const { matches } = await agent.does('resolve', identifier)
    expect(matches).toMatchObject([{ type: 'card', id: cards[0]!.id, board_id: board.id }])
  },
  async list_boards({ agent, board, other }) {
    await user.api.patch(`/boards/${other.id}`, { parent_board_id: board.id })
    const { boards } = await agent.does('list_boards', { parent_board_id: board.id })
    expect(ids(boards)).toEqual([other.id])
    await user.api.delete(`/boards/${other.id}`)
    expect(ids((await agent.does('list_boards', { trash: true, limit: 100 })).boards)).toContain(other.id)
  },
  async read_board({ agent, board }) {
    expect(await agent.does('read_board', { board_id: board.id })).toMatchObject({
      board: { id: board.id, name: 'Wall', workspace_id: user.workspaceId },
      capacity: null,
    })
  },
  async read_board_tree({ agent, board, other }) {
    await user.api.patch(`/boards/${other.id}`, { parent_board_id: board.id })
    const { boards, total } = await agent.does('read_board_tree', { board_id: board.id })
    expect(boards).toMatchObject([
      { id: board.id, depth: 0, card_count: 2 },
      { id: other.id, depth: 1, parent_board_id: board.id },
    ])
    expect(total).toBe(2)
  },
  async read_cards({ agent, board, cards }) {
    const page = await agent.does('read_cards', { board_id: board.id, include: ['props', 'identifiers'] })
    expect(ids(page.cards)).toEqual(ids(cards))
    expect(page).toMatchObject({ total: 2, cards: [{ title: 'First', body: 'one' }, { props: { a: 1 } }] })
  },
  async read_card({ agent, board, cards, identifier }) {
    const { card } = await agent.does('read_card', { board_id: board.id, card_id: cards[0]!.id })
    expect(card).toMatchObject({ title: 'First', body: 'one', identifiers: [identifier], x: 0, y: 0 })
  },
  async board_history({ agent, board, cards }) {
    await user.api.patch(`/boards/${board.id}/cards/${cards[0]!.id}`, { title: 'Changed' })
    const { entries } = await agent.does('board_history', { board_id: board.id, limit: 1 })
    expect(entries).toMatchObject([{ by: 'api', fields: ['title'], card_ids: [cards[0]!.id] }])
  },
  async undo_my_changes({ agent, board, cards }) {
    const since = new Date().toISOString()
    await agent.does('update_cards', { board_id: board.id, cards: [{ id: cards[0]!.id, title: 'Wrong' }] })
    const asked = { board_id: board.id, since }
    const dry = await agent.does('undo_my_changes', { ...asked, dry_run: true })
    expect(await titlesOf(user, board.id)).toEqual(['Wrong', 'Second'])
    const done = await agent.does('undo_my_changes', asked)
    expect(done.undone).toEqual(dry.undone)
    expect(done).toMatchObject({
      undone: [{ id: cards[0]!.id, fields: ['title'] }],
      not_undone: [],
      dry_run: false,
    })
    expect(await titlesOf(user, board.id)).toEqual(['First', 'Second'])
    expect(await agent.reads('undo_my_changes', { board_id: board.id, request_id: 'none' })).toMatch(
      /^not_found/,
    )
  },
  async list_groups({ agent, board, groupId }) {
    const { groups } = await agent.does('list_groups', { board_id: board.id })
    expect(groups).toMatchObject([{ id: groupId, name: 'Group', card_count: 0 }])
  },
  async create_board({ agent, board }) {
    const made = await agent.does('create_board', { name: 'Made', parent_board_id: board.id })
    const { body } = await user.api.get(`/boards/${made.board.id}`)
    expect(body.board).toMatchObject({ name: 'Made', parent_board_id: board.id })
  },
  async update_board({ agent, board }) {
    await agent.does('update_board', { board_id: board.id, name: 'Changed', scheduled_date: '2030-01-02' })
    const { body } = await user.api.get(`/boards/${board.id}`)
    expect(body.board).toMatchObject({ name: 'Changed', scheduled_date: '2030-01-02', view: 'canvas' })
  },
  async move_boards({ agent, board, other }) {
    const asked = { board_ids: [other.id, nowhere], parent_board_id: board.id }
    expect(await agent.does('move_boards', asked)).toMatchObject({
      moved: [other.id],
      skipped: [{ board_id: nowhere, reason: 'missing' }],
    })
    expect((await user.api.get(`/boards/${other.id}`)).body.board.parent_board_id).toBe(board.id)
  },
  async restore_board({ agent, board }) {
    await user.api.delete(`/boards/${board.id}`)
    expect(await agent.does('restore_board', { board_id: board.id })).toMatchObject({ restored: true })
    expect(await agent.does('restore_board', { board_id: board.id })).toMatchObject({ restored: false })
    expect(await titles(board.id)).toEqual(['First', 'Second'])
  },
  async create_cards({ agent, board, identifier }) {
    const made = await agent.does('create_cards', {
      board_id: board.id,
      cards: [
        {
          kind: 'link',
          url: 'https://example.test/',
          title: 'Link',
          identifiers: [{ scope: 's', value: 'v' }],
        },
        { kind: 'note', title: 'Changed', identifiers: [identifier] },
      ],
      update_existing: true,
    })
    expect(made).toMatchObject({ created: 1, updated: 1, live: true })
    expect(await titles(board.id)).toEqual(['Changed', 'Second', 'Link'])
  },
  async update_cards({ agent, board, cards, groupId }) {
    const changes = [
      { id: cards[0]!.id, title: 'New', group_id: groupId },
      { id: 'nobody', title: 'x' },
    ]
    const done = await agent.does('update_cards', { board_id: board.id, cards: changes })
    expect(done).toMatchObject({ updated: 1, not_found: ['nobody'] })
    expect((await listCards(user, board.id))[0]).toMatchObject({
      title: 'New',
      body: 'one',
      group_id: groupId,
    })
  },
  async move_cards({ agent, board, other, cards }) {
    const asked = { board_id: board.id, to_board_id: other.id, card_ids: [cards[0]!.id, 'nobody'] }
    expect(await agent.does('move_cards', asked)).toMatchObject({ moved: 1, not_found: ['nobody'] })
    expect([await titles(board.id), await titles(other.id)]).toEqual([['Second'], ['First']])
  },
  async arrange_cards({ agent, board, cards }) {
    const asked = { board_id: board.id, layout: 'column' }
    const dry = await agent.does('arrange_cards', { ...asked, dry_run: true })
    expect(await listCards(user, board.id)).toMatchObject([{ x: 0 }, { x: 300 }])
    const done = await agent.does('arrange_cards', asked)
    expect(done.cards).toEqual(dry.cards)
    const shown = await listCards(user, board.id)
    expect(shown.map(({ id, x, y, w, h }) => ({ id, x, y, w, h }))).toEqual(done.cards)
    expect(shown.map(({ x }) => x)).toEqual([shown[0]!['x'], shown[0]!['x']])
    expect(ids(shown)).toEqual(ids(cards))
  },
  async restore_cards({ agent, board, cards, identifier }) {
    const gone = await agent.does('delete_cards', { board_id: board.id, card_ids: [cards[0]!.id] })
    await agent.does('restore_cards', { board_id: board.id, cards: gone.cards })
    const shown = await listCards(user, board.id, '&include=identifiers')
    const back = shown.find(({ title }) => title === 'First')!
    expect(back).toMatchObject({ body: 'one', x: 0, y: 0, w: 280, identifiers: [identifier] })
  },
  async create_group({ agent, board }) {
    const { group } = await agent.does('create_group', { board_id: board.id, name: 'Made', shape: 'hug' })
    const { body } = await user.api.get(`/boards/${board.id}/groups`)
    expect(body.groups).toContainEqual(group)
    expect(group).toMatchObject({ name: 'Made', shape: 'hug' })
  },
  async update_group({ agent, board, groupId }) {
    await agent.does('update_group', { board_id: board.id, group_id: groupId, name: 'New' })
    expect((await user.api.get(`/boards/${board.id}/groups`)).body.groups).toMatchObject([{ name: 'New' }])
  },
  async ungroup({ agent, board, cards, groupId }) {
    await user.api.patch(`/boards/${board.id}/cards/${cards[0]!.id}`, { group_id: groupId })
    expect(await agent.does('ungroup', { board_id: board.id, group_id: groupId })).toMatchObject({
      ungrouped: 1,
    })
    expect(await titles(board.id)).toEqual(['First', 'Second'])
    expect((await user.api.get(`/boards/${board.id}/groups`)).body.groups).toEqual([])
  },
  async import_urls({ agent, board }) {
    site.pages.set('/page', serves('<title>Far away</title>', 'text/html'))
    const items = [{ url: `${site.url}/page` }, { url: `${site.url}/gone` }]
    const done = await agent.does('import_urls', { board_id: board.id, items })
    expect(done).toMatchObject({ created: 1, failed: 1, results: [{}, { code: 'upstream_rejected' }] })
    expect(await titles(board.id)).toContain('Far away')
  },
  async upload_from_url({ agent, board }) {
    site.pages.set('/picture', serves(png(30, 20)))
    const file = await agent.does('upload_from_url', { board_id: board.id, url: `${site.url}/picture` })
    expect(file).toMatchObject({ kind: 'image', content_type: 'image/png', width: 30, height: 20 })
    const { images } = (await user.api.get('/images')).body
    expect(images).toContainEqual(expect.objectContaining({ image_key: file.key, board_id: board.id }))
    expect(await titles(board.id)).toEqual(['First', 'Second'])
  },
  async delete_board({ agent, board }) {
    await agent.does('delete_board', { board_id: board.id })
    expect((await user.api.get(`/boards/${board.id}`)).body.board.deleted).toBe(true)
  },
  async delete_cards({ agent, board, cards }) {
    const asked = { board_id: board.id, card_ids: [cards[0]!.id, 'nobody'] }
    const done = await agent.does('delete_cards', asked)
    expect(done).toMatchObject({ deleted: 1, not_found: ['nobody'] })
    expect(done.cards).toEqual([
      { id: cards[0]!.id, kind: 'note', title: 'First', x: 0, y: 0, restore_token: expect.any(String) },
    ])
    expect(await titles(board.id)).toEqual(['Second'])
  },
}

test('[MC44] a key of upload_from_url is what create_cards takes: as image, as poster and as file', async () => {
  const { agent, board } = await makeScene(service.url, user)
  site.pages.set('/still', serves(png(30, 20)))
  site.pages.set('/notes.txt', serves('some notes', 'text/plain'))
  const store = (path: string) =>
    agent.does('upload_from_url', { board_id: board.id, url: `${site.url}${path}` })
  const [image, file] = [await store('/still'), await store('/notes.txt')]
  expect(file).toMatchObject({ kind: 'file', content_type: 'text/plain', file_name: 'notes.txt', bytes: 10 })
  expect([file.width, file.height]).toEqual([null, null])
  const cards = [
    { kind: 'image', image_key: image.key },
    { kind: 'video', file_key: file.key, poster_key: image.key },
    { kind: file.kind, file_key: file.key, file_name: file.file_name },
  ]
  await agent.does('create_cards', { board_id: board.id, cards })
  expect((await listCards(user, board.id)).slice(2)).toMatchObject(cards)
  const text = await agent.fails('upload_from_url', { board_id: board.id, url: 'https://127.0.0.2/' })
  expect(text).toMatch(/^bad_request: .*public address.*Correct the arguments and call again\.$/)
})

test('[MC51] an empty text and null clear a field, and root is the top level', async () => {
  const { agent, board, other, cards, groupId } = await makeScene(service.url, user)
  const id = cards[0]!.id
  await agent.does('update_cards', {
    board_id: board.id,
    cards: [{ id, group_id: groupId, color: '#ffd966' }],
  })
  await agent.does('update_cards', {
    board_id: board.id,
    cards: [{ id, group_id: '', color: null, title: '' }],
  })
  const [card] = await listCards(user, board.id)
  expect(card).toMatchObject({ title: null, color: null, body: 'one' })
  expect(card).not.toHaveProperty('group_id')
  const read = async () => (await user.api.get(`/boards/${other.id}`)).body.board
  await agent.does('update_board', {
    board_id: other.id,
    parent_board_id: board.id,
    scheduled_date: '2030-01-02',
  })
  expect(await read()).toMatchObject({ parent_board_id: board.id, scheduled_date: '2030-01-02' })
  await agent.does('update_board', { board_id: other.id, parent_board_id: 'root', scheduled_date: '' })
  expect(await read()).toMatchObject({ parent_board_id: null, scheduled_date: null })
})

describe('[MC2] each tool does what its operation does, and answers by its output schema', () => {
  test('[MC2] every tool is here', () => {
    expect(Object.keys(successes).sort()).toEqual(tools.map(({ name }) => name).sort())
  })
  test.each(Object.entries(successes))('[MC2] %s', async (_name, succeeds) => {
    await succeeds(await makeScene(service.url, user))
  })
})
