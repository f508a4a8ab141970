import { HocuspocusProvider } from '@hocuspocus/provider'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as Y from 'yjs'
import { openDatabase } from '../../sql/database.ts'
import { cancelBoard, publishBoard } from '../../sql/boards/schedule.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, nowhere, succeeded, type Shown } from './board.ts'

let service: TestService
let other: TestService

beforeAll(async () => {
  service = await startService({ workers: false })
  const testDatabase = { url: service.databaseUrl, admin: service.admin, drop: async () => {} }
  other = await startService({ testDatabase, workers: false })
})
afterAll(async () => {
  leaveAll()
  await other.stop()
  await service.stop()
})

const publish = (who: TestUser, boardId: string) =>
  service.database.asUser(who.userId, (tx) => publishBoard(tx, boardId))
const cancel = (who: TestUser, boardId: string) =>
  service.database.asUser(who.userId, (tx) => cancelBoard(tx, boardId))
const read = async (who: TestUser, boardId: string) => (await who.api.get(`/boards/${boardId}`)).body.board
const list = async (who: TestUser, query = ''): Promise<Shown[]> =>
  succeeded(await who.api.get<any>(`/notifications?limit=500${query}`)).notifications

/** A board of a workspace with its four kinds of readers, and one who is none. */
async function makeScene() {
  const names = ['owner', 'editor', 'viewer', 'shared editor', 'shared viewer', 'stranger'] as const
  const people = {} as Record<(typeof names)[number], TestUser>
  for (const name of names) people[name] = await service.user({ name })
  const { workspaceId } = people.owner
  await service.member(workspaceId, people.editor, 'editor')
  await service.member(workspaceId, people.viewer, 'viewer')
  const board = await makeBoard(people.owner, {
    name: 'Day one',
    scheduled_date: '2030-05-01',
    day_label: 'Beach',
  })
  await service.share(board.id, people['shared editor'], 'editor')
  await service.share(board.id, people['shared viewer'], 'viewer')
  return { ...people, people, board }
}

test('[Y1] publishing sets the status, bumps the version and tells when; again after a change or a cancel likewise', async () => {
  const { owner, editor, board } = await makeScene()
  expect(await read(owner, board.id)).toMatchObject({
    sched_status: 'draft',
    sched_version: 0,
    sched_published_at: null,
  })
  const first = await publish(owner, board.id)
  expect(first).toMatchObject({
    sched_status: 'published',
    sched_version: 1,
    sched_published_at: expect.any(Date),
  })
  const shown = await read(owner, board.id)
  expect(shown).toMatchObject({
    sched_status: 'published',
    sched_version: 1,
    sched_published_at: first.sched_published_at!.toISOString(),
  })
  expect(shown.updated_at > board['updated_at']).toBe(true)
  await owner.api.patch(`/boards/${board.id}`, { scheduled_date: '2030-05-02' })
  expect(await publish(editor, board.id)).toMatchObject({ sched_status: 'published', sched_version: 2 })
  const published = (await read(owner, board.id)).sched_published_at
  expect(await cancel(editor, board.id)).toMatchObject({ sched_status: 'cancelled', sched_version: 2 })
  expect(await read(owner, board.id)).toMatchObject({
    sched_status: 'cancelled',
    sched_version: 2,
    sched_published_at: published,
  })
  expect(await publish(owner, board.id)).toMatchObject({ sched_status: 'published', sched_version: 3 })
  const draft = await makeBoard(owner)
  expect(await cancel(owner, draft.id)).toEqual({
    sched_status: 'cancelled',
    sched_version: 0,
    sched_published_at: null,
  })
  // Not by the API: such a field is ignored.
  await owner.api.patch(`/boards/${board.id}`, {
    sched_status: 'draft',
    sched_version: 9,
    sched_published_at: null,
  })
  expect(await read(owner, board.id)).toMatchObject({ sched_status: 'published', sched_version: 3 })
})

