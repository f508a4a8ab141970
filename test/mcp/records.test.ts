import { expect, onTestFinished, test } from 'vitest'
import { listCards, makeBoard } from '../api/board.ts'
import { lockBoard } from '../support/held-lock.ts'
import { openAgent, postMcp, request, toolCall } from '../support/mcp.ts'
import { startService } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ workers: false })

const post = (body: unknown, headers?: Record<string, string>) =>
  postMcp(service.url, user.token, body, headers)

test('[MC11] the audit tells a call of a tool as its operation, with the token, and the path that was called', async () => {
  const own = await service.user()
  const agent = await openAgent(service.url, own.token)
  const { board } = await agent.does('create_board', { name: 'Wall' })
  await agent.does('read_board', { board_id: board.id })
  await agent.does('create_cards', { board_id: board.id, cards: [{ kind: 'note' }, { kind: 'note' }] })
  await agent.does('update_board', { board_id: board.id, name: 'New' })
  const { body } = await own.api.get('/audit')
  expect(body.entries.map(({ action }: any) => action)).toEqual([
    'board.update',
    'card.create',
    'board.create',
  ])
  for (const entry of body.entries)
    expect(entry).toMatchObject({
      method: 'POST',
      path: '/api/v1/mcp',
      workspace_id: own.workspaceId,
      board_id: board.id,
      actor: { user_id: own.userId, token_id: own.tokenId },
      request_id: expect.any(String),
      ip: '127.0.0.1',
    })
})

test('[MC12] a message under an idempotency key is carried out once and answered the same; a batch has none', async () => {
  const board = await makeBoard(user)
  const key = { 'idempotency-key': 'once' }
  const call = toolCall('create_cards', { board_id: board.id, cards: [{ kind: 'note', title: 'Once' }] })
  const first = await post(call, key)
  const again = await post(call, key)
  expect(again.text).toBe(first.text)
  expect(again.headers.get('idempotent-replay')).toBe('true')
  expect(await listCards(user, board.id)).toHaveLength(1)
  const other = await post(toolCall('create_cards', { board_id: board.id, cards: [{ kind: 'doc' }] }), key)
  expect([other.status, other.body.code]).toEqual([409, 'conflict'])
  const batch = await post([call, call], { 'idempotency-key': 'many' })
  expect([batch.status, batch.body.error.code]).toEqual([400, -32600])
  expect(await listCards(user, board.id)).toHaveLength(1)
})

test('[MC12] an answer that was lost with its process is made again from what was made', async () => {
  const board = await makeBoard(user)
  const key = { 'idempotency-key': 'lost' }
  const call = toolCall('create_cards', { board_id: board.id, cards: [{ kind: 'note', title: 'Once' }] })
  const first = await post(call, key)
  await service.admin`update idempotency_keys set response = null where user_id = ${user.userId}`
  const again = await post(call, key)
  expect(again.body.result.structuredContent.cards).toEqual(first.body.result.structuredContent.cards)
  expect(await listCards(user, board.id)).toHaveLength(1)
})

test('[MC52] a call that failed for a while is done again under its key; a wrong argument is replayed', async () => {
  const busy = await startService({ workers: false, writeDeadlineMs: 400 })
  onTestFinished(() => busy.stop())
  const own = await busy.user()
  const board = await makeBoard(own)
  const call = toolCall('create_cards', { board_id: board.id, cards: [{ kind: 'note', x: 0, y: 0 }] })
  const send = async (body: unknown, key: string, token = own.token) => {
    const answer = await postMcp(busy.url, token, body, { 'idempotency-key': key })
    const { result, error } = answer.body
    const said = error ? error.message : result.isError ? result.content[0].text : 'done'
    return { said, replay: answer.headers.get('idempotent-replay') === 'true' }
  }

  const release = await lockBoard(busy.admin, board.id)
  const late = await send(call, 'late')
  await release()
  expect(late.said).toMatch(/^storage_unavailable: /)
  expect(await send(call, 'late')).toEqual({ said: 'done', replay: false })
  expect(await send(call, 'late')).toEqual({ said: 'done', replay: true })
  expect(await listCards(own, board.id)).toHaveLength(1)

  const wrong = toolCall('create_cards', { board_id: board.id, cards: [] })
  const refused = await send(wrong, 'wrong')
  expect(refused.said).toMatch(/^bad_request: /)
  expect(await send(wrong, 'wrong')).toEqual({ ...refused, replay: true })

  const guest = await busy.user()
  const read = request('resources/read', { uri: `board://${board.id}` })
  expect((await send(read, 'read', guest.token)).said).toMatch(/not found/i)
  await busy.share(board.id, guest, 'viewer')
  expect(await send(read, 'read', guest.token)).toEqual({ said: 'done', replay: false })
})
