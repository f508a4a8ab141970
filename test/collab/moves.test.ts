/** Moves against everything that can come between: other moves, other processes, editors, lost answers, held locks. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { replay, tail } from '../../collab/log/log.ts'
import { verifyBoard } from '../../collab/log/verify.ts'
import { makeBoard, makeCards } from '../api/board.ts'
import { openEditor, until } from '../support/editor.ts'
import { connectionLost } from '../support/gated-database.ts'
import { lockBoard } from '../support/held-lock.ts'
import { ApiClient } from '../support/http.ts'
import { gatedNodesOfFile } from '../support/test-file.ts'
import { cardContents } from '../support/card-contents.ts'

const { database, here, there, user } = await gatedNodesOfFile({ writeDeadlineMs: 3000 })
const elsewhere = new ApiClient(there.url, user.token)

const move = (api: ApiClient, from: string, to: string, ids: string[]) =>
  api.post(`/boards/${from}/cards/move`, { to_board_id: to, card_ids: ids })

const newBoards = async (count: number): Promise<string[]> =>
  (await Promise.all(Array.from({ length: count }, () => makeBoard(user)))).map(({ id }) => id)

const newCards = async (boardId: string, count: number): Promise<string[]> =>
  (
    await makeCards(
      user,
      boardId,
      Array.from({ length: count }, (_, n) => ({ body: `card ${n}` })),
    )
  ).map(({ id }) => id)

/** Which cards the log of a board holds. */
async function inLog(boardId: string): Promise<string[]> {
  const log = await tail(database, boardId, 0)
  const document = new Y.Doc()
  replay(document, log!)
  expect(document.store.pendingStructs).toBeNull()
  return [...cardContents(document).keys()].sort()
}

const inIndex = async (boardId: string): Promise<string[]> =>
  (
    await here.admin`select card_id from card_index where board_id = ${boardId} and deleted_at is null order by card_id`
  ).map((row) => row['card_id'] as string)

/** Every card is on one board, in log and index alike. */
async function expectEachOnce(boards: string[], cards: string[]): Promise<void> {
  for (const boardId of boards) expect(await verifyBoard(database, boardId)).toEqual([]) // waits until edits are indexed
  const logs = await Promise.all(boards.map(inLog))
  const indexes = await Promise.all(boards.map(inIndex))
  expect(logs.flat().sort()).toEqual([...cards].sort())
  expect(indexes.map((ids) => [...ids].sort())).toEqual(logs)
}

