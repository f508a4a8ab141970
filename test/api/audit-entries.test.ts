/** What leaves an entry in the audit: writes, with files and imports, and reads of files. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { actionOf } from '../../api/http/action.ts'
import { routes } from '../../api/routes.ts'
import { openSite, png as pngHead, serves } from '../support/site.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'
import { entryOf, newest } from './audit.ts'
import { makeBoard, makeCards, nowhere, succeeded } from './board.ts'
import { sendParts, upload } from './file.ts'

const site = await forFile(openSite())
const { service, user: owner } = await serviceOfFile({
  workers: false,
  config: { egressAllow: ['127.0.0.1/32'] },
})
const { id: boardId } = await makeBoard(owner)

test('[AU1, AU2] each write leaves one entry that tells who did what where', async () => {
  const user = await service.user({ name: 'Grace' })
  const board = await makeBoard(user, { name: 'Before' })
  const [card, other] = await makeCards(user, board.id, [{ title: 'one' }, { title: 'two' }])
  const { group } = succeeded(
    await user.api.post<any>(`/boards/${board.id}/groups`, { name: 'Secret group' }),
  )
  const hook = { workspace_id: user.workspaceId, url: 'https://93.184.215.14/', events: ['*'] }
  const made = await user.api.post<any>('/webhooks', hook)
  const webhookId = made.body.webhook.id
  const robot = await user.api.post<any>('/service-accounts', {
    workspace_id: user.workspaceId,
    name: 'Robot',
  })
  const robotId = robot.body.service_account.id
  const at = `/boards/${board.id}`
  const send = user.api.send.bind(user.api)
  const cards = `${at}/cards`
  const writes: [string, string, unknown, string, [string, string]][] = [
    ['PATCH', at, { name: 'A secret name' }, 'board.update', ['board', board.id]],
    ['POST', cards, { kind: 'note', body: 'A secret text', x: 0, y: 0 }, 'card.create', ['board', board.id]],
    ['POST', cards, { kind: 'note', group_id: group.id }, 'card.create', ['board', board.id]],
    [
      'PATCH',
      cards,
      { cards: [{ id: card!.id, title: 'A secret title' }] },
      'card.update',
      ['board', board.id],
    ],
    ['PATCH', `${cards}/${card!.id}`, { title: 'Another' }, 'card.update', ['card', card!.id]],
    ['DELETE', `${cards}/${card!.id}`, undefined, 'card.delete', ['card', card!.id]],
    ['DELETE', cards, { card_ids: [other!.id] }, 'card.delete', ['board', board.id]],
    ['POST', `${at}/arrange`, { layout: 'row' }, 'board.arrange', ['board', board.id]],
    ['PATCH', `${at}/groups/${group.id}`, { name: 'New' }, 'group.update', ['group', group.id]],
    ['DELETE', `${at}/groups/${group.id}`, undefined, 'group.delete', ['group', group.id]],
    ['POST', `${at}/restore-to`, { as_of: '1' }, 'board.restore_to', ['board', board.id]],
    ['POST', `${at}/undo`, { actor: 'me', since: '2020-01-01T00:00:00Z' }, 'board.undo', ['board', board.id]],
    ['DELETE', at, undefined, 'board.delete', ['board', board.id]],
    ['POST', `${at}/restore`, undefined, 'board.restore', ['board', board.id]],
    ['PATCH', `/webhooks/${webhookId}`, { name: 'New' }, 'webhook.update', ['webhook', webhookId]],
    [
      'POST',
      `/webhooks/${webhookId}/rotate-secret`,
      undefined,
      'webhook.rotate_secret',
      ['webhook', webhookId],
    ],
    ['DELETE', `/webhooks/${webhookId}`, undefined, 'webhook.delete', ['webhook', webhookId]],
    ['POST', `/service-accounts/${robotId}/tokens`, {}, 'token.create', ['service_account', robotId]],
    [
      'DELETE',
      `/service-accounts/${robotId}`,
      undefined,
      'service_account.delete',
      ['service_account', robotId],
    ],
  ]
  for (const [method, path, body, action, [type, id]] of writes) {
    const answer = await send(method, `${path}?secret=A-secret-query`, body)
    const entries = await entryOf(user, answer)
    expect(entries, `${method} ${path}: ${answer.text.slice(0, 200)}`).toEqual([
      {
        id: expect.stringMatching(/^\d+$/),
        occurred_at: expect.any(String),
        action,
        actor: {
          user_id: user.userId,
          display_name: 'Grace',
          token_id: user.tokenId,
          service_account_id: null,
          client_id: null,
        },
        method,
        path: `/api/v1${path}`,
        status: answer.status,
        workspace_id: user.workspaceId,
        board_id: path.startsWith('/boards') ? board.id : null,
        resource: { type, id },
        request_id: answer.headers.get('x-request-id'),
        ip: '127.0.0.1',
      },
    ])
  }
  const [row] = await entryOf(user, made)
  expect(row).toMatchObject({
    action: 'webhook.create',
    workspace_id: user.workspaceId,
    resource: { id: webhookId },
  })
  const text = JSON.stringify(await service.admin`select * from audit_operations`)
  expect(text).not.toMatch(/secret (name|text|title|group)|secret-query/)
  for (const secret of [user.token, made.body.secret, robot.body.access_token])
    expect(text).not.toContain(secret)
})

test('[AU1] what is refused or only read leaves nothing', async () => {
  const board = await makeBoard(owner)
  const [viewer, reader] = [await service.user(), await service.token(owner, { scopes: ['read'] })]
  await service.member(owner.workspaceId, viewer, 'viewer')
  const before = (await service.admin`select id from audit_operations`).length
  const statuses = [
    await owner.api.get(`/boards/${board.id}`),
    await owner.api.post(`/boards/${board.id}/cards`, { kind: 'none' }),
    await owner.api.post(`/boards/${board.id}/arrange`, { dry_run: true }),
    await owner.api.patch(`/boards/${board.id}`, { name: '' }),
    await owner.api.patch(`/boards/${board.id}`, { parent_board_id: randomUUID() }),
    await viewer.api.patch(`/boards/${board.id}`, { name: 'x' }),
    await viewer.api.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 }),
    await reader.api.delete(`/boards/${board.id}`),
    await owner.api.delete(`/boards/${board.id}/cards/none`),
  ].map(({ status }) => status)
  expect(statuses).toEqual([200, 400, 200, 400, 404, 403, 403, 403, 404])
  expect((await service.admin`select id from audit_operations`).length).toBe(before)
})

test('[AU1] an entry and its write are in one transaction: what cannot be told is not done', async () => {
  const board = await makeBoard(owner, { name: 'Old' })
  await service.admin`alter table audit_operations add constraint closed check (false) not valid`
  onTestFinished(
    async () => void (await service.admin`alter table audit_operations drop constraint if exists closed`),
  )
  expect((await owner.api.patch(`/boards/${board.id}`, { name: 'New' })).status).toBe(500)
  expect((await owner.api.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 })).status).toBe(500)
  await service.admin`alter table audit_operations drop constraint closed`
  expect((await owner.api.get<any>(`/boards/${board.id}`)).body.board.name).toBe('Old')
  expect((await owner.api.get<any>(`/boards/${board.id}/cards`)).body.cards).toEqual([])
})

test('[AU1] every operation of the API has a name of its own kind', () => {
  const names = routes
    .filter(({ method }) => method !== 'GET')
    .map((route) => [`${route.method} ${route.path}`, actionOf(route)])
  for (const [, name] of names) expect(name).toMatch(/^[a-z_]+\.[a-z_]+$/)
  expect(Object.fromEntries(names)).toMatchObject({
    'POST /boards': 'board.create',
    'POST /boards/move': 'board.move',
    'POST /boards/:id/cards': 'card.create',
    'POST /webhooks/:id/deliveries/:deliveryId/redeliver': 'delivery.redeliver',
    'DELETE /service-accounts/:id/tokens/:tokenId': 'token.delete',
  })
})

test('[AU7] reads are told together, and at the latest when the service stops', async () => {
  const { ReadAudit } = await import('../../api/audit/reads.ts')
  const user = await service.user({ name: 'Reader' })
  const reads = new ReadAudit({ database: service.database, log: service.app.log })
  const principal = {
    userId: user.userId,
    tokenId: user.tokenId,
    serviceAccountId: null,
    grantId: null,
    clientId: null,
    displayName: 'Reader',
    email: '',
    tier: 'pro' as const,
    scopes: ['read' as const],
    rateLimit: null,
  }
  const request = { method: 'GET', url: '/api/v1/images/abc?secret=1', id: 'r1', ip: '127.0.0.1' } as never
  const read = { request, principal, workspaceId: user.workspaceId, boardId: null, status: 200 }
  for (let n = 0; n < 1200; n++) reads.imageRead({ ...read, imageKey: `k${n}` })
  await reads.flush()
  const entries = await newest(user, 500)
  expect(entries).toHaveLength(500)
  expect(entries[0]).toMatchObject({
    action: 'image.read',
    path: '/api/v1/images/abc',
    resource: { type: 'image' },
    workspace_id: user.workspaceId,
  })
  const rows = await service.admin`
    select count(distinct resource_ids)::integer as count, count(distinct occurred_at)::integer as writes
    from audit_operations where user_id = ${user.userId}`
  expect(rows[0]).toEqual({ count: 1200, writes: 3 })
})

test('[AU8] a bulk operation leaves an entry for each board', async () => {
  const user = await service.user()
  const made = await user.api.post<any>('/boards', { boards: [{ name: 'A' }, { name: 'B' }, { name: 'C' }] })
  const ids = made.body.boards.map(({ id }: { id: string }) => id)
  expect((await entryOf(user, made)).map(({ board_id }) => String(board_id)).toSorted()).toEqual(
    ids.toSorted(),
  )
  const moved = await user.api.post<any>('/boards/move', {
    board_ids: ids.slice(1),
    parent_board_id: ids[0],
  })
  expect((await entryOf(user, moved)).map(({ resource }) => String(resource.id)).toSorted()).toEqual(
    ids.slice(1).toSorted(),
  )
  const deleted = await user.api.delete<any>('/boards', { board_ids: [...ids, randomUUID()] })
  const entries = await entryOf(user, deleted)
  expect(entries.map(({ workspace_id }) => workspace_id)).toEqual(ids.map(() => user.workspaceId))
})

/** What was told since, the oldest first. */
async function told(work: () => Promise<unknown>): Promise<unknown[]> {
  const [before] = await service.admin`select coalesce(max(id), 0) as id from audit_operations`
  await work()
  const entries = await service.admin`
    select action, status, resource_type as type, resource_ids[1] as id, coalesce(board_id::text, resource_ids[1]) as board, workspace_id as workspace
    from audit_operations as e where e.id > ${before!['id']} order by e.id`
  return [...entries]
}
const entry = (action: string, status: number, type: string, id: string) => ({
  action,
  status,
  type,
  id,
  board: boardId,
  workspace: owner.workspaceId,
})

