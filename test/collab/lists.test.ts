/** Live lists on sockets, by the stock provider, on two nodes. */
import { setTimeout as delay } from 'node:timers/promises'
import { HocuspocusProvider } from '@hocuspocus/provider'
import * as encoding from 'lib0/encoding'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { Doc, encodeStateVector } from 'yjs'
import { List } from '../../collab/lists/list.ts'
import { succeeded } from '../api/board.ts'
import { guestOf, makeLink } from '../api/links.ts'
import { mint, serviceAccountOf } from '../api/minting.ts'
import { publishBoard } from '../../sql/boards/schedule.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { openEvents } from '../support/event-client.ts'
import { openList, type ListClient } from '../support/list-client.ts'
import { authFrame, connect, disconnectAll, enter, frame, syncFrame, type } from '../support/raw-client.ts'
import { nodesOfFile } from '../support/test-file.ts'

const { here, there, user } = await nodesOfFile({
  config: { appEventPollSeconds: 1 },
  queueTickMs: 100,
  bounds: { maxSocketsPerAccount: 20, keepAliveMs: 300, silentMs: 1500 },
  eventStreams: { stalledMs: 500, keepAliveMs: 60_000 },
})
afterEach(() => {
  leaveAll()
  disconnectAll()
})

beforeEach(() => until(() => here.lists.count + there.lists.count === 0, 'no list is left'))

const ofWorkspace = `workspace:${user.workspaceId}`
const newBoard = async (body: object = {}): Promise<string> =>
  succeeded(await user.api.post('/boards', { name: 'Listed', ...body })).board.id
/** All events of before are in the journal. */
const settled = () =>
  until(async () => (await here.admin`select from events`).length === 0, 'the outbox is empty')
const told = (list: ListClient) => list.events().map(({ type, body }) => [type, body.resource.id])
const tells = (list: ListClient, count: number) =>
  until(() => list.events().length >= count, `${count} events are there`)

test('[LL1] a list tells of boards that are made, renamed, moved, deleted and restored, as GET /events does', async () => {
  const list = await openList(there.url, { name: ofWorkspace, token: user.token })
  const stream = await openEvents(here.url, user, {
    query: '?type=board.created,board.updated,board.deleted,board.restored',
  })
  await until(() => list.provider.isSynced, 'the provider is synced')
  expect(list.provider.authorizedScope).toBe('readonly')
  expect(list.messages[0]).toEqual({ type: 'ready', id: expect.stringMatching(/^\d+-\d+$/) })
  const [parent, board] = [await newBoard(), await newBoard()]
  await user.api.patch(`/boards/${board}`, { name: 'Renamed' })
  await user.api.patch(`/boards/${board}`, { parent_board_id: parent })
  await user.api.post(`/boards/${board}/cards`, { kind: 'note', x: 0, y: 0 })
  await user.api.delete(`/boards/${board}`)
  await user.api.post(`/boards/${board}/restore`, {})
  await tells(list, 6)
  expect(told(list).map(([type]) => type)).toEqual([
    'board.created',
    'board.created',
    'board.updated',
    'board.updated',
    'board.deleted',
    'board.restored',
  ])
  await until(() => stream.events.length === 6, 'the stream has them')
  expect(list.events()).toEqual(stream.events)
})

test('[LL2] an account is told of what is shared with it, and no longer; others are not', async () => {
  const board = await newBoard()
  await settled()
  const [guest, member] = [await here.user(), await here.user()]
  const [ofGuest, ofMember] = [
    await openList(here.url, { name: 'account', token: guest.token }),
    await openList(there.url, { name: 'account', token: member.token }),
  ]
  const stream = await openEvents(here.url, guest, { query: '?type=access.granted,access.ended' })
  await here.share(board, guest, 'editor')
  await here.member(user.workspaceId, member, 'viewer')
  await until(() => ofMember.events().length > 0 && ofGuest.events().length > 0, 'both know')
  expect(ofGuest.events()[0]!.body).toEqual({
    type: 'access.granted',
    resource: { type: 'board', id: board },
    workspace: { id: user.workspaceId },
    board: { id: board },
    data: { role: 'editor' },
    occurred_at: expect.any(String),
  })
  await user.api.patch(`/boards/${board}`, { name: 'Seen by both' })
  await until(() => ofMember.events().length > 1 && ofGuest.events().length > 1, 'both see it')
  await here.share(board, guest, 'none')
  await here.member(user.workspaceId, member, 'none')
  await until(() => ofMember.events().length > 2 && ofGuest.events().length > 2, 'both know of the end')
  await user.api.patch(`/boards/${board}`, { name: 'Seen by nobody' })
  const after = await openList(here.url, { name: ofWorkspace, token: user.token })
  await newBoard()
  await tells(after, 1)
  expect(told(ofGuest)).toEqual([
    ['access.granted', board],
    ['board.updated', board],
    ['access.ended', board],
  ])
  expect(told(ofMember)).toEqual([
    ['access.granted', user.workspaceId],
    ['board.updated', board],
    ['access.ended', user.workspaceId],
  ])
  expect(stream.events.map(({ type }) => type)).toEqual(['access.granted', 'access.ended'])
})

