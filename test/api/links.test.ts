/** Guest links: who makes them, what their guests may do, how guests are shown, and how they end. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startRetention } from '../../workers/upkeep/retention.ts'
import { openEditor, until } from '../support/editor.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, succeeded } from './board.ts'
import { guestOf, makeLink, open } from './links.ts'

const { service, user: owner } = await serviceOfFile({ workers: false })

const editorOf = (token: string, boardId: string) =>
  openEditor(service.url, { boardId, token, reconnect: false })

test('[GL1] the owner makes links, lists them with their uses, and deletes them', async () => {
  const board = await makeBoard(owner)
  const links = `/boards/${board.id}/links`
  const expires = new Date(Date.now() + 3_600_000).toISOString()
  const made = await owner.api.post(links, {
    role: 'viewer',
    name: 'Crew',
    expires_at: expires,
    password: 'open sesame',
    history: true,
  })
  expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store'])
  const { link, token } = made.body as any
  expect(link).toEqual({
    id: expect.any(String),
    board_id: board.id,
    name: 'Crew',
    role: 'viewer',
    has_password: true,
    history_since: expect.any(String),
    created_at: expect.any(String),
    expires_at: expires,
    uses: 0,
    last_used_at: null,
  })
  const other = await makeLink(owner, board.id)
  expect((await open(service, token, { password: 'open sesame' })).status).toBe(201)
  expect((await open(service, token, { password: 'open sesame' })).status).toBe(201)
  const listed = await owner.api.get(links)
  expect(listed.body.links).toEqual([
    { ...link, uses: 2, last_used_at: expect.any(String) },
    expect.objectContaining({
      id: other.id,
      has_password: false,
      history_since: null,
      expires_at: null,
      uses: 0,
    }),
  ])
  expect(listed.text).not.toContain(token)
  expect((await owner.api.delete(`${links}/${link.id}`)).body).toEqual({ deleted: true, id: link.id })
  expect((await owner.api.delete(`${links}/${link.id}`)).status).toBe(404)
  expect((await owner.api.get(links)).body.links.length).toBe(1)
  for (const bad of [
    { role: 'owner' },
    { role: 'viewer', expires_at: '2020-01-01T00:00:00Z' },
    { role: 'viewer', password: 'short' },
    { role: 'viewer', name: '' },
    {},
  ])
    expect([bad, (await owner.api.post(links, bad)).status]).toEqual([bad, 400])
  for (const name of ['', '  ', 'a\nb', 'n'.repeat(101)])
    expect((await open(service, other.token, { name })).status).toBe(400)
  await service.admin`
    insert into board_links (board_id, role, hash)
    select ${board.id}, 'viewer', sha256(n::text::bytea) from generate_series(1, 99) as n`
  expect((await owner.api.post(links, { role: 'viewer' })).status).toBe(402)
})

test('[GL2] a guest has the one board by the role of its link, and nothing else', async () => {
  const board = await makeBoard(owner)
  const child = await makeBoard(owner, { parent_board_id: board.id })
  const other = await makeBoard(owner)
  const [writes, reads] = [
    await makeLink(owner, board.id),
    await makeLink(owner, board.id, { role: 'viewer' }),
  ]
  const [editor, viewer] = [await guestOf(service, writes.token), await guestOf(service, reads.token)]
  const card = { kind: 'note', title: 'by a guest' }
  const { cards } = succeeded(await editor.api.post(`/boards/${board.id}/cards`, card))
  expect((await viewer.api.get(`/boards/${board.id}/cards`)).body.total).toBe(1)
  expect((await viewer.api.post(`/boards/${board.id}/cards`, card)).status).toBe(403)
  expect((await editor.api.delete(`/boards/${board.id}/cards/${cards[0].id}`)).body.code).toBe(
    'insufficient_scope',
  )
  expect((await editor.api.post('/boards', { name: 'Mine' })).body).toEqual({
    error: 'A guest has no workspace.',
    code: 'forbidden',
  })
  for (const { api } of [editor, viewer]) {
    expect((await api.get('/me')).body).toMatchObject({ display_name: 'Dora', guest: true })
    expect((await api.get('/boards')).body.boards.map(({ id }: any) => id)).toEqual([board.id])
    expect((await api.get('/workspaces')).body.workspaces).toEqual([])
    for (const path of [
      `/boards/${child.id}`,
      `/boards/${other.id}/cards`,
      `/workspaces/${owner.workspaceId}/members`,
      `/webhooks?workspace=${owner.workspaceId}`,
    ])
      expect([path, (await api.get(path)).status]).toEqual([path, 404])
    expect((await api.get(`/boards/tree?workspace=${owner.workspaceId}`)).body.count).toBe(1)
    expect((await api.get(`/boards/${board.id}/links`)).status).toBe(403)
    expect((await api.get('/audit')).body.entries.every((one: any) => one.actor.guest)).toBe(true)
  }
  const attempts: [string, object, number][] = [
    ['/boards', { name: 'Mine' }, 403],
    ['/boards', { name: 'Mine', workspace_id: owner.workspaceId }, 404],
    [`/boards/${board.id}/shares`, { user_id: owner.userId, role: 'editor' }, 403],
    [`/boards/${board.id}/links`, { role: 'editor' }, 403],
    [`/workspaces/${owner.workspaceId}/invitations`, { role: 'editor' }, 404],
    ['/service-accounts', { workspace_id: owner.workspaceId, name: 'Robot' }, 404],
    ['/webhooks', { workspace_id: owner.workspaceId, url: 'https://93.184.215.14/', events: ['*'] }, 404],
    [`/boards/${board.id}/cards/move`, { to_board_id: other.id, card_ids: [cards[0].id] }, 404],
  ]
  for (const [path, body, status] of attempts)
    expect([path, (await editor.api.post(path, body)).status]).toEqual([path, status])
  const [canvas, view] = [await editorOf(editor.token, board.id), await editorOf(viewer.token, board.id)]
  expect(view.provider.authorizedScope).toBe('readonly')
  canvas.addCard('drawn')
  await canvas.saved()
  await until(() => view.cards.has('drawn'), 'the viewer sees it')
  const refused = await openEditor(service.url, {
    boardId: child.id,
    token: editor.token,
    reconnect: false,
    expectRefusal: true,
  })
  expect(refused.cards.size).toBe(0)
})

test('[GL3] a guest is shown as one, with its name, and sees the history only if the link says so', async () => {
  const board = await makeBoard(owner)
  await makeCard(owner, board.id, { title: 'before' })
  const plain = await guestOf(service, (await makeLink(owner, board.id)).token, '  Grace ')
  const knowing = await guestOf(service, (await makeLink(owner, board.id, { history: true })).token, 'Hal')
  await makeCard(owner, board.id, { title: 'after' })
  const canvas = await editorOf(plain.token, board.id)
  const watching = await editorOf(owner.token, board.id)
  canvas.provider.setAwarenessField('account', { id: owner.userId, name: 'Owner' })
  const states = () => [...watching.provider.awareness!.getStates().values()].map(({ account }) => account)
  await until(() => states().some((one) => one?.id === plain.userId), 'the guest is there')
  expect(states()).toContainEqual({ id: plain.userId, name: 'Grace', guest: true })
  succeeded(await knowing.api.post(`/boards/${board.id}/cards`, { kind: 'note' }))
  const { entries } = (await owner.api.get(`/boards/${board.id}/history`)).body
  expect(entries[0]).toMatchObject({
    actors: [{ user_id: knowing.userId, display_name: 'Hal', guest: true }],
    summary: 'Hal added 1 card through the API.',
  })
  expect(entries[1].actors[0]).not.toHaveProperty('guest')
  expect((await plain.api.get(`/boards/${board.id}/history`)).status).toBe(403)
  const seen = await knowing.api.get(`/boards/${board.id}/history`)
  expect(seen.body.entries.length).toBe(2)
  const audit = (await owner.api.get('/audit')).body.entries
  const told = audit
    .filter(({ actor }: any) => actor.guest)
    .slice(0, 2)
    .map(({ action, actor, workspace_id }: any) => [action, actor.display_name, workspace_id])
  expect(told).toEqual([
    ['card.create', 'Hal', owner.workspaceId],
    ['link.open', 'Hal', owner.workspaceId],
  ])
})

test('[GL4] guests are out within 2 s when their link is deleted or expires, and others stay', async () => {
  const board = await makeBoard(owner)
  const [deleted, expiring, staying] = [
    await makeLink(owner, board.id),
    await makeLink(owner, board.id, { expires_at: new Date(Date.now() + 60_000).toISOString() }),
    await makeLink(owner, board.id),
  ]
  const guests = await Promise.all([deleted, expiring, staying].map(({ token }) => guestOf(service, token)))
  const editors = await Promise.all(guests.map(({ token }) => editorOf(token, board.id)))
  expect((await owner.api.delete(`/boards/${board.id}/links/${deleted.id}`)).status).toBe(200)
  await service.admin`update board_links set expires_at = now() where id = ${expiring.id}`
  await until(() => editors[0]!.closes[0]?.code === 4403, 'the guest of the deleted link is out', 2000)
  await until(() => editors[1]!.closes[0]?.code === 4403, 'the guest of the expired link is out', 2000)
  const get = async (n: number) => (await guests[n]!.api.get(`/boards/${board.id}`)).status
  await until(async () => (await get(0)) === 401, 'its token is refused', 2000)
  expect(await get(1)).toBe(404)
  for (const { token } of [deleted, expiring]) expect((await open(service, token)).status).toBe(404)
  editors[2]!.addCard('still')
  await editors[2]!.saved()
  expect(editors[2]!.closes).toEqual([])
})

test('[GL8] guests go with the board, and when their tokens ended long ago', async () => {
  const board = await makeBoard(owner)
  const link = await makeLink(owner, board.id)
  const [old, recent] = [await guestOf(service, link.token, 'Old'), await guestOf(service, link.token, 'New')]
  await service.admin`update guests set ends_at = now() - interval '401 days' where id = ${old.userId}`
  const retention = startRetention({
    database: service.database,
    clock: { now: () => Date.now() },
    log: service.app.log,
    auditDays: 400,
  })
  const names = async () =>
    (
      await service.admin<{ display_name: string }[]>`
        select display_name from users where id in (${old.userId}, ${recent.userId})`
    ).map(({ display_name }) => display_name)
  await until(async () => (await names()).join() === 'New', 'the old guest is gone')
  await retention.stop()
  await service.admin`delete from board_links where id = ${link.id}`
  expect(await names()).toEqual([])
  expect((await recent.api.get('/me')).status).toBe(401)
  expect(await service.admin`select from tokens where user_id = ${recent.userId}`).toHaveLength(0)
  expect((await open(service, randomUUID())).status).toBe(404)
})
