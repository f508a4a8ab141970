/** What ends is gone, from the database and from the store: after the retention, a purge, and an erasure. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { verifyBoard } from '../../collab/log/verify.ts'
import { eraseAccount } from '../../workers/upkeep/erase-account.ts'
import { endHistory } from '../../workers/upkeep/history.ts'
import { startPurge } from '../../workers/upkeep/purge.ts'
import { reclaimFiles } from '../../workers/upkeep/reclaim.ts'
import { startRetention } from '../../workers/upkeep/retention.ts'
import { verifyFiles } from '../../workers/upkeep/verify-files.ts'
import { makeBoard, makeCard, makeCards, succeeded, type Shown } from '../api/board.ts'
import { upload } from '../api/file.ts'
import { openEditor, until } from '../support/editor.ts'
import { placesOf } from '../support/secret-search.ts'
import { serviceOfFile } from '../support/test-file.ts'

const dayMs = 24 * 3_600_000
let ahead = 0
const clock = { now: () => Date.now() + ahead }
const { service, user } = await serviceOfFile({ workers: false, debounceMs: 20, clock, nodes: 1 })
const { database, files, compactor, admin } = service

const parts = {
  ...{ database, files, clock, log: service.app.log, pool: service.live.pool, auditDays: 365 },
  historyDays: { free: 30, pro: 365 },
  closeBoard: () => undefined,
  compact: (boardIds: string[]) => compactor.want(boardIds),
}
const cardsOf = (boardId: string) => `/boards/${boardId}/cards`

/** Everything that ends things, at a day from now. */
async function upkeepAt(days: number, isOver: () => Promise<boolean>): Promise<void> {
  ahead = days * dayMs
  const loops = [startRetention(parts, { intervalMs: 20 }), startPurge(parts, { intervalMs: 20 })]
  try {
    await until(
      async () => {
        await endHistory(parts)
        ahead += 3_600_000 // files are deleted some time after they were condemned
        await reclaimFiles(parts)
        return isOver()
      },
      `what ends within ${days} days is gone`,
      20_000,
    )
  } finally {
    for (const loop of loops) await loop.stop()
    ahead = 0
  }
}

test('[HI10] what was removed from a board is nowhere when its retention ends, and is there until then', async () => {
  const secret = `secret ${randomUUID()}`
  const { id } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  const key = (await upload(service, user, id)).body.image_key as string
  const [changed, removed] = await makeCards(user, id, [
    { body: secret },
    { kind: 'image', image_key: key, title: secret },
  ])
  await user.api.patch(`${cardsOf(id)}/${changed!.id}`, { body: 'harmless' })
  await compactor.compact(id)
  await makeCard(user, id, { title: 'kept' })
  await user.api.delete(`${cardsOf(id)}/${removed!.id}`)
  editor.addCard('drawn', { body: secret })
  await editor.saved()
  editor.cards.delete('drawn')
  await editor.saved()
  await service.flush(id)
  const gone = async () => (await placesOf(service, secret)).length === 0
  await upkeepAt(
    31,
    async () => (await placesOf(service, secret)).join() === 'board_documents,board_updates,history',
  )
  expect(await files.head(key)).not.toBeNull()
  await upkeepAt(366, gone)
  await upkeepAt(800, async () => (await files.head(key)) === null)
  const { cards } = succeeded(await user.api.get(cardsOf(id)))
  expect(cards.map(({ title, body }: Shown) => title ?? body).toSorted()).toEqual(['harmless', 'kept'])
  expect(await verifyBoard(database, id)).toEqual([])
  expect((await verifyFiles(database, files)).differences).toEqual([])
  editor.leave()
}, 60_000)

test('[HI11] of a board that was purged nothing is left: no history, no version, no file', async () => {
  const secret = `secret ${randomUUID()}`
  const { id } = await makeBoard(user)
  const key = (await upload(service, user, id)).body.image_key as string
  const card = await makeCard(user, id, { kind: 'image', image_key: key, title: secret })
  await user.api.post(`/boards/${id}/versions`, { name: secret })
  await compactor.compact(id)
  await user.api.patch(`${cardsOf(id)}/${card.id}`, { x: 7 })
  await user.api.delete(`/boards/${id}`)
  await upkeepAt(29, async () => (await placesOf(service, secret)).length > 3)
  await upkeepAt(31, async () => (await placesOf(service, secret)).length === 0)
  await upkeepAt(62, async () => (await files.head(key)) === null)
  expect(await admin`select from history_leftovers`).toEqual([])
  expect((await verifyFiles(database, files)).differences).toEqual([])
}, 60_000)

test('[HI12] of an erased account no name and no address is left, and no content of its own boards; its changes elsewhere are', async () => {
  const name = `Ada ${randomUUID()}`
  const ada = await service.user({ name })
  await service.member(user.workspaceId, ada, 'editor')
  const [theirs, own] = [await makeBoard(user), await makeBoard(ada)]
  const editor = await openEditor(service.url, { boardId: theirs.id, token: ada.token })
  editor.provider.setAwarenessField('user', { name })
  const cards = await makeCards(ada, theirs.id, [{ title: 'of Ada' }, { title: 'removed' }])
  await ada.api.delete(`${cardsOf(theirs.id)}/${cards[1]!.id}`)
  editor.addCard('drawn')
  await editor.saved()
  const { version } = succeeded(await ada.api.post(`/boards/${theirs.id}/versions`, { name: 'Named' }))
  const secret = `secret ${randomUUID()}`
  await makeCard(ada, own.id, { title: secret })
  await ada.api.post(`/boards/${own.id}/versions`, { name: 'Own' })
  for (const { id } of [theirs, own]) await compactor.compact(id)
  editor.leave()
  expect(await placesOf(service, name)).toEqual(['audit_operations', 'users', 'workspaces'])
  const [address] = await admin`select ip from audit_operations where user_id = ${ada.userId} limit 1`
  expect(address!['ip']).toBe('127.0.0.1')
  await eraseAccount(parts, ada.userId)
  for (const text of [name, ada.email, secret])
    expect([text, await placesOf(service, text)]).toEqual([text, []])
  expect(await admin`select from audit_operations where user_id = ${ada.userId} and ip <> ''`).toEqual([])
  expect(await admin`select from audit_operations where user_id = ${ada.userId}`).not.toEqual([])
  const { entries } = succeeded(await user.api.get(`/boards/${theirs.id}/history`))
  for (const entry of entries) {
    expect(entry.actors).toEqual([{ user_id: ada.userId, display_name: null }])
    expect(entry.summary).toMatch(/^A deleted user /)
  }
  const { cards: then } = succeeded(await user.api.get(`${cardsOf(theirs.id)}?as_of=${version.id}`))
  expect(then.map(({ id }: Shown) => id).toSorted()).toEqual([cards[0]!.id, 'drawn'].toSorted())
  expect((await verifyFiles(database, files)).differences).toEqual([])
})
