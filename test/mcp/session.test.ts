import { afterAll, beforeAll, expect, test } from 'vitest'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { openAgent } from '../support/mcp.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ workers: false })
})
afterAll(async () => {
  leaveAll()
  await service.stop()
})

interface Box {
  x: number
  y: number
  w: number
  h: number
}

const overlap = (a: Box, b: Box) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

test(
  '[MC18] “make a board with these ten links, arranged, in a group”: by tools alone, onto an open canvas',
  { timeout: 120_000 },
  async () => {
    const user = await service.user()
    const agent = await openAgent(service.url, user.token)
    const links = Array.from({ length: 10 }, (_, n) => `https://example.test/article-${n}`)

    // What is there already?
    const found = await agent.does('search', { query: 'Reading list', kind: 'board' })
    expect(found.boards.items).toEqual([])
    const { workspaces } = await agent.does('list_workspaces')
    const { board } = await agent.does('create_board', {
      name: 'Reading list',
      workspace_id: workspaces[0].id,
    })

    // The person looks on.
    const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
    const { group } = await agent.does('create_group', { board_id: board.id, name: 'Ten links' })
    await until(() => editor.groups.has(group.id), 'the canvas has the group')
    const made = await agent.does('create_cards', {
      board_id: board.id,
      cards: links.map((url, n) => ({ kind: 'link', url, title: `Article ${n}`, group_id: group.id })),
    })
    expect(made).toMatchObject({ created: 10, live: true })
    await until(() => editor.cards.size === 10, 'the canvas has the cards')
    const arranged = await agent.does('arrange_cards', { board_id: board.id, layout: 'grid', columns: 5 })
    expect(arranged.live).toBe(true)

    // What the agent is told is what the canvas has.
    await until(
      () => editor.cards.get(made.cards[9].id)?.get('x') === arranged.cards[9].x,
      'the canvas is arranged',
    )
    const onCanvas = made.cards.map(({ id }: { id: string }) => editor.cards.get(id)!.toJSON())
    expect(onCanvas.map(({ url }: any) => url)).toEqual(links)
    expect(onCanvas.map(({ group_id }: any) => group_id)).toEqual(Array(10).fill(group.id))
    const boxes: Box[] = onCanvas.map(({ x, y, w, h }: Box) => ({ x, y, w, h }))
    expect(boxes).toEqual(arranged.cards.map(({ x, y, w, h }: Box) => ({ x, y, w, h })))
    expect(new Set(boxes.map(({ y }) => y)).size).toBe(2)
    expect(new Set(boxes.map(({ x }) => x)).size).toBe(5)
    for (const [at, box] of boxes.entries())
      for (const other of boxes.slice(at + 1)) expect(overlap(box, other)).toBe(false)

    // And what the person does then is what the agent reads.
    editor.cards.get(made.cards[0].id)!.set('title', 'Read this first')
    await editor.saved()
    const { cards, total } = await agent.does('read_cards', { board_id: board.id })
    expect([total, cards[0].title]).toEqual([10, 'Read this first'])
    const { groups } = await agent.does('list_groups', { board_id: board.id })
    expect(groups).toMatchObject([{ name: 'Ten links', card_count: 10 }])
  },
)