test('[Y2] only writers of the workspace publish and cancel; nobody a board in the trash, and who can’t see one learns nothing', async () => {
  const { people, board, owner } = await makeScene()
  const before = await read(owner, board.id)
  for (const act of [publish, cancel]) {
    for (const name of ['viewer', 'shared editor', 'shared viewer'] as const)
      await expect(act(people[name], board.id), name).rejects.toThrow(/^Only a writer of the workspace/)
    await expect(act(people.stranger, board.id)).rejects.toThrow(
      `There is no board ${board.id} that this account can see.`,
    )
    await expect(act(people.stranger, nowhere)).rejects.toThrow(
      `There is no board ${nowhere} that this account can see.`,
    )
  }
  expect(await read(owner, board.id)).toEqual(before)
  await owner.api.delete(`/boards/${board.id}`)
  for (const act of [publish, cancel])
    await expect(act(owner, board.id)).rejects.toThrow('The board is in the trash.')
  await expect(
    service.database.asUser(
      owner.userId,
      (tx) => tx`update boards set sched_status = 'published' where id = ${board.id}`,
    ),
  ).rejects.toThrow(/permission denied/)
  await expect(
    service.database.asUser(
      owner.userId,
      (tx) => tx`select board_readers(${board.id}, ${owner.workspaceId})`,
    ),
  ).rejects.toThrow(/permission denied/)
})

test('[Y3] a change of date or label of a published or cancelled board is told to all who can read it but the actor', async () => {
  const { people, owner, editor, board } = await makeScene()
  const readers = [owner, people.viewer, people['shared editor'], people['shared viewer']]
  await publish(owner, board.id)
  const changes = [{ scheduled_date: '2030-06-01' }, { scheduled_end: '2030-06-03' }, { day_label: 'Cave' }]
  for (const change of changes) succeeded(await editor.api.patch(`/boards/${board.id}`, change))
  await cancel(owner, board.id)
  succeeded(
    await editor.api.patch(`/boards/${board.id}`, {
      scheduled_date: null,
      scheduled_end: null,
      day_label: null,
    }),
  )
  for (const reader of readers) {
    const told = await list(reader)
    expect(told).toHaveLength(4)
    expect(told[3]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'schedule.changed',
      workspace_id: owner.workspaceId,
      board_id: board.id,
      data: {
        name: 'Day one',
        sched_status: 'published',
        sched_version: 1,
        scheduled_date: '2030-06-01',
        scheduled_end: null,
        day_label: 'Beach',
        before: { scheduled_date: '2030-05-01', scheduled_end: null, day_label: 'Beach' },
        actor: { user_id: editor.userId, display_name: 'editor' },
      },
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      read_at: null,
    })
    expect(told[0]!['data']).toMatchObject({
      sched_status: 'cancelled',
      scheduled_date: null,
      day_label: null,
      before: { scheduled_date: '2030-06-01', scheduled_end: '2030-06-03', day_label: 'Cave' },
    })
  }
  expect(await list(editor)).toEqual([])
  expect(await list(people.stranger)).toEqual([])
})

