/** From the change to the receiver: what is picked up, for whom, and as what. */
import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { allDeliveries } from '../support/deliveries.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { openReceiver, type Received, type Receiver } from '../support/receiver.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeWebhook, webhookSecret } from '../support/webhook.ts'

let service: TestService
let receiver: Receiver
let user: TestUser

beforeAll(async () => {
  service = await startService({
    config: { egressAllow: ['127.0.0.1/32'], appEventPollSeconds: 1 },
    queueTickMs: 50,
    debounceMs: 50,
  })
  receiver = await openReceiver()
})
afterAll(async () => {
  await service?.stop()
  await receiver?.close()
})
afterEach(leaveAll)

/** A user in a workspace of their own with one webhook, and what it gets. */
async function listen(
  events = ['*'],
): Promise<{ got: () => Received[]; types: () => string[]; webhookId: string }> {
  user = await service.user()
  const path = `/${user.userId}`
  const webhookId = await makeWebhook(service, user, receiver.url + path, { events })
  const got = () => receiver.received.filter((one) => one.path === path)
  return { webhookId, got, types: () => got().map(({ body }) => body.type) }
}

const makeBoard = async (name = 'Board', rest: object = {}): Promise<string> =>
  (await user.api.post('/boards', { name, ...rest })).body.board.id

/** Everything that the outbox held is delivered. */
const drained = () =>
  until(async () => {
    const [row] = await service.admin<{ left: number }[]>`
      select (
        (select count(*) from events) + (select count(*) from ${allDeliveries(service.admin)} d where status in ('waiting', 'sending'))
      )::integer as left`
    return row!.left === 0
  }, 'everything is delivered')

