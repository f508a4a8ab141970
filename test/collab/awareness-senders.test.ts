/** The keys of awareness states that the service sets: `account`, `readOnly` and `agent`. */
import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { Stamp } from '../../collab/awareness/stamp.ts'
import { makeToken, saveAccessToken } from '../../sql/accounts/tokens.ts'
import { succeeded } from '../api/board.ts'
import { openEditor, until, type Editor } from '../support/editor.ts'
import { awarenessFrame, enter, frame, type } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile()

afterEach(() => everybodyGone(service))

const newBoard = async (): Promise<string> =>
  (await user.api.post('/boards', { name: 'Senders' })).body.board.id

const nameOf = async (account: string): Promise<string> => {
  const [row] = await service.admin<
    { name: string }[]
  >`select display_name as name from users where id = ${account}`
  return row!.name
}

const checkAccess = () => Promise.all(service.nodes.map(({ gateway }) => gateway.checkAccess()))
const open = (boardId: string, token: string) => openEditor(service.url, { boardId, token })
const seenBy = (watcher: Editor, sender: Editor) =>
  watcher.provider.awareness!.getStates().get(sender.document.clientID)

test('[AW1] each state says whose it is, and whether it is read-only; the sender’s own stays as it was', async () => {
  const boardId = await newBoard()
  const viewer = await service.user({ name: 'Vera "V" Ж' })
  await service.share(boardId, viewer, 'viewer')
  const anna = await open(boardId, user.token)
  const vera = await open(boardId, viewer.token)
  anna.provider.setAwarenessField('user', { name: 'Anna' })
  vera.provider.setAwarenessField('user', { name: 'Owner' })
  await until(() => seenBy(anna, vera)?.['user'] !== undefined, 'the viewer is seen')
  await until(() => seenBy(vera, anna)?.['user'] !== undefined, 'the owner is seen')
  expect(seenBy(anna, vera)).toEqual({
    user: { name: 'Owner' },
    account: { id: viewer.userId, name: 'Vera "V" Ж' },
    readOnly: true,
    agent: false,
  })
  expect(seenBy(vera, anna)).toEqual({
    user: { name: 'Anna' },
    account: { id: user.userId, name: await nameOf(user.userId) },
    readOnly: false,
    agent: false,
  })
  expect(vera.provider.awareness!.getLocalState()).toEqual({ user: { name: 'Owner' } })
  const before = vera.provider.awareness!.meta.get(vera.document.clientID)!.clock
  const asking = await enter(service.url, { boardId, token: viewer.token })
  asking.send(frame(boardId, type.queryAwareness))
  anna.provider.setAwarenessField('cursor', { x: 1 })
  await until(() => seenBy(vera, anna)?.['cursor'] !== undefined, 'a later state')
  expect(vera.provider.awareness!.getLocalState()).toEqual({ user: { name: 'Owner' } })
  expect(vera.provider.awareness!.meta.get(vera.document.clientID)!.clock).toBe(before)
})

test('[AW1] what a client claims under these keys is replaced, however it writes them', async () => {
  const boardId = await newBoard()
  const viewer = await service.user({ name: 'Vera' })
  await service.share(boardId, viewer, 'viewer')
  const watcher = await open(boardId, user.token)
  const raw = await enter(service.url, { boardId, token: user.token })
  const liar = await enter(service.url, { boardId, token: viewer.token })
  const owner = JSON.stringify({ id: user.userId, name: 'Owner' })
  const claims = [
    `{"account":${owner},"readOnly":false,"agent":false,"n":0}`,
    `{"n":1,"account":{},"account":${owner}}`,
    `{"\\u0061ccount":${owner},"n":2}`,
    `\n{ "__proto__": {"account":${owner}}, "n" : 3 } \t`,
    `{"n":4,"inner":{"account":${owner},"text":"}"}}`,
    `{"account":${owner},"readOnly":null}`,
    ' { } ',
  ]
  const own = { account: { id: viewer.userId, name: 'Vera' }, readOnly: true, agent: false }
  for (const [at, state] of claims.entries()) {
    liar.send(awarenessFrame(boardId, [{ client: 7, clock: at + 1, state }]))
    await until(() => watcher.provider.awareness!.meta.get(7)?.clock === at + 1, `the state ${state}`)
    expect(watcher.provider.awareness!.getStates().get(7)).toMatchObject(own)
    const end = `"account":{"id":"${viewer.userId}","name":"Vera"},"readOnly":true,"agent":false}`
    const others = at === 3 || at === 4 ? 1 : 0 // in an inner object
    const received = () => Buffer.from(raw.received(type.awareness).at(-1)!.content).toString()
    await until(
      () => received().endsWith(end) && received().split('"account"').length === others + 2,
      `the bytes of ${state}`,
    )
  }
  expect(liar.closed).toBeNull()
  expect(watcher.provider.awareness!.getStates().get(7)).toEqual(own)
})

