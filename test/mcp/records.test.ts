import { expect, test } from 'vitest'
import { listCards, makeBoard } from '../api/board.ts'
import { openAgent, postMcp, toolCall } from '../support/mcp.ts'
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
