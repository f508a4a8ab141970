/** Links that are brought onto the board. The service fetches them, and tells of each what became of it. */
import { client } from '../service/client.ts'
import { newJobId, type FailedLink, type ImportJob, type Jobs } from './jobs.ts'
import { fitted, longestSide } from './shape.ts'
import { sideBySide, type Place } from './side-by-side.ts'
import type { Target } from './target.ts'

const linkSize = { w: 280, h: 160 }
/** The most that one request takes. */
const batch = 100

interface Counts {
  existing: string[]
  added: { id: string; w: number; h: number }[]
  failed: FailedLink[]
}

export class Imports {
  readonly #target: Target
  readonly #jobs: Jobs
  readonly #places = new Map<string, Place>()
  readonly #closed = new AbortController()

  constructor(target: Target, jobs: Jobs) {
    this.#target = target
    this.#jobs = jobs
  }

  /** One link becomes a card at its place. Several are laid out by the service. */
  async add(urls: readonly string[], at: Place): Promise<void> {
    const id = newJobId()
    const [only] = urls
    const name = urls.length === 1 ? URL.parse(only!)!.host : `${urls.length} links`
    this.#places.set(id, at)
    this.#jobs.add({
      is: 'import',
      state: 'running',
      ...{ id, name, urls, says: 'Fetching…', added: [], failed: [] },
    })
    await (urls.length === 1 ? this.#fetchOne(id, only!, at) : this.#fetchAll(id, urls))
  }

  /** Fetches again what failed. */
  async retry(id: string): Promise<void> {
    const job = this.#find(id)
    if (!job) return
    this.#jobs.change<ImportJob>(id, { state: 'running', says: 'Fetching…', failed: [] })
    await this.#fetchAll(
      id,
      job.failed.map(({ url }) => url),
    )
  }

  /** Makes cards of what could not be fetched, without previews. */
  addPlain(id: string): void {
    const failed = this.#find(id)?.failed ?? []
    const frames = sideBySide(
      failed.map(() => linkSize),
      this.#places.get(id)!,
    )
    for (const [n, { url }] of failed.entries()) this.#target.add({ kind: 'link', url, ...frames[n] })
    this.close(id)
  }

  close(id: string): void {
    this.#places.delete(id)
    this.#jobs.remove(id)
  }

  closeAll(): void {
    this.#closed.abort()
  }

  #find(id: string): ImportJob | undefined {
    const job = this.#jobs.get().find((one) => one.id === id)
    return job?.is === 'import' ? job : undefined
  }

  async #fetchOne(id: string, url: string, at: Place): Promise<void> {
    const [frame] = sideBySide([linkSize], at)
    const { added, existing } = await this.#request([{ url, x: frame!.x, y: frame!.y }])
    if (this.#closed.signal.aborted) return
    if (existing.length > 0) {
      const says = 'This link is on the board already.'
      return this.#jobs.change<ImportJob>(id, { state: 'done', says, added: existing })
    }
    const [card] = added
    // A link without a preview is still the link.
    if (!card) this.#target.add({ kind: 'link', url, ...frame })
    else if (Math.max(card.w, card.h) > longestSide) this.#target.resize(card.id, fitted(card))
    this.close(id)
  }

  async #fetchAll(id: string, urls: readonly string[]): Promise<void> {
    const all: Counts = { added: [], existing: [], failed: [] }
    for (let from = 0; from < urls.length; from += batch) {
      const counts = await this.#request(urls.slice(from, from + batch).map((url) => ({ url })))
      all.added.push(...counts.added)
      all.existing.push(...counts.existing)
      all.failed.push(...counts.failed)
    }
    const { failed } = all
    const added = [...(this.#find(id)?.added ?? []), ...all.added.map((card) => card.id)]
    const state = failed.length > 0 ? 'failed' : 'done'
    this.#jobs.change<ImportJob>(id, { state, says: sayingOf(all), added, failed })
  }

  /** A request that fails as a whole fails for each of its links. */
  async #request(items: { url: string; x?: number; y?: number }[]): Promise<Counts> {
    try {
      const { results, cards } = await client.request('POST /boards/{id}/import', {
        ...{ path: { id: this.#target.board }, body: { items }, signal: this.#closed.signal },
      })
      const existing = results.filter(({ status }) => status === 'existing')
      const failed = results.filter(({ status }) => status === 'failed')
      return {
        added: cards,
        existing: existing.flatMap(({ card_id }) => card_id ?? []),
        failed: failed.map(({ url, error }) => ({ url, why: error ?? 'It could not be fetched.' })),
      }
    } catch (error) {
      const why = (error as Error).message
      return { added: [], existing: [], failed: items.map(({ url }) => ({ url, why })) }
    }
  }
}

function sayingOf({ added, existing, failed }: Counts): string {
  const parts = [
    [added.length, 'added'],
    [existing.length, 'here already'],
    [failed.length, 'failed'],
  ] as const
  return parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(', ')
}
