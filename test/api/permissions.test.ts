import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../api/routes.ts'
import { addDeliveries, allDeliveries } from '../support/deliveries.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { addGuest, createBoardLink } from '../../sql/accounts/guests.ts'
import { openDatabase } from '../../sql/database.ts'
import { ApiClient } from '../support/http.ts'
import { openList } from '../support/list-client.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, makeCard, makeCards, succeeded } from './board.ts'
import {
  permissions,
  roles,
  sessionRoles,
  listPermissions,
  socketPermissions,
  type Caller,
  type Operation,
  type Role,
  type Scene,
  type SessionRole,
} from './permissions.ts'

let service: TestService
let workspaceId: string
const users = {} as Record<Role, TestUser>
/** The service account that mints the sessions. */
let robot: ApiClient
const everyRole = [...roles, ...sessionRoles]

beforeAll(async () => {
  service = await startService({ workers: false })
  for (const role of roles.slice(0, 7)) users[role] = await service.user({ name: role })
  const { owner } = users
  const [{ id }] = (await service.admin`
    insert into workspaces (name, owner_id) values ('Shared', ${owner.userId}) returning id`) as any
  workspaceId = id
  for (const role of ['editor', 'viewer'] as const) await service.member(workspaceId, users[role], role)
  await service.member(workspaceId, users.removed, 'editor')
  await service.member(workspaceId, users.removed, 'none')
  for (const role of ['revoked token', 'expired token'] as const)
    users[role] = await service.token(owner, { ttlDays: 1 })
  const account = { workspace_id: workspaceId, name: 'Minter', scopes: ['read', 'write', 'delete'] }
  const made = succeeded(await owner.api.post('/service-accounts', account))
  robot = new ApiClient(() => service.url, made.access_token)
  await service.admin`update tokens set revoked_at = now() where id = ${users['revoked token'].tokenId}`
  await service.admin`update tokens set expires_at = now() where id = ${users['expired token'].tokenId}`
})
afterAll(async () => {
  leaveAll()
  await service.stop()
})

async function makeScene(
  options: Pick<Operation, 'webhook' | 'serviceAccount' | 'file' | 'people' | 'version'> = {},
): Promise<Scene> {
  const identifier = randomUUID()
  const identifiers = [{ scope: 'scene', value: identifier }]
  const board = await makeBoard(users.owner, { workspace_id: workspaceId, identifiers })
  const [child, cards] = await Promise.all([
    makeBoard(users.owner, { parent_board_id: board.id }),
    makeCards(users.owner, board.id, [{ title: 'scene', identifiers }, { title: 'scene' }]),
    service.share(board.id, users['shared editor'], 'editor'),
    service.share(board.id, users['shared viewer'], 'viewer'),
  ])
  const { group } = succeeded(await users.owner.api.post(`/boards/${board.id}/groups`, { name: 'Group' }))
  const cardIds = cards.map(({ id }) => id)
  succeeded(await users.owner.api.patch(`/boards/${board.id}/cards/${cardIds[0]}`, { group_id: group.id }))
  return {
    workspaceId,
    boardId: board.id,
    childId: child.id,
    cardIds,
    groupId: group.id,
    versionId: options.version ? await makeVersion(board.id) : '',
    identifier,
    ...(options.serviceAccount ? await makeServiceAccount() : { serviceAccountId: '', serviceTokenId: '' }),
    ...(options.file
      ? await makeFiles(board.id)
      : { imageKey: '', upload: { board_id: '', key: '', upload_id: '' } }),
    guest: (role, history = false) => makeGuest(board.id, role, history),
    ...(options.people ? await makePeople(board.id) : nobody),
    ...(options.webhook ? await makeWebhook() : { webhookId: '', deliveryId: '' }),
  }
}