test('[W1] what a request changes is delivered at once: payload, headers, and signatures that others verify over the very bytes', async () => {
  const { got } = await listen()
  const name = 'Brett 🪵\u2028 „ä“ \\ "q"'
  const askedAt = performance.now()
  const boardId = await makeBoard(name)
  await until(() => got().length === 1, 'the delivery')
  const [one] = got()
  expect(one!.at - askedAt).toBeLessThan(2000)
  expect(one!.body).toEqual({
    type: 'board.created',
    resource: { type: 'board', id: boardId },
    workspace: { id: user.workspaceId },
    board: { id: boardId },
    data: { name, parent_board_id: null, view: 'canvas', changed: [] },
    occurred_at: (await user.api.get(`/boards/${boardId}`)).body.board.created_at,
  })
  expect(one!.body.occurred_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const { headers, raw } = one!
  expect(headers['content-type']).toBe('application/json')
  expect(headers['x-service-event']).toBe('board.created')
  const timestamp = Number(headers['x-service-request-timestamp'])
  expect(Math.abs(Date.now() / 1000 - timestamp)).toBeLessThan(5)
  const hmac = createHmac('sha256', webhookSecret).update(`v0:${timestamp}:`).update(raw)
  expect(headers['x-service-signature']).toBe(`v0=${hmac.digest('hex')}`)
  expect(new Webhook(webhookSecret).verify(raw, headers as Record<string, string>)).toEqual(one!.body)
  expect(headers['webhook-id']).toBe(one!.deliveryId)
  const [row] =
    await service.admin`select payload, event from ${allDeliveries(service.admin)} d where id = ${one!.deliveryId}`
  expect(row).toEqual({ payload: raw.toString('utf8'), event: 'board.created' })
})

test('[W2] every event reaches the receiver from every origin it can have', async () => {
  const { got, types } = await listen()
  const boardId = await makeBoard()
  const other = await makeBoard('other')
  const card = (await user.api.post(`/boards/${boardId}/cards`, { kind: 'note' })).body.cards[0].id
  await user.api.patch(`/boards/${boardId}/cards/${card}`, { title: 'x' })
  await user.api.delete(`/boards/${boardId}/cards/${card}`)
  await user.api.patch(`/boards/${boardId}`, { name: 'y' })
  await user.api.delete(`/boards/${boardId}`)
  await user.api.post(`/boards/${boardId}/restore`)
  await drained()
  const byRequest = [
    'board.created',
    'board.created',
    'card.created',
    'card.updated',
    'card.deleted',
    'board.updated',
    'board.deleted',
    'board.restored',
  ]
  expect(types().toSorted()).toEqual(byRequest.toSorted())
  receiver.received.length = 0

  const editor = await openEditor(service.url, { boardId, token: user.token })
  editor.addCard('e')
  editor.addCard('f')
  await editor.saved()
  await service.live.queue.flush(boardId)
  editor.cards.get('e')!.set('title', 'dragged')
  editor.cards.delete('f')
  await editor.saved()
  await until(() => types().length >= 3, 'the editor’s events')
  await drained()
  expect(types().toSorted()).toEqual(['card.created', 'card.deleted', 'card.updated'])
  expect(got().find(({ body }) => body.type === 'card.updated')!.body.data).toEqual({
    count: 1,
    card_ids: ['e'],
  })
  receiver.received.length = 0

  await service.admin.begin(async (tx) => {
    const [made] = await tx<
      { id: string }[]
    >`insert into boards (workspace_id, name) values (${user.workspaceId}, 'sql') returning id`
    const { id } = made!
    await tx`update boards set view = 'list' where id = ${id}`
    await tx`update boards set deleted_at = now() where id = ${id}`
    await tx`update boards set deleted_at = null where id = ${id}`
    await tx`
      insert into card_index (board_id, card_id, workspace_id, kind, x, y, w, h, z, rotation, hash, position, op, cause, moved_from, created_at, updated_at)
      select ${id}, v.card, ${user.workspaceId}, 'note', 0, 0, 1, 1, 0, 0, 'h', 0, gen_random_uuid(), v.cause, v.source::uuid, now(), now()
      from (values ('s', 'editor', null), ('m', 'move', ${other})) as v(card, cause, source)`
    await tx`update card_index set title = 'sql' where board_id = ${id} and card_id = 's'`
    await tx`update card_index set deleted_at = now() where board_id = ${id} and card_id = 's'`
    await tx`insert into images (image_key, workspace_id, content_type, bytes) values ('sql', ${user.workspaceId}, 'image/png', 1)`
  })
  await until(() => types().length >= 9, 'the events of plain SQL')
  await drained()
  expect(types().toSorted()).toEqual([
    'board.created',
    'board.deleted',
    'board.restored',
    'board.updated',
    'card.created',
    'card.deleted',
    'card.moved',
    'card.updated',
    'image.created',
  ])
  const find = (type: string) => got().find(({ body }) => body.type === type)!.body
  expect(find('card.moved').data).toEqual({ count: 1, card_ids: ['m'], from_board_id: other })
  expect(find('image.created')).toMatchObject({
    board: null,
    resource: { type: 'image', id: 'sql' },
    data: { bytes: 1, width: null, height: null, content_type: 'image/png' },
  })
  receiver.received.length = 0

  // The sweeper's ways: a board that is removed outright, and an index that is brought up to date.
  await service.database.asSystem((tx) => tx`delete from boards where id = ${boardId}`)
  await until(() => types().length >= 1, 'the event of the removal')
  await drained()
  expect(types()).toEqual(['board.deleted'])
})

test('[W3] a webhook gets what it subscribed to, of its own workspace, while it is active, and nothing from before its time', async () => {
  const all = await listen(['*'])
  const workspaceId = user.workspaceId
  const urls = { cards: '/cards', off: '/off', board: '/board' }
  const off = await makeWebhook(service, user, receiver.url + urls.off)
  await service.admin`update webhooks set active = false where id = ${off}`
  await service.admin`
    insert into events (type, workspace_id, resource_type, resource_id, data, origin, occurred_at)
    values ('board.created', ${workspaceId}, 'board', 'long ago', '{}', 'api', now() - interval '1 hour'),
      ('board.added-later', ${workspaceId}, 'board', 'a type of tomorrow', '{}', 'api', date_trunc('milliseconds', now() + interval '1 second'))`
  await makeWebhook(service, user, receiver.url + urls.cards, { events: ['card.created', 'card.deleted'] })
  await makeWebhook(service, user, receiver.url + urls.board, { events: ['board.created'] })
  const boardId = await makeBoard()
  await user.api.post(`/boards/${boardId}/cards`, { kind: 'note' })
  const own = user
  await listen(['*'])
  const elsewhere = await makeBoard('elsewhere')
  await drained()
  const at = (path: string) =>
    receiver.received.filter((one) => one.path === path).map(({ body }) => body.type)
  expect(at(urls.cards)).toEqual(['card.created'])
  expect(at(urls.board)).toEqual(['board.created'])
  expect(at(urls.off)).toEqual([])
  expect(all.types().toSorted()).toEqual(['board.added-later', 'board.created', 'card.created'])
  expect(
    receiver.received.filter(({ body }) => body.resource.id === elsewhere).map(({ path }) => path),
  ).toEqual([`/${user.userId}`])
  expect(own.userId).not.toBe(user.userId)
})

test('[W4] what editors do on a board goes as one event of each type, with the union of the cards, once the oldest is old enough', async () => {
  const { got } = await listen(['card.created', 'card.updated'])
  const boardId = await makeBoard()
  const editor = await openEditor(service.url, { boardId, token: user.token })
  const startedAt = performance.now()
  for (let n = 0; n < 40; n++) {
    editor.addCard(`c${n}`, { x: n })
    if (n > 0) editor.cards.get(`c${n - 1}`)!.set('x', 1000 + n)
    await editor.saved()
    if (n % 4 === 3) await service.live.queue.flush(boardId)
  }
  const [before] = await service.admin<{ count: number }[]>`
    select count(*)::integer from events where board_id = ${boardId} and origin = 'app'`
  const tookMs = performance.now() - startedAt
  if (tookMs < 900) expect(before!.count).toBeGreaterThan(10)
  await drained()
  const created = got().filter(({ body }) => body.type === 'card.created')
  const updated = got().filter(({ body }) => body.type === 'card.updated')
  // One burst; more than one of each only if making it took longer than the poll.
  expect(created.length).toBeLessThanOrEqual(1 + Math.ceil(tookMs / 1000))
  expect(updated.length).toBeLessThanOrEqual(1 + Math.ceil(tookMs / 1000))
  expect(created[0]!.at - startedAt).toBeGreaterThan(900)
  expect(created.reduce((sum, { body }) => sum + body.data['count'], 0)).toBe(40)
})

test('[W5] the payload names the first 25 cards and counts all; merged events too', async () => {
  const { got } = await listen(['card.created', 'card.deleted', 'board.updated'])
  const boardId = await makeBoard()
  const { body } = await user.api.post(`/boards/${boardId}/cards`, {
    cards: Array.from({ length: 60 }, (_, n) => ({ kind: 'note', x: n, y: n })),
  })
  const ids: string[] = body.cards.map(({ id }: { id: string }) => id)
  await until(() => got().length === 1, 'the creation')
  expect(got()[0]!.body.data).toEqual({ count: 60, card_ids: ids.slice(0, 25) })
  await service.admin.begin(async (tx) => {
    for (const part of [ids.slice(0, 20), ids.slice(20, 40)])
      await tx`update card_index set deleted_at = now() where board_id = ${boardId} and card_id = any (${part})`
    await tx`update boards set name = 'a' where id = ${boardId}`
    await tx`update boards set view = 'list' where id = ${boardId}`
    await tx`update boards set name = 'b' where id = ${boardId}`
  })
  await until(() => got().length === 3, 'one event of each type')
  await drained()
  const [first, second] = got().slice(1)
  const [deleted, updated] = first!.body.type === 'card.deleted' ? [first!, second!] : [second!, first!]
  expect(deleted.body.data).toEqual({ count: 40, card_ids: ids.slice(0, 25) })
  expect(updated.body.data).toEqual({
    name: 'b',
    parent_board_id: null,
    view: 'list',
    changed: ['name', 'view'],
  })
})

test('[W6] requests are never merged, and one that is refused or rolled back sends nothing', async () => {
  const { types } = await listen(['card.created'])
  const boardId = await makeBoard()
  const stranger = await service.user()
  await Promise.all([
    ...Array.from({ length: 15 }, () =>
      user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: 0, y: 0 }),
    ),
    stranger.api.post(`/boards/${boardId}/cards`, { kind: 'note' }),
    user.api.post(`/boards/${boardId}/cards`, { kind: 'note', group_id: 'none' }),
  ])
  await drained()
  expect(types()).toHaveLength(15)
})

