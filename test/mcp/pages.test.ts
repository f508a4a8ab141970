/** Answers fit the context window of a model, and nothing is lost by that. */
import { expect, test } from 'vitest'
import { makeBoard, makeCards } from '../api/board.ts'
import { until } from '../support/editor.ts'
import { openAgent } from '../support/mcp.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ workers: false })

const mostChars = 30_000

/** Boards of one batch are as old as each other. */
const sorted = (ids: string[]) => ids.toSorted()

test(
  '[MC15] a board of large cards comes in pages that fit, each card once, with a note of what is cut',
  { timeout: 120_000 },
  async () => {
    const board = await makeBoard(user)
    const made = await makeCards(
      user,
      board.id,
      Array.from({ length: 60 }, (_, n) => ({
        title: `Card ${n}`,
        body: `${n} ${'ä'.repeat(3000)}`,
        props: { filler: 'x'.repeat(2000) },
      })),
    )
    const agent = await openAgent(service.url, user.token)
    const seen: string[] = []
    for (let offset: number | null = 0; offset !== null;) {
      const asked = { board_id: board.id, offset, limit: 100, include: ['props'] }
      const page: any = await agent.does('read_cards', asked)
      expect(JSON.stringify(page).length).toBeLessThan(mostChars)
      expect((await agent.reads('read_cards', asked)).length).toBeLessThan(mostChars)
      expect(page.cards.length).toBeGreaterThan(0)
      for (const { id, body, body_length } of page.cards) {
        seen.push(id)
        expect([body.length, body_length]).toEqual([600, expect.any(Number)])
        expect(body_length).toBeGreaterThan(3000)
      }
      expect(page.has_more).toBe(page.next_offset !== null)
      offset = page.next_offset
    }
    expect(seen).toEqual(made.map(({ id }) => id))
  },
)

test(
  '[MC15] a long text is read on to its last character, and none is broken',
  { timeout: 120_000 },
  async () => {
    const board = await makeBoard(user)
    const body = `a${'😀'.repeat(9_998)}z`
    const [card] = await makeCards(user, board.id, [{ body }])
    const agent = await openAgent(service.url, user.token)
    let text = ''
    let calls = 0
    for (let from: number | null = 0; from !== null; calls += 1) {
      const { card: shown, next_text_from }: any = await agent.does('read_card', {
        board_id: board.id,
        card_id: card!.id,
        text_from: from,
      })
      expect(shown.body.isWellFormed()).toBe(true)
      expect(shown.body_length).toBe(body.length)
      text += shown.body
      from = next_text_from
    }
    expect(text).toBe(body)
    expect(calls).toBe(3)
  },
)

test('[MC15] a text that is formatted alone is read as it is', { timeout: 120_000 }, async () => {
  const board = await makeBoard(user)
  const [card] = await makeCards(user, board.id, [{ kind: 'doc', html: '<p>Hello <b>you</b></p>' }])
  const agent = await openAgent(service.url, user.token)
  const { card: shown } = await agent.does('read_card', { board_id: board.id, card_id: card!.id })
  expect(shown.html).toBe('<p>Hello <b>you</b></p>')
})

test('[MC15] lists of boards, trees and hits go on where they ended', { timeout: 120_000 }, async () => {
  const own = await service.user()
  const root = await makeBoard(own, { name: 'Pages root' })
  const names = Array.from({ length: 130 }, (_, n) => `Pages ${n} ${'n'.repeat(150)}`)
  const { body } = await own.api.post('/boards', {
    boards: names.map((name) => ({ name, parent_board_id: root.id })),
  })
  const all: string[] = body.boards.map(({ id }: { id: string }) => id)
  const agent = await openAgent(service.url, own.token)
  const walk = async (
    tool: string,
    args: Record<string, unknown>,
    itemsOf: (page: any) => { id: string }[],
    endOf = (page: any) => page,
  ) => {
    const seen: string[] = []
    let pages = 0
    for (let offset: number | null = 0; offset !== null; pages += 1) {
      const page: any = await agent.does(tool, { ...args, offset })
      expect([tool, JSON.stringify(page).length < mostChars]).toEqual([tool, true])
      seen.push(...itemsOf(page).map(({ id }) => id))
      offset = endOf(page).next_offset
    }
    expect(pages).toBeGreaterThan(1)
    return sorted(seen)
  }
  expect(await walk('list_boards', { parent_board_id: root.id, limit: 100 }, (page) => page.boards)).toEqual(
    sorted(all),
  )
  expect(
    await walk('read_board_tree', { workspace_id: own.workspaceId, limit: 200 }, (page) => page.boards),
  ).toEqual(sorted([root.id, ...all]))
  const indexed = async () =>
    (await own.api.get('/search?q=pages&kind=board&limit=500')).body.boards.items.length === 131
  await until(indexed, 'all boards are in the search index', 60_000)
  const hits = await walk(
    'search',
    { query: 'pages', kind: 'board', limit: 50 },
    (page) => page.boards.items,
    (page) => page.boards,
  )
  expect(hits).toEqual(sorted([root.id, ...all]))
})

test(
  '[MC15] an answer to 100 cards that are written or removed fits, too',
  { timeout: 120_000 },
  async () => {
    const board = await makeBoard(user)
    const agent = await openAgent(service.url, user.token)
    const cards = Array.from({ length: 100 }, () => ({
      kind: 'note',
      title: 't'.repeat(300),
      body: 'b'.repeat(5000),
    }))
    const made = await agent.does('create_cards', { board_id: board.id, cards, layout: 'grid' })
    expect(made.created).toBe(100)
    expect(JSON.stringify(made).length).toBeLessThan(60_000)
    const removed = await agent.does('delete_cards', {
      board_id: board.id,
      card_ids: made.cards.map(({ id }: { id: string }) => id),
    })
    expect(removed.deleted).toBe(100)
    expect(JSON.stringify(removed).length).toBeLessThan(60_000)
    const back = await agent.does('restore_cards', { board_id: board.id, cards: removed.cards })
    expect(back.cards).toHaveLength(100)
  },
)
