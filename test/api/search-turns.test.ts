/** Searches of several accounts at once: they take turns, and no other request waits for them. */
import { expect, test } from 'vitest'
import { until } from '../support/editor.ts'
import { holdLock } from '../support/held-lock.ts'
import type { TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCards, succeeded } from './board.ts'
import { searchesBy } from './searching.ts'

const { service, user } = await serviceOfFile({ workers: false })

const { find, cardIds, boardIds } = searchesBy(user)

/** Searches wait for the index until the returned function is called. */
async function lockIndex(): Promise<() => Promise<void>> {
  const release = await holdLock(service.admin, (tx) => tx`lock table search_index in access exclusive mode`)
  let released: Promise<void> | null = null
  return () => (released ??= release())
}

/** The number of searches that wait for the index. */
const running = async () =>
  (
    await service.admin`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and query like '%from search(%'`
  ).length

test('[Q15] searches that take long keep no other request waiting, and are cut off with 503', async () => {
  const board = await makeBoard(user, { name: 'Basanite' })
  await makeCards(user, board.id, [{ title: 'basanite' }])
  expect(await cardIds('basanite')).toHaveLength(1)
  const release = await lockIndex()
  const searches = Array.from({ length: 30 }, () => user.api.get('/search?q=basanite'))
  try {
    await until(async () => (await running()) > 0, 'searches wait')
    for (let n = 0; n < 15; n++) succeeded(await user.api.get(`/boards/${board.id}`))
    const count = await running()
    expect(count).toBeGreaterThan(0)
    expect(count).toBeLessThanOrEqual(4)
    const answers = await Promise.all(searches.slice(0, 4))
    for (const { status, body } of answers)
      expect([status, (body as any).code]).toEqual([503, 'storage_unavailable'])
  } finally {
    await release()
  }
  for (const { status } of await Promise.all(searches)) expect([200, 503]).toContain(status)
  expect(await cardIds('basanite')).toHaveLength(1)
}, 60_000)

test("[Q24] a search waits for the words of the account's own workspaces, and less for those of others", async () => {
  const [owner, member, guest] = [await service.user(), await service.user(), await service.user()]
  const board = await makeBoard(owner, { name: 'Dolerite' })
  await service.member(owner.workspaceId, member, 'viewer')
  await service.share(board.id, guest, 'viewer')
  await makeBoard(owner, { name: 'Dolerite' })
  const pending = (who: TestUser) => service.admin<{ kind: string; boards: number }[]>`
    select kind, count(*)::integer as boards
    from search(${who.userId}, true, true, 'dolerite', '{dolerite}', null, 2000, 100, 0, true) where what = 'pending' group by kind`
  expect([...(await pending(owner))]).toEqual([{ kind: 'own', boards: 2 }])
  expect([...(await pending(member))]).toEqual([{ kind: 'other', boards: 2 }])
  expect([...(await pending(guest))]).toEqual([{ kind: 'other', boards: 1 }])
  expect(await boardIds('dolerite', '', guest)).toEqual([board.id])
  expect(await boardIds('dolerite', '', member)).toHaveLength(2)
})

test('[Q25] an account that sends many searches has two connections at most; another searches meanwhile', async () => {
  const [flooding, other] = [await service.user(), await service.user()]
  await find('basalt', '', flooding)
  await find('basalt', '', other)
  const release = await lockIndex()
  const flood = Array.from({ length: 50 }, () => flooding.api.get('/search?q=basalt'))
  try {
    await until(async () => (await running()) === 2, 'two searches of the account run')
    const refused = await Promise.race(flood)
    expect([refused.status, refused.body['code']]).toEqual([503, 'storage_unavailable'])
    expect(refused.body['error']).toMatch(/Too many searches are waiting/)
    const search = find('basalt', '', other)
    await until(async () => (await running()) === 3, 'the search of the other account runs')
    await release()
    await search
  } finally {
    await release()
  }
  const statuses = (await Promise.all(flood)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThanOrEqual(16)
  expect(statuses.filter((status) => status !== 503 && status !== 200)).toEqual([])
}, 60_000)
