/**
 * Random edits, writes, moves and compactions, with a copy of the board after each step.
 * `HISTORY_STEPS=2000 npm test -- test/collab/history-random.test.ts` takes more steps.
 */
import { expect, test } from 'vitest'
import type * as Y from 'yjs'
import { verifyBoard } from '../../collab/log/verify.ts'
import { makeBoard, succeeded, type Shown } from '../api/board.ts'
import { Random } from '../crash/random.ts'
import { openEditor, until } from '../support/editor.ts'
import { serviceOfFile } from '../support/test-file.ts'

const steps = Number(process.env['HISTORY_STEPS'] ?? 60)
const seed = Number(process.env['HISTORY_SEED'] ?? Date.now() % 1_000_000)
const { service, user } = await serviceOfFile({ workers: false, debounceMs: 20, nodes: 1 })

const rawOf = (cards: Shown[]) =>
  Object.fromEntries(cards.map(({ id, raw }) => [id, raw]).toSorted(([a], [b]) => (a < b ? -1 : 1)))

test(
  `[HP6] after ${steps} random steps as_of of each position is what the board was (seed ${seed})`,
  async () => {
    const dice = new Random(seed)
    const random = (most: number) => dice.between(0, most)
    const { id } = await makeBoard(user)
    const other = await makeBoard(user)
    const path = `/boards/${id}/cards`
    const editor = await openEditor(service.url, { boardId: id, token: user.token })
    const cardsAt = async (query: string) => {
      const cards: Shown[] = []
      for (let offset = 0; ;) {
        const page = succeeded(await user.api.get(`${path}?include=raw&limit=200&offset=${offset}&${query}`))
        cards.push(...page.cards)
        if (!page.has_more) return rawOf(cards)
        offset = page.next_offset
      }
    }
    const someId = () => [...editor.cards.keys()][random(Math.max(1, editor.cards.size))]
    const kinds: (() => Promise<unknown>)[] = [
      async () => {
        editor.addCard(`e${random(1e6)}`, { title: `t ${random(100)}`, extra: { n: random(9) } })
        await editor.saved()
      },
      async () => {
        const card = editor.cards.get(someId() ?? '')
        card?.set('x', random(1000))
        const body = card?.get('body') as Y.Text | undefined
        if (body && 'insert' in body) body.insert(random(body.length + 1), `w${random(10)} `)
        await editor.saved()
      },
      async () => {
        const one = someId()
        if (one) editor.cards.delete(one)
        await editor.saved()
      },
      () =>
        user.api.post(path, {
          cards: [{ kind: 'note', title: `a ${random(100)}`, body: 'one two', x: 1, y: 2 }],
        }),
      () =>
        user.api.patch(`${path}/${someId() ?? 'none'}`, {
          title: `p ${random(100)}`,
          props: { n: random(9) },
        }),
      () => user.api.delete(path, { card_ids: [someId() ?? 'none'] }),
      () => user.api.post(`${path}/move`, { to_board_id: other.id, card_ids: [someId() ?? 'none'] }),
      () => user.api.post(`/boards/${id}/arrange`, { layout: 'grid' }),
      () => service.compactor.compact(id),
    ]
    const states = new Map<number, unknown>()
    for (let n = 0; n < steps; n++) {
      await kinds[random(kinds.length)]!()
      const [head] = await service.admin<
        { seq: number }[]
      >`select seq from board_documents where board_id = ${id}`
      const now = await cardsAt('')
      states.set(head!.seq, now)
      await until(() => editor.cards.size === Object.keys(now).length, 'the editor has the step')
    }
    expect(states.size).toBeGreaterThan(steps / 3)
    for (const [position, state] of states)
      expect([position, await cardsAt(`as_of=${position}`)]).toEqual([position, state])
    await service.compactor.compact(id)
    for (const [position, state] of states)
      expect([position, await cardsAt(`as_of=${position}`)]).toEqual([position, state])
    expect(await verifyBoard(service.database, id)).toEqual([])
    editor.leave()
  },
  60_000 + steps * 1000,
)