test('[W7] an event whose transaction commits late is delivered when it does', async () => {
  const { got } = await listen(['board.updated'])
  const [early, late] = [await makeBoard('early'), await makeBoard('late')]
  await service.admin.begin(async (tx) => {
    await tx`update boards set name = 'late 2' where id = ${late}`
    await user.api.patch(`/boards/${early}`, { name: 'early 2' })
    await service.admin`update boards set view = 'list' where id = ${early}`
    await until(() => got().length === 2, 'what came later, and committed earlier')
  })
  await until(() => got().length === 3, 'what committed late')
  expect(got()[2]!.body.resource.id).toBe(late)
})

test('[W8] where nobody listens the outbox is emptied all the same', async () => {
  user = await service.user()
  const boardId = await makeBoard()
  await user.api.post(`/boards/${boardId}/cards`, { kind: 'note' })
  await service.admin`update boards set name = 'by SQL' where id = ${boardId}`
  await until(async () => (await service.admin`select from events`).length === 0, 'the outbox is empty')
  expect(
    await service.admin`select from ${allDeliveries(service.admin)} d where workspace_id = ${user.workspaceId}`,
  ).toHaveLength(0)
})

test('[W28] an event leaves the outbox together with its deliveries: when these cannot be queued it waits, and is delivered once they can', async () => {
  const { got } = await listen(['board.updated'])
  const boardId = await makeBoard()
  await drained()
  // The sequence counts the attempts, which are all rolled back.
  await service.admin.unsafe(`
    create sequence refused;
    grant usage on sequence refused to corkboard_system;
    create function refuse() returns trigger language plpgsql as $$
    begin
      perform nextval('refused');
      raise exception 'no room';
    end $$;
    create trigger refuse before insert on webhook_deliveries for each row execute function refuse()`)
  await user.api.patch(`/boards/${boardId}`, { name: 'waits' })
  await until(async () => (await service.admin`select from refused where is_called`).length === 1, 'refused')
  await service.admin.unsafe('drop function refuse cascade; drop sequence refused')
  await until(() => got().length === 1, 'delivered all the same')
  expect(got()[0]!.body.data['name']).toBe('waits')
})