test('[Y4] nobody is told while a board is a draft, with notify: false, of other fields, of no change, or of what is rolled back', async () => {
  const { viewer, editor, owner, board } = await makeScene()
  const patch = async (change: object, status = 200) =>
    expect((await editor.api.patch(`/boards/${board.id}`, change)).status).toBe(status)
  await patch({ scheduled_date: '2030-06-01', day_label: 'x' })
  await patch({ scheduled_date: '2030-06-02', notify: true })
  await publish(owner, board.id)
  await patch({ scheduled_date: '2030-06-05', notify: false })
  await patch({ name: 'Other', view: 'list', props: { a: 1 }, identifiers: [] })
  await patch({ scheduled_date: '2030-06-05', day_label: 'x' })
  await patch({ scheduled_date: '2030-06-07', scheduled_end: '2030-06-01' }, 400)
  await patch({ scheduled_date: '2030-06-08', notify: 'no' }, 400)
  await patch({ scheduled_date: '2030-06-08', parent_board_id: board.id }, 409)
  await publish(owner, board.id)
  await cancel(owner, board.id)
  await owner.api.delete(`/boards/${board.id}`)
  await owner.api.post(`/boards/${board.id}/restore`)
  for (const who of [viewer, owner]) expect(await list(who)).toEqual([])
  // In a batch each entry speaks for itself.
  const named = async (value: string) => {
    const made = await makeBoard(owner, { name: value, identifiers: [{ scope: 'day', value }] })
    await publish(owner, made.id)
  }
  await named('quiet')
  await named('loud')
  const entry = (value: string, more = {}) => ({
    name: value,
    identifiers: [{ scope: 'day', value }],
    scheduled_date: '2030-07-01',
    ...more,
  })
  const boards = [entry('quiet', { notify: false }), entry('loud')]
  succeeded(
    await editor.api.post('/boards', { workspace_id: owner.workspaceId, on_conflict: 'identifier', boards }),
  )
  expect((await list(viewer)).map(({ data }: any) => data.name)).toEqual(['loud'])
  // The quiet of one request does not outlast it.
  await patch({ scheduled_date: '2030-06-09' })
  expect(await list(viewer)).toHaveLength(2)
})

test('[Y5] notifications are listed newest first by pages, and followed by since; a bad or foreign cursor is 400', async () => {
  const { viewer, editor, owner, board } = await makeScene()
  await publish(owner, board.id)
  const since = new Date().toISOString()
  for (let day = 1; day <= 7; day++)
    await editor.api.patch(`/boards/${board.id}`, { scheduled_date: `2030-06-0${day}` })
  const days = (rows: Shown[]) => rows.map((row) => Number(row['data'].scheduled_date.slice(-1)))
  const walk = async (start: string) => {
    const found: Shown[] = []
    for (let query = start; ;) {
      const body = succeeded(await viewer.api.get<any>(`/notifications?limit=3&${query}`))
      found.push(...body.notifications)
      if (!body.has_more) return { found, next: body.next_cursor }
      query = `cursor=${encodeURIComponent(body.next_cursor)}`
    }
  }
  const back = await walk('')
  expect(days(back.found)).toEqual([7, 6, 5, 4, 3, 2, 1])
  expect(back.next).toBe(null)
  await until(async () => (await walk(`since=${since}`)).found.length === 7, 'all are in the feed')
  const ahead = await walk(`since=${since}`)
  expect(days(ahead.found)).toEqual([1, 2, 3, 4, 5, 6, 7])
  const on = `cursor=${encodeURIComponent(ahead.next)}`
  expect(await walk(on)).toEqual({ found: [], next: ahead.next })
  await editor.api.patch(`/boards/${board.id}`, { scheduled_date: '2030-06-09' })
  await until(async () => (await walk(on)).found.length === 1, 'the feed goes on')
  const first = succeeded(await viewer.api.get<any>('/notifications?limit=1')).next_cursor as string
  const boards = succeeded(await viewer.api.get<any>('/boards?since=2026-01-01T00:00:00Z'))
    .next_cursor as string
  for (const cursor of [
    boards,
    'x',
    '',
    'before||',
    `before|${since}|`,
    `after|x|${nowhere}`,
    `after|${since}|x`,
    `sideways|${since}|${nowhere}`,
    `${first}|`,
  ]) {
    const { status, body } = await viewer.api.get(`/notifications?cursor=${encodeURIComponent(cursor)}`)
    expect([cursor, status, body['error']]).toEqual([cursor, 400, expect.stringMatching(/^cursor must be/)])
  }
  expect(
    (await viewer.api.get(`/notifications?since=${since}&cursor=${encodeURIComponent(first)}`)).status,
  ).toBe(400)
  for (const limit of [0, 501, 'x'])
    expect((await viewer.api.get(`/notifications?limit=${limit}`)).status).toBe(400)
  expect((await service.anonymous.get('/notifications')).status).toBe(401)
  // Who may no longer see the board is no longer told of it.
  await service.member(owner.workspaceId, viewer, 'none')
  expect((await walk('')).found).toEqual([])
})

