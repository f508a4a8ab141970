/** Removing the past of a card for good. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as Y from 'yjs'
import { rewrites } from '../../collab/history/expunge.ts'
import { withPast } from '../../collab/history/past.ts'
import { claimVersionFile, insertVersion, writeVersionFile } from '../../collab/history/versions.ts'
import { verifyBoard } from '../../collab/log/verify.ts'
import { endHistory } from '../../workers/upkeep/history.ts'
import { reclaimFiles } from '../../workers/upkeep/reclaim.ts'
import { verifyFiles } from '../../workers/upkeep/verify-files.ts'
import { openEditor, until } from '../support/editor.ts'
import { placesOf } from '../support/secret-search.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, makeCards, succeeded, type Shown } from './board.ts'
import { upload } from './file.ts'

let ahead = 0
const clock = { now: () => Date.now() + ahead }
const { service, user } = await serviceOfFile({ workers: false, debounceMs: 20, clock })
const { database, files, compactor, admin } = service
const dayMs = 24 * 3_600_000

const pathOf = (boardId: string) => `/boards/${boardId}/cards`
const expunge = (boardId: string, cardId: string) => user.api.delete(`${pathOf(boardId)}/${cardId}/history`)
const cardsAt = async (boardId: string, moment: string | number): Promise<Shown[]> => {
  const { cards } = succeeded(
    await user.api.get(`${pathOf(boardId)}?include=props,identifiers,raw&limit=500&as_of=${moment}`),
  )
  return cards.map((card: Shown) => ({ ...card, updated_at: null }))
}
const cardNow = async (boardId: string, id: string) =>
  succeeded(await user.api.get(`${pathOf(boardId)}/${id}?include=props,identifiers,raw`)).card
const seqOf = async (boardId: string) =>
  Number((await admin`select seq from board_documents where board_id = ${boardId}`)[0]!['seq'])

test('[HX1, HX2] the past of a card is nowhere; the card, its editors and all other cards of all moments are as they were', async () => {
  const secret = `password ${randomUUID()}`
  const { id } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  const [card, other] = await makeCards(user, id, [
    { title: 'One' },
    { title: 'Other', body: 'b'.repeat(300) },
  ])
  const write = (body: object) => user.api.patch(`${pathOf(id)}/${card!.id}`, body)
  await write({ body: secret, props: { [secret]: secret }, url: `https://a.test/?${secret.slice(9)}` })
  await until(() => editor.cards.has(card!.id), 'the editor has the card')
  const content = new Y.XmlFragment()
  const paragraph = new Y.XmlElement('p')
  paragraph.insert(0, [new Y.XmlText(secret)])
  content.insert(0, [paragraph])
  editor.cards.get(card!.id)!.set('content', content)
  await editor.saved()
  const version = succeeded(await user.api.post(`/boards/${id}/versions`, { name: 'Leaked' })).version
  await compactor.compact(id)
  for (let n = 0; n < 3; n++) {
    await user.api.patch(`${pathOf(id)}/${other!.id}`, { body: String(n).repeat(400) })
    await compactor.compact(id) // bases with the secret
  }
  editor.document.transact(() => {
    content.delete(0, 1)
    editor.cards.get(card!.id)!.delete('content')
  })
  await editor.saved()
  await write({ body: 'harmless', props: null, url: null, title: 'Two' })
  await user.api.delete(`${pathOf(id)}/${other!.id}`)
  await service.flush(id)
  const before = await placesOf(service, secret)
  expect(before).toEqual(['board_documents', 'history'])
  const seq = await seqOf(id)
  const past: Shown[][] = []
  for (let at = 0; at <= seq; at++) past.push(await cardsAt(id, at))
  const now = await cardNow(id, card!.id)

  const answer = await expunge(id, card!.id)
  expect([answer.status, answer.body]).toEqual([
    200,
    { deleted: true, board_id: id, card_id: card!.id, other_board_ids: [] },
  ])
  expect(await placesOf(service, secret)).toEqual([])
  expect(await cardNow(id, card!.id)).toEqual(now)
  const without = (cards: Shown[]) => cards.filter((one) => one.id !== card!.id)
  const holds = async () => {
    for (const [at, cards] of past.entries())
      expect([at, await cardsAt(id, at)]).toEqual([at, at === seq ? cards : without(cards)])
    expect(await verifyBoard(database, id)).toEqual([])
    expect((await verifyFiles(database, files)).differences).toEqual([])
  }
  await holds()
  expect(without(past[version.position]!)).toEqual(await cardsAt(id, version.id))
  const { entries } = succeeded(await user.api.get(`${pathOf(id)}/${card!.id}/history`))
  expect(entries).toEqual([])
  editor.cards.get(card!.id)!.set('title', 'Three')
  editor.addCard('later')
  await editor.saved()
  await compactor.compact(id)
  await holds()
  const late = await openEditor(service.url, { boardId: id, token: user.token })
  expect(late.cards.toJSON()).toEqual(editor.cards.toJSON())
  expect(late.cards.get(card!.id)!.get('title')).toBe('Three')
  const titles = (await cardsAt(id, seq + 1)).map(({ title }) => title)
  expect(titles).toContain('Three')
  // What it is since then is a past, too, and can be removed again.
  succeeded(await expunge(id, card!.id))
  expect((await cardsAt(id, seq)).map((one) => one.id)).not.toContain(card!.id)
  expect(await verifyBoard(database, id)).toEqual([])
})

test('[HX3] of a removed card nothing stays; boards that it came from are named, files that only it named are reclaimed', async () => {
  const secret = `password ${randomUUID()}`
  const [from, to] = [await makeBoard(user), await makeBoard(user)]
  const key = (await upload(service, user, from.id)).body.image_key as string
  const card = await makeCard(user, from.id, { kind: 'image', image_key: key, title: secret })
  const kept = await makeCard(user, from.id, { title: 'kept' })
  succeeded(await user.api.post(`${pathOf(from.id)}/move`, { to_board_id: to.id, card_ids: [card.id] }))
  const removed = succeeded(await user.api.delete(`${pathOf(to.id)}/${card.id}`)).card
  await service.flush(from.id)
  expect(await placesOf(service, secret)).toEqual(['board_updates', 'card_index', 'removed_cards'])
  const first = succeeded(await expunge(to.id, card.id))
  expect(first.other_board_ids).toEqual([from.id])
  expect(succeeded(await expunge(from.id, card.id)).other_board_ids).toEqual([to.id])
  expect(await placesOf(service, secret)).toEqual([])
  const restored = await user.api.post(pathOf(to.id), { ...removed, title: 'again', image_key: null })
  expect([restored.status, restored.body.error]).toEqual([400, expect.stringContaining('restore_token')])
  const feed = succeeded(
    await user.api.get(`${pathOf(from.id)}?source=index&since=2020-01-01T00:00:00Z&deleted=1`),
  )
  expect(feed.cards).toContainEqual(expect.objectContaining({ id: card.id, deleted: true }))
  expect((await cardsAt(from.id, 2)).map(({ title }) => title)).toEqual(['kept'])
  expect((await expunge(from.id, 'nobody')).status).toBe(404)
  expect(succeeded(await expunge(from.id, kept.id)).deleted).toBe(true)
  const parts = {
    ...{ database, files, clock, log: service.app.log, pool: service.live.pool },
    historyDays: { free: 30, pro: 365 },
  }
  try {
    for (const days of [0, 31, 32]) {
      ahead = days * dayMs
      await reclaimFiles(parts)
    }
    expect(await files.head(key)).toBeNull()
  } finally {
    ahead = 0
  }
})

test('[HX5] while others write and the log is compacted, it succeeds or changes nothing', async () => {
  const secret = `password ${randomUUID()}`
  const { id } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  const card = await makeCard(user, id, { body: secret })
  await user.api.patch(`${pathOf(id)}/${card.id}`, { body: 'harmless' })
  const over = new AbortController()
  const writing = (async () => {
    for (let n = 0; !over.signal.aborted; n++) {
      await makeCard(user, id, { title: `card ${n}` })
      editor.addCard(`drawn-${n}`)
      if (n % 4 === 0) await compactor.compact(id)
      if (n === 6) await user.api.post(`/boards/${id}/versions`, { name: 'Meanwhile' })
    }
  })()
  const statuses = await Promise.all(
    Array.from({ length: 3 }, async () => (await expunge(id, card.id)).status),
  )
  over.abort()
  await writing
  await editor.saved()
  await service.flush(id)
  for (const status of statuses) expect([200, 503]).toContain(status)
  if (!statuses.includes(200)) succeeded(await expunge(id, card.id))
  expect(await placesOf(service, secret)).toEqual([])
  expect(await verifyBoard(database, id)).toEqual([])
  const late = await openEditor(service.url, { boardId: id, token: user.token })
  expect(late.cards.toJSON()).toEqual(editor.cards.toJSON())
  const { cards } = succeeded(await user.api.get(`${pathOf(id)}?limit=500`))
  expect(cards).toHaveLength(editor.cards.size)
})

test('[HX5] a version whose board was read before the past was expunged is refused', async () => {
  const secret = `password ${randomUUID()}`
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id, { body: secret })
  const reader = { account: user.userId, isPro: true, since: null }
  const key = await claimVersionFile(service.live, id)
  const file = await withPast(service.live, id, { position: 1 }, reader, ({ document }) =>
    writeVersionFile(service.live, key, document, user.userId),
  )
  await user.api.patch(`${pathOf(id)}/${card.id}`, { body: 'harmless' })
  expect(await placesOf(service, secret)).toContain('history')
  succeeded(await expunge(id, card.id))
  const named = { boardId: id, name: 'Late', position: 1, at: new Date(), changedAt: null }
  await expect(
    database.asUser(user.userId, (tx) => insertVersion(tx, named, file, { free: 1e9, pro: 1e9 })),
  ).rejects.toMatchObject({ code: 'session_unavailable' })
  expect(await placesOf(service, secret)).toEqual([])
})

test('[HX6] a restore to a moment before an expunge leaves the card as it is, and says so', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id, { title: 'Secret' })
  const early = await seqOf(id)
  await user.api.patch(`${pathOf(id)}/${card.id}`, { title: 'Harmless' })
  const later = await makeCard(user, id, {})
  succeeded(await expunge(id, card.id))
  const restored = succeeded(await user.api.post(`/boards/${id}/restore-to`, { as_of: String(early) }))
  expect(restored.skipped).toEqual([{ type: 'card', id: card.id, fields: [], reason: 'expunged' }])
  expect(restored.changes.map((one: Shown) => one.id)).toEqual([later.id])
  expect(await cardNow(id, card.id)).toMatchObject({ title: 'Harmless' })
})

test('[HX6] a restore to a version does so, too, when the segments of its time have ended', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id, { title: 'Secret' })
  const named = async (fields: object) =>
    succeeded(await user.api.post(`/boards/${id}/versions`, { name: 'Version', ...fields })).version.id
  const early = await seqOf(id)
  const before = await named({})
  await user.api.patch(`${pathOf(id)}/${card.id}`, { title: 'Harmless' })
  succeeded(await expunge(id, card.id))
  const after = await named({ as_of: String(early) })
  await admin`delete from board_history where board_id = ${id}`
  for (const version of [before, after]) {
    expect(await cardsAt(id, version)).toEqual([])
    const restored = succeeded(await user.api.post(`/boards/${id}/restore-to`, { as_of: version }))
    expect(restored.skipped).toEqual([{ type: 'card', id: card.id, fields: [], reason: 'expunged' }])
    expect(await cardNow(id, card.id)).toMatchObject({ title: 'Harmless' })
  }
})

test('[HX7] an expunge while segments end is not undone by the base that is made of the old files', async () => {
  const secret = `password ${randomUUID()}`
  const { id } = await makeBoard(user)
  const [card, other] = await makeCards(user, id, [{ title: secret }, { title: 'Other' }])
  for (let n = 0; n < 3; n++) {
    await user.api.patch(`${pathOf(id)}/${other!.id}`, { title: `Other ${n}` })
    await compactor.compact(id)
  }
  await user.api.patch(`${pathOf(id)}/${card!.id}`, { title: 'Harmless' })
  await compactor.compact(id)
  const [last] = await admin`select max(from_seq) as seq from board_history where board_id = ${id}`
  await admin`update board_history set to_at = now() - interval '400 days' where board_id = ${id} and from_seq < ${last!['seq']}`
  let expunged = 0
  const slow = new Proxy(files, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (name !== 'put') return typeof value === 'function' ? value.bind(target) : value
      return async (...given: Parameters<typeof files.put>) => {
        if (given[0].endsWith('-base') && (expunged += 1) === 1) succeeded(await expunge(id, card!.id))
        return target.put(...given)
      }
    },
  })
  const parts = {
    ...{ database, files: slow, clock, log: service.app.log, pool: service.live.pool, auditDays: 365 },
    historyDays: { free: 30, pro: 365 },
    compact: () => undefined,
  }
  await endHistory(parts)
  expect(expunged).toBeGreaterThan(0)
  ahead = dayMs
  await endHistory({ ...parts, files })
  await endHistory({ ...parts, files })
  ahead = 0
  expect(await placesOf(service, secret)).toEqual([])
  expect(await cardNow(id, card!.id)).toMatchObject({ title: 'Harmless' })
  const { differences } = await verifyFiles(database, files)
  expect(differences.filter((one) => JSON.stringify(one).includes(id))).toEqual([])
})

test('[HX8] expunges of several accounts hold one thread, and another account finds one', async () => {
  const { pool } = service.live
  const [owners, another] = [await Promise.all([service.user(), service.user()]), await service.user()]
  const asked = await Promise.all(
    owners.map(async (owner) => {
      const { id } = await makeBoard(owner)
      const [card] = await makeCards(owner, id, [{ title: 'One' }])
      await owner.api.patch(`${pathOf(id)}/${card!.id}`, { title: 'Two' })
      await compactor.compact(id)
      return `${pathOf(id)}/${card!.id}/history`
    }),
  )
  const { run } = pool
  const gate = Promise.withResolvers<void>()
  const held: string[] = []
  const spy = vi.spyOn(pool, 'run').mockImplementation((task, input, options) => {
    if (task.name !== 'rewriteRun') return run.call(pool, task, input, options) as Promise<never>
    held.push(options.account)
    const slow = () => gate.promise.then(() => run.call(pool, task, input, options))
    return slow() as Promise<never>
  })
  onTestFinished(() => spy.mockRestore())
  const expunging = owners.map((owner, n) => owner.api.delete(asked[n]!))
  await until(() => held.length > 0 && rewrites.waiting > 0, 'one goes on, and the other waits')
  expect([held.length, rewrites.running]).toEqual([1, 1])
  const board = await makeBoard(another)
  await makeCards(another, board.id, [{ title: 'A' }, { title: 'B' }])
  gate.resolve()
  expect((await Promise.all(expunging)).map(({ status }) => status)).toEqual([200, 200])
  expect(new Set(held)).toEqual(new Set(owners.map(({ userId }) => userId)))
})

test('[HX9] a compaction that began before a card’s past was expunged leaves the card in all later moments', async () => {
  const { id } = await makeBoard(user)
  const [card] = await makeCards(user, id, [{ title: 'One' }, { title: 'Other' }])
  const moveTo = (x: number) => user.api.patch(`${pathOf(id)}/${card!.id}`, { x })
  await compactor.compact(id)
  await moveTo(76)
  await compactor.compact(id) // with a base, so that the next one needs none
  const { pool } = service.live
  const { run } = pool
  const [begun, expunged] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let compaction: Promise<unknown> | undefined
  const spy = vi.spyOn(pool, 'run').mockImplementation(async (task, input, options) => {
    if (task.name === 'archiveLog') {
      begun.resolve()
      await expunged.promise
    } else if (task.name === 'rewriteRun') {
      compaction = moveTo(77).then(() => compactor.compact(id))
      await begun.promise
    }
    return run.call(pool, task, input, options) as Promise<never>
  })
  onTestFinished(() => spy.mockRestore())
  succeeded(await expunge(id, card!.id))
  expunged.resolve()
  await compaction
  const moment = await seqOf(id)
  await moveTo(78)
  await compactor.compact(id)
  expect((await cardsAt(id, moment)).map(({ title, x }) => [title, x])).toContainEqual(['One', 77])
})
