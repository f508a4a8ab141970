/** Named versions: moments of a board that are kept until they are deleted. */
import { expect, test } from 'vitest'
import { limits } from '../../core/limits.ts'
import { verifyBoard } from '../../collab/log/verify.ts'
import { shareBoard } from '../../sql/accounts/accounts.ts'
import { eraseAccount } from '../../workers/upkeep/erase-account.ts'
import { endHistory } from '../../workers/upkeep/history.ts'
import { purgeBoard } from '../../workers/upkeep/purge.ts'
import { reclaimFiles } from '../../workers/upkeep/reclaim.ts'
import { verifyFiles } from '../../workers/upkeep/verify-files.ts'
import { openEditor } from '../support/editor.ts'
import type { TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, makeCards, nowhere, succeeded, type Shown } from './board.ts'
import { upload } from './file.ts'

const dayMs = 24 * 3_600_000
let ahead = 0
const clock = { now: () => Date.now() + ahead }
const { service, user } = await serviceOfFile({ workers: false, debounceMs: 20, clock, nodes: 1 })
const { database, files, compactor, admin } = service

const parts = () => ({
  ...{ database, files, clock, log: service.app.log, pool: service.live.pool },
  ...{ historyDays: { free: 30, pro: 365 }, compact: (boardIds: string[]) => compactor.want(boardIds) },
})
const versionsPath = (boardId: string) => `/boards/${boardId}/versions`
const nameIt = async (who: TestUser, boardId: string, body: Record<string, unknown>): Promise<Shown> =>
  succeeded(await who.api.post(versionsPath(boardId), body)).version
const titlesAt = async (who: TestUser, boardId: string, asOf: string) =>
  succeeded(await who.api.get(`/boards/${boardId}/cards?as_of=${asOf}`)).cards.map(
    ({ title }: Shown) => title,
  )
const stored = async (boardId: string) => {
  const keys: string[] = []
  for await (const { key } of files.list()) if (key.startsWith(`history/${boardId}/`)) keys.push(key)
  return keys
}

