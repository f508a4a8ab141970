/** `GET /events`: the stream of events, on two nodes. */
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { EventStreams } from '../../collab/events/event-streams.ts'
import { JournalReader } from '../../collab/events/journal-reader.ts'
import type { Logger } from '../../platform/log.ts'
import { openDatabase, type Database } from '../../sql/database.ts'
import { startRetention } from '../../workers/upkeep/retention.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { openEvents, requestEvents, type EventClient } from '../support/event-client.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { nodesOfFile } from '../support/test-file.ts'
import { guestOf, makeLink } from './links.ts'
import { mint, serviceAccountOf } from './minting.ts'

const silent: Logger = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} }
const resumptions = Number(process.env['RESUMPTIONS'] ?? 4)

const { here, there, user } = await nodesOfFile({
  config: { appEventPollSeconds: 1 },
  queueTickMs: 100,
  eventStreams: { stalledMs: 500, keepAliveMs: 500 },
})
afterEach(leaveAll)

const newBoard = async (body: object = {}): Promise<string> =>
  (await user.api.post('/boards', { name: 'Streamed', ...body })).body.board.id
const cardOn = async (boardId: string, service: TestService = here): Promise<string> =>
  (
    await new ApiClient(service.url, user.token).post(`/boards/${boardId}/cards`, {
      kind: 'note',
      x: 0,
      y: 0,
    })
  ).body.cards[0].id
/** All events of before are in the journal. */
const settled = () =>
  until(async () => (await here.admin`select from events`).length === 0, 'the outbox is empty')
const typesOf = ({ events }: EventClient) => events.map(({ type }) => type)
const has = (client: EventClient, cardId: string) => () => client.cards().includes(cardId)

test('[SE1] events come as webhooks get them: of requests at once, of editors merged', async () => {
  const client = await openEvents(here.url, user)
  expect(client.first).toBe('ready')
  const boardId = await newBoard()
  const card = await cardOn(boardId, there)
  await until(has(client, card), 'the card is there')
  expect(typesOf(client)).toEqual(['board.created', 'card.created'])
  expect(client.events[1]!.body).toEqual({
    type: 'card.created',
    resource: { type: 'board', id: boardId },
    workspace: { id: user.workspaceId },
    board: { id: boardId },
    data: { count: 1, card_ids: [card] },
    occurred_at: expect.any(String),
  })
  const editor = await openEditor(there.url, { boardId, token: user.token })
  editor.addCard('one')
  editor.addCard('two')
  await until(() => client.cards().includes('two'), 'the cards of the editor are there')
  expect(client.events.at(-1)!.body.data).toEqual({ count: 2, card_ids: ['one', 'two'] })
  const { comments } = client
  await until(() => client.comments > comments, 'a line keeps the connection open')
})

