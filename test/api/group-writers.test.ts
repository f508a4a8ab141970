/** Groups that editors, programs and processes write at the same time. */
import { afterAll, expect, test } from 'vitest'
import type * as Y from 'yjs'
import { verifyBoard } from '../../collab/log/verify.ts'
import { layoutNames } from '../../core/layout/solve.ts'
import { openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { listCards, makeBoard, makeCard, type Shown } from './board.ts'
import { groupsOf, groupsPath, shared } from './group.ts'

const { service, user } = await serviceOfFile({ workers: false })
/** Another process on the same database. */
const second = await startService({ testDatabase: service.testDatabase, workers: false })
afterAll(() => second.stop())

const { makeGroup, listGroups } = groupsOf(user)

test('[U10] a group that was made a moment ago takes cards, also by another process, whatever that has in memory', async () => {
  const there = new ApiClient(second.url, user.token)
  for (const warm of [false, true]) {
    const board = await makeBoard(user)
    const card = await makeCard(user, board.id)
    if (warm) await there.get(`/boards/${board.id}/cards`)
    for (let n = 0; n < 10; n++) {
      const group = await makeGroup(board.id)
      const answer =
        n % 2
          ? await there.patch(`/boards/${board.id}/cards/${card.id}`, { group_id: group.id })
          : await there.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0, group_id: group.id })
      expect([warm, n, answer.status]).toEqual([warm, n, n % 2 ? 200 : 201])
    }
    if (!warm) continue
    const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
    editor.groups.set('typed', shared({ name: 'Typed' }))
    await editor.saved()
    expect(
      (await there.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0, group_id: 'typed' })).status,
    ).toBe(201)
  }
})

test('[U11] cards that are written into a group while it is removed are in none afterwards, with one process and with two', async () => {
  const clients = [service, second].map(({ url }) => new ApiClient(url, user.token))
  const outcomes = new Set<number>()
  for (let round = 0; round < 16; round++) {
    const board = await makeBoard(user)
    const [card, group] = [await makeCard(user, board.id), await makeGroup(board.id)]
    const path = `/boards/${board.id}/cards`
    if (round % 4 === 3) await openEditor(service.url, { boardId: board.id, token: user.token })
    const create = (client: ApiClient, fields = {}) =>
      client.post(path, { kind: 'note', group_id: group.id, ...fields })
    const answers = await Promise.all([
      create(clients[round % 2]!, { x: 0, y: 0 }),
      create(clients[1]!, { x: 0, y: 0 }),
      create(clients[0]!),
      clients[(round + 1) % 2]!.delete(`${groupsPath(board.id)}/${group.id}`),
      clients[1]!.patch(`${path}/${card.id}`, { group_id: group.id }),
      create(clients[0]!, { x: 0, y: 0 }),
    ])
    for (const { status } of answers) outcomes.add(status)
    expect(answers[3]!.status).toBe(200)
    const { cards } = (await clients[0]!.get(path)).body
    expect(cards.filter((card: Shown) => card['group_id'] !== undefined)).toEqual([])
    const written = answers.filter(({ status }) => status === 201).length
    expect(cards).toHaveLength(1 + written)
  }
  expect(outcomes).toEqual(new Set([200, 201, 400]))
})

test('[U13] random steps of two editors and the API on groups, cards and layouts converge, and the index is right', async () => {
  for (let round = 0; round < 4; round++) {
    const board = await makeBoard(user)
    const editors = await Promise.all(
      [0, 1].map(() => openEditor(service.url, { boardId: board.id, token: user.token })),
    )
    let seed = 1 + round * 7919
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
    const any = <One>(of: One[]): One | undefined => of[random(Math.max(1, of.length))]
    const path = `/boards/${board.id}`
    for (let step = 0; step < 40; step++) {
      const editor = editors[random(2)]!
      const cards = [...editor.cards.keys()]
      const groups = [...editor.groups.keys()]
      const [card, group] = [any(cards), any(groups)]
      const steps: (() => unknown)[] = [
        () =>
          editor.addCard(`e${round}-${step}`, {
            x: random(3000),
            y: random(3000),
            body: `w${step}`,
            ...(group ? { group_id: group } : {}),
          }),
        () => card && editor.cards.get(card)!.set('x', random(3000)),
        () => card && (editor.cards.get(card)!.get('body') as Y.Text).insert(0, `w${step} `),
        () => editor.groups.set(`g${step}`, shared({ name: `g${step}` })),
        () => group && editor.groups.get(group)!.set('name', `renamed ${step}`),
        () => user.api.post(`${path}/groups`, { name: `api ${step}` }),
        () => group && user.api.patch(`${path}/groups/${group}`, { name: `api ${step}`, color: 'red' }),
        () => group && user.api.delete(`${path}/groups/${group}`),
        () =>
          user.api.post(`${path}/cards`, {
            cards: [{ kind: 'note' }, { kind: 'image', w: 400, h: 100 }],
            layout: any([...layoutNames]),
          }),
        () => user.api.post(`${path}/arrange`, { layout: any([...layoutNames]) }),
        () =>
          cards.length > 0 &&
          user.api.post(`${path}/arrange`, { layout: 'grid', card_ids: cards.slice(0, 5) }),
        () => card && user.api.patch(`${path}/cards/${card}`, { group_id: group ?? null }),
      ]
      const pending = [
        steps[random(steps.length)]!(),
        steps[random(steps.length)]!(),
        steps[random(steps.length)]!(),
      ]
      for (const answer of await Promise.all(pending)) {
        const status = (answer as { status?: number } | undefined)?.status
        if (status !== undefined) expect([200, 201, 400, 404]).toContain(status)
      }
    }
    await Promise.all(editors.map((editor) => editor.saved()))
    const state = ({ cards, groups }: (typeof editors)[number]) =>
      JSON.stringify([cards.toJSON(), groups.toJSON()].map(sorted))
    await until(() => state(editors[0]!) === state(editors[1]!), 'both editors show the same')
    const listed = await listCards(user, board.id)
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(editors[0]!.cards.keys()))
    expect(new Set((await listGroups(board.id)).map(({ id }) => id))).toEqual(
      new Set(editors[0]!.groups.keys()),
    )
    await service.flush(board.id)
    expect(await verifyBoard(service.database, board.id)).toEqual([])
    for (const editor of editors) editor.leave()
  }
})

const sorted = (value: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, inner]) => [id, Object.entries(inner as object).sort(([a], [b]) => (a < b ? -1 : 1))]),
  )