async function makeFiles(boardId: string): Promise<Pick<Scene, 'imageKey' | 'upload'>> {
  const query = `?board=${boardId}`
  const type = { 'content-type': 'image/gif' }
  const image = await users.owner.api.post(`/uploads${query}`, 'GIF89a\x01\0\x01\0\0\0\0;', type)
  const begun = await users.owner.api.post(`/uploads/multipart${query}`, { bytes: 10 })
  const upload = { board_id: boardId, key: begun.body.key, upload_id: begun.body.upload_id }
  return { imageKey: image.body.image_key, upload }
}

const makeVersion = async (boardId: string): Promise<string> =>
  succeeded(await users.owner.api.post(`/boards/${boardId}/versions`, { name: 'Version' })).version.id

/** Past the API, which would count it. */
async function makeWebhook(): Promise<{ webhookId: string; deliveryId: string }> {
  const [made] = await service.admin<{ id: string }[]>`
    insert into webhooks (workspace_id, created_by, url, events, secret)
    values (${workspaceId}, ${users.owner.userId}, 'https://93.184.215.14/', '{*}', '')
    returning id`
  const [deliveryId] = await addDeliveries(service.admin, made!.id, 1)
  return { webhookId: made!.id, deliveryId: deliveryId! }
}

type People = Pick<Scene, 'memberId' | 'invitationId' | 'linkId' | 'linkToken'>
const nobody: People = { memberId: '', invitationId: '', linkId: '', linkToken: '' }

async function makePeople(boardId: string): Promise<People> {
  const member = await service.user()
  await service.member(workspaceId, member, 'viewer')
  await service.share(boardId, member, 'viewer')
  const [invitation] = await service.admin<{ id: string }[]>`
    insert into invitations (workspace_id, role, hash, invited_by, expires_at)
    values (${workspaceId}, 'viewer', decode(md5(random()::text), 'hex'), ${users.owner.userId}, now() + interval '1 day')
    returning id`
  const linkId = randomUUID()
  const link = {
    id: linkId,
    boardId,
    name: null,
    role: 'viewer',
    phc: null,
    history: false,
    expiresAt: null,
  } as const
  const linkToken = await service.database.asUser(users.owner.userId, (tx) => createBoardLink(tx, link))
  return { memberId: member.userId, invitationId: invitation!.id, linkId, linkToken }
}

async function makeGuest(boardId: string, role: 'editor' | 'viewer', history: boolean): Promise<Caller> {
  const link = { id: randomUUID(), boardId, name: null, role, phc: null, history, expiresAt: null }
  await service.database.asUser(users.owner.userId, (tx) => createBoardLink(tx, link))
  const guest = await service.database.asSystem((tx) => addGuest(tx, link, role))
  return { token: guest!.token, api: new ApiClient(() => service.url, guest!.token) }
}

const isGuest = (role: Role | SessionRole) => role.startsWith('guest')
const isSession = (role: Role | SessionRole): role is SessionRole => sessionRoles.some((one) => one === role)

/** Who calls in a role. A guest comes by a link of the scene's board, a session is minted for the scene. */
async function callerOf(role: Role | SessionRole, scene: Scene): Promise<Caller> {
  if (isSession(role)) return mintSession(role, scene)
  if (!isGuest(role)) return users[role]
  return scene.guest(role === 'guest viewer' ? 'viewer' : 'editor', role === 'guest with history')
}

async function mintSession(role: SessionRole, { boardId }: Scene): Promise<Caller> {
  const kind = role.startsWith('viewer') ? 'viewer' : 'editor'
  const history = role === 'session with history'
  const minted = await (history ? users.owner.api : robot).post('/sessions', {
    ...(role.endsWith('workspace') ? { workspace_id: workspaceId } : { board_ids: [boardId] }),
    role: kind,
    history,
    // Each one is the first of its user: the past before is not shown.
    user: { id: `${role} ${boardId}`, name: role },
    ...(kind === 'editor' ? { scopes: ['read', 'write', 'delete'] } : {}),
  })
  const token: string = succeeded(minted).access_token
  return { token, api: new ApiClient(() => service.url, token) }
}

