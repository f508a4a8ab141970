/** The board as it was: `as_of` on its cards and its export. */
import { expect, test } from 'vitest'
import { endHistory } from '../../workers/upkeep/history.ts'
import { shareBoard } from '../../sql/accounts/accounts.ts'
import { openEditor, until } from '../support/editor.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, makeCards, succeeded, type Shown } from './board.ts'

const dayMs = 24 * 3_600_000
let ahead = 0
const clock = { now: () => Date.now() + ahead }
const { service, user } = await serviceOfFile({ workers: false, debounceMs: 20, clock, nodes: 1 })
const { compactor, admin } = service

const cardsPath = (boardId: string) => `/boards/${boardId}/cards`
const listed = async (boardId: string, query: string) =>
  succeeded(await user.api.get(`${cardsPath(boardId)}?include=props,identifiers,raw&${query}`))
/** Cards without what the index knows of the newest moment only. */
const plain = (cards: Shown[]) => cards.map((card) => ({ ...card, updated_at: undefined }))
const exported = async (boardId: string, query = '') => {
  const answer = succeeded(await user.api.get(`/boards/${boardId}/export?${query}`))
  return { groups: answer.groups, cards: plain(answer.cards) }
}

test('[HP1, HP2] as_of shows each position as the board was then: cards and export, from the log and from segments', async () => {
  const { id } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  const states: { position: number; at: number; cards: Shown[]; whole: unknown }[] = []
  const note = async () => {
    await service.flush(id)
    const { cards } = await listed(id, '')
    const [head] = await admin<{ seq: number }[]>`select seq from board_documents where board_id = ${id}`
    states.push({ position: head!.seq, at: Date.now(), cards: plain(cards), whole: await exported(id) })
    await until(() => Date.now() > states.at(-1)!.at, 'the next change has a later time')
  }
  await note()
  const made = await makeCards(user, id, [{ title: 'A', body: 'one', props: { a: 1 } }, { title: 'B' }])
  await note()
  editor.addCard('of-an-editor', { title: 'E', grid: { rows: [1, 2] } })
  await editor.saved()
  await note()
  await compactor.compact(id)
  await user.api.patch(`${cardsPath(id)}/${made[0]!.id}`, { body: 'one two', color: '#ff0000' })
  await note()
  await user.api.delete(`${cardsPath(id)}/${made[1]!.id}`)
  await note()
  const { group } = succeeded(await user.api.post(`/boards/${id}/groups`, { name: 'Group' }))
  await user.api.patch(`${cardsPath(id)}/${made[0]!.id}`, { group_id: group.id })
  await note()
  await compactor.compact(id)
  await makeCard(user, id, { title: 'Last' })
  await note()
  for (const { position, at, cards, whole } of states) {
    for (const moment of [String(position), new Date(at).toISOString()]) {
      const past = await listed(id, `as_of=${moment}`)
      expect([moment, plain(past.cards)]).toEqual([moment, cards])
      expect(past).toMatchObject({ total: cards.length, as_of: { position } })
      expect([moment, await exported(id, `as_of=${moment}`)]).toEqual([moment, whole])
    }
  }
  const [page] = (await listed(id, `as_of=${states[3]!.position}&limit=1&offset=1`)).cards
  expect(page.id).toBe(states[3]!.cards[1]!.id)
  editor.leave()
})

