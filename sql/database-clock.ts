import type { Database } from './database.ts'

/** Differences from the machine's clock above this are logged. */
const tellAboveMs = 5_000
/** The first reading waits for a connection, so that its bounds are wide. The next ones narrow them. */
const readingsAtStart = 3

interface Options {
  database: Pick<Database, 'callAsSystem'>
  log: { warn(fields: object, message: string): void }
  everyMs?: number
}

/**
 * The clock of the database, which all nodes share. A node compares times of its own with times that other nodes wrote:
 * of leases, attempts and expiries. With the machine's clock, a node that is two minutes ahead takes leases that others
 * still hold.
 *
 * It counts on with the monotonic clock of the process, so a step of the machine's clock does not matter. Every ten
 * seconds it asks the database. The database read its clock between the question and the answer, so the time is
 * corrected only as far as these two require: a slow answer corrects little and harms nothing. While the database is
 * unreachable, the clock goes on by itself.
 *
 * One might ask why statements don't use `now()`. Tests move the time, and they can move this clock only.
 */
export class DatabaseClock {
  readonly #options: Options
  /** Milliseconds from the start of the process's monotonic clock to the database's time. Null before `start`. */
  #offset: number | null = null
  #timer: NodeJS.Timeout | null = null
  #told = false

  constructor(options: Options) {
    this.#options = options
  }

  now(): number {
    return this.#offset === null ? Date.now() : Math.floor(performance.now() + this.#offset)
  }

  /** Reads the database's time, and goes on to do so. @throws ServiceError `storage_unavailable` */
  async start(): Promise<void> {
    for (let reading = 0; reading < readingsAtStart; reading++) await this.#read()
    const read = () => void this.#read().catch(() => undefined) // the clock goes on by itself
    this.#timer = setInterval(read, this.#options.everyMs ?? 10_000).unref()
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer)
  }

  async #read(): Promise<void> {
    const asked = performance.now()
    const [row] = await this.#options.database.callAsSystem(
      (sql) => sql<{ now: number }[]>`select extract(epoch from clock_timestamp())::float8 * 1000 as now`,
    )
    const answered = performance.now()
    const [least, most] = [row!.now - answered, row!.now - asked]
    this.#offset = Math.min(most, Math.max(least, this.#offset ?? (least + most) / 2))
    this.#tell()
  }

  #tell(): void {
    const aheadMs = Date.now() - this.now()
    const differs = Math.abs(aheadMs) > tellAboveMs
    if (differs && !this.#told)
      this.#options.log.warn(
        { aheadMs: Math.round(aheadMs) },
        "this machine's clock differs from the database's; the database's is used",
      )
    this.#told = differs
  }
}
