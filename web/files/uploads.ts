/** Sends files to the service, several at a time, and makes a card of each. */
import { newId } from '../../client/editor/index.ts'
import { isFailure, type UploadedFile } from '../../client/index.ts'
import { client } from '../service/client.ts'
import { newJobId, type Jobs, type UploadJob } from './jobs.ts'
import type { KeptUpload, KeptUploads } from './kept.ts'
import { isFinal, isPassing, refusalOf } from './refusals.ts'
import { shapeOf } from './shape.ts'
import { sideBySide, type Place } from './side-by-side.ts'
import type { Target } from './target.ts'
import { textOf } from './text-of.ts'

type Upload = Omit<KeptUpload, 'account'>

const mostAtOnce = 3
/** How long to wait for the connection, unless the browser says earlier that it is back. */
const patienceMs = 5000

export class Uploads {
  readonly #target: Target
  readonly #jobs: Jobs
  readonly #kept: KeptUploads
  readonly #uploads = new Map<string, Upload>()
  readonly #sending = new Map<string, AbortController>()
  #waiting: string[] = []
  #isClosed = false

  constructor(target: Target, jobs: Jobs, kept: KeptUploads) {
    this.#target = target
    this.#jobs = jobs
    this.#kept = kept
  }

  /** @param at where the middle of the first card will be */
  async add(files: File[], at: Place): Promise<void> {
    const shapes = await Promise.all(
      files.map(async (file) => {
        const url = URL.createObjectURL(file)
        return shapeOf(file, url).finally(() => URL.revokeObjectURL(url))
      }),
    )
    if (this.#isClosed) return
    const frames = sideBySide(shapes, at)
    for (const [n, file] of files.entries()) {
      const { kind } = shapes[n]!
      const frame = frames[n]!
      if (kind === 'doc') await this.#addText(file, frame)
      else {
        const upload = { id: newId(), board: this.#target.board, file, kind, frame, state: null }
        void this.#kept.add(upload)
        this.#begin(upload)
      }
    }
  }

  /** Goes on with what an earlier page has begun. */
  async resume(): Promise<void> {
    for (const upload of await this.#kept.read(this.#target.board))
      if (!this.#uploads.has(upload.id)) this.#begin(upload)
  }

  retry(id: string): void {
    const upload = this.#uploads.get(id)
    if (upload) void this.#kept.add(upload)
    this.#jobs.change(id, { state: 'running', says: null })
    this.#waiting.push(id)
    this.#next()
  }

  cancel(id: string): void {
    const { state } = this.#uploads.get(id) ?? {}
    this.#sending.get(id)?.abort()
    // What is not given up is removed by the service a day later.
    if (state) client.abortUpload(state).catch(() => undefined)
    this.#end(id)
  }

  /** Stops. What is not done goes on when the board is opened again. */
  close(): void {
    this.#isClosed = true
    for (const sending of this.#sending.values()) sending.abort()
    for (const id of this.#uploads.keys()) this.#forget(id)
  }

  async #addText(file: File, frame: Upload['frame']): Promise<void> {
    const text = await textOf(file).catch(() => null)
    if (text === null)
      return this.#jobs.add({
        ...{ is: 'note', id: newJobId(), name: file.name, state: 'failed' },
        says: unreadable,
      })
    if (this.#isClosed) return
    const body = text.replace(/\r\n?/g, '\n')
    this.#target.add({ kind: 'doc', title: file.name.replace(/\.\w+$/, ''), body, ...frame })
  }

  #begin(upload: Upload): void {
    const { id, file, kind, frame, state } = upload
    this.#uploads.set(id, upload)
    this.#jobs.add({
      is: 'upload',
      state: 'running',
      says: null,
      canRetry: false,
      ...{ id, name: file.name, kind, frame, bytes: file.size },
      sentBytes: state ? sentIn(state) : 0,
      preview: kind === 'image' ? URL.createObjectURL(file) : null,
    })
    this.#waiting.push(id)
    this.#next()
  }

  #next(): void {
    while (!this.#isClosed && this.#sending.size < mostAtOnce) {
      const upload = this.#uploads.get(this.#waiting.shift() ?? '')
      if (!upload) {
        if (this.#waiting.length === 0) return
        continue
      }
      const { id } = upload
      const controller = new AbortController()
      this.#sending.set(id, controller)
      const work = () => this.#send(upload, controller.signal)
      // Another window may have the same board open, and be at the same upload.
      void inOneWindow(id, work, () => this.#forget(id))
        .catch((error: unknown) => this.#failed(upload, controller.signal, error))
        .finally(() => {
          this.#sending.delete(id)
          this.#next()
        })
    }
  }

  async #send(upload: Upload, signal: AbortSignal): Promise<void> {
    const { id, file } = upload
    if (file.size === 0) throw new Error('This file is empty.')
    const stored = await this.#attempts(upload, signal)
    signal.throwIfAborted()
    // The page may end before it is forgotten here. When it is sent again then, the card is there already.
    this.#target.add(cardOf(upload, stored), id)
    this.#end(id)
  }

  async #attempts(upload: Upload, signal: AbortSignal): Promise<UploadedFile> {
    const { id, board, file } = upload
    for (;;) {
      const { state } = upload
      try {
        return await client.upload(file, {
          ...{ board, signal, filename: file.name, ...(state ? { resume: state } : {}) },
          onProgress: (sentBytes) => this.#jobs.change(id, { sentBytes }),
          onState: (now) => {
            upload.state = now
            void this.#kept.putState(id, now)
          },
        })
      } catch (error) {
        signal.throwIfAborted()
        // It had begun more than a day ago, so it begins anew.
        if (isFailure(error, 'not_found') && state) upload.state = null
        else if (isPassing(error)) {
          await requireReadable(file)
          await this.#pause(id, signal, error)
        } else throw error
      }
    }
  }

  async #pause(id: string, signal: AbortSignal, error: unknown): Promise<void> {
    const seconds = isFailure(error) ? (error.retryAfterSeconds ?? 0) : 0
    const says = 'The service can’t be reached. The upload goes on when it is back.'
    this.#jobs.change(id, { state: 'paused', says })
    await backOnline(Math.max(patienceMs, seconds * 1000), signal)
    this.#jobs.change(id, { state: 'running', says: null })
  }

