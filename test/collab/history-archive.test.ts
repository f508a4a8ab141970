/** What compaction cuts off the log is kept: as segments in the file store, until its retention ends. */
import { expect, onTestFinished, test, vi } from 'vitest'
import * as Y from 'yjs'
import { decodeSegment, decompress } from '../../collab/log/segment.ts'
import { readFile } from '../../collab/log/history.ts'
import { verifyBoard } from '../../collab/log/verify.ts'
import { purgeBoard } from '../../workers/upkeep/purge.ts'
import { endHistory } from '../../workers/upkeep/history.ts'
import { reclaimFiles } from '../../workers/upkeep/reclaim.ts'
import { verifyFiles } from '../../workers/upkeep/verify-files.ts'
import { makeBoard, makeCard, makeCards, succeeded } from '../api/board.ts'
import { upload } from '../api/file.ts'
import { openEditor } from '../support/editor.ts'
import { gatedDatabase } from '../support/gated-database.ts'
import { serviceOfFile } from '../support/test-file.ts'

const dayMs = 24 * 3_600_000
let ahead = 0
const clock = { now: () => Date.now() + ahead }
const historyDays = { free: 30, pro: 365 }
const { service, user } = await serviceOfFile({ workers: false, debounceMs: 20, clock, nodes: 1 })
const { database, files, compactor, admin } = service

const parts = () => ({
  ...{ database, files, clock, log: service.app.log, pool: service.live.pool, historyDays },
  compact: (boardIds: string[]) => compactor.want(boardIds),
})

interface Segment {
  from_seq: number
  to_seq: number
  row_bytes: number
  bytes: number
  base_bytes: number
  key: string
  base_key: string | null
}

const segmentsOf = (boardId: string) => admin<Segment[]>`
  select * from board_history where board_id = ${boardId} order by from_seq`
const rowsOf = (boardId: string) => admin<
  { seq: number; updates: Buffer; causes: unknown; created_at: Date }[]
>`
  select seq, updates, causes, created_at from board_updates where board_id = ${boardId} order by seq`
const storedOf = async (boardId: string) => {
  const keys: string[] = []
  for await (const { key } of files.list()) if (key.startsWith(`history/${boardId}/`)) keys.push(key)
  return keys.toSorted()
}
const keysOf = (segments: Segment[]) =>
  segments.flatMap(({ key, base_key }) => (base_key ? [key, base_key] : [key])).toSorted()
const readSegment = async ({ key }: Segment) => decodeSegment((await readFile(files, key))!)
const agree = async () => expect((await verifyFiles(database, files)).differences).toEqual([])

test('[HI1, HI2] a cut keeps the rows in a segment: positions, times, updates, and who made each how', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id, { title: 'One' })
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  editor.addCard('of-an-editor')
  await editor.saved()
  const patched = await user.api.patch(`/boards/${id}/cards/${card.id}`, { title: 'Two' })
  const rows = await rowsOf(id)
  expect(await compactor.compact(id)).toBe(rows.length)
  expect(await rowsOf(id)).toEqual([])
  const segments = await segmentsOf(id)
  expect(segments).toMatchObject([{ from_seq: 1, to_seq: rows.length, base_key: null }])
  const kept = await readSegment(segments[0]!)
  expect(kept.map(({ seq, at }) => [seq, at])).toEqual(
    rows.map(({ seq, created_at }) => [seq, created_at.getTime()]),
  )
  const lengthOf = (updates: Uint8Array[]) => updates.reduce((sum, { byteLength }) => sum + 4 + byteLength, 0)
  expect(kept.map(({ updates }) => lengthOf(updates))).toEqual(rows.map(({ updates }) => updates.length))
  const causes = kept.flatMap((row) => row.causes)
  expect(causes).toMatchObject([
    {
      by: 'api',
      accounts: [user.userId],
      tokens: [user.tokenId],
      action: 'card.create',
      changes: { added: [card.id] },
    },
    { by: 'editor', accounts: [user.userId], tokens: [user.tokenId], changes: { added: ['of-an-editor'] } },
    {
      ...{ by: 'api', action: 'card.update', request: patched.headers.get('x-request-id') },
      changes: { changed: { [card.id]: ['title'] } },
    },
  ])
  expect(JSON.stringify(causes)).not.toContain('User')
  expect(await verifyBoard(database, id)).toEqual([])
  await agree()
})

