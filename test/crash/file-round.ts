/**
 * Kills the service during uploads, multipart uploads, their completion, and the reclaiming of condemned files, which
 * begins at each start. Acknowledged files must exist, and rows must equal the stored files.
 */
import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../../platform/clock.ts'
import { DiskStore } from '../../platform/storage/disk-store.ts'
import { openPartUrls } from '../../platform/storage/part-urls.ts'
import { addUser } from '../../sql/accounts/accounts.ts'
import { mintToken } from '../../sql/accounts/tokens.ts'
import { verifyFiles } from '../../workers/upkeep/verify-files.ts'
import { Random } from './random.ts'
import { until } from '../support/editor.ts'
import { ServiceProcess } from '../support/service-process.ts'

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const gif = Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1')
const senders = 6

export class FileRun {
  readonly #service: ServiceProcess
  readonly #random: Random
  readonly #token: string
  readonly #boardId: string
  /** Digests of acknowledged files, by key. */
  readonly #files = new Map<string, string>()
  readonly figures = { acknowledged: 0, brokenOff: 0, condemned: 0, cleared: 0 }

  private constructor(service: ServiceProcess, random: Random, account: { token: string; boardId: string }) {
    this.#service = service
    this.#random = random
    this.#token = account.token
    this.#boardId = account.boardId
  }

  static async start(options: { seed: number }): Promise<FileRun> {
    const service = await ServiceProcess.make()
    service.launch()
    await service.ready()
    const account = await service.withDatabase((database) =>
      database.asSystem(async (tx) => {
        const { userId, workspaceId } = await addUser(tx, {
          email: 'files@example.test',
          name: 'Files',
          tier: 'pro',
        })
        const { token } = await mintToken(tx, { userId, name: 'files', scopes: ['read', 'write', 'delete'] })
        const [board] = await tx<
          { id: string }[]
        >`insert into boards (workspace_id, name) values (${workspaceId}, 'Files') returning id`
        return { token, boardId: board!.id }
      }),
    )
    return new FileRun(service, new Random(options.seed), account)
  }

  get output(): string {
    return this.#service.output
  }

  end(): Promise<void> {
    return this.#service.remove()
  }

