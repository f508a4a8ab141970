/**
 * Two editors, on two processes, type in the cards of two boards while the API moves, arranges, changes and deletes them.
 * `STEPS=2000 SEED=7 npm test -- test/collab/random-steps.test.ts` for more.
 */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { verifyBoard } from '../../collab/log/verify.ts'
import { layoutNames } from '../../core/layout/solve.ts'
import { makeBoard, makeCards, succeeded } from '../api/board.ts'
import { shown } from '../crash/check.ts'
import { mustSurvive, type Move, type Word } from '../crash/moved-words.ts'
import { Random } from '../crash/random.ts'
import { openEditor, until, type Editor } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { nodesOfFile } from '../support/test-file.ts'

const steps = Number(process.env['STEPS'] ?? 300)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

const { here, there, user } = await nodesOfFile()

test('[CM50] what has to survive a move is told from what need not', () => {
  const word = { text: 'w', cardId: 'c', board: 'a', typed: 5, acknowledged: 7 }
  const move = (asked: number, to = 'b') => ({ cardId: 'c', to, asked, answered: asked + 1 })
  expect(mustSurvive(word, [])).toBe(true)
  expect(mustSurvive(word, [move(8)])).toBe(true)
  expect(mustSurvive(word, [move(6)])).toBe(false)
  expect(mustSurvive(word, [move(2, 'a')])).toBe(true)
  expect(mustSurvive(word, [move(2)])).toBe(false)
  expect(mustSurvive(word, [move(1), move(3, 'a')])).toBe(true)
})

