/** Webhooks: making, changing, listing, deleting them, and their secrets. */
import { expect, test } from 'vitest'
import { eventTypes } from '../../core/events.ts'
import { openEncryption } from '../../platform/secrets/encryption.ts'
import { allDeliveries } from '../support/deliveries.ts'
import { testSecretKey, type TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, nowhere, succeeded, type Shown } from './board.ts'
import { createWebhook, hookUrl as url } from './webhook.ts'

let now = Date.parse('2030-01-01T00:00:00.000Z')
const { service, user } = await serviceOfFile({ workers: false, clock: { now: () => now } })

const makeWebhook = (fields: Record<string, unknown> = {}, who = user) =>
  createWebhook(who, { url, events: ['board.created'], ...fields })

/** The last row of the table, whole. */
const stored = async (id: string) => (await service.admin`select * from webhooks where id = ${id}`)[0] as any
const count = async (table: string) =>
  (await service.admin`select count(*)::integer as n from ${service.admin(table)}`)[0]!['n']

test('[W60] a created webhook has what was sent and its defaults, and its secret is shown this once and stored encrypted', async () => {
  const answer = await user.api.post('/webhooks', {
    workspace_id: user.workspaceId.toUpperCase(),
    url,
    events: ['card.moved', 'card.moved'],
  })
  expect(answer.status).toBe(200)
  const { webhook, secret, next } = answer.body
  expect(webhook).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    workspace_id: user.workspaceId,
    url,
    events: ['card.moved'],
    name: '',
    active: true,
    created_at: expect.stringMatching(/Z$/),
    updated_at: webhook.created_at,
  })
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(next).toMatch(/not shown again/)
  const row = await stored(webhook.id)
  expect(openEncryption([testSecretKey], 'webhook secrets').open(row.secret, webhook.id)).toBe(secret)
  for (const { text } of [
    await user.api.get('/webhooks'),
    await user.api.patch(`/webhooks/${webhook.id}`, { name: 'x' }),
    await user.api.post(`/webhooks/${webhook.id}/test`),
    await user.api.get(`/webhooks/${webhook.id}/deliveries`),
  ]) {
    expect(text).toContain(webhook.id)
    expect(text).not.toContain(secret.slice(6, 30))
  }
  const other = await makeWebhook({ name: 'Named', events: ['*'] })
  expect(other).toMatchObject({ name: 'Named', events: ['*'] })
  expect(other.secret).not.toBe(secret)
})

test.each([
  [
    { events: ['board.created', 'board.exploded'] },
    /^events: "board\.exploded" is not an event\. Accepted are board\.created, .*image\.created, or `\*` alone\.$/,
  ],
  [{ events: ['webhook.test'] }, /^events: "webhook\.test" is not an event/],
  [{ events: ['*', 'board.created'] }, /^events: `\*` must be the only entry/],
  [{ events: [] }, /^events must hold at least 1 entry/],
  [{ events: 'board.created' }, /^events must be an array/],
  [{ events: undefined }, /^events is required/],
  [{ events: [1] }, /^events\[0\] must be a string/],
])('[W61] events %j is refused, and nothing is made', async (fields, message) => {
  const before = await count('webhooks')
  const body = { workspace_id: user.workspaceId, url, ...fields }
  const made = await user.api.post('/webhooks', body)
  expect([made.status, made.body['code'], made.body['error']]).toEqual([
    400,
    'bad_request',
    expect.stringMatching(message),
  ])
  expect(await count('webhooks')).toBe(before)
})

test('[W61] all nine names are accepted', async () => {
  expect(await makeWebhook({ events: eventTypes })).toMatchObject({ events: eventTypes })
})

test.each([
  ['http://example.com/', 'url must begin with https:// and use its default port, 443.'],
  ['https://example.com:8443/', 'url must begin with https:// and use its default port, 443.'],
  ['https://127.0.0.1/', /^url must lead to a public address/],
  ['https://2130706433/', /^url must lead to a public address/],
  ['https://[::ffff:127.0.0.1]/', /^url must lead to a public address/],
  ['https://169.254.169.254/latest/meta-data/', /^url must lead to a public address/],
  ['https://metadata.google.internal/', /^url must lead to a public address/],
  ['https://localhost/', /^url must lead to a public address/],
  ['https://a:b@example.com/', 'url must not contain a user name or a password.'],
  ['ftp://example.com/', 'url must begin with https://.'],
  ['example.com/hook', /^url must be a valid uri/],
  ['', /^url must be a valid uri/],
  [`https://example.com/${'a'.repeat(2000)}`, 'url must be at most 2000 characters.'],
  [7, /^url must be a string/],
  [null, /^url must be a string/],
])('[W62] url %s is refused on create and on change', async (bad, message) => {
  const webhook = await makeWebhook({}, await service.user())
  const owner = await service.user()
  const before = await count('webhooks')
  const made = await owner.api.post('/webhooks', { workspace_id: owner.workspaceId, url: bad, events: ['*'] })
  expect([made.status, made.body['code'], made.body['error']]).toEqual([
    400,
    'bad_request',
    typeof message === 'string' ? message : expect.stringMatching(message),
  ])
  expect(await count('webhooks')).toBe(before)
  const own = await makeWebhook({}, owner)
  const patched = await owner.api.patch(`/webhooks/${own.id}`, { name: 'changed', url: bad })
  expect([patched.status, patched.body['error']]).toEqual([400, made.body['error']])
  expect(await stored(own.id)).toMatchObject({ url, name: '' })
  expect(webhook.url).toBe(url)
})