/** A guest of a link has no scope `delete`, and one who only reads has no scope `write`. */
function statusFor(route: string, { expect, guest = {}, past }: Operation, role: Role | SessionRole): number {
  const { scope } = routes.find(({ method, path }) => `${method} ${path}` === route)!
  const lacks = scope === 'delete' || (scope === 'write' && role === 'guest viewer')
  if (isGuest(role) && lacks) return 403
  if (role === 'guest with history') return past ?? guest['guest editor'] ?? expect[role]
  return (guest as Partial<Record<string, number>>)[role] ?? expect[role]
}

/** What a guest of a link sees is what those with a share see. */
const seenBy = ({ sees }: Operation, role: Role | SessionRole) =>
  sees?.[role] ??
  (isGuest(role) ? sees?.[role === 'guest viewer' ? 'shared viewer' : 'shared editor'] : undefined)

async function makeServiceAccount(): Promise<{ serviceAccountId: string; serviceTokenId: string }> {
  const body = { workspace_id: workspaceId, name: 'Robot' }
  const made = succeeded(await users.owner.api.post('/service-accounts', body))
  return { serviceAccountId: made.service_account.id, serviceTokenId: made.token.id }
}

function idOf({ webhook, serviceAccount, people, from }: Operation, scene: Scene): string {
  if (webhook) return scene.webhookId
  if (serviceAccount) return scene.serviceAccountId
  if (people === 'workspace') return scene.workspaceId
  return from === 'child' ? scene.childId : scene.boardId
}

function urlOf(path: string, operation: Operation, scene: Scene): string {
  return path
    .replace(':id', idOf(operation, scene))
    .replace(':userId', scene.memberId)
    .replace(':linkId', scene.linkId)
    .replace(':invitationId', scene.invitationId)
    .replace(':cardId', scene.cardIds[0]!)
    .replace(':groupId', scene.groupId)
    .replace(':versionId', scene.versionId)
    .replace(':deliveryId', scene.deliveryId)
    .replace(':tokenId', scene.serviceTokenId)
    .replace(':key', scene.imageKey)
}

test('[A1] every route has its row in the table of permissions, and no row is without its route', () => {
  expect(Object.keys(permissions).toSorted()).toEqual(
    routes.map(({ method, path }) => `${method} ${path}`).toSorted(),
  )
})

describe('[A2] each role gets from each operation what the table says', () => {
  for (const [route, operations] of Object.entries(permissions)) {
    test(`[A2] ${route}`, async () => {
      const [method, path] = route.split(' ') as [string, string]
      for (const [n, operation] of operations.entries()) {
        const setUp = async () => {
          const scene = await makeScene(operation)
          if (operation.trashed) await users.owner.api.delete(`/boards/${scene.boardId}`)
          return scene
        }
        const shared = await setUp() // by all whose attempts are to change nothing
        // A search waits longer for words of the account's own workspaces than for those of others.
        if (path === '/search') await users.owner.api.get('/search?q=scene')
        await Promise.all(
          everyRole.map(async (role) => {
            const expected = statusFor(route, operation, role)
            const changes = method !== 'GET' && expected < 400
            const scene = changes ? await setUp() : shared
            const url = urlOf(path, operation, scene)
            const { api } = await callerOf(role, scene)
            const answer = await api.send(
              method,
              url + (operation.query?.(scene) ?? ''),
              operation.body?.(scene),
              operation.headers,
            )
            const where = `${route} #${n} as ${role}: ${answer.text}`
            expect(answer.status, where).toBe(expected)
            if (answer.status < 300 && operation.holds)
              expect(operation.holds(answer.body, scene), where).toEqual(seenBy(operation, role))
          }),
        )
      }
    })
  }
})