test('[HP3] a moment that is not kept is 404 and names the first one that is; a bad moment is 400', async () => {
  const owner = await service.user({ tier: 'free' })
  const board = await makeBoard(owner)
  const path = cardsPath(board.id)
  const first = new Date(board['created_at'])
  const before = await owner.api.get(`${path}?as_of=${new Date(first.getTime() - 1000).toISOString()}`)
  expect([before.status, before.body.code]).toEqual([404, 'not_found'])
  expect(before.body.error).toContain(first.toISOString())
  expect((await owner.api.get(`${path}?as_of=${first.toISOString()}`)).body.cards).toEqual([])
  expect((await owner.api.get(`${path}?as_of=7`)).body.error).toContain('The newest one is 0.')
  for (const query of [
    'as_of=yesterday',
    'as_of=-1',
    'as_of=1.5',
    'as_of=1&source=index',
    'as_of=1&cursor=x',
  ])
    expect([query, (await owner.api.get(`${path}?${query}`)).status]).toEqual([query, 400])
  await admin`update boards set created_at = created_at - interval '40 days' where id = ${board.id}`
  for (const title of ['A', 'B']) {
    await makeCard(owner, board.id, { title })
    // The first card was made 20 days before the second one.
    if (title === 'A')
      await admin`update board_updates set created_at = created_at - interval '20 days' where board_id = ${board.id}`
    await compactor.compact(board.id)
  }
  ahead = 15 * dayMs
  try {
    for (const ended of [false, true]) {
      if (ended)
        await endHistory({
          ...{ database: service.database, files: service.files, clock, log: service.app.log },
          ...{ pool: service.live.pool, historyDays: { free: 30, pro: 365 }, compact: () => undefined },
        })
      const cutoff = new Date(clock.now() - 30 * dayMs)
      const gone = await owner.api.get(`${path}?as_of=0`)
      expect([ended, gone.status]).toEqual([ended, 404])
      expect(
        Math.abs(Date.parse(/one is (\S+)\./.exec(gone.body.error)![1]!) - cutoff.getTime()),
      ).toBeLessThan(5000)
      const kept = succeeded(
        await owner.api.get(`${path}?as_of=${new Date(cutoff.getTime() + 5000).toISOString()}`),
      )
      expect(kept.cards.map(({ title }: Shown) => title)).toEqual(['A'])
      expect(kept.as_of.position).toBe(1)
    }
  } finally {
    ahead = 0
  }
})

test('[HP4] members see all of the past, a guest none, or that since the history was shared', async () => {
  const { id } = await makeBoard(user)
  await makeCard(user, id, { title: 'Secret' })
  const [viewer, guest, stranger] = [await service.user(), await service.user(), await service.user()]
  await service.member(user.workspaceId, viewer, 'viewer')
  await service.share(id, guest, 'editor')
  const asked = async (who: typeof user, query: string) => [
    (await who.api.get(`${cardsPath(id)}?${query}`)).status,
    (await who.api.get(`/boards/${id}/export?${query}`)).status,
  ]
  expect(await asked(user, 'as_of=1')).toEqual([200, 200])
  expect(await asked(viewer, 'as_of=1')).toEqual([200, 200])
  expect(await asked(guest, 'as_of=1')).toEqual([403, 403])
  expect(await asked(guest, 'limit=1')).toEqual([200, 200])
  expect(await asked(stranger, 'as_of=1')).toEqual([404, 404])
  await user.api.patch(cardsPath(id), {
    cards: [{ id: (await listed(id, '')).cards[0].id, title: 'Public' }],
  })
  await service.database.asSystem((tx) =>
    shareBoard(tx, { boardId: id, userId: guest.userId, role: 'editor', history: true }),
  )
  await makeCard(user, id, { title: 'Later' })
  expect(await asked(guest, 'as_of=1')).toEqual([404, 404])
  expect(await asked(guest, 'as_of=2')).toEqual([200, 200])
  expect(await asked(guest, 'as_of=3')).toEqual([200, 200])
  const atOnce = new Date(Date.now() - 60_000).toISOString()
  expect(await asked(guest, `as_of=${atOnce}`)).toEqual([404, 404])
  await compactor.compact(id)
  expect(await asked(guest, 'as_of=1')).toEqual([404, 404])
  expect(await asked(guest, 'as_of=2')).toEqual([200, 200])
  await service.member(user.workspaceId, viewer, 'none')
  expect(await asked(viewer, 'as_of=1')).toEqual([404, 404])
})
