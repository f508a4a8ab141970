/**
 * People type without pause on one node, so almost every commit of the board comes from there. Meanwhile another node builds
 * writes on the board.
 */
import { expect, test } from 'vitest'
import { verifyBoard } from '../../collab/log/verify.ts'
import { listCards, makeBoard, makeCards, succeeded } from '../api/board.ts'
import { overlaps, places, scattered } from '../api/layout.ts'
import { openEditor, until, type Editor } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startNode } from '../support/node-process.ts'
import { gatedNodesOfFile } from '../support/test-file.ts'

const { testDatabase, database, here, there, user } = await gatedNodesOfFile()
const fromThere = new ApiClient(there.url, user.token)

const withinMs = 8000

/** A board with cards, and editors on the other node who type into the first ones until `stop`. */
async function typedOn(cardCount: number) {
  const { id: boardId } = await makeBoard(user)
  const cards = await makeCards(user, boardId, scattered(cardCount))
  const editors = await Promise.all(
    Array.from({ length: 4 }, () => openEditor(there.url, { boardId, token: user.token })),
  )
  const stopped = new AbortController()
  const typed: string[] = []
  const type = async (editor: Editor, who: number) => {
    const body = editor.cards.get(cards[who]!.id)!.get('body') as { insert(at: number, text: string): void }
    for (let n = 0; !stopped.signal.aborted; n++) {
      body.insert(0, `${'abcd'[who]}${n} `)
      typed.push(`${'abcd'[who]}${n}`)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
  const typing = editors.map(type)
  await until(() => typed.length > 40, 'all of them type')
  const stop = async () => {
    stopped.abort()
    await Promise.all(typing)
    await Promise.all(editors.map((editor) => editor.saved()))
    const bodies = (await listCards(user, boardId)).map(({ body }) => body as string).join(' ')
    const found = new Set(bodies.match(/\b[abcd]\d+\b/g))
    expect(typed.filter((word) => !found.has(word))).toEqual([])
    await until(async () => (await verifyBoard(here.database, boardId)).length === 0, 'the index is right')
  }
  return { boardId, cards, stop }
}

/** The longest time between two commits of a board. */
async function longestPauseMs(boardId: string): Promise<number> {
  const [row] = await here.admin<{ ms: number }[]>`
    select (max(extract(epoch from pause)) * 1000)::float as ms
    from (select created_at - lag(created_at) over (order by seq) as pause from board_updates where board_id = ${boardId}) p`
  return row!.ms
}

async function timed<T>(work: Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const result = await work
  expect(performance.now() - startedAt).toBeLessThan(withinMs)
  return result
}

test('[N5] what is built on the board succeeds while editors of another node type without pause', async () => {
  const { boardId, cards, stop } = await typedOn(500)
  await openEditor(here.url, { boardId, token: user.token })
  const path = `/boards/${boardId}`
  const arranged = succeeded(await timed(user.api.post(`${path}/arrange`, { layout: 'grid' })))
  expect(arranged.cards).toHaveLength(500)
  const placed = succeeded(
    await timed(user.api.post(`${path}/cards`, { layout: 'masonry', cards: scattered(100) })),
  ).cards
  expect(overlaps(placed, arranged.cards)).toEqual([])
  const patches = cards.slice(0, 200).map(({ id }) => ({ id, title: 'changed' }))
  expect(succeeded(await timed(user.api.patch(`${path}/cards`, { cards: patches }))).updated).toBe(200)
  const target = await makeBoard(user)
  const card_ids = cards.slice(100, 200).map(({ id }) => id)
  const move = user.api.post(`${path}/cards/move`, { to_board_id: target.id, card_ids })
  expect(succeeded(await timed(move)).moved).toBe(100)
  const last = succeeded(await timed(user.api.post(`${path}/arrange`, { layout: 'row' }))).cards
  const byId = new Map(places(await listCards(user, boardId)).map((place) => [place.id, place]))
  for (const place of last) expect(byId.get(place.id)).toEqual(place)
  await stop()
  expect(await longestPauseMs(boardId)).toBeLessThan(3000)
}, 60_000)

test('[N6] moves in both directions between two boards, on two nodes, while editors type on both', async () => {
  const [one, two] = [await typedOn(30), await typedOn(30)]
  const ids = ({ cards }: typeof one) => cards.slice(10).map(({ id }) => id)
  const move = async (api: ApiClient, from: typeof one, to: typeof one) => {
    for (const id of ids(from).slice(0, 6))
      succeeded(
        await timed(
          api.post(`/boards/${from.boardId}/cards/move`, { to_board_id: to.boardId, card_ids: [id] }),
        ),
      )
  }
  await Promise.all([
    move(user.api, one, two),
    move(user.api, two, one),
    move(fromThere, one, two),
    move(fromThere, two, one),
  ])
  await Promise.all([one.stop(), two.stop()])
}, 60_000)

test('[N7] a board that a node has reserved before it hangs takes the commits of others after two seconds', async () => {
  const { boardId, stop } = await typedOn(300)
  let reservedAt = 0
  for (let n = 0; n < 100; n++)
    database.next(async (call, commit) => {
      const answer = await commit(call)
      if (reservedAt > 0 || !JSON.stringify(answer).includes('"reserved"')) return answer
      reservedAt = performance.now()
      database.hold()
      return answer
    })
  // One that is not overtaken does not reserve the board.
  const arrange = () => user.api.post(`/boards/${boardId}/arrange`, { layout: 'grid' })
  let arranging = arrange()
  const next = () => void (reservedAt === 0 && (arranging = arrange().finally(next)))
  void arranging.finally(next)
  await until(() => reservedAt > 0, 'a write has reserved the board', 20_000)
  await stop()
  expect(performance.now() - reservedAt).toBeGreaterThan(1500)
  expect(await longestPauseMs(boardId)).toBeLessThan(4000)
  database.release()
  expect([200, 503]).toContain((await arranging).status)
})

test('[N7] a reservation that would last longer than two seconds counts as none', async () => {
  const { id: boardId } = await makeBoard(user)
  await here.admin`
    update board_documents
    set reserved_by = gen_random_uuid(), reserved_until = clock_timestamp() + interval '1 hour'
    where board_id = ${boardId}`
  const startedAt = performance.now()
  await makeCards(user, boardId, [{}])
  expect(performance.now() - startedAt).toBeLessThan(1500)
})

test('[N8] a node that stops while editors of another node type on its boards ends in time, and its edits are indexed', async () => {
  const { boardId, cards, stop } = await typedOn(20)
  const leaving = await startNode(testDatabase.url)
  const editor = await openEditor(leaving.url, { boardId, token: user.token, reconnect: false })
  const cardId = cards[10]!.id
  editor.cards.get(cardId)!.set('title', 'its last edit')
  await editor.saved()
  const leftAt = performance.now()
  leaving.signal('SIGTERM')
  expect((await leaving.ended).code).toBe(0)
  expect(performance.now() - leftAt).toBeLessThan(5000)
  const [row] = await here.admin<{ title: string }[]>`
    select title from card_index where board_id = ${boardId} and card_id = ${cardId}`
  expect(row!.title).toBe('its last edit')
  await stop()
})