test('[AU10] an upload is told when its file is recorded; one that is refused is not', async () => {
  let key = ''
  expect(await told(async () => (key = (await upload(service, owner, boardId)).body.image_key))).toEqual([
    entry('upload.create', 201, 'image', key),
  ])
  const refused = await told(async () => {
    const answers = [
      await upload(service, owner, boardId, Buffer.from('no image')),
      await upload(service, owner, boardId, Buffer.from('a,b'), 'text/csv'),
      await upload(service, owner, nowhere),
    ]
    expect(answers.map(({ status }) => status)).toEqual([415, 415, 404])
  })
  expect(refused).toEqual([])
})

test('[AU10] an upload in parts is told when it begins, is completed and is aborted, once each', async () => {
  const begin = async () => {
    const { key, upload_id } = succeeded(
      await owner.api.post(`/uploads/multipart?board=${boardId}`, { bytes: 5 }),
    )
    return { board_id: boardId, key, upload_id }
  }
  let session!: Awaited<ReturnType<typeof begin>>
  expect(await told(async () => (session = await begin()))).toEqual([
    entry('upload.multipart', 201, 'upload', session.key),
  ])
  const parts = await sendParts(owner, session, Buffer.from('hello'), 8 * 1024 * 1024, [1])
  const complete = () => owner.api.post('/uploads/multipart/complete', { ...session, parts })
  expect(await told(complete)).toEqual([entry('upload.multipart_complete', 201, 'image', session.key)])
  expect(await told(complete)).toEqual([])
  const other = await begin()
  expect(await told(() => owner.api.post('/uploads/multipart/abort', other))).toEqual([
    entry('upload.multipart_abort', 200, 'upload', other.key),
  ])
})

test('[AU10] an import tells of each file that it stores, and of the board', async () => {
  site.pages.set('/a', serves(pngHead(30, 20)))
  site.pages.set('/page', serves('<!doctype html><title>A page</title>', 'text/html'))
  let image = ''
  const entries = await told(async () => {
    const items = [{ url: `${site.url}/a` }, { url: `${site.url}/page` }]
    const { cards } = succeeded(await owner.api.post(`/boards/${boardId}/import`, { items }))
    image = cards[0].image_key
  })
  expect(entries).toEqual([
    entry('board.import', 200, 'image', image),
    entry('board.import', 200, 'board', boardId),
  ])
})
