/**
 * Compacts a board, or expunges the past of a card, and kills itself with SIGKILL at a step. Prints the number of steps
 * when it comes to the end.
 */
import type { LiveBoards } from '../../collab/boards/live.ts'
import { expungeCard } from '../../collab/history/expunge.ts'
import { Compactor } from '../../collab/log/compact.ts'
import { systemClock } from '../../platform/clock.ts'
import { DiskStore } from '../../platform/storage/disk-store.ts'
import { openPartUrls } from '../../platform/storage/part-urls.ts'
import { WorkerPool } from '../../platform/work/worker-pool.ts'
import { openDatabase, type Database, type Transaction } from '../../sql/database.ts'

const [databaseUrl = '', folder = '', boardId = '', killAt = '', cardId, account = ''] = process.argv.slice(2)
let steps = 0

async function step(): Promise<void> {
  steps += 1
  if (steps !== Number(killAt)) return
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => undefined)
}

async function stepped<T>(work: () => Promise<T>): Promise<T> {
  await step()
  const result = await work()
  await step()
  return result
}

const real = openDatabase({ url: databaseUrl })
const inSteps =
  <T>(work: (tx: Transaction) => Promise<T>) =>
  async (tx: Transaction): Promise<T> => {
    const result = await work(tx)
    await step() // before the transaction is committed
    return result
  }
const database: Database = {
  ...real,
  asSystem: (work, waiting) => stepped(() => real.asSystem(inSteps(work), waiting)),
  asUser: (user, work) => stepped(() => real.asUser(user, inSteps(work))),
  callAsSystem: (statement) => stepped(() => real.callAsSystem(statement)),
}
class Stepped extends DiskStore {
  override put(...given: Parameters<DiskStore['put']>) {
    return stepped(() => super.put(...given))
  }
}
const files = new Stepped({
  ...{ folder, urls: openPartUrls(['a key for tests, of more than 32 characters']) },
  ...{ clock: systemClock, publicUrl: () => '' },
})
const silent = { info() {}, warn() {}, error() {}, debug() {} }
const pool = new WorkerPool({ threads: 1 })
const history = { files, clock: systemClock, days: { free: 30, pro: 365 } }
const compactor = new Compactor({ ...{ database, pool, log: silent }, history })
if (cardId === undefined) await compactor.compact(boardId)
else {
  const live = { database, pool, history, compact: () => compactor.compact(boardId) } as unknown as LiveBoards
  await expungeCard(live, { boardId, cardId, account }, (swap) => database.asUser(account, swap))
}
process.stdout.write(String(steps))
await pool.close()
process.exit(0)