test('[Y6] an open socket of the account gets a notification once, on any board, on any node, and nobody else does', async () => {
  const { owner, viewer, editor, stranger, board } = await makeScene()
  await publish(owner, board.id)
  const told = new Map<string, unknown[]>()
  const open = async (url: string, who: TestUser, boardId: string, name: string): Promise<Editor> => {
    const opened = await openEditor(url, { boardId, token: who.token })
    told.set(name, [])
    opened.provider.on('stateless', ({ payload }: { payload: string }) =>
      told.get(name)!.push(JSON.parse(payload)),
    )
    return opened
  }
  const [elsewhere, unrelated] = [await makeBoard(viewer), await makeBoard(stranger)]
  const first = await open(service.url, viewer, board.id, 'viewer on the board')
  // A second board on the same socket.
  const second = new HocuspocusProvider({
    websocketProvider: first.socket,
    name: elsewhere.id,
    token: viewer.token,
    document: new Y.Doc(),
  })
  second.on('stateless', ({ payload }: { payload: string }) =>
    told.get('viewer on the board')!.push(JSON.parse(payload)),
  )
  second.attach()
  await until(() => second.isSynced, 'the second board is open')
  await open(other.url, viewer, elsewhere.id, 'viewer on another node and board')
  await open(service.url, editor, board.id, 'actor')
  await open(other.url, stranger, unrelated.id, 'stranger')
  await editor.api.patch(`/boards/${board.id}`, { scheduled_date: '2030-06-01' })
  const [notification] = await list(viewer)
  const message = { type: 'notification', notification }
  await until(
    () =>
      told.get('viewer on the board')!.length > 0 && told.get('viewer on another node and board')!.length > 0,
    'the sockets are told',
  )
  // What comes later has come after all of it.
  await editor.api.patch(`/boards/${board.id}`, { scheduled_date: '2030-06-02' })
  await until(
    () =>
      told.get('viewer on the board')!.length > 1 && told.get('viewer on another node and board')!.length > 1,
    'the sockets are told again',
  )
  for (const name of ['viewer on the board', 'viewer on another node and board']) {
    expect(told.get(name), name).toHaveLength(2)
    expect(told.get(name)![0]).toEqual(message)
  }
  expect([told.get('actor'), told.get('stranger')]).toEqual([[], []])
  second.destroy()
})

test('[Y7] who is told is who may read: the readers of a board and the policies agree', async () => {
  const { people, board } = await makeScene()
  await service.share(board.id, people.editor, 'viewer') // twice a reader, told once
  const readers = await service.admin`select board_readers(${board.id}, ${people.owner.workspaceId}) as id`
  const admitted = await service.admin`
    select id from users where board_access(id, ${board.id}, ${people.owner.workspaceId}) is not null`
  const ids = (rows: Iterable<Record<string, unknown>>) =>
    [...rows].map((row) => String(row['id'])).toSorted()
  expect(ids(readers)).toEqual(ids(admitted))
  expect(readers).toHaveLength(5)
})

