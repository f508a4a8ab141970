/** What the events of a card tell, by their order and by their times, when editors and requests change it in turn. */
import { expect, test } from 'vitest'
import type { ServiceEvent } from '../../core/events.ts'
import { takeApiEvents, takeAppEvents } from '../../workers/deliveries/take-events.ts'
import { makeBoard } from '../api/board.ts'
import { Random } from '../crash/random.ts'
import { openEditor, until } from '../support/editor.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ workers: false, debounceMs: 60_000, nodes: 1 })
const { database } = service

async function openBoard() {
  const { id } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  /** Indexes what the editor has done, so that its events are in the outbox. */
  const edit = async (change: () => void) => {
    change()
    await editor.saved()
    await service.live.queue.flush(id)
  }
  const add = (card: string) => edit(() => void editor.addCard(card, { title: card }))
  const remove = (card: string) => edit(() => editor.cards.delete(card))
  const change = (card: string) => edit(() => editor.cards.get(card)!.set('title', crypto.randomUUID()))
  const path = `/boards/${id}/cards`
  return { id, editor, add, remove, change, path }
}

const ofRequests = () => database.asSystem(async (tx) => (await takeApiEvents(tx, 1000)).events)
const ofEditors = () => database.asSystem(async (tx) => (await takeAppEvents(tx, 0)).events)

/** What somebody who goes by these events takes for the cards of a board. */
function mirror(events: readonly ServiceEvent[], boardId: string): string[] {
  const cards = new Set<string>()
  for (const { type, boardId: board, data } of events) {
    const ids = (data as { card_ids?: string[] }).card_ids ?? []
    const isHere = board === boardId && type !== 'card.deleted'
    for (const card of ids) cards[isHere ? 'add' : 'delete'](card)
  }
  return [...cards].toSorted()
}

const byTime = (events: readonly ServiceEvent[]) =>
  events.toSorted((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())

const told = (events: readonly ServiceEvent[]) =>
  events.map(({ type, data }) => `${type} ${((data as { card_ids?: string[] }).card_ids ?? []).join()}`)

function expectTrue(events: readonly ServiceEvent[], boardId: string, cards: string[], by = ''): void {
  for (const ordered of [events, byTime(events)])
    expect(mirror(ordered, boardId), by + told(ordered).join('; ')).toEqual(cards)
}

test('[W85] a card that an editor adds later does not take an earlier one, which is removed, past its removal', async () => {
  const { id, add, remove, change } = await openBoard()
  await ofRequests()
  await add('one')
  await change('one')
  await remove('one')
  await add('two')
  await change('two')
  const events = await ofEditors()
  expect(told(events)).toEqual([
    'card.created one',
    'card.updated one',
    'card.deleted one',
    'card.created two',
    'card.updated two',
  ])
  expectTrue(events, id, ['two'])
})

test('[W85] what does not contradict is one event of each type, also with changes and removals of other cards between', async () => {
  const { add, change, remove } = await openBoard()
  await ofRequests()
  await add('gone')
  await ofEditors()
  for (const card of ['one', 'two', 'three']) {
    await add(card)
    await change(card)
  }
  await remove('gone')
  await add('four')
  await change('one')
  expect(told(await ofEditors())).toEqual([
    'card.deleted gone',
    'card.created one,two,three,four',
    'card.updated one,two,three',
  ])
})

test('[W86] a request that contradicts what an editor did before takes that along; the rest waits', async () => {
  const { id, add, path } = await openBoard()
  const other = await openBoard()
  await ofRequests()
  await other.add('elsewhere')
  await add('one')
  await add('two')
  await user.api.patch(`${path}/one`, { title: 'Changed' })
  expect(told(await ofRequests())).toEqual(['card.updated one'])
  await user.api.delete(`${path}/one`)
  await add('three')
  const first = await ofRequests()
  expect(told(first)).toEqual(['card.created one', 'card.deleted one'])
  const rest = await ofEditors()
  expect(told(rest)).toEqual(['card.created elsewhere', 'card.created two,three'])
  expectTrue([...first, ...rest], id, ['three', 'two'])
})

test('[W86] what is due is taken up to the oldest request that waits, so no stream of requests holds it up', async () => {
  const { id, add, path } = await openBoard()
  await ofRequests()
  await add('one')
  await user.api.delete(`${path}/one`)
  await add('two')
  const first = await ofEditors()
  expect(told(first)).toEqual(['card.created one'])
  expect(await ofEditors()).toEqual([])
  const second = await ofRequests()
  expect(told(second)).toEqual(['card.deleted one'])
  expectTrue([...first, ...second, ...(await ofEditors())], id, ['two'])
})

test('[W85, W86] after any changes by editors and requests, events in any batches tell which cards are on a board', async () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e6))
  const random = new Random(seed)
  const [here, there] = [await openBoard(), await openBoard()]
  const events: ServiceEvent[] = []
  for (let step = 0; step < 80; step++) {
    const card = random.pick(['one', 'two', 'three', 'four', 'five'])
    const boards = random.chance(0.5) ? [here, there] : [there, here]
    const on = boards.find(({ editor }) => editor.cards.has(card))
    const kind = random.between(0, 6)
    if (kind === 0) events.push(...(await (random.chance(0.3) ? ofEditors() : ofRequests())))
    else if (!on) await boards[0]!.add(card)
    else if (kind === 1) await on.remove(card)
    else if (kind === 2) await on.change(card)
    else if (kind === 3) await user.api.patch(`${on.path}/${card}`, { title: `Step ${step}` })
    else if (kind === 4) await user.api.delete(`${on.path}/${card}`)
    else {
      const to = on === here ? there : here
      await user.api.post(`${on.path}/move`, { card_ids: [card], to_board_id: to.id })
      await until(() => to.editor.cards.has(card), 'it has come')
    }
    if (on && kind >= 4) await until(() => !on.editor.cards.has(card), 'it has gone')
  }
  events.push(...(await ofRequests()), ...(await ofEditors()))
  for (const { id } of [here, there]) {
    const { cards } = (await user.api.get(`/boards/${id}/cards`)).body
    expectTrue(events, id, cards.map((one: { id: string }) => one.id).toSorted(), `seed ${seed}: `)
  }
}, 60_000)