test('[W63] of 40 that are made or switched on at the same moment exactly 20 are, and the others are told', async () => {
  const owner = await service.user()
  const idle = await Promise.all(Array.from({ length: 15 }, () => makeWebhook({}, owner)))
  await Promise.all(idle.map(({ id }) => owner.api.patch(`/webhooks/${id}`, { active: false })))
  const answers = await Promise.all([
    ...idle.map(({ id }) => owner.api.patch(`/webhooks/${id}`, { active: true })),
    ...Array.from({ length: 25 }, () =>
      owner.api.post('/webhooks', { workspace_id: owner.workspaceId, url, events: ['*'] }),
    ),
  ])
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused.map(({ status, body }) => [status, body['code']])).toEqual(
    Array.from({ length: 20 }, () => [402, 'limit_reached']),
  )
  expect(refused[0]!.body['error']).toMatch(/^The workspace has 20 active webhooks/)
  const [row] = await service.admin`
    select count(*) filter (where active)::integer as active from webhooks where workspace_id = ${owner.workspaceId}`
  expect(row!['active']).toBe(20)
  // Another workspace is not concerned; one that is on may be switched on; one fewer makes room.
  await makeWebhook()
  const { webhooks } = (await owner.api.get('/webhooks')).body
  const active = webhooks.filter((one: any) => one.active)
  expect((await owner.api.patch(`/webhooks/${active[0].id}`, { active: true })).status).toBe(200)
  await owner.api.patch(`/webhooks/${active[0].id}`, { active: false })
  await makeWebhook({}, owner)
  expect((await owner.api.patch(`/webhooks/${active[0].id}`, { active: true })).status).toBe(402)
})

test('[W64] webhooks list oldest first by pages, of one workspace or of all in which the account may write', async () => {
  const [owner, editor] = [await service.user(), await service.user()]
  const { workspaceId } = owner
  await service.member(workspaceId, editor, 'editor')
  const made: Shown[] = []
  for (let n = 0; n < 5; n++)
    made.push(await makeWebhook({ workspace_id: workspaceId, name: `${n}` }, n % 2 ? owner : editor))
  const own = await makeWebhook({}, editor)
  const ids = async (who: TestUser, query: string) =>
    (await who.api.get(`/webhooks${query}`)).body.webhooks.map(({ id }: Shown) => id)
  expect(await ids(owner, '')).toEqual(made.map(({ id }) => id))
  expect(await ids(editor, '')).toEqual([...made.map(({ id }) => id), own.id])
  expect(await ids(editor, `?workspace=${workspaceId}`)).toEqual(made.map(({ id }) => id))
  const { body } = await owner.api.get(`/webhooks?workspace=${workspaceId}&limit=2&offset=2`)
  expect(body).toMatchObject({ limit: 2, offset: 2, has_more: true, next_offset: 4 })
  expect(body.webhooks.map(({ id }: Shown) => id)).toEqual([made[2]!.id, made[3]!.id])
  for (const query of ['?workspace=x', '?limit=0', '?limit=501', '?offset=-1'])
    expect((await owner.api.get(`/webhooks${query}`)).status).toBe(400)
})

test('[W65] only what is sent is changed, and active: true clears what went wrong, whether it was off or on', async () => {
  const owner = await service.user()
  const { id } = await makeWebhook({ name: 'Name' }, owner)
  const patch = async (body: unknown) => succeeded(await owner.api.patch(`/webhooks/${id}`, body)).webhook
  expect(await patch({ name: 'New' })).toMatchObject({
    name: 'New',
    url,
    events: ['board.created'],
    active: true,
  })
  expect(await patch({ events: ['*'] })).toMatchObject({ name: 'New', events: ['*'] })
  expect(await patch({ url: 'https://93.184.215.14/other' })).toMatchObject({
    url: 'https://93.184.215.14/other',
    events: ['*'],
  })
  expect(await patch({})).toMatchObject({ name: 'New' })

  await service.admin`update webhooks set active = false, failures = 20, disabled_reason = 'Twenty in a row.' where id = ${id}`
  expect(await patch({ name: 'Off' })).toMatchObject({ active: false, disabled_reason: 'Twenty in a row.' })
  const on = await patch({ active: true })
  expect(on).toMatchObject({ active: true, name: 'Off' })
  expect(on).not.toHaveProperty('disabled_reason')
  expect(await stored(id)).toMatchObject({ failures: 0, disabled_reason: null })
  await service.admin`update webhooks set failures = 7 where id = ${id}`
  await patch({ name: 'x' })
  expect((await stored(id)).failures).toBe(7)
  await patch({ active: true })
  expect((await stored(id)).failures).toBe(0)
  expect(await patch({ active: false })).toMatchObject({ active: false })

  for (const [bad, field] of [
    [{ active: 'yes' }, 'active'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: null }, 'name'],
    [{ events: ['no.event'] }, 'events'],
  ] as const) {
    const answer = await owner.api.patch(`/webhooks/${id}`, bad)
    expect([answer.status, answer.body['error'].startsWith(field)]).toEqual([400, true])
  }
})