test('[Y8] a change is told to a thousand readers in its transaction, and each socket hears its own', async () => {
  const owner = await service.user()
  const board = await makeBoard(owner, { scheduled_date: '2030-01-01' })
  await publish(owner, board.id)
  await service.admin`
    with made as (insert into users (email, display_name) select 'crowd' || n || '@example.test', 'Crowd' from generate_series(1, 1000) n returning id)
    insert into board_shares (board_id, user_id, role) select ${board.id}, id, 'viewer' from made`
  const guest = await service.user()
  await service.share(board.id, guest, 'viewer')
  const editor = await openEditor(other.url, { boardId: board.id, token: guest.token })
  const heard: unknown[] = []
  editor.provider.on('stateless', ({ payload }: { payload: string }) => heard.push(JSON.parse(payload)))
  const database = openDatabase({ url: service.databaseUrl, poolSize: 1 })
  const rolledBack = database.asUser(owner.userId, async (tx) => {
    await tx`update boards set day_label = 'never' where id = ${board.id}`
    throw new Error('rolled back')
  })
  await expect(rolledBack).rejects.toThrow('rolled back')
  await database.close()
  await owner.api.patch(`/boards/${board.id}`, { day_label: 'told' })
  const [row] =
    await service.admin`select count(*)::integer as count from notifications where board_id = ${board.id}`
  expect(row).toEqual({ count: 1001 })
  await until(() => heard.length > 0, 'the guest is told')
  expect(heard).toMatchObject([{ notification: { data: { day_label: 'told' } } }])
})

test('[WP9] notifications are marked as read by id or up to a time, once, and by their account alone', async () => {
  const { viewer, owner, editor, board } = await makeScene()
  await publish(owner, board.id)
  for (let day = 1; day <= 4; day++)
    await editor.api.patch(`/boards/${board.id}`, { scheduled_date: `2030-06-0${day}` })
  const mark = (body: object, who = viewer) => who.api.post('/notifications/read', body)
  const unread = async (who: TestUser) => (await list(who)).filter((one) => one['read_at'] === null).length
  const [newest, second, third] = (await list(viewer)) as [Shown, Shown, Shown]
  // Others' ids and unknown ones change nothing.
  const [foreign] = (await list(owner)) as [Shown]
  expect((await mark({ ids: [foreign.id, nowhere] })).body).toEqual({ read: 0, has_more: false })
  expect((await mark({ ids: [newest.id, foreign.id] })).body).toEqual({ read: 1, has_more: false })
  const [marked] = (await list(viewer)) as [Shown]
  expect(marked).toEqual({ ...newest, read_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) })
  expect((await mark({ ids: [newest.id] })).body['read']).toBe(0)
  expect((await list(viewer))[0]).toEqual(marked)
  expect((await mark({ before: third['created_at'] })).body['read']).toBe(2)
  expect(await unread(viewer)).toBe(1)
  const all = { before: newest['created_at'] }
  const both = await Promise.all([mark(all), mark(all)])
  expect(both.map(({ body }) => body['read']).toSorted((a, b) => a - b)).toEqual([0, 1])
  expect((await list(viewer)).find(({ id }) => id === second.id)!['read_at']).not.toBe(null)
  expect(await unread(owner)).toBe(4)
  const { body: entries } = await viewer.api.get<any>('/audit?limit=1')
  expect(entries.entries[0]).toMatchObject({ action: 'notification.read', status: 200 })
})

test('[WP10] marking as read without ids or time, with both, or with what is neither, is 400 and names the field', async () => {
  const user = await service.user()
  const bad: [object, RegExp][] = [
    [{}, /^Exactly one of ids and before is required/],
    [{ ids: [nowhere], before: '2030-01-01T00:00:00Z' }, /^Exactly one of ids and before/],
    [{ ids: [] }, /^ids must hold at least 1 entry/],
    [{ ids: ['x'] }, /^ids\[0\] must be a valid uuid/],
    [{ ids: Array.from({ length: 501 }, () => nowhere) }, /^ids must hold at most 500 entries/],
    [{ ids: nowhere }, /^ids must be an array/],
    [{ before: 'yesterday' }, /^before must be a valid date-time/],
    [{ before: null }, /^before must be a string/],
  ]
  for (const [body, says] of bad) {
    const answer = await user.api.post('/notifications/read', body)
    expect([answer.status, answer.body['error']]).toEqual([400, expect.stringMatching(says)])
  }
  expect((await service.anonymous.post('/notifications/read', { ids: [nowhere] })).status).toBe(401)
  const reader = await service.token(user, { scopes: ['read'] })
  expect((await reader.api.post('/notifications/read', { ids: [nowhere] })).status).toBe(403)
})
