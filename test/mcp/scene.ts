/** What tools work on: boards, cards, a group, an identifier, and an agent of their owner. */
import { randomUUID } from 'node:crypto'
import { listCards, makeBoard, makeCards, type Shown } from '../api/board.ts'
import { openAgent, type Agent } from '../support/mcp.ts'
import type { TestUser } from '../support/service.ts'

export interface Scene {
  agent: Agent
  board: Shown
  other: Shown
  cards: Shown[]
  groupId: string
  identifier: { scope: string; value: string }
}

export async function makeScene(serviceUrl: string, user: TestUser): Promise<Scene> {
  const identifier = { scope: 'scene', value: randomUUID() }
  const [board, other] = await Promise.all([makeBoard(user, { name: 'Wall' }), makeBoard(user)])
  const cards = await makeCards(user, board.id, [
    { title: 'First', body: 'one', identifiers: [identifier] },
    { title: 'Second', props: { a: 1 } },
  ])
  const { body } = await user.api.post(`/boards/${board.id}/groups`, { name: 'Group' })
  const agent = await openAgent(serviceUrl, user.token)
  return { agent, board, other, cards, groupId: body.group.id, identifier }
}

export const titlesOf = async (user: TestUser, boardId: string) =>
  (await listCards(user, boardId)).map(({ title }) => title)