test('[A3] what a role may not do changes nothing', async () => {
  const scene = await makeScene({ webhook: true, serviceAccount: true, people: 'board' })
  const state = async () => [
    await service.admin`select * from workspace_members where workspace_id = ${workspaceId} order by user_id`,
    await service.admin`select * from invitations where workspace_id = ${workspaceId} order by id`,
    await service.admin`select * from board_links where board_id = ${scene.boardId} order by id`,
    await service.admin`select * from board_shares where board_id = ${scene.boardId} order by user_id`,
    await service.admin`select * from service_accounts where workspace_id = ${workspaceId} order by id`,
    await service.admin`
      select id, revoked_at from tokens where user_id = ${scene.serviceAccountId} order by id`,
    await service.admin`select * from webhooks where workspace_id = ${workspaceId} order by id`,
    await service.admin`select * from ${allDeliveries(service.admin)} d where workspace_id = ${workspaceId} order by id`,
    await service.admin`
      select b.*, d.seq, d.card_count, (select array_agg(c.hash order by c.card_id) from card_index c where c.board_id = b.id) as hashes
      from boards b join board_documents d on d.board_id = b.id
      where b.workspace_id = ${workspaceId}
      order by b.id`,
  ]
  const callers = new Map(
    await Promise.all(everyRole.map(async (role) => [role, await callerOf(role, scene)] as const)),
  )
  const before = await state()
  for (const [route, operations] of Object.entries(permissions)) {
    const [method, path] = route.split(' ') as [string, string]
    if (method === 'GET') continue
    for (const operation of operations) {
      for (const role of everyRole) {
        if (operation.trashed || statusFor(route, operation, role) < 400) continue
        await callers.get(role)!.api.send(method, urlOf(path, operation, scene), operation.body?.(scene))
      }
    }
  }
  expect(await state()).toEqual(before)
})

describe('[A4] at the socket each role opens, reads and edits as the table says', () => {
  test.each(Object.entries(listPermissions))('[A4, LL6] the live list of the %s', async (which, expected) => {
    const [scene, name] = [await makeScene(), which === 'account' ? which : `workspace:${workspaceId}`]
    const open = async (role: Role | SessionRole) =>
      openList(service.url, { name, token: (await callerOf(role, scene)).token })
    for (const role of everyRole)
      expect([role, (await open(role)).refusal === null]).toEqual([role, expected[role]])
  })

  for (const { board: which, expect: expected } of socketPermissions) {
    test(`[A4] the ${which} board`, async () => {
      await Promise.all(
        everyRole.map(async (role) => {
          const scene = await makeScene()
          const boardId = which === 'child' ? scene.childId : scene.boardId
          await makeCard(users.owner, boardId, { title: 'of the owner' })
          if (which === 'trashed') await users.owner.api.delete(`/boards/${boardId}`)
          const access = expected[role]
          const editor = await openEditor(service.url, {
            boardId,
            token: (await callerOf(role, scene)).token,
            reconnect: false,
            expectRefusal: access === 'refused',
          })
          if (access === 'refused') {
            expect(editor.cards.size, role).toBe(0)
            editor.addCard('intruder')
          } else {
            expect(editor.cards.size, role).toBeGreaterThan(0)
            editor.addCard('mine')
            if (access === 'edit') await editor.saved()
          }
          if (which === 'trashed') {
            editor.leave()
            await users.owner.api.post(`/boards/${boardId}/restore`)
          }
          // What the role sent came before this on its socket, so it would be here by now.
          const later = await makeCard(users.owner, boardId, { title: 'later' })
          if (access !== 'refused') await until(() => editor.cards.has(later.id), 'the later card is there')
          const { cards } = (await users.owner.api.get(`/boards/${boardId}/cards`)).body
          const ids = cards.map(({ id }: { id: string }) => id)
          expect([role, ids.includes('mine'), ids.includes('intruder')]).toEqual([
            role,
            access === 'edit',
            false,
          ])
          editor.leave()
        }),
      )
    })
  }
})