test('[CM20] two processes that move the same card to two places: one does, for the other it is not there', async () => {
  for (let round = 0; round < 15; round++) {
    const [from, to, other] = (await newBoards(3)) as [string, string, string]
    const cards = await newCards(from, 3)
    const answers = await Promise.all([
      move(user.api, from, to, [cards[0]!, cards[1]!]),
      move(elsewhere, from, other, [cards[0]!, cards[2]!]),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers.filter(({ body }) => body.not_found.includes(cards[0]))).toHaveLength(1)
    expect(answers.reduce((sum, { body }) => sum + body.moved, 0)).toBe(3)
    await expectEachOnce([from, to, other], cards)
  }
})

test('[CM21] moves in all directions between a few boards, of many cards, by two processes: all end, no card is lost or doubled', async () => {
  const boards = await newBoards(4)
  const cards = (await Promise.all(boards.map((boardId) => newCards(boardId, 5)))).flat()
  const answers = await Promise.all(
    Array.from({ length: 120 }, (_, n) => {
      const from = boards[n % 4]!
      const to = boards[(n + 1 + (Math.floor(n / 4) % 3)) % 4]!
      const ids = cards.filter((_card, at) => (at * 7 + n) % 3 === 0)
      return move(n % 2 ? user.api : elsewhere, from, to, ids)
    }),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(answers.some(({ body }) => body.moved > 0)).toBe(true)
  await expectEachOnce(boards, cards)
})

test('[CM22] words that are acknowledged before a move are in the card on the target; editing goes on there', async () => {
  const [from, to] = (await newBoards(2)) as [string, string]
  const [id] = (await newCards(from, 1)) as [string]
  for (let round = 0; round < 10; round++) {
    const [a, b] = round % 2 ? [to, from] : [from, to]
    const url = round % 3 ? here.url : there.url
    const editor = await openEditor(url, { boardId: a, token: user.token })
    await until(() => editor.cards.has(id), 'the card is there')
    const text = editor.cards.get(id)!.get('body') as Y.Text
    text.insert(0, `round${round} `)
    await editor.saved()
    text.insert(0, 'under way ')
    expect((await move(user.api, a, b, [id])).body.moved).toBe(1)
    editor.leave()
  }
  const [card] = (await user.api.get(`/boards/${from}/cards`)).body.cards
  for (let round = 0; round < 10; round++) expect(card.body).toContain(`round${round} `)
  await expectEachOnce([from, to], [id])
})

test('[CM23] a move whose answer is lost is made once, and answered right', async () => {
  const [from, to] = (await newBoards(2)) as [string, string]
  const cards = await newCards(from, 2)
  await move(user.api, from, to, ['warm'])
  database.next(async (call, commit) => {
    await commit(call)
    throw connectionLost()
  })
  expect((await move(user.api, from, to, cards)).body).toMatchObject({ moved: 2, not_found: [], renamed: {} })
  await expectEachOnce([from, to], cards)
})

test('[CM24] a board that another transaction holds holds up the move alone; past the deadline it is 503 and nothing has moved', async () => {
  const [from, to, third] = (await newBoards(3)) as [string, string, string]
  const cards = await newCards(from, 3)
  await move(user.api, from, to, ['warm'])
  for (const held of [from, to]) {
    const release = await lockBoard(here.admin, held)
    const moving = move(user.api, from, to, [cards[0]!])
    const other = await user.api.post(`/boards/${third}/cards`, { kind: 'note', x: 0, y: 0 })
    expect(other.status).toBe(201)
    const late = await moving
    expect([late.status, late.body.code]).toEqual([503, 'storage_unavailable'])
    const inTime = move(user.api, from, to, [cards[held === from ? 1 : 2]!])
    await release()
    expect((await inTime).body.moved).toBe(1)
  }
  expect(await inLog(from)).toEqual([cards[0]])
  await expectEachOnce([from, to], cards)
})

test('[CM25] a pair whose data the database cannot take fails alone, on both boards; one that is refused on one board changes neither', async () => {
  const [from, to] = (await newBoards(2)) as [string, string]
  const cards = await newCards(from, 1)
  await move(user.api, from, to, ['warm'])
  const nothing = { updates: [], used: 0, adds: 0, grows: 0, top: null, groups: [], removed: [] }
  const leases = await Promise.all([from, to].map((boardId) => here.live.documents.lease(boardId)))
  const poison = here.live.queue
    .writePair({
      account: user.userId,
      boardIds: [from, to],
      where: '',
      build: () => [
        { ...nothing, rows: [{ id: cards[0]!, gone: true }] },
        { ...nothing, rows: [{ id: 'poison', hash: 'x' }] },
      ],
    })
    .then(
      () => 'written',
      (error: { code?: string }) => error.code,
    )
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      user.api.post(`/boards/${n % 2 ? from : to}/cards`, { kind: 'note', x: n * 300, y: 900 }),
    ),
  )
  expect(await poison).toBe('internal_error')
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
  expect(await inIndex(from)).toContain(cards[0])
  // Rights that end on the target after the first look: the commit looks again.
  const outsider = await here.user()
  await here.share(from, outsider, 'editor')
  const refused = await here.live.queue
    .writePair({
      account: outsider.userId,
      boardIds: [from, to],
      where: 'to_board_id: ',
      build: () => [
        { ...nothing, rows: [{ id: cards[0]!, gone: true }] },
        { ...nothing, rows: [] },
      ],
    })
    .catch((error: { code?: string }) => error.code)
  expect(refused).toBe('not_found')
  expect(await inIndex(from)).toContain(cards[0])
  for (const lease of leases) lease.release()
  expect((await move(user.api, from, to, cards)).body.moved).toBe(1)
  await expectEachOnce([from, to], [...cards, ...answers.map(({ body }) => body.cards[0].id)])
})

test('[CM26] moves go on while both boards are written to without pause, by requests, editors and another process', async () => {
  const [from, to] = (await newBoards(2)) as [string, string]
  const cards = await newCards(from, 4)
  const editors = await Promise.all(
    [from, to].flatMap((boardId) =>
      [here.url, there.url].map((url) => openEditor(url, { boardId, token: user.token })),
    ),
  )
  const made: string[] = []
  const streaming = { over: false }
  const writers = [
    ...editors.map(async (editor, n) => {
      for (let turn = 0; !streaming.over; turn++) {
        editor.addCard(`e${n}-${turn}`, { x: n * 1000, y: turn * 200 })
        made.push(`e${n}-${turn}`)
        await editor.saved()
      }
    }),
    ...[from, to].map(async (boardId) => {
      while (!streaming.over) {
        const { body } = await user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: 0, y: 0 })
        made.push(body.cards[0].id)
      }
    }),
  ]
  for (let n = 0; n < 10; n++) {
    const [a, b] = n % 2 ? [to, from] : [from, to]
    const answer = await move(n % 3 ? user.api : elsewhere, a, b, cards)
    expect(answer.body).toMatchObject({ moved: 4 })
  }
  streaming.over = true
  await Promise.all(writers)
  for (const editor of editors) await editor.saved()
  await expectEachOnce([from, to], [...cards, ...made])
})

test('[CM27] neither moves nor other writes are put off by a stream of the others', async () => {
  const [from, to, third] = (await newBoards(3)) as [string, string, string]
  const cards = await newCards(from, 2)
  const streaming = { over: false }
  let moves = 0
  let writes = 0
  const streams = [
    ...cards.map(async (id) => {
      for (let n = 0; !streaming.over; n++) {
        const [a, b] = n % 2 ? [to, from] : [from, to]
        moves += (await move(user.api, a, b, [id])).body.moved
      }
    }),
    ...Array.from({ length: 4 }, async (_, n) => {
      while (!streaming.over) {
        const boardId = [third, from, to, third][n]!
        if (
          (await user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: n * 300, y: 500 })).status ===
          201
        )
          writes += 1
      }
    }),
  ]
  await until(() => moves >= 30 && writes >= 30, 'both go on', 20_000)
  streaming.over = true
  await Promise.all(streams)
})