test('[LL3] a list knows how many people are on each board of all nodes, and a guest only of its board', async () => {
  const [board, other] = [await newBoard(), await newBoard()]
  const guest = await here.user()
  await here.share(board, guest, 'viewer')
  const agent = { workspace_id: user.workspaceId, name: 'Agent', scopes: ['read', 'write'] }
  const { access_token: agentToken } = succeeded(await user.api.post('/service-accounts', agent))
  const on = (url: string, boardId: string, token = user.token) => openEditor(url, { boardId, token })
  await on(here.url, board)
  await on(here.url, board, agentToken)
  await on(there.url, board)
  const seen = await on(there.url, board, guest.token)
  await on(here.url, other)
  const [all, some] = [
    await openList(there.url, { name: ofWorkspace, token: user.token }),
    await openList(here.url, { name: 'account', token: guest.token }),
  ]
  await until(() => all.people()[board] === 2 && all.people()[other] === 1, 'both boards are counted')
  await until(() => some.people()[board] === 2, 'the guest sees its board')
  seen.leave()
  await until(() => all.people()[board] === 1 && some.people()[board] === 1, 'one has left')
  expect(some.people()).toEqual({ [board]: 1 })
  leaveAll()
  await until(() => all.people()[board] === 0 && all.people()[other] === 0, 'nobody is left')
})

test('[LL4] a list is closed within two seconds of its token, its membership or its session, on any node', async () => {
  const [one, two] = [await here.user(), await here.user()]
  for (const member of [one, two]) await here.member(user.workspaceId, member, 'viewer')
  const other = await here.token(one, { scopes: ['read'] })
  const [byToken, byMembership, staying] = [
    await openList(there.url, { name: 'account', token: other.token }),
    await openList(there.url, { name: ofWorkspace, token: two.token }),
    await openList(there.url, { name: 'account', token: two.token }),
  ]
  const ends = [
    here.admin`update tokens set revoked_at = now() where id = ${other.tokenId}`,
    here.member(user.workspaceId, two, 'none'),
  ]
  await Promise.all(ends)
  await until(() => byToken.closes.length > 0 && byMembership.closes.length > 0, 'both are closed', 2000)
  expect([byToken.closes, byMembership.closes, staying.closes]).toEqual([[4403], [4403], []])
})

test('[LL5] who comes back resumes after its last event, on another node, or is told to read anew', async () => {
  await settled()
  const first = await openList(here.url, { name: 'account', token: user.token })
  const before = await newBoard()
  // What other tests have made may come before it.
  const ofBefore = () => first.events().find(({ body }) => body.resource.id === before)
  await until(() => ofBefore() !== undefined, 'it is told')
  first.leave()
  const missed = [await newBoard(), await newBoard()]
  const again = await openList(there.url, { name: 'account', token: user.token })
  const last = ofBefore()!.id
  again.provider.sendStateless(JSON.stringify({ type: 'resume', id: last }))
  // What this node reads of the journal only now comes before `resumed`, too, as an event of the open list.
  const resumed = () => {
    const answers = again.messages.filter(({ type }) => ['resumed', 'reset', 'event'].includes(type))
    return answers.slice(answers.findIndex(({ type }) => type !== 'event'))
  }
  const boards = () =>
    resumed()
      .slice(1)
      .map(({ event }) => event.resource.id)
  await until(() => boards().length === 2, 'it is told what it has missed')
  expect(resumed().map(({ type }) => type)).toEqual(['resumed', 'event', 'event'])
  expect(resumed()[0].id).toBe(last)
  const later = await newBoard()
  await until(() => boards().length === 3, 'it is told what comes later')
  // Nodes tell of different boards in any order.
  expect(new Set(boards().slice(0, 2))).toEqual(new Set(missed))
  expect(boards()[2]).toBe(later)
  expect(told(again)).not.toContainEqual(['board.created', before])
  for (const id of ['mine', '1500000000000-1', '999999999999999-1']) {
    const lost = await openList(there.url, { name: 'account', token: user.token })
    lost.provider.sendStateless(JSON.stringify({ type: 'resume', id }))
    await until(() => lost.messages.some(({ type }) => type === 'reset'), 'it is told to read anew')
  }
})