test(
  `[CM51] after ${steps} random steps all replicas are the same, no card is lost or doubled, and all words that have to be there are, once`,
  { timeout: 60_000 + steps * 200 },
  async () => {
    const random = new Random(seed)
    const boards = [(await makeBoard(user)).id, (await makeBoard(user)).id] as const
    const editors: { board: string; editor: Editor }[] = await Promise.all(
      [here.url, there.url].flatMap((url) =>
        boards.map(async (board) => ({
          board,
          editor: await openEditor(url, { boardId: board, token: user.token }),
        })),
      ),
    )
    const clients = [user.api, new ApiClient(there.url, user.token)]
    let turn = 0
    let names = 0
    const cards = new Set<string>()
    const deleted = new Set<string>()
    const words: Word[] = []
    const moves: Move[] = []
    const underWay = new Set<Promise<void>>()
    let moving: Promise<void> = Promise.resolve()
    const counts = { typed: 0, moved: 0, deleted: 0 }

    const bodyOf = (editor: Editor, id: string) => {
      const text = editor.cards.get(id)?.get('body')
      return text instanceof Y.Text ? text : null
    }
    const acknowledge = async ({ board, editor }: (typeof editors)[number]) => {
      const typedByNow = turn
      await editor.saved()
      const now = (turn += 1)
      for (const word of words)
        if (word.board === board && editorOf.get(word) === editor && word.typed <= typedByNow)
          word.acknowledged = Math.min(word.acknowledged, now)
    }
    const editorOf = new Map<Word, Editor>()
    const some = (ids: string[], most: number) => [
      ...new Set(Array.from({ length: random.between(1, most + 1) }, () => random.pick(ids))),
    ]

    const make = async (board: string, count: number) => {
      const made = await makeCards(
        user,
        board,
        Array.from({ length: count }, () => ({
          body: '',
          x: random.between(-5000, 5000),
          y: random.between(-5000, 5000),
        })),
      )
      for (const { id } of made) cards.add(id)
    }
    const type = () => {
      const { board, editor } = random.pick(editors)
      const id = random.pick([...editor.cards.keys(), ''])
      const text = bodyOf(editor, id)
      if (!text) return
      const word: Word = {
        text: `w${(names += 1)}.`,
        cardId: id,
        board,
        typed: (turn += 1),
        acknowledged: Infinity,
      }
      words.push(word)
      editorOf.set(word, editor)
      // Between words, never within one.
      const gaps = [0, ...[...text.toString().matchAll(/\./g)].map(({ index }) => index + 1)]
      text.insert(random.pick(gaps), word.text)
      counts.typed += 1
    }
    const drag = () => {
      const { editor } = random.pick(editors)
      editor.cards.get(random.pick([...editor.cards.keys(), '']))?.set('x', random.between(-5000, 5000))
    }
    const addByEditor = () => {
      const { editor } = random.pick(editors)
      const id = `made-${turn}-${cards.size}`
      editor.addCard(id, { x: random.between(-5000, 5000), y: random.between(-5000, 5000) })
      cards.add(id)
    }
    const move = async () => {
      const from = random.pick(boards)
      const to = from === boards[0] ? boards[1] : boards[0]
      const ids = some([...cards], 6)
      const asked = (turn += 1)
      const {
        moved,
        cards: there,
        not_found,
        renamed,
      } = succeeded<any>(
        await random.pick(clients).post(`/boards/${from}/cards/move`, { to_board_id: to, card_ids: ids }),
      )
      expect(renamed).toEqual({})
      expect(moved + not_found.length).toBe(ids.length)
      const answered = (turn += 1)
      for (const { id } of there) moves.push({ cardId: id, to, asked, answered })
      counts.moved += moved
    }
    const arrange = async () => {
      const body = {
        layout: random.pick(layoutNames),
        card_ids: random.chance(0.5) ? some([...cards], 8) : undefined,
      }
      succeeded(await random.pick(clients).post(`/boards/${random.pick(boards)}/arrange`, body))
    }
    const patch = async () => {
      const board = random.pick(boards)
      const api = random.pick(clients)
      const listed = succeeded<any>(await api.get(`/boards/${board}/cards?limit=500`)).cards
      if (listed.length === 0) return
      const { id, body } = random.pick<any>(listed)
      const word: Word = {
        text: `a${(names += 1)}.`,
        cardId: id,
        board,
        typed: (turn += 1),
        acknowledged: Infinity,
      }
      words.push(word)
      const asked = { id, title: `t${turn}`, body_base: body ?? '', body: `${body ?? ''}${word.text}` }
      const { not_found } = succeeded<any>(
        await api.patch(`/boards/${board}/cards`, {
          cards: [asked, { id: random.pick([...cards]), color: 'red' }],
        }),
      )
      if (!not_found.includes(id)) word.acknowledged = turn += 1
      else words.splice(words.indexOf(word), 1)
    }
    const remove = async () => {
      const answer = succeeded<any>(
        await random
          .pick(clients)
          .delete(`/boards/${random.pick(boards)}/cards`, { card_ids: some([...cards], 2) }),
      )
      for (const { id } of answer.cards) {
        expect(deleted.has(id)).toBe(false)
        deleted.add(id)
      }
      counts.deleted += answer.deleted
    }
    const inBackground = async (work: () => Promise<void>) => {
      const running = work().finally(() => underWay.delete(running))
      underWay.add(running)
      if (underWay.size >= 4) await Promise.race(underWay)
    }

    for (const board of boards) await make(board, 10)
    const begin = performance.now()
    for (let n = 0; n < steps; n++) {
      const choice = random.next()
      if (choice < 0.45) type()
      else if (choice < 0.55) drag()
      else if (choice < 0.58) addByEditor()
      else if (choice < 0.65) await acknowledge(random.pick(editors))
      else if (choice < 0.8) {
        // One after the other, so that it is known where a card is; everything else goes on meanwhile.
        await inBackground(() => (moving = moving.then(move)))
      } else if (choice < 0.85) await inBackground(arrange)
      else if (choice < 0.94) await inBackground(patch)
      else if (choice < 0.96) await inBackground(remove)
      else if (choice < 0.98) await inBackground(() => make(random.pick(boards), 2))
      else await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(underWay)
    while (counts.deleted === 0) await remove()
    for (const { editor } of editors) await editor.saved()
    const took = performance.now() - begin

    const where = `seed ${seed}, ${steps} steps in ${Math.round(took)} ms, ${JSON.stringify(counts)}`
    for (const board of boards) {
      const [one, other] = editors.filter((of) => of.board === board).map(({ editor }) => editor.document)
      await until(
        () => shown(one!) === shown(other!),
        `the replicas of a board are the same; ${where}`,
        10_000,
      )
      expect(await verifyBoard(here.database, board), where).toEqual([])
    }
    const replicas = boards.map((board) => editors.find((of) => of.board === board)!.editor)
    const onBoards = replicas.flatMap((editor) => [...editor.cards.keys()]).sort()
    expect(onBoards, where).toEqual([...cards].filter((id) => !deleted.has(id)).sort())
    const texts = new Map(
      replicas.flatMap((editor) => [...editor.cards.keys()].map((id) => [id, String(bodyOf(editor, id))])),
    )
    const served = await Promise.all(
      boards.map(
        async (board) => succeeded<any>(await user.api.get(`/boards/${board}/cards?limit=500`)).cards,
      ),
    )
    expect(new Map(served.flat().map(({ id, body }) => [id, body ?? '']))).toEqual(texts)

    const lost = words.filter(
      (word) =>
        !deleted.has(word.cardId) && mustSurvive(word, moves) && !texts.get(word.cardId)!.includes(word.text),
    )
    expect(lost, where).toEqual([])
    const everything = [...texts.values()].join('')
    const twice = words.filter(({ text }) => everything.split(text).length > 2)
    expect(twice, where).toEqual([])
    // It has to have been put to the test.
    const tested = words.filter(
      (word) => moves.some(({ cardId }) => cardId === word.cardId) && mustSurvive(word, moves),
    )
    expect(Math.min(tested.length, counts.moved, counts.deleted), where).toBeGreaterThan(0)
  },
)
