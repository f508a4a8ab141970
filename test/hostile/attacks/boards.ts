/** Attacks with large boards, many boards, and many requests. */
import type { Attack } from '../attack.ts'
import type { Attempt } from '../attempt.ts'

const manyCards = (attempt: Attempt, count: number, boardId?: string) =>
  attempt.editorCards(count, (n) => ({ title: `Scene ${n}`, body: 'A short text.' }), boardId)

const batchOfBoards = (n: number) =>
  Buffer.from(
    JSON.stringify({ boards: Array.from({ length: 500 }, (_, at) => ({ name: `Board ${n}.${at}` })) }),
  )

const emptyBoards = (attempt: Attempt, count: number) =>
  attempt.times(count / 500, (n) => attempt.make('POST', '/boards', batchOfBoards(n)), 2)

/** Sends one request repeatedly. */
const again = (
  name: string,
  sends: string,
  count: number,
  atOnce: number,
  make: (attempt: Attempt) => Promise<(n: number) => Promise<unknown>>,
  more: Partial<Attack> = {},
): Attack => ({
  name,
  point: 13,
  sends,
  expects: ['200', '201'],
  async prepare(attempt) {
    const one = await make(attempt)
    return () => attempt.times(count, one, atOnce)
  },
  ...more,
})

const layouts = ['justified', 'masonry', 'grid', 'row', 'column']