test('[W66] deleting a webhook takes its queue and its log with it, and it is gone', async () => {
  const owner = await service.user()
  const { id } = await makeWebhook({}, owner)
  await owner.api.post(`/webhooks/${id}/test`)
  const answer = await owner.api.delete(`/webhooks/${id}`)
  expect([answer.status, answer.body]).toEqual([200, { deleted: true, id }])
  const [row] =
    await service.admin`select count(*)::integer as n from ${allDeliveries(service.admin)} d where webhook_id = ${id}`
  expect(row!['n']).toBe(0)
  for (const again of [
    owner.api.delete(`/webhooks/${id}`),
    owner.api.patch(`/webhooks/${id}`, {}),
    owner.api.post(`/webhooks/${id}/test`),
    owner.api.post(`/webhooks/${id}/rotate-secret`),
    owner.api.get(`/webhooks/${id}/deliveries`),
    owner.api.post(`/webhooks/${id}/deliveries/${nowhere}/redeliver`),
  ])
    expect(await again).toMatchObject({
      status: 404,
      body: { code: 'not_found', error: 'There is no webhook with this id.' },
    })
})

test('[W70] a rotation gives a new secret and keeps the one before for 24 hours', async () => {
  const owner = await service.user()
  const { id, secret: first } = await makeWebhook({}, owner)
  const rotate = async () => succeeded(await owner.api.post(`/webhooks/${id}/rotate-secret`)) as any
  const second = await rotate()
  const until = new Date(now + 24 * 3600_000).toISOString()
  expect(second).toMatchObject({
    previous_secret_valid_until: until,
    webhook: { id, previous_secret_valid_until: until },
  })
  expect(second.secret).toMatch(/^whsec_/)
  expect(second.secret).not.toBe(first)
  const opened = async () => {
    const row = await stored(id)
    const encryption = openEncryption([testSecretKey], 'webhook secrets')
    return [row.secret, row.previous_secret].map((sealed) => encryption.open(sealed, id))
  }
  expect(await opened()).toEqual([second.secret, first])
  const third = await rotate()
  expect(await opened()).toEqual([third.secret, second.secret])
  const { text, body } = await owner.api.get('/webhooks')
  expect(body.webhooks[0]).toMatchObject({ previous_secret_valid_until: until })
  for (const secret of [first, second.secret, third.secret]) expect(text).not.toContain(secret)
  now += 24 * 3600_000
  expect((await owner.api.get('/webhooks')).body.webhooks[0]).not.toHaveProperty(
    'previous_secret_valid_until',
  )
})

test('[W71] viewers of the workspace are told 403, guests and strangers what somebody is told of a webhook that is none', async () => {
  const [owner, viewer, guest, stranger] = await Promise.all([1, 2, 3, 4].map(() => service.user()))
  const { id } = await makeWebhook({}, owner)
  await service.member(owner!.workspaceId, viewer!, 'viewer')
  const board = await makeBoard(owner!)
  await service.share(board.id, guest!, 'editor')
  const refusals = (who: TestUser, webhookId: string) =>
    Promise.all([
      who.api.patch(`/webhooks/${webhookId}`, { name: 'x' }),
      who.api.delete(`/webhooks/${webhookId}`),
      who.api.post(`/webhooks/${webhookId}/test`),
      who.api.post(`/webhooks/${webhookId}/rotate-secret`),
      who.api.get(`/webhooks/${webhookId}/deliveries`),
    ])
  for (const answer of await refusals(viewer!, id)) {
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    expect(answer.text).not.toContain(id)
  }
  for (const who of [guest!, stranger!]) {
    const [real, none] = [await refusals(who, id), await refusals(who, nowhere)]
    expect(real.map(({ status, text }) => [status, text])).toEqual(none.map(({ text }) => [404, text]))
  }
  expect((await viewer!.api.get('/webhooks')).body).toMatchObject({ webhooks: [] })
  expect(await stored(id)).toMatchObject({ name: '', active: true })
})