  #failed({ id, file }: Upload, signal: AbortSignal, error: unknown): void {
    if (signal.aborted) return
    const says = refusalOf(error, file)
    this.#jobs.change<UploadJob>(id, { state: 'failed', says, canRetry: !isFinal(error) })
    // A page that is opened later does not try it again.
    void this.#kept.remove(id)
  }

  #end(id: string): void {
    void this.#kept.remove(id)
    this.#forget(id)
  }

  #forget(id: string): void {
    const job = this.#jobs.get().find((one) => one.id === id)
    if (job?.is === 'upload' && job.preview !== null) URL.revokeObjectURL(job.preview)
    this.#uploads.delete(id)
    this.#jobs.remove(id)
  }
}

const unreadable = 'This file could not be read. Check that it is still there, and drop it again.'

/** A file that was changed or removed fails in the browser as a lost connection does. */
async function requireReadable(file: Blob): Promise<void> {
  await file
    .slice(0, 1)
    .arrayBuffer()
    .catch((cause: unknown) => {
      throw new Error(unreadable, { cause })
    })
}

function sentIn({ etags, part_size: partSize, bytes }: NonNullable<Upload['state']>): number {
  return Math.min(bytes, Object.keys(etags).length * partSize)
}

function cardOf({ kind, frame, file }: Upload, { image_key: key }: UploadedFile) {
  const about = { ...frame, kind, file_name: file.name.slice(0, 300), size_bytes: file.size }
  if (kind === 'image') return { ...about, image_key: key }
  const [, ext = null] = /\.(\w{1,20})$/.exec(file.name) ?? []
  return { ...about, file_key: key, mime: file.type || null, ext: ext?.toLowerCase() ?? null }
}

/** Browsers have no locks on pages without https. There, two windows may both go on with an upload. */
async function inOneWindow(id: string, work: () => Promise<void>, isElsewhere: () => void): Promise<void> {
  const locks = (navigator as { locks?: LockManager }).locks
  if (!locks) return work()
  await locks.request(`corkboard upload ${id}`, { ifAvailable: true }, (lock) =>
    lock ? work() : isElsewhere(),
  )
}

function backOnline(mostMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      removeEventListener('online', end)
      resolve()
    }
    const timer = setTimeout(end, mostMs)
    addEventListener('online', end)
    signal.addEventListener('abort', end, { once: true })
  })
}
