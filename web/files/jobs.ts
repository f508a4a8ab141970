/** What is on its way onto the board, as the tray and the canvas show it. */
import type { Frame } from './side-by-side.ts'
import type { FileKind } from './shape.ts'

interface Shared {
  id: string
  name: string
  /** `paused`: the connection is lost, and it goes on by itself. */
  state: 'running' | 'paused' | 'failed' | 'done'
  /** What happened, and what to do. */
  says: string | null
}

export interface UploadJob extends Shared {
  is: 'upload'
  kind: FileKind
  frame: Frame
  /** Address of the file in this window, when it is an image. */
  preview: string | null
  bytes: number
  sentBytes: number
  /** Whether a failed one may work another time. */
  canRetry: boolean
}

export interface FailedLink {
  url: string
  why: string
}

export interface ImportJob extends Shared {
  is: 'import'
  urls: readonly string[]
  added: readonly string[]
  failed: readonly FailedLink[]
}

/** Something that was refused before it began. */
export interface NoteJob extends Shared {
  is: 'note'
}

export type Job = UploadJob | ImportJob | NoteJob

export class Jobs {
  readonly #listeners = new Set<() => void>()
  #jobs: readonly Job[] = []

  readonly get = (): readonly Job[] => this.#jobs

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  add(job: Job): void {
    this.#become([...this.#jobs, job])
  }

  /** Does nothing when the job is gone. */
  change<J extends Job>(id: string, change: Partial<J>): void {
    this.#become(this.#jobs.map((job) => (job.id === id ? ({ ...job, ...change } as Job) : job)))
  }

  remove(id: string): void {
    this.#become(this.#jobs.filter((job) => job.id !== id))
  }

  #become(jobs: readonly Job[]): void {
    this.#jobs = jobs
    for (const listener of this.#listeners) listener()
  }
}

let jobs = 0
export const newJobId = (): string => `${Date.now()}-${(jobs += 1)}`