test('[AW2] service accounts and connected applications are agents, people and their tokens are not', async () => {
  const boardId = await newBoard()
  const watcher = await open(boardId, user.token)
  const robot = succeeded(
    await user.api.post('/service-accounts', {
      workspace_id: user.workspaceId,
      name: 'Robot',
      scopes: ['read', 'write'],
    }),
  )
  const application = makeToken()
  await service.database.asSystem(async (tx) => {
    const [grant] = await tx<{ id: string }[]>`
      insert into oauth_grants (key, payload, user_id, client_id, scopes, ends_at)
      values (${Buffer.from(randomUUID())}, ${Buffer.from('x')}, ${user.userId}, 'app', ${['read']}, now() + interval '1 hour')
      returning id`
    await saveAccessToken(tx, {
      ...{ value: application, grantId: grant!.id, userId: user.userId, name: 'App', scopes: ['read'] },
      lastsSeconds: 3600,
    })
  })
  const senders = await Promise.all(
    [robot.access_token as string, application, user.token].map((token) => open(boardId, token)),
  )
  for (const sender of senders) sender.provider.setAwarenessField('at', 1)
  await until(() => senders.every((sender) => seenBy(watcher, sender)?.['at'] === 1), 'all are seen')
  const own = { id: user.userId, name: await nameOf(user.userId) }
  expect(senders.map((sender) => seenBy(watcher, sender))).toEqual([
    { at: 1, account: { id: robot.service_account.id, name: 'Robot' }, readOnly: false, agent: true },
    { at: 1, account: own, readOnly: true, agent: true },
    { at: 1, account: own, readOnly: false, agent: false },
  ])
})

test('[AW3] a change of rights is in the state at once, a change of name in the next state', async () => {
  const boardId = await newBoard()
  const guest = await service.user({ name: 'Gus' })
  await service.share(boardId, guest, 'editor')
  const watcher = await open(boardId, user.token)
  const gus = await open(boardId, guest.token)
  const quiet = await open(boardId, guest.token)
  gus.provider.setAwarenessField('at', 1)
  quiet.provider.setAwarenessField('at', 'quiet')
  await until(() => seenBy(watcher, quiet)?.['readOnly'] === false, 'an editor is seen')
  const left: unknown[] = []
  watcher.provider.awareness!.on('change', ({ removed }: { removed: number[] }) => left.push(...removed))
  await service.share(boardId, guest, 'viewer')
  for (const sender of [gus, quiet])
    await until(() => seenBy(watcher, sender)?.['readOnly'] === true, 'a viewer is seen', 4000)
  expect(gus.provider.awareness!.getLocalState()).toEqual({ at: 1 })
  await service.share(boardId, guest, 'editor')
  for (const sender of [gus, quiet])
    await until(() => seenBy(watcher, sender)?.['readOnly'] === false, 'an editor again', 4000)
  expect(left).toEqual([])
  await service.admin`update users set display_name = 'Gustav' where id = ${guest.userId}`
  await checkAccess()
  gus.provider.setAwarenessField('at', 2)
  await until(() => seenBy(watcher, gus)?.['at'] === 2, 'the next state')
  expect(seenBy(watcher, gus)?.['account']).toEqual({ id: guest.userId, name: 'Gustav' })
  await service.admin`update users set display_name = null where id = ${guest.userId}`
  await checkAccess()
  gus.provider.setAwarenessField('at', 3)
  await until(() => seenBy(watcher, gus)?.['at'] === 3, 'one more state')
  expect(seenBy(watcher, gus)?.['account']).toEqual({ id: guest.userId, name: null })
})

test('[AW5] an editor that comes back with its old state is seen at once', async () => {
  const boardId = await newBoard()
  const watcher = await open(boardId, user.token)
  const ben = await open(boardId, user.token)
  ben.provider.setAwarenessField('at', 1)
  await until(() => seenBy(watcher, ben)?.['at'] === 1, 'it is seen')
  for (let time = 0; time < 3; time++) {
    ben.socket.webSocket!.close()
    await until(() => !ben.provider.isSynced, 'it is away')
    await until(() => ben.provider.isSynced, 'it is back')
    await until(() => seenBy(watcher, ben)?.['at'] === 1, 'it is seen again', 5000)
    expect(ben.provider.awareness!.getLocalState()).toEqual({ at: 1 })
  }
  const raw = await enter(service.url, { boardId, token: user.token })
  raw.send(awarenessFrame(boardId, [{ client: 8, clock: Number.MAX_SAFE_INTEGER, state: '{}' }]))
  raw.send(awarenessFrame(boardId, [{ client: 9, clock: 1, state: '{}' }]))
  await until(() => watcher.provider.awareness!.getStates().has(9), 'a state with a small clock')
  expect(watcher.provider.awareness!.getStates().has(8)).toBe(false)
})

test('[AW4] the limits count what the client sent, not what the service adds', async () => {
  const boardId = await newBoard()
  const watcher = await enter(service.url, { boardId, token: user.token })
  const sender = await enter(service.url, { boardId, token: user.token })
  const sized = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
  sender.send(
    awarenessFrame(boardId, [
      { client: 1, clock: 1, state: sized(16 * 1024) },
      { client: 2, clock: 1, state: sized(16 * 1024 + 1) },
    ]),
  )
  await until(() => watcher.received(type.awareness).length > 0, 'the states')
  expect(service.counts().states).toBe(1)
})

test('[AW4] a state is stamped without being written anew', () => {
  const stamp = new Stamp({
    id: 'i',
    name: null,
    isGuest: false,
    sessionUser: null,
    isAgent: false,
    readOnly: true,
  })
  const put = (json: string) => Buffer.from(stamp.put(Buffer.from(json), JSON.parse(json))).toString()
  const end = '"account":{"id":"i","name":null},"readOnly":true,"agent":false}'
  expect(put('{"a":1.0}')).toBe(`{"a":1.0,${end}`)
  expect(put('{}')).toBe(`{${end}`)
  expect(put('{"agent":1}')).toBe(`{${end}`)
  expect(put('{"b":2.50,"agent":1}')).toBe(`{"b":2.5,${end}`)
})
