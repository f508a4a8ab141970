/** Sessions for the users of other products, on sockets, and what others see of these users. */
import { afterEach, expect, test } from 'vitest'
import { makeBoard, makeCard, succeeded } from '../api/board.ts'
import { mint, serviceAccountOf } from '../api/minting.ts'
import { openEditor, until, type Editor } from '../support/editor.ts'
import { authFrame, connect, enter } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user: owner } = await serviceOfFile({
  bounds: { maxSocketsPerAccount: 20, maxSocketsPerAccountOnBoard: 50 },
})
const backend = await serviceAccountOf(service, owner)

afterEach(() => everybodyGone(service))

const open = (boardId: string, token: string, options: object = {}) =>
  openEditor(service.url, { boardId, token, reconnect: false, ...options })
const seenBy = (watcher: Editor, sender: Editor) =>
  watcher.provider.awareness!.getStates().get(sender.document.clientID)
const isCutOff = (editor: Editor) => () => editor.closes.some(({ code }) => code === 4403)

test('[US6] the sockets of a user whose sessions end are closed within 2 s; others go on', async () => {
  const board = await makeBoard(owner)
  const on = { board_ids: [board.id] }
  const ada = await mint(service, backend, { ...on, user: { id: 'ada', name: 'Ada' } })
  const ben = await mint(service, backend, { ...on, user: { id: 'ben', name: 'Ben' } })
  const leaving = await open(board.id, ada.token)
  const staying = await open(board.id, ben.token)
  leaving.addCard('before')
  await leaving.saved()
  succeeded(await backend.api.delete('/sessions', { user_id: 'ada' }))
  await until(isCutOff(leaving), 'the socket is closed', 2000)
  staying.addCard('goes-on')
  await staying.saved()
  expect(staying.closes).toEqual([])
  const again = await open(board.id, ada.token, { expectRefusal: true })
  expect(again.cards.size).toBe(0)
  const later = await mint(service, backend, { ...on, user: { id: 'ada', name: 'Ada' } })
  expect((await open(board.id, later.token)).cards.size).toBe(2)
})

test('[US5] the socket of a session is closed when it expires, and read-only when its minter becomes a viewer', async () => {
  const board = await makeBoard(owner)
  const short = await service.token(owner, { ttlDays: 1 })
  const { token } = await mint(service, short, { board_ids: [board.id] })
  const editor = await open(board.id, token)
  await service.admin`update tokens set expires_at = now() where id = ${short.tokenId}`
  await until(isCutOff(editor), 'the socket is closed', 2000)

  const minter = await serviceAccountOf(service, owner)
  const reading = await open(board.id, (await mint(service, minter, { board_ids: [board.id] })).token)
  expect(reading.provider.authorizedScope).toBe('read-write')
  await service.admin`update workspace_members set role = 'viewer' where user_id = ${minter.accountId}`
  await until(() => reading.provider.authorizedScope === 'readonly', 'the editor is read-only', 2000)
})

test('[US4] a socket refuses forged tokens and boards that a session does not open', async () => {
  const board = await makeBoard(owner)
  const other = await makeBoard(owner)
  const { token } = await mint(service, backend, { board_ids: [board.id] })
  const refusal = async (boardId: string, given: string) => {
    const client = await connect(service.url)
    client.send(authFrame(boardId, given))
    await until(() => client.denials.length > 0, 'it is refused')
    return client.denials[0]
  }
  expect(await refusal(board.id, `${token.slice(0, -4)}AAAA`)).toBe('token-invalid')
  expect(await refusal(other.id, token)).toBe('permission-denied')
})

