/** Presence over the API: who is on a board, and agents that are shown there. */
import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { writeAwareness } from '../../collab/awareness/encoding.ts'
import { statesMessage } from '../../collab/awareness/relay.ts'
import { guestOf, makeLink } from '../api/links.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import type { TestService, TestUser } from '../support/service.ts'
import { nodesOfFile } from '../support/test-file.ts'

const { here, there, user } = await nodesOfFile()

afterEach(leaveAll)

const newBoard = async (): Promise<string> =>
  (await user.api.post('/boards', { name: 'Present' })).body.board.id

const open = (service: TestService, boardId: string, who: TestUser = user) =>
  openEditor(service.url, { boardId, token: who.token })

/** The states that an editor sees of an API client. */
const agentsSeenBy = (editor: Editor) =>
  [...editor.provider.awareness!.getStates().values()].filter((state) => state['agent'] === true)

const request = async (service: TestService, method: string, path: string, body?: object, who = user) => {
  const response = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${who.token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return { status: response.status, body: (await response.json()) as any }
}
const present = async (service: TestService, boardId: string, who = user) =>
  (await request(service, 'GET', `/boards/${boardId}/presence`, undefined, who)).body.presence

test('[PA1] editors of all nodes are listed, and nobody on a quiet board', async () => {
  const boardId = await newBoard()
  expect(await present(here, boardId)).toEqual([])
  const viewer = await here.user({ name: 'Vera' })
  const stranger = await here.user()
  await here.share(boardId, viewer, 'viewer')
  const anna = await open(here, boardId)
  anna.provider.setAwarenessField('cursor', { x: 1, y: 2 })
  const vera = await open(there, boardId, viewer)
  vera.provider.setAwarenessField('user', { name: 'V' })
  const expected = [
    {
      client_id: anna.document.clientID,
      account: { id: user.userId, name: expect.any(String) },
      ...{ agent: false, read_only: false, state: { cursor: { x: 1, y: 2 } } },
    },
    {
      client_id: vera.document.clientID,
      account: { id: viewer.userId, name: 'Vera' },
      ...{ agent: false, read_only: true, state: { user: { name: 'V' } } },
    },
  ]
  for (const node of [here, there])
    await expect
      .poll(async () => (await present(node, boardId)).toSorted((a: any) => (a.read_only ? 1 : -1)))
      .toEqual(expected)
  vera.provider.destroy()
  // The board is closed on that node, so it asks the others.
  await expect.poll(() => present(there, boardId)).toEqual([expected[0]])
  expect((await request(here, 'GET', `/boards/${boardId}/presence`, undefined, stranger)).status).toBe(404)
  expect((await request(here, 'PUT', `/boards/${boardId}/presence`, {}, stranger)).status).toBe(404)
})

test('[PA2, PA3] an agent is shown on the canvases of all nodes, moves by any node, and leaves', async () => {
  const boardId = await newBoard()
  const path = `/boards/${boardId}/presence`
  const before = await request(here, 'PUT', path, { state: { cursor: { x: 0 }, account: { id: 'me' } } })
  expect(before).toMatchObject({
    status: 200,
    body: { client_id: expect.any(Number), expires_at: expect.any(String) },
  })
  expect(await present(there, boardId)).toHaveLength(1)
  const [anna, bob] = await Promise.all([open(here, boardId), open(there, boardId)])
  const shown = {
    account: { id: user.userId, name: expect.any(String) },
    ...{ readOnly: false, agent: true },
  }
  for (const editor of [anna, bob])
    await expect.poll(() => agentsSeenBy(editor)).toEqual([{ cursor: { x: 0 }, ...shown }])
  const moved = await request(there, 'PUT', path, { state: { cursor: { x: 7 } } })
  expect(moved.body.client_id).toBe(before.body.client_id)
  for (const editor of [anna, bob])
    await expect.poll(() => agentsSeenBy(editor)).toEqual([{ cursor: { x: 7 }, ...shown }])
  expect((await request(there, 'DELETE', path)).status).toBe(200)
  for (const editor of [anna, bob]) await expect.poll(() => agentsSeenBy(editor)).toEqual([])
  await request(here, 'PUT', path, { ttl_seconds: 1 })
  for (const editor of [anna, bob]) await expect.poll(() => agentsSeenBy(editor)).toEqual([shown])
  for (const editor of [anna, bob])
    await until(() => agentsSeenBy(editor).length === 0, 'the time is over', 8000)
})

test('[PA6] an agent leaves by any node, and one that is put again stays', async () => {
  const boardId = await newBoard()
  const path = `/boards/${boardId}/presence`
  await request(here, 'PUT', path, {})
  await request(there, 'DELETE', path)
  for (const node of [here, there]) expect(await present(node, boardId)).toEqual([])
  const [anna, bob] = await Promise.all([open(here, boardId), open(there, boardId)])
  for (const n of [1, 2]) {
    await request(here, 'PUT', path, { state: { n } })
    for (const editor of [anna, bob])
      await expect.poll(() => agentsSeenBy(editor)).toEqual([expect.objectContaining({ n })])
    await request(there, 'DELETE', path)
    for (const editor of [anna, bob]) await expect.poll(() => agentsSeenBy(editor)).toEqual([])
  }
  // It has moved: the first node does not show it any more, and has not noticed yet.
  await request(here, 'PUT', path, {})
  await request(there, 'PUT', path, {})
  for (const editor of [anna, bob]) await expect.poll(() => agentsSeenBy(editor)).toHaveLength(1)
  await request(here, 'DELETE', path)
  for (const editor of [anna, bob]) await expect.poll(() => agentsSeenBy(editor)).toEqual([])
  await request(there, 'PUT', path, { state: { n: 3 } })
  for (const editor of [anna, bob])
    await expect.poll(() => agentsSeenBy(editor)).toEqual([expect.objectContaining({ n: 3 })])
})

test('[PA6] a request to another node counts, although it is known here only after an older one was renewed', async () => {
  const boardId = await newBoard()
  const anna = await open(here, boardId)
  const { body } = await request(here, 'PUT', `/boards/${boardId}/presence`, { state: { n: 1 } })
  const client = body.client_id as number
  const clock = () => anna.provider.awareness!.meta.get(client)?.clock
  await until(() => clock() !== undefined, 'it is shown')
  const asked = clock()!
  await until(() => clock() !== asked, 'it is renewed', 20_000)
  const json = Buffer.from(JSON.stringify({ n: 2, account: { id: user.userId }, agent: true }))
  const bytes = statesMessage(writeAwareness([{ client, clock: asked + 1000, json }]))
  here.gateway.presence.heard({ from: randomUUID(), board: boardId, bytes })
  await expect.poll(() => agentsSeenBy(anna)).toEqual([expect.objectContaining({ n: 2 })])
})

test('[PA4] what is unfit is refused and not shown; an account is shown on 100 boards at most', async () => {
  const boardId = await newBoard()
  const path = `/boards/${boardId}/presence`
  let deep: object = {}
  for (let n = 0; n < 20; n++) deep = { deep }
  for (const body of [
    { state: { text: 'x'.repeat(5000) } },
    { state: deep },
    { state: [] },
    { ttl_seconds: 301 },
  ])
    expect(await request(here, 'PUT', path, body)).toMatchObject({
      status: 400,
      body: { code: 'bad_request', error: expect.stringMatching(/state|ttl_seconds/) },
    })
  expect(await present(here, boardId)).toEqual([])
  expect((await request(here, 'PUT', path, {})).status).toBe(200)
  const boards = Array.from({ length: 100 }, (_, n) => ({ name: `Board ${n}` }))
  const others = (await user.api.post('/boards', { boards })).body.boards as { id: string }[]
  for (const { id } of others) await request(here, 'PUT', `/boards/${id}/presence`, {})
  expect(await present(here, boardId)).toEqual([])
  expect(await present(here, others[0]!.id)).toHaveLength(1)
  await request(here, 'DELETE', `/boards/${boardId}`)
  expect(await request(here, 'PUT', path, {})).toMatchObject({ status: 409, body: { code: 'conflict' } })
  expect((await request(here, 'GET', path)).status).toBe(200)
})

test('[PA5] a tool of the MCP endpoint shows its agent where it works', async () => {
  const boardId = await newBoard()
  const anna = await open(here, boardId)
  const { body } = await user.api.post(`/boards/${boardId}/cards`, { cards: [{ kind: 'note' }] })
  const card: string = body.cards[0].id
  const call = { name: 'read_card', arguments: { board_id: boardId, card_id: card } }
  await user.api.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })
  await expect
    .poll(() => agentsSeenBy(anna))
    .toMatchObject([{ tool: 'read_card', card_ids: [card], account: { id: user.userId } }])
})

test('[GL11] what a guest shows ends with its link, and what a member shows with its token, on all nodes', async () => {
  const boardId = await newBoard()
  const link = await makeLink(user, boardId)
  const [guest, other] = [await guestOf(there, link.token), await here.token(user, { scopes: ['write'] })]
  const put = (token: string) => ({ state: { by: token }, ttl_seconds: 300 })
  for (const token of [guest.token, other.token, user.token])
    await request(there, 'PUT', `/boards/${boardId}/presence`, put(token.slice(-4)), { ...user, token })
  const shown = async (service: TestService) => (await present(service, boardId)).length
  await until(async () => (await shown(here)) === 3, 'all are shown')
  await user.api.delete(`/boards/${boardId}/links/${link.id}`)
  await here.admin`update tokens set revoked_at = now() where id = ${other.tokenId}`
  await until(async () => (await shown(there)) === 1, 'two are gone', 2000)
  await until(async () => (await shown(here)) === 1, 'also elsewhere', 2000)
})
