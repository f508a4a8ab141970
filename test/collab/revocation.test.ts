/** Who loses access, loses it on open sockets and on every other path within two seconds. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { revokeToken } from '../../sql/accounts/tokens.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

const withinMs = 2000

let service: TestService
let owner: TestUser

beforeAll(async () => {
  service = await startService()
  owner = await service.user()
})

afterEach(leaveAll)
afterAll(() => service.stop())

async function newBoard(): Promise<string> {
  return (await owner.api.post('/boards', { name: 'Access' })).body.board.id
}

const open = (user: TestUser, boardId: string) =>
  openEditor(service.url, { boardId, token: user.token, reconnect: false })

const isCutOff = (editor: Editor) => () => editor.closes.some(({ code }) => code === 4403)

test('[R1] a member who is removed is cut off with 4403, and every path refuses', async () => {
  const boardId = await newBoard()
  const member = await service.user()
  await service.member(owner.workspaceId, member, 'editor')
  const editor = await open(member, boardId)
  editor.addCard('before')
  await editor.saved()
  await service.member(owner.workspaceId, member, 'none')
  await until(isCutOff(editor), 'the editor is cut off', withinMs)
  expect((await member.api.get(`/boards/${boardId}`)).status).toBe(404)
  expect((await member.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: 0, y: 0 })).status).toBe(404)
  const again = await openEditor(service.url, { boardId, token: member.token, expectRefusal: true })
  expect(again.cards.size).toBe(0)
  // What was acknowledged while it was allowed stays.
  expect((await owner.api.get(`/boards/${boardId}/cards`)).body.total).toBe(1)
})

test('[R2] a share that ends cuts its guest off, and nobody else', async () => {
  const boardId = await newBoard()
  const guest = await service.user()
  await service.share(boardId, guest, 'editor')
  const leaving = await open(guest, boardId)
  const staying = await open(owner, boardId)
  await service.share(boardId, guest, 'none')
  await until(isCutOff(leaving), 'the guest is cut off', withinMs)
  staying.addCard('goes-on')
  await staying.saved()
  expect(staying.closes).toEqual([])
})

test('[R3] a token that is revoked ends its sockets; another token of the account goes on', async () => {
  const boardId = await newBoard()
  const other = await service.token(owner, {})
  const revoked = await open(other, boardId)
  const kept = await open(owner, boardId)
  await service.database.asSystem((tx) => revokeToken(tx, other.tokenId))
  await until(isCutOff(revoked), 'the socket of the revoked token is closed', withinMs)
  await until(async () => (await other.api.get('/me')).status === 401, 'requests are refused', withinMs)
  kept.addCard('goes-on')
  await kept.saved()
  expect(kept.closes).toEqual([])
})

test('[R4] an editor who becomes a viewer is read-only at once, is told so, and may write again when made an editor', async () => {
  const boardId = await newBoard()
  const member = await service.user()
  await service.member(owner.workspaceId, member, 'editor')
  const editor = await open(member, boardId)
  const witness = await open(owner, boardId)
  await service.member(owner.workspaceId, member, 'viewer')
  await until(
    () => editor.provider.authorizedScope === 'readonly',
    'the provider knows that it is read-only',
    withinMs,
  )
  editor.addCard('refused')
  await until(() => editor.provider.unsyncedChanges > 0, 'the edit is not acknowledged')
  witness.addCard('seen')
  await until(() => editor.cards.has('seen'), 'a viewer still sees what others do')
  expect(editor.provider.unsyncedChanges).toBeGreaterThan(0)
  expect(witness.cards.has('refused')).toBe(false)
  expect((await owner.api.get(`/boards/${boardId}/cards`)).body.total).toBe(1)
  await service.member(owner.workspaceId, member, 'editor')
  await until(
    () => editor.provider.authorizedScope === 'read-write',
    'the provider knows that it may write',
    withinMs,
  )
  expect(editor.closes).toEqual([])
})

test('[R5] a board that goes into the trash closes its sockets, and opens no more until it is restored', async () => {
  const boardId = await newBoard()
  const editor = await open(owner, boardId)
  expect((await owner.api.delete(`/boards/${boardId}`)).status).toBe(200)
  await until(isCutOff(editor), 'the socket is closed', withinMs)
  await openEditor(service.url, { boardId, token: owner.token, expectRefusal: true })
  await owner.api.post(`/boards/${boardId}/restore`)
  const back = await open(owner, boardId)
  back.addCard('again')
  await back.saved()
})

test('[R6] a token without the scope `write`, and one that expires, do not write', async () => {
  const boardId = await newBoard()
  const reader = await service.token(owner, { scopes: ['read'] })
  const viewing = await open(reader, boardId)
  expect(viewing.provider.authorizedScope).toBe('readonly')
  const short = await service.token(owner, {})
  const expiring = await open(short, boardId)
  await service.admin`update tokens set expires_at = now() where id = ${short.tokenId}`
  await until(isCutOff(expiring), 'the socket of the expired token is closed', withinMs)
})