test('[HV1] a version names the board as it is or was, and its id is a moment; it is listed, renamed and deleted', async () => {
  const { id } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  const [card] = await makeCards(user, id, [{ title: 'A' }])
  editor.addCard('drawn', { title: 'B', grid: { rows: [1, 2] } })
  await editor.saved()
  const both = await nameIt(user, id, { name: '  Both  ' })
  expect(both).toMatchObject({
    board_id: id,
    name: 'Both',
    position: 2,
    created_by: { user_id: user.userId },
  })
  const exportOf = async (query: string) => {
    const { groups, cards } = succeeded(await user.api.get(`/boards/${id}/export?${query}`))
    return { groups, cards: cards.map((one: Shown) => ({ ...one, updated_at: null })) }
  }
  const before = await exportOf('')
  await compactor.compact(id)
  await user.api.delete(`/boards/${id}/cards/${card!.id}`)
  const first = await nameIt(user, id, { name: 'First', as_of: '1' })
  const now = await nameIt(user, id, { name: 'Now' })
  // The clock of a client may be ahead by some seconds.
  const inMs = (ms: number) => ({ name: 'Late', as_of: new Date(clock.now() + ms).toISOString() })
  const late = await nameIt(user, id, inMs(30_000))
  expect(Date.parse(late.at)).toBeLessThanOrEqual(clock.now())
  for (const ahead of [90_000, dayMs]) {
    const refused = await user.api.post(versionsPath(id), inMs(ahead))
    expect([refused.status, refused.body.code]).toEqual([400, 'bad_request'])
    expect(refused.body.error).toBe(
      'as_of must not be in the future. To name the board as it is now, leave it out.',
    )
  }
  expect([first.position, now.position, now.changed_at !== null]).toEqual([1, 3, true])
  expect(await exportOf(`as_of=${both.id}`)).toEqual(before)
  expect(await titlesAt(user, id, first.id)).toEqual(['A'])
  expect(await titlesAt(user, id, now.id)).toEqual(['B'])
  const diff = succeeded(await user.api.get(`/boards/${id}/diff?from=${first.id}&to=${both.id}`))
  expect(diff.cards).toMatchObject([{ id: 'drawn', change: 'added' }])
  const listed: Shown[] = []
  for (let cursor = ''; ;) {
    const page = succeeded(await user.api.get(`${versionsPath(id)}?limit=2${cursor}`))
    listed.push(...page.versions)
    if (!page.has_more) break
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
  expect(listed.map(({ name }) => name)).toEqual(['Late', 'Now', 'Both', 'First'])
  expect(listed[2]).toEqual(both)
  const renamed = succeeded(await user.api.patch(`${versionsPath(id)}/${both.id}`, { name: 'Old' }))
  expect(renamed.version).toEqual({ ...both, name: 'Old' })
  for (const one of listed) succeeded(await user.api.delete(`${versionsPath(id)}/${one.id}`))
  expect((await user.api.get(`/boards/${id}/cards?as_of=${both.id}`)).status).toBe(404)
  expect((await user.api.patch(`${versionsPath(id)}/${both.id}`, { name: 'Old' })).status).toBe(404)
  const other = await makeBoard(user)
  const there = await nameIt(user, other.id, { name: 'There' })
  expect((await user.api.get(`/boards/${id}/cards?as_of=${there.id}`)).status).toBe(404)
  expect((await user.api.delete(`${versionsPath(id)}/${there.id}`)).status).toBe(404)
  for (const body of [{}, { name: ' ' }, { name: 'x'.repeat(201) }, { name: 'x', as_of: 'soon' }])
    expect((await user.api.post(versionsPath(id), body)).status).toBe(400)
  expect((await user.api.post(versionsPath(id), { name: 'x', as_of: '99' })).status).toBe(404)
  expect((await user.api.get(`${versionsPath(id)}?cursor=${nowhere}`)).status).toBe(400)
  editor.leave()
})

test('[HV2] a version outlives the retention with the files that its cards name; deleted, both are gone', async () => {
  const owner = await service.user()
  const { id } = await makeBoard(owner)
  const key = (await upload(service, owner, id)).body.image_key as string
  const card = await makeCard(owner, id, { kind: 'image', image_key: key, title: 'Photo' })
  const version = await nameIt(owner, id, { name: 'With the photo' })
  await owner.api.delete(`/boards/${id}/cards/${card.id}`)
  await compactor.compact(id)
  const used = async () => succeeded(await owner.api.get('/me')).documents.history
  const before = await used()
  const upkeep = async () => {
    for (let round = 0; round < 2; round++) {
      await endHistory(parts())
      await admin`delete from removed_cards where board_id = ${id}`
      await reclaimFiles(parts())
      ahead += 3_600_000
    }
  }
  try {
    for (const days of [366, 800, 1200]) {
      ahead = days * dayMs
      await upkeep()
    }
    expect(await stored(id)).toHaveLength(1)
    expect(await used()).toBeLessThan(before)
    expect(await used()).toBeGreaterThan(0)
    expect((await owner.api.get(`/boards/${id}/cards?as_of=${version.position}`)).status).toBe(404)
    expect(await titlesAt(owner, id, version.id)).toEqual(['Photo'])
    expect((await owner.api.get(`/images/${key}`)).status).toBe(200)
    expect(await verifyBoard(database, id)).toEqual([])
    expect((await verifyFiles(database, files)).differences).toEqual([])
    succeeded(await owner.api.delete(`${versionsPath(id)}/${version.id}`))
    expect(await used()).toBe(0)
    for (const days of [1300, 1340]) {
      ahead = days * dayMs
      await upkeep()
    }
    expect(await stored(id)).toEqual([])
    expect(await files.head(key)).toBeNull()
    expect(await admin`select from version_files`).toEqual([])
    expect((await verifyFiles(database, files)).differences).toEqual([])
  } finally {
    ahead = 0
  }
})

test('[HV3] a guest with the history sees the versions since then and names some; others get 403', async () => {
  const { id } = await makeBoard(user)
  await makeCard(user, id, { title: 'Secret' })
  const old = await nameIt(user, id, { name: 'Old' })
  const guest = await service.user()
  await service.share(id, guest, 'editor')
  expect((await guest.api.get(versionsPath(id))).status).toBe(403)
  expect((await guest.api.post(versionsPath(id), { name: 'Mine' })).status).toBe(403)
  await database.asSystem((tx) =>
    shareBoard(tx, { boardId: id, userId: guest.userId, role: 'editor', history: true }),
  )
  const mine = await nameIt(guest, id, { name: 'Mine' })
  expect(mine.at > old.at).toBe(true)
  const named = (await guest.api.get(versionsPath(id))).body.versions
  expect(named.map(({ name }: Shown) => name)).toEqual(['Mine'])
  expect(await titlesAt(guest, id, mine.id)).toEqual(['Secret'])
  expect((await guest.api.get(`/boards/${id}/cards?as_of=${old.id}`)).status).toBe(404)
  expect((await guest.api.delete(`${versionsPath(id)}/${old.id}`)).status).toBe(404)
  expect((await guest.api.post(versionsPath(id), { name: 'Before', as_of: '0' })).status).toBe(404)
  const [counted] = await admin<{ bytes: string }[]>`
    select bytes from guest_bytes where user_id = ${guest.userId}`
  expect(Number(counted!.bytes)).toBeGreaterThan(0)
  succeeded(await guest.api.delete(`${versionsPath(id)}/${mine.id}`))
  await database.asSystem((tx) =>
    shareBoard(tx, { boardId: id, userId: guest.userId, role: 'viewer', history: true }),
  )
  expect((await guest.api.post(versionsPath(id), { name: 'Mine' })).status).toBe(403)
})

test('[HV4] versions count in the quota; a full one, or 1,000 on a board, is 402; the purge deletes them, an erased account leaves its id', async () => {
  const owner = await service.user()
  const colleague = await service.user()
  await service.member(owner.workspaceId, colleague, 'editor')
  const { id } = await makeBoard(owner)
  await makeCards(owner, id, [{ body: 'word '.repeat(1000) }])
  const { documents: before } = succeeded(await owner.api.get('/me'))
  await nameIt(colleague, id, { name: 'Colleague' })
  const { documents } = succeeded(await owner.api.get('/me'))
  expect(documents.history).toBeGreaterThan(0)
  expect(documents.used - before.used).toBe(documents.history)
  await admin`
    update board_documents set history_bytes = history_bytes + 200::bigint * 1024 * 1024 * 1024 where board_id = ${id}`
  expect((await owner.api.post(versionsPath(id), { name: 'More' })).body).toMatchObject({
    code: 'limit_reached',
  })
  expect(await verifyBoard(database, id)).toMatchObject([{ what: 'count', id: 'history_bytes' }])
  await admin`
    update board_documents set history_bytes = history_bytes - 200::bigint * 1024 * 1024 * 1024 where board_id = ${id}`
  await admin`
    insert into board_versions (board_id, workspace_id, name, position, at, key, bytes, created_by)
    select ${id}, ${owner.workspaceId}, 'Many', 1, now(), 'history/' || n, 0, ${owner.userId}
    from generate_series(2, ${limits.versionsPerBoard}::integer) n`
  expect((await owner.api.post(versionsPath(id), { name: 'More' })).body).toMatchObject({
    code: 'limit_reached',
  })
  await admin`delete from board_versions where name = 'Many'`
  await eraseAccount(parts(), colleague.userId)
  const { versions } = succeeded(await owner.api.get(versionsPath(id)))
  expect(versions[0].created_by).toEqual({ user_id: colleague.userId, display_name: null })
  await owner.api.delete(`/boards/${id}`)
  await purgeBoard({ database, closeBoard: () => undefined }, id, new Date(clock.now() + dayMs))
  expect(await admin`select from board_versions where board_id = ${id}`).toEqual([])
  await endHistory(parts())
  expect(await stored(id)).toEqual([])
})