export const boardAttacks: Attack[] = [
  again(
    'arrange',
    '20 layouts of a board of 8,000 cards',
    20,
    4,
    async (attempt) => {
      await manyCards(attempt, attempt.size(8000, 2000))
      return (n) =>
        attempt.send('POST', `/boards/${attempt.boardId}/arrange`, JSON.stringify({ layout: layouts[n % 5] }))
    },
    { short: true },
  ),
  again('free-space', '40 cards without a place on a board of 8,000', 40, 8, async (attempt) => {
    await manyCards(attempt, 8000)
    return () =>
      attempt
        .send('PATCH', `/boards/${attempt.boardId}`, JSON.stringify({ name: 'x' }))
        .then(() =>
          attempt.send(
            'POST',
            `/boards/${attempt.boardId}/cards`,
            JSON.stringify({ cards: Array.from({ length: 100 }, () => ({ kind: 'note', w: 40, h: 4000 })) }),
          ),
        )
  }),
  again('export', '30 exports of a board of 8,000 cards', 30, 6, async (attempt) => {
    await manyCards(attempt, 8000)
    return (n) => attempt.send('GET', `/boards/${attempt.boardId}/export?format=${n % 2 ? 'omc' : 'json'}`)
  }),
  again('read-raw', '60 reads of 500 large cards as the canvas has them', 60, 12, async (attempt) => {
    await attempt.editorCards(attempt.size(500, 100), (n) => ({
      body: `${n} `.repeat(4000).slice(0, 15_000),
      grid: 'g'.repeat(20_000),
    }))
    return () => attempt.send('GET', `/boards/${attempt.boardId}/cards?include=raw&limit=500`)
  }),
  again('pages', '100 pages of 500 of a board of 10,000 cards', 100, 10, async (attempt) => {
    await manyCards(attempt, 10_000)
    return (n) => attempt.send('GET', `/boards/${attempt.boardId}/cards?limit=500&offset=${(n % 20) * 500}`)
  }),
  again('boards', '8 batches of 500 boards, with lists and trees', 24, 6, async (attempt) => {
    const { workspaceId } = attempt.scene.attacker
    const bodies = Array.from({ length: 8 }, (_, n) => batchOfBoards(n))
    return (n) => {
      if (n % 3 === 0) return attempt.send('POST', '/boards', bodies[n / 3]!)
      return attempt.send(
        'GET',
        n % 3 === 1 ? `/boards/tree?workspace=${workspaceId}` : '/boards?limit=500&include=props,identifiers',
      )
    }
  }),
  again(
    'empty-boards',
    '1,000 single cards of an account with 50,000 empty boards',
    1000,
    12,
    async (attempt) => {
      await emptyBoards(attempt, attempt.size(50_000, 10_000))
      const card = JSON.stringify({ kind: 'note', x: 0, y: 0 })
      return () => attempt.send('POST', `/boards/${attempt.boardId}/cards`, card)
    },
    { short: true },
  ),
  again('far-pages', '400 pages at the end of a list of 50,000 boards', 400, 40, async (attempt) => {
    const count = attempt.size(50_000, 10_000)
    await emptyBoards(attempt, count)
    return (n) => attempt.send('GET', `/boards?parent=root&limit=500&offset=${count - 500 - n}`)
  }),
  again('move-cards', '1,000 cards moved to another board and back, 10 times', 10, 1, async (attempt) => {
    const other = await attempt.newBoard()
    const card_ids = await manyCards(attempt, 1000)
    const boards = [attempt.boardId, other]
    return (n) =>
      attempt.send(
        'POST',
        `/boards/${boards[n % 2]}/cards/move`,
        JSON.stringify({ to_board_id: boards[(n + 1) % 2], card_ids }),
      )
  }),
  again('delete-restore', '90 cards deleted and posted back, 20 times', 20, 1, async (attempt) => {
    const path = `/boards/${attempt.boardId}/cards`
    const cards = Array.from({ length: 90 }, (_, n) => ({
      kind: 'note',
      title: `c${n}`,
      body: 'text '.repeat(3000),
    }))
    let made = await attempt.make('POST', path, { cards })
    return async () => {
      const removed = await attempt.send(
        'DELETE',
        path,
        JSON.stringify({ card_ids: made.cards.map(({ id }: { id: string }) => id) }),
      )
      if (removed.status !== 200) return
      const posted = await attempt.send(
        'POST',
        path,
        JSON.stringify({ cards: JSON.parse(removed.text).cards }),
      )
      if (posted.status === 201) made = JSON.parse(posted.text)
    }
  }),
  again(
    'webhooks',
    "20 webhooks on a receiver that can't be found, and 300 events",
    300,
    10,
    async (attempt) => {
      const { workspaceId } = attempt.scene.attacker
      for (let n = 0; n < 20; n++)
        await attempt.make('POST', '/webhooks', {
          workspace_id: workspaceId,
          url: `https://hook${n}.example.com/`,
          events: ['*'],
        })
      return (n) => attempt.send('PATCH', `/boards/${attempt.boardId}`, JSON.stringify({ name: `Name ${n}` }))
    },
  ),
  again('mcp-batches', '30 batches of 100 calls of tools', 30, 6, async (attempt) => {
    const call = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'search', arguments: { q: `lamp ${id}` } },
    })
    const body = Buffer.from(JSON.stringify(Array.from({ length: 100 }, (_, id) => call(id))))
    return () =>
      attempt.send('POST', '/mcp', body, { headers: { accept: 'application/json, text/event-stream' } })
  }),
  again(
    'idempotency',
    '600 writes, each with a key of its own or with the same one',
    600,
    40,
    async (attempt) => {
      return (n) =>
        attempt.send('POST', '/boards', JSON.stringify({ name: `Board ${n}` }), {
          token: attempt.scene.attacker.tokens[n % 4]!,
          headers: { 'idempotency-key': n % 2 ? `key ${n}` : 'the same' },
        })
    },
  ),
  again(
    'imports',
    "20 imports of 100 addresses that can't be fetched",
    20,
    10,
    async (attempt) => {
      const items = Array.from({ length: 100 }, (_, n) => ({
        url: `https://page${n}.example.com/`,
        title: 't'.repeat(300),
      }))
      return (n) =>
        attempt.send(
          'POST',
          `/boards/${attempt.boardId}/import`,
          JSON.stringify({ items, dry_run: n % 2 === 0 }),
        )
    },
    // An import may take 60 s, and that long where no name server answers.
    { expects: ['200', '201', 'no answer'] },
  ),
  again(
    'requests',
    '4,000 reads, 64 at once',
    4000,
    64,
    async (attempt) => () => attempt.send('GET', `/boards/${attempt.boardId}/cards?limit=500`),
  ),
  again('groups', '300 groups made, listed and removed', 300, 20, async (attempt) => async () => {
    const made = await attempt.send(
      'POST',
      `/boards/${attempt.boardId}/groups`,
      JSON.stringify({ name: 'g', shape: 'hug' }),
    )
    await attempt.send('GET', `/boards/${attempt.boardId}/groups`)
    if (made.status < 300)
      await attempt.send('DELETE', `/boards/${attempt.boardId}/groups/${JSON.parse(made.text).group?.id}`)
  }),
]