test('[A5] an editor who loses the right is turned read-only or cut off within 2 s, and what follows is refused', async () => {
  const scene = await makeScene()
  const losing: [lose: (user: TestUser, tokenId: string) => Promise<unknown>, then: 'read' | 'closed'][] = [
    [(user) => service.member(workspaceId, user, 'none'), 'closed'],
    [(user) => service.member(workspaceId, user, 'viewer'), 'read'],
    [(_user, tokenId) => service.admin`update tokens set revoked_at = now() where id = ${tokenId}`, 'closed'],
    [(_user, tokenId) => service.admin`update tokens set expires_at = now() where id = ${tokenId}`, 'closed'],
  ]
  await Promise.all(
    losing.map(async ([lose, then], n) => {
      const user = await service.user()
      await service.member(workspaceId, user, 'editor')
      const editor = await openEditor(service.url, {
        boardId: scene.boardId,
        token: user.token,
        reconnect: false,
      })
      editor.addCard(`before-${n}`)
      await editor.saved()
      await lose(user, user.tokenId)
      const lostAt = performance.now()
      const ended = () =>
        then === 'closed' ? editor.closes.length > 0 : editor.provider.authorizedScope === 'readonly'
      await until(ended, `the loss #${n} is noticed`, 2000)
      if (then === 'closed') expect(editor.closes[0]!.code).toBe(4403)
      editor.addCard(`after-${n}`)
      const write = async () =>
        (await user.api.patch(`/boards/${scene.boardId}/cards/${scene.cardIds[0]}`, { title: 'x' })).status
      const left = Math.max(1, 2000 - (performance.now() - lostAt))
      await until(async () => (await write()) === [404, 403, 401, 401][n], `the API refuses #${n}`, left)
    }),
  )
  const later = await makeCard(users.owner, scene.boardId)
  const { cards } = (await users.owner.api.get(`/boards/${scene.boardId}/cards`)).body
  const ids = cards.map(({ id }: { id: string }) => id)
  expect(ids).toContain(later.id)
  expect(ids.filter((id: string) => /^(before|after)/.test(id)).toSorted()).toEqual(
    losing.map((_, n) => `before-${n}`),
  )
})

test('[A6] a token with the scope read alone opens read-only, whatever its account may do', async () => {
  const scene = await makeScene()
  const reader = await service.token(users.owner, { scopes: ['read', 'delete'] })
  const editor = await openEditor(service.url, { boardId: scene.boardId, token: reader.token })
  expect(editor.provider.authorizedScope).toBe('readonly')
  expect(editor.cards.size).toBe(2)
})

test('[A15] a service with one connection to its database serves two users by turns, each its own', async () => {
  const database = openDatabase({ url: service.databaseUrl, poolSize: 1 })
  const testDatabase = { url: service.databaseUrl, admin: service.admin, drop: async () => {} }
  const narrow = await startService({ testDatabase, database, workers: false })
  const pair = await Promise.all([service.user(), service.user()])
  const clients = pair.map(({ token }) => new ApiClient(narrow.url, token))
  const boards = await Promise.all(pair.map((user) => makeBoard(user)))
  for (let turn = 0; turn < 1000; turn++) {
    const at = turn % 2
    const { body } = await clients[at]!.get('/boards?include=props')
    expect(body.boards.map(({ id }: { id: string }) => id)).toEqual([boards[at]!.id])
    if (turn % 10 > 1) continue
    expect((await clients[at]!.get(`/boards/${boards[1 - at]!.id}/cards`)).status).toBe(404)
    expect((await clients[at]!.post(`/boards/${boards[1 - at]!.id}/cards`, { kind: 'note' })).status).toBe(
      404,
    )
    expect((await clients[at]!.post(`/boards/${boards[at]!.id}/cards`, { kind: 'note' })).status).toBe(201)
  }
  await narrow.stop()
  await database.close()
}, 90_000)