test('[US7] presence, history and audit name the user by its own id and name, and the account that minted', async () => {
  const board = await makeBoard(owner)
  const user = { id: 'emp-7', name: 'Ada', color: '#aa0000', avatar_url: 'https://example.test/a.png' }
  const { token, session, api } = await mint(service, backend, { board_ids: [board.id], user })
  const account = session.user.account_id
  const watcher = await open(board.id, owner.token)
  const ada = await open(board.id, token)
  ada.provider.setAwarenessField('cursor', { x: 1 })
  await until(() => seenBy(watcher, ada) !== undefined, 'the user is seen')
  expect(seenBy(watcher, ada)).toEqual({
    cursor: { x: 1 },
    account: { id: account, name: 'Ada', session_user: { ...user, service_account_id: backend.accountId } },
    readOnly: false,
    agent: false,
  })
  ada.addCard('dragged')
  await ada.saved()
  succeeded(await api.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 }))
  const actor = { user_id: account, display_name: 'Ada', session_user: { id: 'emp-7', name: 'Ada' } }
  const { entries } = succeeded(await owner.api.get(`/boards/${board.id}/history`))
  expect(entries.map(({ by, actors }: any) => [by, actors])).toEqual([
    ['api', [actor]],
    ['editor', [actor]],
  ])
  const audit = succeeded(await owner.api.get('/audit?limit=20')).entries
  expect(audit.find(({ action }: any) => action === 'card.create').actor).toEqual({
    ...actor,
    token_id: backend.tokenId,
    service_account_id: backend.accountId,
    client_id: null,
  })
  const ben = await mint(service, backend, { board_ids: [board.id], user: { id: 'b', name: 'Ben' } })
  const working = [api, ben.api]
  for (const client of working)
    succeeded(await client.send('PUT', `/boards/${board.id}/presence`, { state: { at: 'work' } }))
  const { presence } = succeeded(await owner.api.get(`/boards/${board.id}/presence`))
  const atWork = presence.filter(({ state }: any) => state.at === 'work')
  expect(atWork.map((one: any) => one.account.session_user.id).toSorted()).toEqual(['b', 'emp-7'])
  for (const client of working) succeeded(await client.delete(`/boards/${board.id}/presence`))
  const agent = await mint(service, backend, {
    board_ids: [board.id],
    user: { id: 'bot', name: 'Bot', agent: true },
  })
  const bot = await open(board.id, agent.token)
  bot.provider.setAwarenessField('cursor', { x: 2 })
  await until(() => seenBy(watcher, bot) !== undefined, 'the agent is seen')
  expect(seenBy(watcher, bot)).toMatchObject({ agent: true, account: { name: 'Bot' } })
})

test('[US8] a session with history sees the past since the first such session of its user, others none', async () => {
  const board = await makeBoard(owner)
  await makeCard(owner, board.id, { title: 'before' })
  const path = `/boards/${board.id}/history`
  const on = { board_ids: [board.id], user: { id: 'reader', name: 'Reader' } }
  const without = await mint(service, backend, on)
  expect((await without.api.get(path)).status).toBe(403)
  const whole = await mint(service, backend, { ...on, board_ids: undefined, workspace_id: owner.workspaceId })
  expect((await whole.api.get(path)).status).toBe(403)
  const first = await mint(service, backend, { ...on, history: true })
  await makeCard(owner, board.id, { title: 'after' })
  const later = await mint(service, backend, { ...on, history: true })
  for (const { api } of [first, later]) {
    const { entries } = succeeded(await api.get(path))
    expect(entries.map(({ counts }: any) => counts.added)).toEqual([1])
  }
  expect((await without.api.get(path)).status).toBe(403)
})

test('[US10] all sessions of an owner have the seats of one account, and a user has a tenth of them', async () => {
  const boards = [await makeBoard(owner), await makeBoard(owner)]
  const minted = (id: string) =>
    mint(service, backend, { board_ids: boards.map((board) => board.id), user: { id, name: id } })
  const refusal = async (token: string) => {
    const client = await connect(service.nodes[0]!.url)
    client.send(authFrame(boards[1]!.id, token))
    await until(() => client.denials.length > 0, 'it is refused')
    return client.denials[0]
  }
  const url = service.nodes[0]!.url
  for (let n = 0; n < 10; n++) {
    const { token } = await minted(`user-${n}`)
    for (const { id } of boards) await enter(url, { boardId: id, token })
    if (n === 0) expect(await refusal(token)).toBe('try-later') // a tenth of 20
  }
  expect(await refusal((await minted('one-more')).token)).toBe('try-later')
  await enter(url, { boardId: boards[0]!.id, token: owner.token })
})
