/** Members of workspaces and shares of boards: who manages them, and what becomes of those whose access ends. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { openEditor, until } from '../support/editor.ts'
import { serviceOfFile } from '../support/test-file.ts'
import type { TestUser } from '../support/service.ts'
import { makeBoard, makeCard, succeeded } from './board.ts'

const { service, user: owner } = await serviceOfFile({ workers: false })
const members = `/workspaces/${owner.workspaceId}/members`

async function member(role: 'editor' | 'viewer'): Promise<TestUser> {
  const user = await service.user()
  await service.member(owner.workspaceId, user, role)
  return user
}

const editorOf = (user: TestUser, boardId: string) =>
  openEditor(service.url, { boardId, token: user.token, reconnect: false })

test('[PE1] the owner lists members, changes roles and removes; a member leaves; the owner stays', async () => {
  const [editor, viewer] = [await member('editor'), await member('viewer')]
  const robot = succeeded(
    await owner.api.post('/service-accounts', { workspace_id: owner.workspaceId, name: 'Robot' }),
  ).service_account
  const listed = async () => {
    const { body } = await owner.api.get(`${members}?limit=500`)
    return body.members.map(({ user_id, role }: any) => [user_id, role])
  }
  const all = await listed()
  expect(all[0]).toEqual([owner.userId, 'owner'])
  expect(all).toContainEqual([editor.userId, 'editor'])
  expect(all).toContainEqual([viewer.userId, 'viewer'])
  expect(all.flat()).not.toContain(robot.id)
  const page = await owner.api.get(`${members}?limit=1&offset=1`)
  expect([page.body.members.length, page.body.has_more]).toEqual([1, true])

  const changed = await owner.api.patch(`${members}/${viewer.userId}`, { role: 'editor' })
  expect([changed.status, changed.body]).toEqual([
    200,
    {
      member: {
        user_id: viewer.userId,
        email: viewer.email,
        display_name: expect.any(String),
        role: 'editor',
      },
    },
  ])
  expect((await viewer.api.post('/boards', { name: 'b', workspace_id: owner.workspaceId })).status).toBe(201)
  for (const id of [randomUUID(), robot.id, (await service.user()).userId]) {
    expect((await owner.api.patch(`${members}/${id}`, { role: 'editor' })).status).toBe(404)
    expect((await owner.api.delete(`${members}/${id}`)).status).toBe(404)
  }
  for (const role of ['owner', 'admin', '', null])
    expect((await owner.api.patch(`${members}/${viewer.userId}`, { role })).status).toBe(400)
  expect((await owner.api.patch(`${members}/${owner.userId}`, { role: 'viewer' })).status).toBe(409)
  expect((await owner.api.delete(`${members}/${owner.userId}`)).status).toBe(409)
  expect((await editor.api.delete(`${members}/${viewer.userId}`)).status).toBe(403)

  expect((await owner.api.delete(`${members}/${viewer.userId}`)).body).toEqual({
    deleted: true,
    user_id: viewer.userId,
  })
  expect((await editor.api.delete(`${members}/${editor.userId.toUpperCase()}`)).status).toBe(200)
  expect((await editor.api.delete(`${members}/${editor.userId}`)).status).toBe(404)
  expect((await listed()).flat()).not.toContain(editor.userId)
})

test('[PE2] who is removed is out within 2 s, a new role holds within 2 s, and others stay', async () => {
  const board = await makeBoard(owner)
  const [removed, demoted, staying, unshared] = [
    await member('editor'),
    await member('editor'),
    await member('editor'),
    await service.user(),
  ]
  await service.share(board.id, unshared, 'editor')
  const editors = await Promise.all(
    [removed, demoted, staying, unshared].map((one) => editorOf(one, board.id)),
  )
  await Promise.all([
    owner.api.delete(`${members}/${removed.userId}`),
    owner.api.patch(`${members}/${demoted.userId}`, { role: 'viewer' }),
    owner.api.delete(`/boards/${board.id}/shares/${unshared.userId}`),
  ])
  await until(() => editors[0]!.closes[0]?.code === 4403, 'the removed one is out', 2000)
  await until(() => editors[3]!.closes[0]?.code === 4403, 'the share has ended', 2000)
  await until(() => editors[1]!.provider.authorizedScope === 'readonly', 'the other one only reads', 2000)
  expect((await removed.api.get(`/boards/${board.id}`)).status).toBe(404)
  expect((await unshared.api.get(`/boards/${board.id}`)).status).toBe(404)
  editors[2]!.addCard('still')
  await editors[2]!.saved()
  expect([editors[1]!.closes, editors[2]!.closes]).toEqual([[], []])
})

test('[PE3] the owner shares a board, changes it and ends it; the account ends its own', async () => {
  const board = await makeBoard(owner)
  const child = await makeBoard(owner, { parent_board_id: board.id })
  const shares = `/boards/${board.id}/shares`
  const colleague = await member('viewer')
  const made = await owner.api.post(shares, { user_id: colleague.userId.toUpperCase(), role: 'editor' })
  expect([made.status, made.body]).toEqual([
    201,
    {
      share: {
        user_id: colleague.userId,
        email: colleague.email,
        display_name: expect.any(String),
        role: 'editor',
        history_since: null,
      },
    },
  ])
  await owner.api.delete(`${members}/${colleague.userId}`)
  expect((await makeCard(colleague, board.id)).id).toEqual(expect.any(String))
  expect((await colleague.api.get(`/boards/${child.id}`)).status).toBe(404)
  expect((await colleague.api.get(`/boards/${board.id}/history`)).status).toBe(403)
  const since = async (fields: object) =>
    (await owner.api.patch(`${shares}/${colleague.userId}`, fields)).body.share.history_since
  const first = await since({ history: true })
  expect(await since({ role: 'viewer', history: true })).toBe(first)
  expect(await since({})).toBe(first)
  expect((await colleague.api.get(`/boards/${board.id}/history`)).status).toBe(200)
  expect((await colleague.api.post(`/boards/${board.id}/cards`, { kind: 'note' })).status).toBe(403)
  expect(await since({ history: false })).toBe(null)
  expect((await owner.api.get(shares)).body.shares).toMatchObject([
    { user_id: colleague.userId, role: 'viewer' },
  ])
  // A guest is known, so another board can be shared with it; a stranger is answered as an id that nobody has.
  const other = await makeBoard(owner)
  const add = (id: string) => owner.api.post(`/boards/${other.id}/shares`, { user_id: id, role: 'viewer' })
  expect((await add(colleague.userId)).status).toBe(201)
  const [stranger, nobody] = [await add((await service.user()).userId), await add(randomUUID())]
  expect([stranger.status, stranger.text]).toEqual([404, nobody.text])
  expect((await owner.api.patch(`${shares}/${randomUUID()}`, { role: 'viewer' })).status).toBe(404)
  expect((await colleague.api.delete(`${shares}/${owner.userId}`)).status).toBe(403)
  expect((await colleague.api.delete(`${shares}/${colleague.userId}`)).status).toBe(200)
  expect((await colleague.api.get(`/boards/${board.id}`)).status).toBe(404)
  expect((await owner.api.delete(`${shares}/${colleague.userId}`)).status).toBe(404)
})

test('[PE4] a change of access leaves an entry that the owner reads', async () => {
  const leaving = await member('viewer')
  const board = await makeBoard(owner)
  const answers = [
    await owner.api.patch(`${members}/${leaving.userId}`, { role: 'editor' }),
    await owner.api.post(`/boards/${board.id}/shares`, { user_id: leaving.userId, role: 'viewer' }),
    await owner.api.delete(`/boards/${board.id}/shares/${leaving.userId}`),
    await leaving.api.delete(`${members}/${leaving.userId}`),
  ]
  const { entries } = (await owner.api.get('/audit?limit=50')).body
  const told = answers.map(({ headers }) => {
    const entry = entries.find((one: any) => one.request_id === headers.get('x-request-id'))
    return [entry?.action, entry?.resource, entry?.workspace_id, entry?.board_id]
  })
  expect(told).toEqual([
    ['member.update', { type: 'member', id: leaving.userId }, owner.workspaceId, null],
    ['share.create', { type: 'share', id: leaving.userId }, owner.workspaceId, board.id],
    ['share.delete', { type: 'share', id: leaving.userId }, owner.workspaceId, board.id],
    ['member.delete', { type: 'member', id: leaving.userId }, owner.workspaceId, null],
  ])
})