test('[LL12] who floods a list waits; the others of its link are answered', async () => {
  const board = await newBoard()
  const { token } = await makeLink(user, board)
  const [flooding, other] = [await guestOf(here, token), await guestOf(here, token, 'Eve')]
  const raw = await enter(here.url, { boardId: board, token: flooding.token })
  const update = syncFrame('account', 2, Uint8Array.of(0, 0))
  for (let n = 0; n < 20_000; n++) raw.send(update)
  await delay(500)
  const startMs = performance.now()
  await openEditor(here.url, { boardId: board, token: other.token })
  expect(performance.now() - startMs).toBeLessThan(4000)
  const stranger = await connect(here.url)
  for (let n = 0; n < 2000; n++) stranger.send(update)
  const newcomer = await openList(here.url, { name: 'account', token: user.token })
  expect(newcomer.refusal).toBe(null)
})

test('[LL6] what is not the caller’s is refused as a board that is not there, and so is an unknown name', async () => {
  const [stranger, board] = [await here.user(), await newBoard()]
  const guest = await guestOf(here, (await makeLink(user, board)).token)
  const names = [ofWorkspace, `workspace:${crypto.randomUUID()}`, 'workspace:', 'accounts']
  for (const name of names) {
    const refused = await openList(here.url, { name, token: stranger.token })
    expect([name, refused.refusal]).toEqual([name, 'permission-denied'])
  }
  for (const name of [ofWorkspace, 'account'])
    expect((await openList(here.url, { name, token: guest.token })).refusal).toBe('permission-denied')
  expect((await openList(here.url, { name: 'account', token: 'cork_wrong' })).refusal).toBe('token-invalid')
})

test('[LL6] nobody can write to a list, nor open more lists than sockets', async () => {
  const list = await openList(here.url, { name: 'account', token: user.token })
  list.provider.document.getMap('cards').set('a', 'card')
  const raw = await connect(here.url)
  raw.send(authFrame('account', user.token))
  raw.send(syncFrame('account', 0, encodeStateVector(new Doc())))
  await until(() => raw.received(type.stateless).length > 0, 'it is open')
  raw.send(syncFrame('account', 2, Uint8Array.of(0, 0)))
  await until(() => raw.acknowledgements.length > 0, 'the write is answered')
  expect(raw.acknowledgements).toEqual([false])
  for (let n = 0; n < 20; n++) raw.send(authFrame(`account\0${n}`, user.token))
  await until(() => raw.denials.length > 0, 'one is too many')
  expect(new Set(raw.denials)).toEqual(new Set(['try-later']))
  expect(list.provider.unsyncedChanges).toBeGreaterThan(0)
})

test('[LL7] boards and lists share a socket', async () => {
  const board = await newBoard()
  const list = await openList(here.url, { name: 'account', token: user.token })
  const second = await openList(here.url, { name: ofWorkspace, token: user.token, socket: list.socket })
  const onBoard = new HocuspocusProvider({
    ...{ websocketProvider: list.socket, name: board, token: user.token, document: new Doc() },
  })
  onBoard.attach()
  onTestFinished(() => onBoard.destroy())
  await newBoard()
  await Promise.all([tells(list, 1), tells(second, 1)])
  await until(() => list.people()[board] === 1, 'the board is open on the same socket')
  expect(list.closes).toEqual([])
})

test(
  '[LL8] a client that does not read is cut off, without harm to others, and can resume',
  { timeout: 30_000 },
  async () => {
    const reading = await openList(here.url, { name: 'account', token: user.token })
    const raw = await connect(here.url)
    raw.send(authFrame('account', user.token))
    raw.send(syncFrame('account', 0, encodeStateVector(new Doc())))
    await until(() => raw.received(type.stateless).length > 0, 'it is open')
    raw.socket.pause()
    // More than the buffers of both sides: 24 MB.
    await here.admin`
    insert into event_journal (at, workspace_id, board_id, type, payload)
    select s.at, ${user.workspaceId}, null, 'board.updated',
      json_build_object('type', 'board.updated', 'resource', json_build_object('id', n), 'fill', repeat('x', 12000))::text
    from (select stamp() as at offset 0) s, generate_series(1, 2000) as n`
    await tells(reading, 2000)
    await until(() => here.lists.count === 1, 'it is cut off')
    expect(here.counts().unreadBytes).toBeLessThan(1024 * 1024)
    raw.socket.resume()
    await raw.untilClosed()
  },
)

