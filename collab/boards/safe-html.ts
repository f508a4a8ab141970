/** Sanitises the HTML of cards. Results are cached by text. Long texts are sanitised in a worker thread. */
import { cardFields, type CardContent } from '../../core/card.ts'
import { cutHtml, sanitizeHtml, type sanitizeAll } from '../../core/html.ts'
import { LoopTurn } from '../../platform/work/loop-turn.ts'
import { task, type WorkerPool } from '../../platform/work/worker-pool.ts'
import { offload, runsOf } from './offload.ts'

const sanitizeTask = task<typeof sanitizeAll>(new URL('../../core/html.ts', import.meta.url), 'sanitizeAll')

/** Characters that are sanitised on the main thread. The worst input of this size takes about 15 ms. */
const inlineChars = 16_000

/** Characters for one task of a worker thread. The worst input of this size takes about half a second. */
const charsPerRun = 640_000

/** Size of the cache in characters, texts and results together. The least recently used entries go first. */
const keptChars = 32 * 1024 * 1024

export class SafeHtml {
  readonly #pool: WorkerPool
  /** Results by text. HTML that the API wrote is already sanitised; then text and result are the same string. */
  readonly #kept = new Map<string, string>()
  #chars = 0
  /** Characters sanitised since the start. */
  sanitizedChars = 0

  constructor(pool: WorkerPool) {
    this.#pool = pool
  }

  /** Whether sanitising these texts needs a worker thread. */
  isMuch(texts: string[]): boolean {
    return charsOf(texts.filter((text) => !this.#kept.has(text))) > inlineChars
  }

  /**
   * Sanitises the texts. Returns the results in the same order.
   *
   * @throws ServiceError `session_unavailable`
   */
  async sanitize(account: string, texts: string[]): Promise<string[]> {
    const results = new Map<string, string>()
    const unknown = new Set<string>()
    const turn = new LoopTurn()
    for (const text of texts) {
      if (turn.isOver()) await turn.next()
      const kept = this.#find(text)
      if (kept === undefined) unknown.add(text)
      else results.set(text, kept)
    }
    const open = [...unknown]
    this.sanitizedChars += charsOf(open)
    if (charsOf(open) <= inlineChars) for (const text of open) results.set(text, sanitizeHtml(text))
    else {
      for (const run of runsOf(open, ({ length }) => length, charsPerRun)) {
        const safe = await offload(this.#pool, sanitizeTask, run, account)
        run.forEach((text, at) => results.set(text, safe[at]!))
      }
    }
    for (const text of open) {
      if (turn.isOver()) await turn.next()
      this.#keep(text, results.get(text)!)
    }
    return texts.map((text) => results.get(text)!)
  }

  /**
   * Returns the cards with safe HTML within its limit, since editors may store any HTML.
   *
   * @throws ServiceError `session_unavailable`
   */
  async contents(account: string, contents: CardContent[]): Promise<CardContent[]> {
    const texts = contents.flatMap(({ html }) => html ?? [])
    if (texts.length === 0) return contents
    const safe = (await this.#fit(account, await this.sanitize(account, texts))).values()
    return contents.map((content) =>
      content.html === null ? content : { ...content, html: safe.next().value ?? null },
    )
  }

  /** Cuts the texts that sanitising has made too long. */
  async #fit(account: string, safe: string[]): Promise<string[]> {
    const cuts = new Map<string, string>()
    const turn = new LoopTurn()
    for (const text of safe) {
      if (text.length <= cardFields.html.limit) continue
      if (turn.isOver()) await turn.next()
      const cut = cutHtml(text, cardFields.html.limit)
      if (cut !== null) cuts.set(text, cut)
    }
    if (cuts.size === 0) return safe
    const again = await this.sanitize(account, [...cuts.values()])
    const fitting = new Map([...cuts.keys()].map((text, at) => [text, again[at]!]))
    return safe.map((text) => fitting.get(text) ?? text)
  }

  #find(text: string): string | undefined {
    const result = this.#kept.get(text)
    if (result === undefined) return undefined
    this.#kept.delete(text)
    this.#kept.set(text, result)
    return result
  }

  #keep(text: string, result: string): void {
    const charsOf = (from: string, to: string) => from.length + (from === to ? 0 : to.length)
    for (const from of [text, result]) {
      if (this.#kept.has(from)) continue
      this.#kept.set(from, result)
      this.#chars += charsOf(from, result)
    }
    for (const [from, to] of this.#kept) {
      if (this.#chars <= keptChars) break
      this.#kept.delete(from)
      this.#chars -= charsOf(from, to)
    }
  }
}

const charsOf = (texts: string[]) => texts.reduce((sum, { length }) => sum + length, 0)