test('[HI3] a base is kept when the rows since the last one are larger than it, and each state can be replayed from it', async () => {
  const { id } = await makeBoard(user)
  const [card] = await makeCards(user, id, [{ body: 'x'.repeat(2000) }])
  const states = new Map<number, string>()
  for (let cut = 0; cut < 6; cut++) {
    for (let n = 0; n < 4; n++) {
      succeeded(
        await user.api.patch(`/boards/${id}/cards/${card!.id}`, {
          props: { n: `${cut} ${n}`.padEnd(400, '.') },
        }),
      )
      states.set(2 + cut * 4 + n, `${cut} ${n}`)
    }
    await compactor.compact(id)
  }
  const segments = await segmentsOf(id)
  expect(segments).toHaveLength(6)
  const bases = segments.filter(({ base_key }) => base_key)
  expect(bases.length).toBeGreaterThan(0)
  expect(bases.length).toBeLessThan(5)
  const sum = (name: 'row_bytes' | 'bytes' | 'base_bytes') =>
    segments.reduce((total, segment) => total + segment[name], 0)
  expect(sum('bytes') + sum('base_bytes')).toBeLessThan(2 * sum('row_bytes'))
  let document = new Y.Doc()
  for (const segment of segments) {
    if (segment.base_key) {
      document = new Y.Doc()
      Y.applyUpdateV2(document, decompress((await readFile(files, segment.base_key))!))
    }
    for (const { seq, updates } of await readSegment(segment)) {
      for (const update of updates) Y.applyUpdate(document, update)
      const props = (document.getMap('cards').get(card!.id) as Y.Map<{ n: string }>).get('props')
      expect(props?.n.replaceAll('.', '')).toBe(states.get(seq))
    }
  }
  expect(await verifyBoard(database, id)).toEqual([])
})

test('[HI4] a cut that another process makes at the same time leaves one segment, and no file of the other', async () => {
  const { id } = await makeBoard(user)
  for (let n = 0; n < 5; n++) await makeCard(user, id, {})
  await Promise.all(Array.from({ length: 4 }, () => compactor.compact(id)))
  const segments = await segmentsOf(id)
  expect(segments).toHaveLength(1)
  await endHistory(parts())
  expect(await storedOf(id)).toEqual(keysOf(segments))
  await agree()
})

test('[HI5] history counts in the quota of documents, and is shown there; verify finds a wrong count and a gap', async () => {
  const owner = await service.user()
  const { id } = await makeBoard(owner)
  await makeCards(owner, id, [{ body: 'word '.repeat(1000) }])
  await compactor.compact(id)
  const [segment] = await segmentsOf(id)
  const { documents } = succeeded(await owner.api.get('/me'))
  expect(documents.history).toBe(segment!.bytes)
  const [sizes] =
    await admin`select bytes::integer, snapshot_bytes::integer from document_sizes where board_id = ${id}`
  expect(documents.used).toBe(sizes!['bytes'])
  expect(sizes!['bytes']).toBe(sizes!['snapshot_bytes'] + documents.history)
  await admin`update board_documents set history_bytes = 1 where board_id = ${id}`
  expect(await verifyBoard(database, id)).toMatchObject([{ what: 'count', id: 'history_bytes' }])
  await admin`update board_documents set history_bytes = ${documents.history} where board_id = ${id}`
  await admin`update board_history set from_seq = 2, to_seq = 2 where board_id = ${id}`
  expect(await verifyBoard(database, id)).toMatchObject([
    { what: 'history', fault: 'missing' },
    { what: 'history', fault: 'extra' },
  ])
  await admin`update board_history set from_seq = 1, to_seq = 1 where board_id = ${id}`
})