test('[LL11] a socket with lists alone stays open while it is quiet, and is closed when its client is gone', async () => {
  const list = await openList(here.url, { name: 'account', token: user.token })
  const raw = await connect(here.url)
  raw.send(authFrame('account', user.token))
  raw.send(syncFrame('account', 0, encodeStateVector(new Doc())))
  await until(() => raw.received(type.stateless).length > 0, 'it is open')
  raw.socket.pause() // it answers no ping
  await until(() => here.lists.count === 1, 'it is closed', 15_000)
  expect(list.closes).toEqual([])
})

test('[LL11] a socket whose last list was closed is closed when it stays silent', async () => {
  const raw = await connect(here.url)
  raw.send(authFrame('account', user.token))
  raw.send(syncFrame('account', 0, encodeStateVector(new Doc())))
  await until(() => raw.received(type.stateless).length > 0, 'it is open')
  await delay(1000) // the service has looked after it
  raw.send(frame('account', type.close, (encoder) => encoding.writeVarString(encoder, 'done')))
  expect(await raw.untilClosed(15_000)).toBe(4408)
})

test('[LL3] counts that are not all of them never say so', () => {
  const told: any[] = []
  const list = new List({
    ...{
      address: 'account',
      payer: null,
      reader: { account: user.userId, tokenId: user.tokenId, session: undefined },
    },
    socket: {
      readyState: 1,
      unreadBytes: 0,
      send: (bytes: Uint8Array) => told.push(Buffer.from(bytes).toString()),
    } as never,
  })
  expect(list.owesPeople).toBe(true)
  list.tellPeople([['b', 1]], false)
  expect([list.owesPeople, told.length, told[0].includes('"all":false')]).toEqual([true, 1, true])
})

test('[LL9] a notification comes once on each socket, on the list', async () => {
  const board = await newBoard({ scheduled_date: '2026-04-01' })
  const member = await here.user()
  await here.member(user.workspaceId, member, 'viewer')
  const list = await openList(there.url, { name: 'account', token: member.token })
  const second = await openList(there.url, {
    ...{ name: ofWorkspace, token: member.token },
    socket: list.socket,
  })
  const publish = () => here.database.asUser(user.userId, (tx) => publishBoard(tx, board))
  await publish()
  await user.api.patch(`/boards/${board}`, { scheduled_date: '2026-04-02' })
  const notified = () =>
    [list, second].flatMap(({ messages }) => messages.filter(({ type }) => type === 'notification'))
  await until(() => notified().length > 0, 'it is there')
  expect(notified()).toHaveLength(1)
})

test('[LL10] a session of one’s own users has lists of the boards that it opens, until it ends', async () => {
  const backend = await serviceAccountOf(here, user)
  const [opened, other] = [await newBoard(), await newBoard()]
  await settled()
  const ofBoards = await mint(here, backend, { board_ids: [opened] })
  const ofAll = await mint(here, backend, {
    workspace_id: user.workspaceId,
    user: { id: 'u-2', name: 'Ben' },
  })
  expect((await openList(there.url, { name: ofWorkspace, token: ofBoards.token })).refusal).toBe(
    'permission-denied',
  )
  const [some, all, whole] = [
    await openList(there.url, { name: 'account', token: ofBoards.token }),
    await openList(here.url, { name: 'account', token: ofAll.token }),
    await openList(there.url, { name: ofWorkspace, token: ofAll.token }),
  ]
  await openEditor(here.url, { boardId: other, token: user.token })
  await openEditor(here.url, { boardId: opened, token: user.token })
  for (const board of [other, opened]) await user.api.patch(`/boards/${board}`, { name: 'Renamed' })
  await Promise.all([tells(some, 1), tells(all, 2), tells(whole, 2)])
  expect([told(some).map(([, id]) => id), told(all).map(([, id]) => id)]).toEqual([[opened], [other, opened]])
  await until(() => all.people()[other] === 1 && some.people()[opened] === 1, 'people are counted')
  expect(some.people()).toEqual({ [opened]: 1 })
  succeeded(await backend.api.delete('/sessions', { user_id: 'u-1' }))
  await until(() => some.closes.length > 0, 'it is closed', 2000)
  expect([some.closes, all.closes]).toEqual([[4403], []])
})
