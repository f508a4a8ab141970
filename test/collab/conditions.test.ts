import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { buildChecked, buildUnchanged } from '../../collab/boards/conditions.ts'
import { atOnce } from '../../platform/work/loop-turn.ts'
import { makeBoard, makeCard, succeeded } from '../api/board.ts'
import { openEditor } from '../support/editor.ts'
import { mainThreadMs } from '../support/cpu-time.ts'
import { nodesOfFile } from '../support/test-file.ts'

const { here, there, user } = await nodesOfFile({ workers: false })
const elsewhere = await there.token(user, {})
const sides = [user, elsewhere]

/**
 * Lets 50 writers change the object under the version that all have read, and returns the name that won. Each writer
 * sees the version by its own node.
 */
async function round(path: string, name: 'card' | 'board', field: string, number: number): Promise<string> {
  const { version } = succeeded(await sides[number % 2]!.api.get(path))[name]
  const writers = Array.from({ length: 50 }, (_, n) => `${number} by ${n}`)
  const answers = await Promise.all(
    writers.map((value, n) =>
      sides[n % 2]!.api.send<any>('PATCH', path, { [field]: value }, { 'if-match': `"${version}"` }),
    ),
  )
  const won = writers.filter((_, n) => answers[n]!.status === 200)
  expect(won).toHaveLength(1)
  const lost = answers.filter(({ status }) => status === 412)
  expect(lost).toHaveLength(49)
  for (const { body } of lost) expect(body[name][field]).toBe(won[0])
  return won[0]!
}

test('[CV7] of 50 writers on two nodes exactly one changes a card in each round, and no change that won is lost', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id)
  const path = `/boards/${id}/cards/${card.id}`
  const editor = await openEditor(there.url, { boardId: id, token: user.token })
  const shown: unknown[] = []
  const titles = editor.cards.get(card.id)!
  titles.observe(() => shown.push(titles.get('title')))
  const winners: string[] = []
  for (let n = 0; n < 4; n++) winners.push(await round(path, 'card', 'title', n))
  await expect.poll(() => shown).toEqual(winners)
  expect(succeeded(await user.api.get(path)).card.title).toBe(winners.at(-1))
})

test('[CV7] of 50 writers on two nodes exactly one changes a board', async () => {
  const { id } = await makeBoard(user)
  for (let n = 0; n < 3; n++) {
    const winner = await round(`/boards/${id}`, 'board', 'name', n)
    expect(succeeded(await user.api.get(`/boards/${id}`)).board.name).toBe(winner)
  }
})

test('[CV7] a counter that 20 writers raise under its version counts each of them', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id, { props: { count: 0 } })
  const path = `/boards/${id}/cards/${card.id}`
  const raise = async (by: typeof user) => {
    let seen = card
    for (;;) {
      const props = { count: seen['props'].count + 1 }
      const sent = await by.api.send<any>('PATCH', path, { props }, { 'if-match': `"${seen['version']}"` })
      if (sent.status === 200) return
      expect(sent.status).toBe(412)
      seen = sent.body.card
    }
  }
  await Promise.all(Array.from({ length: 20 }, (_, n) => raise(sides[n % 2]!)))
  expect(succeeded(await user.api.get(path)).card.props).toEqual({ count: 20 })
})

test('[CV8] what an editor changes on either node ends the version that was read before', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id, { title: 'A' })
  const path = `/boards/${id}/cards/${card.id}`
  for (const [n, node] of [here, there].entries()) {
    const editor = await openEditor(node.url, { boardId: id, token: user.token })
    for (const [m, { api }] of sides.entries()) {
      const read = succeeded(await api.get(path)).card
      const title = `typed ${n} ${m}`
      editor.cards.get(card.id)!.set('title', title)
      await editor.saved()
      const refused = await api.send<any>('PATCH', path, { x: 7 }, { 'if-match': `"${read.version}"` })
      expect([refused.status, refused.body.card.title]).toEqual([412, title])
      const written = { cards: [{ id: card.id, x: n + m, if_version: refused.body.card.version }] }
      expect(succeeded(await api.patch(`/boards/${id}/cards`, written)).cards).toMatchObject([{ title }])
    }
    editor.leave()
  }
})

test('[CV8] a card that an editor changes while a long write is built is checked again', async () => {
  const { id } = await makeBoard(user)
  const [first, second] = [await makeCard(user, id), await makeCard(user, id)]
  const editor = await openEditor(here.url, { boardId: id, token: user.token })
  const { document } = editor
  const conditions = [first, second].map(({ id, version }) => ({
    id,
    expects: (one: string) => one === version,
  }))
  const build = function* (refused: ReadonlySet<string>) {
    yield
    return { left: conditions.map(({ id }) => id).filter((id) => !refused.has(id)) }
  }
  const begin = (steps: number) => {
    const building = buildChecked(document, conditions, build)
    for (let n = 0; n < steps; n++) expect(building.next().done).toBe(false)
    return building
  }
  const end = (building: ReturnType<typeof begin>) => {
    for (;;) {
      const { done, value } = building.next()
      if (done) return { left: value.left, conflicts: value.conflicts.map(({ id }) => id) }
    }
  }
  const others = begin(3)
  editor.addCard('other')
  expect(end(others)).toEqual({ left: [first.id, second.id], conflicts: [] })
  const isFirst = { left: [second.id], conflicts: [first.id] }
  for (const title of ['changed', 'changed again']) {
    const disturbed = [1, 2, 3].map(begin)
    editor.cards.get(first.id)!.set('title', title)
    for (const building of disturbed) expect(end(building)).toEqual(isFirst)
  }
  editor.cards.delete(second.id)
  expect(end(begin(3))).toEqual({ left: [], conflicts: [first.id] })
})

test('[CV10] a write whose cards are edited each time that it is built is refused in the end', () => {
  const document = new Y.Doc()
  const cards = document.getMap<Y.Map<unknown>>('cards')
  for (const id of ['held', 'other']) cards.set(id, new Y.Map())
  const building = (edited: string) =>
    buildUnchanged(document, new Set(['held']), function* () {
      yield
      cards.get(edited)!.set('title', 'typed')
      return 'built'
    })
  expect(atOnce(building('other'))).toBe('built')
  expect(() => atOnce(building('held'))).toThrow('Somebody is editing these cards. Try again shortly.')
})

test('[CV10] an edit of a large rich text costs no more while a write is built', () => {
  const document = new Y.Doc()
  const card = document.getMap<Y.Map<unknown>>('cards').set('a', new Y.Map())
  const content = card.set('content', new Y.XmlFragment())
  content.insert(
    0,
    Array.from({ length: 60_000 }, () => new Y.XmlElement('p')),
  )
  const last = content.toArray().slice(-300) as Y.XmlElement[]
  const building = buildUnchanged(document, new Set(['b']), function* () {
    yield
  })
  building.next()
  const edit = () => document.transact(() => last.forEach((element) => element.setAttribute('a', 'b')))
  expect(mainThreadMs(edit)).toBeLessThan(50)
})
