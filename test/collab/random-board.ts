/** A board that three actors change at random: an editor, another person through the API, and an agent. */
import { expect } from 'vitest'
import * as Y from 'yjs'
import { makeBoard, succeeded, type Shown } from '../api/board.ts'
import { Random } from '../crash/random.ts'
import { openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import type { TestService, TestUser } from '../support/service.ts'
import { serves, type Site } from '../support/site.ts'

export const kinds = [
  ...['draw', 'type', 'drag', 'erase', 'create', 'patch', 'delete', 'move', 'return', 'arrange', 'import'],
  ...['group', 'ungroup', 'compact', 'restore', 'undo'],
] as const
export type Kind = string

type Raw = Record<string, unknown>
export interface State {
  cards: Record<string, Raw>
  groups: Record<string, Raw>
}

/** What one step did. */
export interface Step {
  kind: Kind
  actor: string
  /** A time before it, after all earlier steps. */
  since: string
  before: State
  after: State
  position: number
}

export interface RandomBoard {
  id: string
  actors: string[]
  steps: Step[]
  /** Cards that were ever moved. */
  moved: Set<string>
  take(kind: Kind, seed: number): Promise<void>
  stateAt(query: string): Promise<State>
  leave(): void
}

export async function makeRandomBoard(
  service: TestService,
  user: TestUser,
  site: Site,
): Promise<RandomBoard> {
  const other = await service.user()
  await service.member(user.workspaceId, other, 'editor')
  const account = { workspace_id: user.workspaceId, name: 'Robot', scopes: ['read', 'write', 'delete'] }
  const made = succeeded(await user.api.post('/service-accounts', account))
  const robot = { id: made.service_account.id as string, api: new ApiClient(service.url, made.access_token) }
  const [{ id }, elsewhere] = [await makeBoard(user), await makeBoard(user)]
  const path = `/boards/${id}/cards`
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  const steps: Step[] = []
  const moved = new Set<string>()
  let dice = new Random(0)
  let names = 0
  const random = (most: number) => dice.between(0, most)
  const someCard = () => [...editor.cards.keys()].toSorted()[random(Math.max(1, editor.cards.size))] ?? 'none'
  const someGroup = () => [...editor.groups.keys()].toSorted()[random(Math.max(1, editor.groups.size))]
  const move = async (api: ApiClient, from: string, to: string, card: string) => {
    const { cards } = succeeded<any>(
      await api.post(`/boards/${from}/cards/move`, { to_board_id: to, card_ids: [card] }),
    )
    for (const one of cards) moved.add(one.id)
  }
  const bodyOf = (card: Y.Map<unknown> | undefined) => {
    const body = card?.get('body')
    return body instanceof Y.Text ? body : null
  }

  const byEditor: Record<string, () => void> = {
    draw() {
      const card = editor.addCard(`e${(names += 1)}`, { title: `t ${random(100)}`, extra: { n: random(9) } })
      if (dice.chance(0.5)) return
      const text = new Y.XmlText()
      const content = new Y.XmlFragment()
      card.set('content', content)
      content.insert(0, [text])
      text.insert(0, `rich ${random(9)}`, { bold: true })
    },
    type() {
      const body = bodyOf(editor.cards.get(someCard()))
      if (body && dice.chance(0.3)) body.delete(0, random(body.length + 1))
      body?.insert(random(body.length + 1), `w${random(10)} `)
    },
    drag() {
      const card = editor.cards.get(someCard())
      card?.set('x', random(1000))
      if (dice.chance(0.3)) card?.set('extra', { n: random(9) })
      if (dice.chance(0.1)) card?.delete('content')
    },
    erase: () => editor.cards.delete(someCard()),
  }
  const byApi: Record<string, (api: ApiClient) => Promise<unknown>> = {
    create: (api) => {
      const card = { kind: 'note', title: `a ${random(100)}`, body: 'one two', x: random(99), y: 2 }
      return api.post(path, { cards: [{ ...card, group_id: someGroup() }, card] })
    },
    patch: (api) => {
      const fields = [
        { title: `p ${random(100)}`, props: { n: random(9) } },
        { body: `b ${random(100)}`, color: '#ff0000' },
        { group_id: someGroup() ?? null },
        { y: random(99), html: `<b>${random(9)}</b>` },
      ]
      return api.patch(path, {
        cards: [someCard(), someCard()].map((card) => ({ id: card, ...dice.pick(fields) })),
      })
    },
    delete: (api) => api.delete(path, { card_ids: [someCard(), someCard()] }),
    move: (api) => move(api, id, elsewhere.id, someCard()),
    async return(api) {
      const { cards } = succeeded<any>(await api.get(`/boards/${elsewhere.id}/cards?limit=50`))
      if (cards.length > 0) await move(api, elsewhere.id, id, dice.pick<Shown>(cards).id)
    },
    arrange: (api) =>
      api.post(`/boards/${id}/arrange`, { layout: 'grid', card_ids: [someCard(), someCard()] }),
    import: (api) => {
      const page = `/${(names += 1)}`
      site.pages.set(page, serves(`<title>Page ${names}</title>`, 'text/html'))
      return api.post(`/boards/${id}/import`, { items: [{ url: site.url + page, x: 0, y: 0 }] })
    },
    group: (api) => api.post(`/boards/${id}/groups`, { name: `g ${random(100)}` }),
    ungroup: (api) => api.delete(`/boards/${id}/groups/${someGroup() ?? 'none'}`),
  }

  const stateAt = async (query: string): Promise<State> => {
    const exported = succeeded<any>(await user.api.get(`/boards/${id}/export?${query}`))
    const byId = (list: Shown[], of: (one: Shown) => Raw) =>
      Object.fromEntries(list.map((one) => [one.id, of(one)]))
    return {
      cards: byId(exported.cards, ({ raw }) => raw),
      groups: byId(exported.groups, ({ card_count: _count, ...group }) => group),
    }
  }
  const positionNow = async (): Promise<number> => {
    const [head] = await service.admin<
      { seq: number }[]
    >`select seq from board_documents where board_id = ${id}`
    return head!.seq
  }

  const board: RandomBoard = {
    ...{ id, steps, moved, stateAt },
    actors: [user.userId, other.userId, robot.id],
    async take(kind, seed) {
      dice = new Random(seed)
      const since = await nextMoment()
      const before = steps.at(-1)?.after ?? (await stateAt(''))
      const [actor, api] = dice.pick([
        [other.userId, other.api],
        [robot.id, robot.api],
      ] as const)
      if (kind in byEditor) {
        editor.document.transact(() => byEditor[kind]!())
        await editor.saved()
      } else if (kind === 'compact') await service.compactor.compact(id)
      else if (kind === 'restore') await restoreSome(board, { api, dice, before })
      else if (kind === 'undo') await undoSome(board, { api, dice, before })
      else await byApi[kind]!(api)
      const after = await stateAt('')
      steps.push({
        kind,
        actor: kind in byEditor ? user.userId : actor,
        since,
        before,
        after,
        position: await positionNow(),
      })
      const isShown = () =>
        editor.cards.size === Object.keys(after.cards).length &&
        editor.groups.size === Object.keys(after.groups).length
      await until(isShown, 'the editor has the step')
    },
    leave: () => editor.leave(),
  }
  return board
}

async function nextMoment(): Promise<string> {
  const now = Date.now()
  await until(() => Date.now() > now + 1, 'the clock goes on')
  return new Date(now + 1).toISOString()
}

interface Going {
  api: ApiClient
  dice: Random
  before: State
}

/** Restores a random moment, and compares the board with what it was then. */
async function restoreSome(
  { id, steps, moved, stateAt }: RandomBoard,
  { api, dice, before }: Going,
): Promise<void> {
  if (steps.length === 0) return
  const then = dice.pick(steps)
  const cards = [...new Set([...Object.keys(then.after.cards), ...Object.keys(before.cards)])].toSorted()
  const some = dice.chance(0.3) && cards.length > 0 ? [dice.pick(cards), dice.pick(cards)] : undefined
  const asked = { as_of: String(then.position), ...(some ? { card_ids: [...new Set(some)] } : {}) }
  const { skipped } = succeeded<any>(await api.post(`/boards/${id}/restore-to`, asked))
  const expected = structuredClone(some ? before : then.after)
  const left = new Set<string>(skipped.map((one: Shown) => one.id))
  for (const card of some?.filter((one) => !left.has(one)) ?? []) {
    delete expected.cards[card]
    const was = then.after.cards[card]
    if (!was) continue
    expected.cards[card] = was
    const group = was['group_id'] as string | undefined
    if (group !== undefined && then.after.groups[group] && !expected.groups[group])
      expected.groups[group] = then.after.groups[group]
  }
  for (const card of left) {
    if (!moved.has(card)) throw new Error(`${card} was never moved`)
    delete expected.cards[card]
    const stays = before.cards[card]
    if (!stays) continue
    expected.cards[card] = stays
    const group = stays['group_id'] as string | undefined
    if (group !== undefined && before.groups[group]) expected.groups[group] ??= before.groups[group]
  }
  same(await stateAt(''), expected, `restored to ${then.position}`)
}

/** Undoes an actor's changes of a random span, and compares the board with a board without them. */
async function undoSome(
  { id, steps, actors, moved, stateAt }: RandomBoard,
  { api, dice, before }: Going,
): Promise<void> {
  if (steps.length === 0) return
  const from = Math.max(0, steps.length - 1 - dice.between(0, 30))
  const actor = dice.pick(actors)
  const undone = await api.post(`/boards/${id}/undo`, { actor, since: steps[from]!.since })
  // Of an actor who has changed nothing since. Otherwise what follows finds the changes.
  if (undone.status !== 404) succeeded(undone)
  const now = await stateAt('')
  const start = steps[from]!.before
  for (const what of ['cards', 'groups'] as const) {
    const touched = touchedBy(steps.slice(from), what, actor)
    for (const one of new Set([
      ...Object.keys(now[what]),
      ...Object.keys(before[what]),
      ...Object.keys(start[what]),
    ])) {
      if (moved.has(one)) continue
      const [by, was, is] = [touched.get(one), start[what][one], now[what][one]]
      if (!by?.own)
        same(unlinked(is, now), unlinked(before[what][one], now), `undo left ${what} ${one} of others`)
      else if (!by.others) {
        // A group that was made stays while cards of others are in it.
        if (what === 'groups' && !was && is) continue
        same(unlinked(is, now), unlinked(was, now), `undo of ${what} ${one}`)
      } else if (is && was && before[what][one] && !by.cameOrWent) {
        for (const [field, { own, others }] of by.fields) {
          if (own && others) continue
          const expected = own ? was : before[what][one]!
          for (const name of namesOf(field))
            same(unlinked(is, now)?.[name], unlinked(expected, now)?.[name], `undo of ${name} of ${one}`)
        }
      }
    }
  }
}

interface Touch {
  own: boolean
  others: boolean
}

/** The forms of a text count as one field. */
const words = ['body', 'html', 'content']
const fieldOf = (name: string) => (words.includes(name) ? 'words' : name)
const namesOf = (field: string) => (field === 'words' ? words : [field])

/** Who changed which objects and fields: the actor, or others. */
function touchedBy(steps: Step[], what: 'cards' | 'groups', actor: string) {
  const touched = new Map<string, Touch & { cameOrWent: boolean; fields: Map<string, Touch> }>()
  for (const step of steps) {
    const whose = step.actor === actor ? 'own' : 'others'
    const [before, after] = [step.before[what], step.after[what]]
    for (const one of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [was = {}, is = {}] = [before[one], after[one]]
      const names = [...new Set([...Object.keys(was), ...Object.keys(is)])]
      const changed = names.filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]))
      if (changed.length === 0) continue
      const nobody = () => ({ own: false, others: false })
      const touch = touched.getOrInsertComputed(one, () => ({
        ...nobody(),
        cameOrWent: false,
        fields: new Map(),
      }))
      touch[whose] = true
      touch.cameOrWent ||= !before[one] || !after[one]
      for (const name of changed) touch.fields.getOrInsertComputed(fieldOf(name), nobody)[whose] = true
    }
  }
  return touched
}

/** A card does not come back into a group that is gone. */
function unlinked(card: Raw | undefined, { groups }: State): Raw | undefined {
  if (!card || typeof card['group_id'] !== 'string' || groups[card['group_id']]) return card
  const { group_id: _gone, ...rest } = card
  return rest
}

export function same(is: unknown, expected: unknown, what: string): void {
  if (canonical(is) !== canonical(expected)) expect(is, what).toEqual(expected)
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? 'undefined'
