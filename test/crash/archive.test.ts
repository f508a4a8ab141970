/** Kills a process at each step of a compaction, and of expunging a card. `ARCHIVE_KILLS=50 npm test -- test/crash/archive.test.ts` kills more. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { readFile } from '../../collab/log/history.ts'
import { decodeSegment } from '../../collab/log/segment.ts'
import { verifyBoard } from '../../collab/log/verify.ts'
import { endHistory } from '../../workers/upkeep/history.ts'
import { verifyFiles } from '../../workers/upkeep/verify-files.ts'
import { placesOf } from '../support/secret-search.ts'
import { makeBoard, makeCard, makeCards, succeeded } from '../api/board.ts'
import { serviceOfFile } from '../support/test-file.ts'

/** Steps before the end at which the process is killed: from the record of the files' keys to the commit. */
const killsBeforeEnd = [10, 9, 8, 7, 4, 1, 0]
const kills = Number(process.env['ARCHIVE_KILLS'] ?? killsBeforeEnd.length)

let ahead = 0
const clock = { now: () => Date.now() + ahead }
const { service, user } = await serviceOfFile({ workers: false, clock, nodes: 1 })
const { database, files, admin } = service

const endPast = () =>
  endHistory({
    ...{ database, files, clock, log: service.app.log, pool: service.live.pool },
    ...{ historyDays: { free: 30, pro: 365 }, compact: () => undefined },
  })

/** @param card id of the card to expunge, and of its owner; none: the child compacts the board */
async function runChild(boardId: string, killAt: number, card: string[] = []): Promise<number | null> {
  const child = spawn(
    process.execPath,
    [
      join(import.meta.dirname, 'archive-child.ts'),
      ...[service.databaseUrl, join(service.dataDir, 'files'), boardId, String(killAt), ...card],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return signal === 'SIGKILL' ? null : Number(output)
}

/** Positions of all rows, in segments and in the log. */
async function positionsOf(boardId: string): Promise<number[]> {
  const segments = await admin<{ key: string }[]>`
    select key from board_history where board_id = ${boardId} order by from_seq`
  const kept = await Promise.all(
    segments.map(async ({ key }) => decodeSegment((await readFile(files, key))!)),
  )
  const rows = await admin<{ seq: number }[]>`
    select seq from board_updates where board_id = ${boardId} order by seq`
  return [...kept.flat(), ...rows].map(({ seq }) => seq)
}

test(
  `[HI9] after ${kills} kills at the steps of a compaction no row is missing or there twice, and no file is left over`,
  { timeout: 120_000 + kills * 10_000 },
  async () => {
    const { id } = await makeBoard(user)
    let written = 0
    const write = async () => {
      for (let n = 0; n < 3; n++) await makeCards(user, id, [{ title: `card ${written++}` }])
    }
    await write()
    const steps = (await runChild(id, 0))!
    let killed = 0
    for (let n = 0; n < kills; n++) {
      await write()
      const killAt = kills > killsBeforeEnd.length ? 1 + (n % steps) : steps - killsBeforeEnd[n]!
      if ((await runChild(id, killAt)) === null) killed += 1
      expect([killAt, await positionsOf(id)]).toEqual([
        killAt,
        Array.from({ length: written }, (_, at) => at + 1),
      ])
      expect([killAt, await verifyBoard(database, id)]).toEqual([killAt, []])
    }
    expect(killed).toBeGreaterThan(kills / 2)
    ahead = 2 * 3_600_000 // what was being written then is written no more
    await endPast()
    expect(await admin`select from history_leftovers`).toEqual([])
    expect((await verifyFiles(database, files)).differences).toEqual([])
    for (const position of [1, Math.floor(written / 2), written]) {
      const { total } = succeeded(await user.api.get(`/boards/${id}/cards?as_of=${position}&limit=1`))
      expect([position, total]).toEqual([position, position])
    }
  },
)

/** Steps before the end: while the files are written, before the commit, after it, and while old files are deleted. */
const expungeKillsBeforeEnd = [30, 11, 9, 4]

test(
  '[HX4] after kills while a card is expunged the history is whole, and the next request goes on',
  { timeout: 120_000 + kills * 10_000 },
  async () => {
    const secret = 'password of a test with kills'
    const { id } = await makeBoard(user)
    const [first, card] = [
      await makeCard(user, id, { title: 'First' }),
      await makeCard(user, id, { body: secret }),
    ]
    for (const body of ['x'.repeat(2000), 'y'.repeat(2000), 'harmless']) {
      await service.compactor.compact(id)
      await makeCard(user, id, { title: 'Another' })
      await user.api.patch(`/boards/${id}/cards/${card.id}`, { body })
    }
    await user.api.post(`/boards/${id}/versions`, { name: 'Now' })
    await service.compactor.compact(id)
    const steps = (await runChild(id, 0, [first.id, user.userId]))!
    const killsAt =
      kills > killsBeforeEnd.length
        ? Array.from({ length: steps }, (_, at) => at + 1)
        : expungeKillsBeforeEnd.map((before) => steps - before)
    for (const killAt of killsAt) {
      expect([killAt, await runChild(id, killAt, [card.id, user.userId])]).toEqual([killAt, null])
      expect([killAt, await verifyBoard(database, id)]).toEqual([killAt, []])
      for (const position of [2, 4, 6]) {
        const { cards } = succeeded(await user.api.get(`/boards/${id}/cards?as_of=${position}`))
        const others = cards.filter((one: { id: string }) => one.id !== card.id)
        expect([killAt, position, others.length]).toEqual([killAt, position, position / 2 - 1])
      }
    }
    await runChild(id, 0, [card.id, user.userId])
    expect(await placesOf(service, secret)).toEqual([])
    ahead += 2 * 3_600_000
    await endPast()
    expect(await admin`select from history_leftovers`).toEqual([])
    expect((await verifyFiles(database, files)).differences).toEqual([])
    expect(await verifyBoard(database, id)).toEqual([])
  },
)