  /**
   * Runs load, kills the service meanwhile, and restarts it. Sometimes kills it right after the start, during
   * reclaiming.
   */
  async round(): Promise<void> {
    let killed = false
    const isOver = () => killed
    const before = this.figures.acknowledged
    const sending = Array.from({ length: senders }, (_, n) => this.#send(n, isOver))
    // In the second round there are files to condemn, also on a slow machine.
    await until(() => this.figures.acknowledged - before >= senders, 'files are acknowledged', 30_000)
    await delay(this.#random.between(0, 1200))
    if (this.#files.size > 10) await this.#condemn()
    await this.#service.kill()
    killed = true
    await Promise.all(sending)
    this.#service.launch()
    await this.#service.ready()
    if (this.figures.condemned === 0) return
    await delay(this.#random.between(0, 60))
    await this.#service.kill()
    this.#service.launch()
    await this.#service.ready()
  }

  async #send(n: number, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const size = this.#random.between(0, 4) === 0 ? 9_000_000 : 1000 + this.#random.between(0, 500_000)
      const bytes = Buffer.concat([gif, randomBytes(size)])
      try {
        const key = n % 2 === 0 ? await this.#upload(bytes) : await this.#uploadInParts(bytes)
        this.#files.set(key, digest(bytes))
        this.figures.acknowledged += 1
      } catch {
        this.figures.brokenOff += 1
        await delay(20)
      }
    }
  }

  async #post(path: string, body: Buffer | object, type = 'application/json'): Promise<any> {
    const response = await fetch(`${this.#service.url}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': type },
      body: Buffer.isBuffer(body) ? (body as Buffer<ArrayBuffer>) : JSON.stringify(body),
    })
    const answer = await response.json()
    if (response.status >= 300) throw new Error(JSON.stringify(answer))
    return answer
  }

  async #upload(bytes: Buffer): Promise<string> {
    return (await this.#post(`/uploads?board=${this.#boardId}`, bytes, 'image/gif')).image_key
  }

  async #uploadInParts(bytes: Buffer): Promise<string> {
    const begun = await this.#post(`/uploads/multipart?board=${this.#boardId}`, { bytes: bytes.length })
    const session = { board_id: this.#boardId, key: begun.key, upload_id: begun.upload_id }
    const numbers = Array.from({ length: begun.part_count }, (_, n) => n + 1)
    const { urls } = await this.#post('/uploads/multipart/parts', { ...session, part_numbers: numbers })
    const parts = await Promise.all(
      numbers.map(async (number) => {
        const part = bytes.subarray((number - 1) * begun.part_size, number * begun.part_size)
        const response = await fetch(urls[number], { method: 'PUT', body: part as Buffer<ArrayBuffer> })
        await response.arrayBuffer()
        return { part_number: number, etag: response.headers.get('etag') ?? '' }
      }),
    )
    return (await this.#post('/uploads/multipart/complete', { ...session, parts })).image_key
  }

  /** Condemns a third of the files, as the sweeper does over 30 days. */
  async #condemn(): Promise<void> {
    const keys = [...this.#files.keys()].filter(() => this.#random.between(0, 3) === 0)
    for (const key of keys) this.#files.delete(key)
    this.figures.condemned += keys.length
    await this.#service.withDatabase((database) =>
      database.asSystem(
        (tx) => tx`
          update images set unreferenced_since = now() - interval '31 days', condemned_at = now() - interval '1 day'
          where image_key = any (${keys}::text[])`,
      ),
    )
  }

  /** @returns one line for each fault */
  async check(): Promise<string[]> {
    const faults: string[] = []
    for (const [key, expected] of this.#files) {
      const response = await fetch(`${this.#service.url}/api/v1/images/${key}`, {
        headers: { authorization: `Bearer ${this.#token}` },
      })
      const bytes = Buffer.from(await response.arrayBuffer())
      if (response.status !== 200) faults.push(`${key} was acknowledged and is ${response.status}`)
      else if (digest(bytes) !== expected) faults.push(`${key} has other bytes`)
    }
    // Interrupted uploads are expired now. The workers check for them at each start.
    await this.#service.withDatabase((database) =>
      database.asSystem(async (tx) => {
        const ended = await tx`update uploads set expires_at = now() returning image_key`
        this.figures.cleared = ended.length
      }),
    )
    await this.#service.kill()
    this.#service.launch()
    await this.#service.ready()
    const store = new DiskStore({
      folder: join(this.#service.dataDir, 'files'),
      urls: openPartUrls(['k'.repeat(32)]),
      clock: systemClock,
      publicUrl: () => '',
    })
    await this.#service.withDatabase(async (database) => {
      const left = () =>
        database.asSystem(
          (tx) => tx<{ image_key: string }[]>`
            select image_key from uploads union all select image_key from images where condemned_at is not null`,
        )
      for (const deadline = Date.now() + 30_000; (await left()).length > 0 && Date.now() < deadline;)
        await delay(100)
      faults.push(...(await left()).map(({ image_key }) => `${image_key} was not removed`))
      const { count, differences } = await verifyFiles(database, store)
      faults.push(...differences.map(({ key, fault, detail }) => `${key}: ${fault}, ${detail}`))
      if (count < this.#files.size)
        faults.push(`${count} files are recorded, ${this.#files.size} were acknowledged`)
      const [usage] = await database.asSystem(
        (tx) => tx<{ wrong: boolean }[]>`
          select coalesce(sum(stored), 0) <> (select coalesce(sum(bytes), 0) from images) or coalesce(sum(reserved), 0) <> 0 as wrong
          from storage_usage`,
      )
      if (usage!.wrong) faults.push('the count of bytes is wrong')
    })
    return faults
  }
}
