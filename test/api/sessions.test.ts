/** Sessions that somebody’s backend mints for its own users: what they open, and how they end. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { openSessionTokens } from '../../api/sessions/session-tokens.ts'
import { openSigning } from '../../platform/secrets/signatures.ts'
import { setDisabled, setMember } from '../../sql/accounts/accounts.ts'
import { retireServiceAccount } from '../../sql/accounts/service-accounts.ts'
import { revokeToken } from '../../sql/accounts/tokens.ts'
import { connectApplication } from '../support/application.ts'
import { until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService, testSecretKey } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, makeCards, succeeded } from './board.ts'
import { mint, serviceAccountOf } from './minting.ts'

const { service, user: owner } = await serviceOfFile()
const backend = await serviceAccountOf(service, owner)
const board = await makeBoard(owner, { name: 'Open' })
const other = await makeBoard(owner, { name: 'Closed' })
const on = { board_ids: [board.id] }
const codeOf = async (answer: Promise<{ status: number; body: any }>) => {
  const { status, body } = await answer
  return [status, body.code]
}

test('[US1] a service account and the owner mint; the answer tells the session, which ends with the token at the latest', async () => {
  const user = { id: 'u-1', name: 'Ada', color: '#aa0000', avatar_url: 'https://example.test/a.png' }
  const { session } = await mint(service, backend, { ...on, user, ttl_seconds: 60 })
  expect(session).toMatchObject({
    workspace_id: owner.workspaceId,
    board_ids: [board.id],
    role: 'editor',
    scopes: ['read', 'write'],
    history: false,
    user: { ...user, agent: false },
  })
  expect(Date.parse(session.expires_at) - Date.parse(session.issued_at)).toBeLessThanOrEqual(60_000)
  expect(Date.parse(session.expires_at) - Date.parse(session.issued_at)).toBeGreaterThan(59_990)
  const again = await mint(service, owner, { workspace_id: owner.workspaceId, user, role: 'viewer' })
  expect(again.session).toMatchObject({ board_ids: null, scopes: ['read'] })
  expect(again.session.user.account_id).toBe(session.user.account_id)

  const short = await service.token(owner, { ttlDays: 1 })
  await service.admin`update tokens set expires_at = now() + interval '90 seconds' where id = ${short.tokenId}`
  const bound = await mint(service, short, { ...on, ttl_seconds: 3600 })
  expect(Date.parse(bound.session.expires_at) - Date.now()).toBeLessThan(90_000)

  const application = new ApiClient(service.url, (await connectApplication(service, owner)).token)
  const asked = { ...on, role: 'viewer', user: { id: 'x', name: 'X' } }
  expect(await codeOf(application.post('/sessions', asked))).toEqual([403, 'forbidden'])
  expect(await codeOf(again.api.post('/sessions', asked))).toEqual([403, 'forbidden'])
})

test('[US2] lists, trees, search, identifiers, files and feeds show what the session opens, and nothing else', async () => {
  const word = `word${randomUUID().slice(0, 8)}`
  const scope = { scope: 'mine', value: word }
  const gif = 'GIF89a\x01\0\x01\0\0\0\0;'
  const type = { 'content-type': 'image/gif' }
  for (const { id } of [board, other]) {
    await makeCard(owner, id, { title: word, identifiers: [scope] })
    await owner.api.post(`/uploads?board=${id}`, gif, type)
  }
  const { api } = await mint(service, backend, on)
  const whole = await mint(service, backend, { workspace_id: owner.workspaceId })
  const idsIn = async (client: ApiClient) => {
    const get = async (path: string) => succeeded(await client.get(path))
    const lists = await Promise.all([
      get('/boards'),
      get('/boards?since=2026-01-01T00:00:00Z'),
      get(`/search?q=${word}`),
      get(`/resolve?scope=mine&value=${word}`),
      get('/images'),
    ])
    const [boards, feed, found, resolved, files] = lists
    const sorted = (ids: string[]) => [...new Set(ids)].toSorted()
    return [
      sorted(boards.boards.map(({ id }: any) => id)),
      sorted(feed.boards.map(({ id }: any) => id)),
      sorted(found.cards.items.map((hit: any) => hit.board_id)),
      sorted(resolved.matches.map((match: any) => match.board_id)),
      sorted(files.images.map((image: any) => image.board_id)),
    ]
  }
  expect(await idsIn(api)).toEqual(Array.from({ length: 5 }, () => [board.id]))
  expect(await idsIn(whole.api)).toEqual(Array.from({ length: 5 }, () => [board.id, other.id].toSorted()))
  const tree = succeeded(await api.get(`/boards/tree?workspace=${owner.workspaceId}`))
  expect(tree.boards.map(({ id }: any) => id)).toEqual([board.id])
  expect(succeeded(await api.get('/workspaces')).workspaces).toEqual([])
  expect(await codeOf(api.get(`/boards/${other.id}/cards`))).toEqual([404, 'not_found'])
  expect(await codeOf(api.post(`/boards/${other.id}/cards`, { kind: 'note', x: 0, y: 0 }))).toEqual([
    404,
    'not_found',
  ])
  // Boards of other workspaces can't be named, also when the minter's account can see them.
  const stranger = await service.user()
  const theirs = await makeBoard(stranger)
  const asked = { board_ids: [theirs.id], role: 'viewer', user: { id: 'u', name: 'U' } }
  expect(await codeOf(backend.api.post('/sessions', asked))).toEqual([404, 'not_found'])
  await service.share(theirs.id, owner, 'editor')
  expect(await codeOf(owner.api.post('/sessions', asked))).toEqual([403, 'forbidden'])
  const mixed = { ...asked, board_ids: [theirs.id, board.id] }
  expect(await codeOf(owner.api.post('/sessions', mixed))).toEqual([400, 'bad_request'])
})

test('[US3] a session has the scopes of its role, those that it names, and none that the token lacks', async () => {
  const writer = await serviceAccountOf(service, owner, ['read', 'write'])
  const [card] = await makeCards(owner, board.id, [{}])
  const plain = await mint(service, backend, on)
  const path = `/boards/${board.id}/cards/${card!.id}`
  expect(await codeOf(plain.api.delete(path))).toEqual([403, 'insufficient_scope'])
  const asked = { ...on, role: 'editor', user: { id: 'u', name: 'U' }, scopes: ['write', 'delete'] }
  expect(await codeOf(writer.api.post('/sessions', asked))).toEqual([403, 'insufficient_scope'])
  const deleting = await mint(service, backend, { ...on, scopes: ['write', 'delete'] })
  expect((await deleting.api.delete(path)).status).toBe(200)
})

test('[US4] forged, foreign, changed and cut tokens are 401', async () => {
  const { token, session, api } = await mint(service, backend, on)
  expect((await api.get('/me')).body.user_id).toBe(session.user.account_id)
  const [text, signature] = token.slice('corks_'.length).split('.') as [string, string]
  const claims = JSON.parse(Buffer.from(text, 'base64url').toString())
  const encoded = (changed: object) =>
    Buffer.from(JSON.stringify({ ...claims, ...changed })).toString('base64url')
  const foreign = openSessionTokens(openSigning(['another key, as long as it has to be'], 'sessions'))
  const otherPurpose = openSessionTokens(openSigning([testSecretKey], 'part urls'))
  const forged = [
    `corks_${encoded({ boards: [other.id] })}.${signature}`,
    `corks_${encoded({ expires: '2099-01-01T00:00:00.000000Z' })}.${signature}`,
    `corks_${text}.${'A'.repeat(43)}`,
    `corks_${text}`,
    token.slice(0, -1),
    `${token}A`,
    foreign.make(claims),
    otherPurpose.make(claims),
    'corks_.',
  ]
  for (const one of forged) {
    const answer = await new ApiClient(service.url, one).get(`/boards/${board.id}`)
    expect([one, answer.status]).toEqual([one, 401])
  }
})

test('[US4] while SECRET_KEY is replaced, sessions of the previous one are valid', async () => {
  const config = { secretKey: 'the newer key, as long as it has to be', previousSecretKey: testSecretKey }
  const rotated = await startService({ testDatabase: service.testDatabase, workers: false, config })
  const { token } = await mint(service, backend, on)
  const statusAt = async (url: string, given: string) => (await new ApiClient(url, given).get('/me')).status
  expect(await statusAt(rotated.url, token)).toBe(200)
  const asked = { ...on, role: 'viewer', user: { id: 'u', name: 'U' } }
  const newer = succeeded(await new ApiClient(rotated.url, owner.token).post('/sessions', asked)).access_token
  expect(await statusAt(rotated.url, newer)).toBe(200)
  expect(await statusAt(service.url, newer)).toBe(401)
  await rotated.stop()
})

test('[US5] a session ends with its time, its token and its accounts, and has no more rights than its minter', async () => {
  const endings: Record<
    string,
    [(minter: { accountId: string; tokenId: string }) => Promise<unknown>, number]
  > = {
    'the token is revoked': [
      ({ tokenId }) => service.database.asSystem((tx) => revokeToken(tx, tokenId)),
      401,
    ],
    'the token expires': [
      ({ tokenId }) => service.admin`update tokens set expires_at = now() where id = ${tokenId}`,
      401,
    ],
    'the service account is retired': [
      ({ accountId }) => service.database.asUser(owner.userId, (tx) => retireServiceAccount(tx, accountId)),
      401,
    ],
    'the minter is no member any more': [
      ({ accountId: userId }) =>
        service.database.asSystem((tx) =>
          setMember(tx, { workspaceId: owner.workspaceId, userId, role: 'none' }),
        ),
      404,
    ],
    'the minter becomes a viewer': [
      ({ accountId: userId }) =>
        service.database.asSystem((tx) =>
          setMember(tx, { workspaceId: owner.workspaceId, userId, role: 'viewer' }),
        ),
      403,
    ],
  }
  for (const [what, [end, status]] of Object.entries(endings)) {
    const minter = await serviceAccountOf(service, owner)
    const { api } = await mint(service, minter, on)
    const write = async () =>
      (await api.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 })).status
    expect([what, await write()]).toEqual([what, 201])
    await end(minter)
    await until(async () => (await write()) === status, what, 2000)
    const read = async () => (await api.get(`/boards/${board.id}`)).status
    await until(async () => (await read()) === (status === 403 ? 200 : status), what, 2000)
  }
  const lender = await service.user()
  const lent = await makeBoard(lender)
  const session = await mint(service, lender, { board_ids: [lent.id], ttl_seconds: 60 })
  await service.database.asSystem((tx) => setDisabled(tx, lender.userId, true))
  await until(
    async () => (await session.api.get(`/boards/${lent.id}`)).status === 401,
    'the owner is disabled',
    2000,
  )
  const past = openSessionTokens(openSigning([testSecretKey], 'sessions'))
  const { token } = await mint(service, backend, on)
  const expired = past.make({ ...past.read(token)!, expires: '2026-01-01T00:00:00.000000Z' })
  expect((await new ApiClient(service.url, expired).get('/me')).status).toBe(401)
})

test('[US6] DELETE ends what was minted before, by user, by board and by both, and nothing else', async () => {
  const ann = { id: 'ann', name: 'Ann' }
  const bob = { id: 'bob', name: 'Bob' }
  const elsewhere = { board_ids: [other.id] }
  const all = { workspace_id: owner.workspaceId }
  const scene = async () => ({
    annHere: await mint(service, backend, { ...on, user: ann }),
    annThere: await mint(service, backend, { ...elsewhere, user: ann }),
    bobHere: await mint(service, owner, { ...on, user: bob }),
    bobThere: await mint(service, owner, { ...elsewhere, user: bob }),
    bobAll: await mint(service, backend, { ...all, user: bob }),
  })
  const ended: [asked: object, names: string[]][] = [
    [{ user_id: 'ann' }, ['annHere', 'annThere']],
    [{ board_id: board.id }, ['annHere', 'bobHere', 'bobAll']],
    [{ board_id: other.id, user_id: 'bob' }, ['bobThere', 'bobAll']],
  ]
  for (const [asked, names] of ended) {
    const sessions = await scene()
    const alive = async () => {
      const answers = await Promise.all(
        Object.entries(sessions).map(async ([name, { api }]) =>
          (await api.get('/me')).status === 200 ? name : [],
        ),
      )
      return answers.flat()
    }
    expect(await alive()).toHaveLength(5)
    expect(succeeded(await backend.api.delete('/sessions', asked))).toEqual({ deleted: true })
    const left = Object.keys(sessions).filter((name) => !names.includes(name))
    await until(async () => (await alive()).length === left.length, 'the sessions have ended', 2000)
    expect([asked, await alive()]).toEqual([asked, left])
    const later = await mint(service, backend, { ...on, user: ann })
    expect((await later.api.get('/me')).status).toBe(200)
  }
})

test('[US13] bad requests name their field; a repeated one gets the same session', async () => {
  const user = { id: 'u', name: 'U' }
  const asked = { ...on, role: 'editor', user }
  const bad: [object, RegExp][] = [
    [{ role: 'editor', user }, /board_ids or workspace_id/],
    [{ ...asked, workspace_id: owner.workspaceId }, /board_ids or workspace_id/],
    [{ ...asked, role: 'owner' }, /role/],
    [{ ...on, role: 'editor' }, /user/],
    [{ ...asked, user: { id: '', name: 'U' } }, /user\.id/],
    [{ ...asked, user: { id: 'u', name: '  ' } }, /user\.name/],
    [{ ...asked, user: { ...user, avatar_url: 'javascript:alert(1)' } }, /user\.avatar_url/],
    [{ ...asked, ttl_seconds: 59 }, /ttl_seconds/],
    [{ ...asked, ttl_seconds: 86_401 }, /ttl_seconds/],
    [{ ...asked, role: 'viewer', scopes: ['write'] }, /scopes/],
  ]
  for (const [body, message] of bad) {
    const answer = await backend.api.post('/sessions', body)
    expect([body, answer.status, answer.body.error]).toEqual([body, 400, expect.stringMatching(message)])
  }
  expect(await codeOf(backend.api.delete('/sessions', {}))).toEqual([400, 'bad_request'])
  const key = { 'idempotency-key': randomUUID() }
  const first = await backend.api.post('/sessions', asked, key)
  const second = await backend.api.post('/sessions', asked, key)
  expect(succeeded(second)).toEqual(succeeded(first))
  expect(first.headers.get('cache-control')).toBe('no-store')
})