test('[SE2] a stream is of one workspace, one board or some types; what the caller can not see is 404', async () => {
  const [boardId, otherId] = [await newBoard(), await newBoard()]
  const stranger = await here.user()
  await settled()
  const [ofBoard, ofType] = [
    await openEvents(there.url, user, {
      query: `?board=${boardId.toUpperCase()}&workspace=${user.workspaceId}`,
    }),
    await openEvents(here.url, user, { query: '?type=board.updated,card.deleted' }),
  ]
  await cardOn(otherId)
  const card = await cardOn(boardId)
  await user.api.patch(`/boards/${boardId}`, { name: 'Renamed' })
  await until(() => typesOf(ofBoard).includes('board.updated'), 'the board has its events')
  expect([typesOf(ofBoard), ofBoard.cards()]).toEqual([['card.created', 'board.updated'], [card]])
  await until(() => ofType.events.length > 0, 'the type has its event')
  expect(typesOf(ofType)).toEqual(['board.updated'])
  const asked = ['?type=card.made', `?board=${boardId}`, `?workspace=${user.workspaceId}`]
  const statuses = asked.map(async (query) => (await requestEvents(here.url, stranger, { query })).status)
  expect(await Promise.all(statuses)).toEqual([400, 404, 404])
  const head = await fetch(`${here.url}/api/v1/events`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${user.token}` },
  })
  expect([head.status, head.headers.get('x-accel-buffering')]).toEqual([200, 'no'])
})

test(
  '[SE3] a consumer that is cut off and resumes misses nothing and gets nothing twice, while two nodes write',
  { timeout: 60_000 + resumptions * 1000 },
  async () => {
    const boardIds = [await newBoard(), await newBoard()]
    const written: string[] = []
    const done = new AbortController()
    onTestFinished(() => done.abort())
    const write = async (service: TestService, boardId: string) => {
      while (!done.signal.aborted) {
        const { body } = await new ApiClient(service.url, user.token).post(`/boards/${boardId}/cards`, {
          cards: [{ kind: 'note', x: 0, y: 0 }],
        })
        written.push(body.cards[0].id)
      }
    }
    let client = await openEvents(here.url, user)
    const seen = [client]
    const writing = boardIds.flatMap((boardId) => [write(here, boardId), write(there, boardId)])
    for (let n = 1; n <= resumptions; n++) {
      const due = client.events.length + 1 + Math.floor(Math.random() * 20)
      await until(() => client.events.length >= due || n % 5 === 0, 'events come', 30_000)
      client.cut()
      await until(() => client.ended, 'it is cut off')
      const service = n % 2 ? there : here
      client = await openEvents(service.url, user, { lastEventId: client.lastId })
      expect(client.first).toBe('ready')
      seen.push(client)
    }
    done.abort()
    await Promise.all(writing)
    // What other tests have written before may come, too.
    const events = () =>
      seen.flatMap((one) =>
        one.events.filter(
          ({ type, body }) => type === 'card.created' && boardIds.includes(body.board?.id ?? ''),
        ),
      )
    const got = () => events().flatMap(({ body }): string[] => body.data['card_ids'])
    await until(() => got().length >= written.length, 'all events are there', 30_000)
    expect(got().toSorted()).toEqual(written.toSorted())
    const ids = seen.flatMap(({ events }) => events.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
  },
)

test('[SE3] an event whose transaction is still running holds back those that come after it', async () => {
  const boardId = await newBoard()
  await settled()
  const client = await openEvents(there.url, user)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let isAppended = false
  const slow = here.database.asSystem(async (tx) => {
    await tx`
      insert into event_journal (at, workspace_id, board_id, type, payload)
      values (stamp(), ${user.workspaceId}, ${boardId}, 'card.created', '{"data":{"card_ids":["slow"]}}')`
    isAppended = true
    await released
  })
  await until(() => isAppended, 'it is appended')
  const quick = await cardOn(boardId)
  await settled()
  const { comments } = client
  await until(() => client.comments >= comments + 3, 'some ticks have passed')
  expect(client.cards()).toEqual([])
  release()
  await slow
  await until(has(client, quick), 'all events are there')
  expect(client.cards()).toEqual(['slow', quick])
})

test('[SE4] an id that is unknown, or older than seven days, gets a reset, and the stream goes on from there', async () => {
  for (const lastEventId of ['1500000000000-1', 'mine', '999999999999999-1', `${Date.now() + 3_600_000}-1`]) {
    const client = await openEvents(here.url, user, { lastEventId })
    expect(client.first).toBe('reset')
    const card = await cardOn(await newBoard())
    await until(has(client, card), 'the stream goes on')
    expect(typesOf(client)).toEqual(['board.created', 'card.created'])
    client.cut()
  }
  await here.admin`
    insert into event_journal (at, workspace_id, type, payload)
    select now() - make_interval(hours => h), gen_random_uuid(), 'old', '{}' from unnest('{168, 170}'::int[]) as h`
  const clock = { now: () => Date.now() }
  const retention = startRetention({ database: here.database, clock, log: here.app.log, auditDays: 1 })
  const old = () => here.admin`select from event_journal where type = 'old'`
  await until(async () => (await old()).length === 1, 'the oldest is deleted')
  await retention.stop()
  expect(await old()).toHaveLength(1)
})

test('[SE5] a stream ends within two seconds of its token, on any node', async () => {
  const ends: ((tokenId: string) => Promise<unknown>)[] = [
    (tokenId) => here.admin`update tokens set revoked_at = now() where id = ${tokenId}`,
    (tokenId) => here.admin`update tokens set expires_at = now() where id = ${tokenId}`,
  ]
  for (const end of ends) {
    const other = await here.token(user, { scopes: ['read'] })
    const [ending, staying] = [await openEvents(there.url, other), await openEvents(there.url, user)]
    await end(other.tokenId)
    await until(() => ending.ended, 'the stream has ended', 2000)
    expect(staying.ended).toBe(false)
    staying.cut()
  }
})

test('[SE6] who loses access gets no event any more; a guest gets those of the board, without other boards', async () => {
  const parentId = await newBoard()
  const boardId = await newBoard({ parent_board_id: parentId })
  const [member, guest] = [await here.user(), await here.user()]
  await here.member(user.workspaceId, member, 'viewer')
  await here.share(boardId, guest, 'viewer')
  await settled()
  const [all, some] = [await openEvents(here.url, member), await openEvents(there.url, guest)]
  await user.api.patch(`/boards/${boardId}`, { name: 'Both' })
  const { cards } = (
    await user.api.post(`/boards/${parentId}/cards`, { cards: [{ kind: 'note' }, { kind: 'note' }] })
  ).body
  await user.api.post(`/boards/${parentId}/cards/move`, { to_board_id: boardId, card_ids: [cards[0].id] })
  await until(
    () => typesOf(all).includes('card.moved') && typesOf(some).includes('card.moved'),
    'all have it',
  )
  expect(typesOf(all)).toEqual(['board.updated', 'card.created', 'card.moved'])
  expect(all.events[0]!.body.data['parent_board_id']).toBe(parentId)
  expect(all.events[2]!.body.data['from_board_id']).toBe(parentId)
  expect(typesOf(some)).toEqual(['board.updated', 'card.moved'])
  expect(some.events.map(({ body }) => [body.data['parent_board_id'], body.data['from_board_id']])).toEqual([
    [null, undefined],
    [undefined, undefined],
  ])
  await here.member(user.workspaceId, member, 'none')
  await here.share(boardId, guest, 'none')
  const own = await openEvents(here.url, user)
  const last = await cardOn(boardId)
  await until(has(own, last), 'the owner has it')
  await delay(1000) // longer than a tick of the other node
  expect([all.cards().includes(last), some.cards().includes(last)]).toEqual([false, false])
  expect([all.ended, some.ended]).toEqual([false, false])
})

test('[SE7] streams are bounded by account and in all; a stream that ends makes room', async () => {
  const one = await startService({
    testDatabase: here.testDatabase,
    eventStreams: { perAccount: 2, total: 3 },
  })
  const others = await Promise.all([here.user(), here.user()])
  const status = async (who: TestUser) => {
    const answer = await requestEvents(one.url, who)
    if (answer.status === 200) await answer.body!.cancel()
    return [answer.status, answer.headers.get('retry-after')]
  }
  const [first] = [await openEvents(one.url, user), await openEvents(one.url, user)]
  expect(await status(user)).toEqual([429, '15'])
  const third = await openEvents(one.url, others[0]!)
  expect(await status(others[1]!)).toEqual([503, '15'])
  first.cut()
  await until(async () => (await status(others[1]!))[0] === 200, 'there is room')
  // A stop ends the streams at once, and clients resume elsewhere.
  const since = performance.now()
  await one.stop()
  expect(performance.now() - since).toBeLessThan(5000)
  await until(() => third.ended, 'it has ended')
  const card = await cardOn(await newBoard())
  const again = await openEvents(there.url, others[0]!, { lastEventId: third.lastId })
  expect([again.first, again.cards().includes(card)]).toEqual(['ready', false])
})

test('[SE7] the guests of an owner share his streams', async () => {
  const board = await newBoard()
  const { token } = await makeLink(user, board)
  const one = await startService({
    testDatabase: here.testDatabase,
    eventStreams: { perAccount: 20, total: 100 },
  })
  onTestFinished(() => one.stop())
  const guest = await guestOf(one, token)
  for (let n = 0; n < 2; n++) await openEvents(one.url, guest)
  expect((await requestEvents(one.url, guest)).status).toBe(429)
  const open: Response[] = [] // one that is collected as garbage would be closed
  const openUntilFull = async (): Promise<number> => {
    for (;;) {
      const next = await guestOf(one, token)
      for (let n = 0; n < 2; n++) {
        const answer = await requestEvents(one.url, next)
        if (answer.status !== 200) return open.length + 2
        open.push(answer)
      }
    }
  }
  expect(await openUntilFull()).toBe(20)
  await openEvents(one.url, user) // their owner is not kept out
})

test(
  '[SE8] a client that does not read is cut off, nobody else notices, and it can resume',
  { timeout: 30_000 },
  async () => {
    const boardId = await newBoard()
    const [reading, before] = [await openEvents(here.url, user), await openEvents(there.url, user)]
    before.cut()
    const socket = connect(Number(new URL(here.url).port), '127.0.0.1')
    socket.write(
      `GET /api/v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${user.token}\r\nlast-event-id: ${before.lastId}\r\n\r\n`,
    )
    let isCut = false
    socket.once('close', () => (isCut = true)).on('error', () => (isCut = true))
    // More than the buffers of both sides: 24 MB.
    await here.admin`
    insert into event_journal (at, workspace_id, board_id, type, payload)
    select s.at, ${user.workspaceId}, ${boardId}, 'card.created',
      json_build_object('data', json_build_object('card_ids', json_build_array(n)), 'fill', repeat('x', 12000))::text
    from (select stamp() as at offset 0) s, generate_series(1, 2000) as n`
    // A stream may begin with what happened just before it.
    const filled = ({ events }: EventClient) => events.filter(({ body }) => 'fill' in body).length
    await until(() => filled(reading) === 2000, 'the other one has all')
    await until(() => here.eventStreams.count === 1, 'it is cut off')
    socket.resume()
    await until(() => isCut, 'the connection is closed')
    const again = await openEvents(there.url, user, { lastEventId: before.lastId })
    await until(() => filled(again) === 2000, 'it has all')
  },
)

test('[SE9] a tick is two statements, whatever the number of streams; without streams there is none', async () => {
  const database = openDatabase({ url: here.databaseUrl })
  let statements = 0
  const counted: Database = {
    ...database,
    callAsSystem: (call, pool) => {
      statements += 1
      return database.callAsSystem(call, pool)
    },
  }
  const journal = new JournalReader({ database: counted, log: here.app.log })
  const streams = new EventStreams(journal)
  const reader = { account: user.userId, tokenId: user.tokenId, session: undefined }
  const request = { reader, payer: null, wanted: {} }
  const open = async (count: number) => {
    const opened = Array.from({ length: count }, () => streams.open(request, undefined))
    for (const stream of await Promise.all(opened)) stream.resume()
  }
  const inOneSecond = async () => {
    statements = 0
    await delay(1000)
    return statements
  }
  await open(20)
  expect([2, 3, 4]).toContain(await inOneSecond())
  journal.stop()
  await until(() => streams.count === 0, 'all have ended')
  expect(await inOneSecond()).toBeLessThanOrEqual(1)
  await database.close()
})

test('[SE14] streams that are cut off together while they wait to resume leave nothing behind, and no line in the log', async () => {
  const boardId = await newBoard()
  const client = await openEvents(here.url, user)
  await cardOn(boardId)
  await until(() => client.events.length > 0, 'an event has come')
  const { lastId } = client
  await cardOn(boardId)
  await until(() => client.events.length > 1, 'another one has come')
  await settled()
  const database = openDatabase({ url: here.databaseUrl })
  const slow: Database = {
    ...database,
    callAsSystem: async (call, pool) => {
      await delay(150)
      return database.callAsSystem(call, pool)
    },
  }
  const warnings: unknown[] = []
  const log = { ...silent, warn: (fields: object) => void warnings.push(fields) }
  const journal = new JournalReader({ database: slow, log })
  const streams = new EventStreams(journal)
  const reader = { account: user.userId, tokenId: user.tokenId, session: undefined }
  const opened = await Promise.all(
    Array.from({ length: 15 }, () => streams.open({ reader, payer: null, wanted: {} }, lastId)),
  )
  for (const stream of opened) stream.resume()
  await delay(250) // one reads its page, the others wait for their turn
  for (const stream of opened) stream.destroy()
  await until(() => streams.count === 0, 'all have ended')
  await delay(3000) // each has had its turn, and the reader has none to read for
  expect(warnings).toEqual([])
  journal.stop()
  await database.close()
})

test('[SE12] a session streams the events of its boards, one of a workspace all of it, until it ends', async () => {
  const backend = await serviceAccountOf(here, user)
  const [opened, other] = [await newBoard(), await newBoard()]
  const sessionOf = async (asked: object) => ({ ...user, ...(await mint(here, backend, asked)) })
  const some = await sessionOf({ board_ids: [opened] })
  const all = await sessionOf({ workspace_id: user.workspaceId, user: { id: 'u-2', name: 'Ben' } })
  await settled()
  const [ofBoard, ofAll] = [await openEvents(there.url, some), await openEvents(here.url, all)]
  expect((await requestEvents(here.url, some, { query: `?board=${other}` })).status).toBe(404)
  for (const board of [other, opened])
    await user.api.patch(`/boards/${board}`, { parent_board_id: null, name: 'New' })
  await until(() => ofBoard.events.length > 0 && ofAll.events.length > 1, 'both have theirs')
  const boardsOf = ({ events }: EventClient) => events.map(({ body }) => body.board!.id)
  expect([boardsOf(ofBoard), boardsOf(ofAll)]).toEqual([[opened], [other, opened]])
  const second = await openEvents(there.url, some)
  expect((await requestEvents(there.url, some)).status).toBe(429)
  await backend.api.delete('/sessions', { user_id: 'u-1' })
  await until(() => ofBoard.ended && second.ended, 'both have ended', 2000)
  expect(ofAll.ended).toBe(false)
})

test('[SE13] the events of access are in a stream that names them, and in no other', async () => {
  const member = await here.user()
  const types = ['?type=access.granted', '']
  const [named, plain] = await Promise.all(types.map((query) => openEvents(here.url, member, { query })))
  await here.member(user.workspaceId, member, 'editor')
  await newBoard()
  await until(() => named!.events.length > 0 && plain!.events.length > 0, 'both have theirs')
  expect([typesOf(named!), typesOf(plain!)]).toEqual([['access.granted'], ['board.created']])
})