test('[HI6] after the retention segments go from the database and the store; what is left has a base of its own', async () => {
  const owner = await service.user({ tier: 'free' })
  const { id } = await makeBoard(owner)
  for (const title of ['A', 'B', 'C']) {
    await makeCard(owner, id, { title })
    await compactor.compact(id)
  }
  // The first two cuts were made 20 days before the third one.
  await admin`update board_history set from_at = from_at - interval '20 days', to_at = to_at - interval '20 days'
    where board_id = ${id} and from_seq < 3`
  const before = await segmentsOf(id)
  expect(before[2]!.base_key).toBeNull()
  ahead = 15 * dayMs
  try {
    await endHistory(parts())
    const kept = await segmentsOf(id)
    expect(kept).toMatchObject([{ from_seq: 3, key: before[2]!.key, base_key: expect.any(String) }])
    const document = new Y.Doc()
    Y.applyUpdateV2(document, decompress((await readFile(files, kept[0]!.base_key!))!))
    expect(document.getMap('cards').size).toBe(2)
    expect(await storedOf(id)).toEqual(keysOf(kept))
    expect(await verifyBoard(database, id)).toEqual([])
    await makeCard(owner, id, { title: 'in a log that is never compacted otherwise' })
    ahead = 40 * dayMs
    await endHistory(parts())
    await compactor.stop()
    await endHistory(parts())
    expect(await segmentsOf(id)).toEqual([])
    expect(await storedOf(id)).toEqual([])
    expect(await rowsOf(id)).toEqual([])
    expect(await verifyBoard(database, id)).toEqual([])
    await agree()
  } finally {
    ahead = 0
  }
})

const meetings: Record<string, (boardId: string) => Promise<unknown>> = {
  'while a compaction writes its files': (boardId) => {
    const put = vi.spyOn(files, 'put').mockImplementationOnce(async (...given) => {
      await endHistory(parts())
      return files.put(...given)
    })
    onTestFinished(() => put.mockRestore())
    return compactor.compact(boardId)
  },
  'and a compaction records one more before they are deleted': async (boardId) => {
    const gated = gatedDatabase(service.databaseUrl)
    onTestFinished(() => gated.close())
    gated.afterSystem = async (read) => {
      if (!(Array.isArray(read) && String((read[0] as Segment | undefined)?.key).includes(boardId))) return
      gated.afterSystem = null
      await compactor.compact(boardId)
    }
    await endHistory({ ...parts(), database: gated })
  },
}
test.each(Object.entries(meetings))(
  '[HI6] what is kept can be read when all earlier segments end %s',
  async (_, meet) => {
    const { id } = await makeBoard(user)
    for (const title of ['A', 'B']) {
      await makeCard(user, id, { title })
      await compactor.compact(id)
    }
    await admin`
      update board_history set from_at = now() - interval '400 days', to_at = now() - interval '400 days' where board_id = ${id}`
    for (const title of ['C', 'D']) await makeCard(user, id, { title })
    await meet(id)
    await compactor.compact(id)
    await endHistory(parts())
    expect(await segmentsOf(id)).toMatchObject([{ from_seq: 3, to_seq: 4, base_key: expect.any(String) }])
    const { cards } = succeeded(await user.api.get(`/boards/${id}/cards?as_of=3`))
    expect(cards.map(({ title }: { title: string }) => title).toSorted()).toEqual(['A', 'B', 'C'])
    await agree()
  },
)

test('[HI7] the purge of a board reaches its history, and files that were written without a segment go', async () => {
  const { id } = await makeBoard(user)
  await makeCard(user, id, {})
  await compactor.compact(id)
  expect(await storedOf(id)).toHaveLength(1)
  await admin`insert into history_leftovers (key, added_at) values (${`history/${id}/1-1-dead`}, now() - interval '2 hours')`
  await user.api.delete(`/boards/${id}`)
  await purgeBoard({ database, closeBoard: () => undefined }, id, new Date(clock.now() + dayMs))
  expect(await segmentsOf(id)).toEqual([])
  await endHistory(parts())
  expect(await storedOf(id)).toEqual([])
  expect(await admin`select from history_leftovers where ended`).toEqual([])
  await agree()
})

test('[HI8] a file that only history refers to is kept until the retention ends', async () => {
  const { id } = await makeBoard(user)
  const key = (await upload(service, user, id)).body.image_key as string
  const card = await makeCard(user, id, { kind: 'image', image_key: key })
  await user.api.delete(`/boards/${id}/cards/${card.id}`)
  await compactor.compact(id)
  try {
    for (const [days, isThere] of [
      [300, true],
      [370, true],
      [401, true],
      [402, false],
    ] as const) {
      ahead = days * dayMs
      await reclaimFiles(parts())
      await reclaimFiles(parts())
      expect([days, (await files.head(key)) !== null]).toEqual([days, isThere])
    }
  } finally {
    ahead = 0
  }
})
