import { expect, test } from 'vitest'
import { serviceOfFile } from '../support/test-file.ts'
import { succeeded } from '../api/board.ts'
import { makeScene } from './scene.ts'

const { service, user } = await serviceOfFile({ workers: false })

test('[CV9] an agent changes and deletes cards in the version that it read', async () => {
  const { agent, board, cards } = await makeScene(service.url, user)
  const [first, second] = cards
  const on = { board_id: board.id }
  const { cards: read } = await agent.does('read_cards', on)
  expect(read.map(({ version }: any) => version)).toEqual(cards.map(({ version }) => version))
  const path = `/boards/${board.id}/cards/${first!.id}`
  const newer = succeeded(await user.api.patch(path, { title: 'By a person' })).card
  const entries = read.map(({ id, version }: any) => ({ id, if_version: version }))
  const renamed = entries.map((entry: object) => ({ ...entry, title: 'By an agent' }))
  const answer = await agent.does('update_cards', { ...on, cards: renamed })
  expect(answer).toMatchObject({ updated: 1, cards: [{ id: second!.id, title: 'By an agent' }] })
  expect(answer.conflicts).toMatchObject([{ id: first!.id, title: 'By a person', version: newer.version }])
  const text = await agent.reads('update_cards', { ...on, cards: renamed })
  expect(text).toMatch(/^Changed 0 cards\. Left alone.*: 2 cards \(conflicts\)/)
  expect(text).toMatch(/BEGIN DATA [^]*"By a person"/)

  expect(await agent.does('delete_cards', { ...on, cards: entries })).toMatchObject({ deleted: 0 })
  const now = [...answer.cards, ...answer.conflicts].map(({ id, version }) => ({ id, if_version: version }))
  expect(await agent.does('delete_cards', { ...on, cards: now })).toMatchObject({ deleted: 2, conflicts: [] })
})

test('[CV9] an agent changes and deletes a board in the version that it read', async () => {
  const { agent, board } = await makeScene(service.url, user)
  const on = { board_id: board.id }
  const { board: read } = await agent.does('read_board', on)
  const { board: renamed } = await agent.does('update_board', {
    ...on,
    if_version: read.version,
    name: 'Mine',
  })
  for (const tool of ['update_board', 'delete_board']) {
    const text = await agent.fails(tool, { ...on, if_version: read.version })
    expect(text).toMatch(/^precondition_failed: The board has another version/)
    expect(text).toMatch(/BEGIN DATA [^]*"name":"Mine"/)
  }
  await agent.does('delete_board', { ...on, if_version: renamed.version })
})
