/** Holds each `live: true` against what the open canvases had received when it was answered. */
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { until } from '../support/editor.ts'
import type { EditorLoad } from './editor-load.ts'
import { matches, show, type Entry } from './ledger.ts'

/** What a balancer and this process need to hand a frame on that had been sent before the answer. */
const handedOnWithinMs = 100

/** How long a fault waits for what is missing. It says how late that was. */
const lateWithinMs = 5000

export class LiveWatch {
  /** How often an answer was held against a canvas. */
  held = 0
  readonly #editors: () => EditorLoad[]
  readonly #faults: string[] = []
  readonly #checks = new Set<Promise<void>>()

  constructor(editors: () => EditorLoad[]) {
    this.#editors = editors
  }

  /** Waits for the checks under way. @returns faults since the last call */
  async takeFaults(): Promise<string[]> {
    await Promise.all(this.#checks)
    return this.#faults.splice(0)
  }

  /**
   * Call it when a write of a card was answered with `live: true`. The last version of `entry` is what was written.
   *
   * @param url where the request was sent to
   */
  claimed(boardId: string, cardId: string, entry: Entry, url: string): void {
    const open = this.#editors().filter((editor) => editor.boardId === boardId && editor.isOpen)
    for (const editor of open) {
      const check = this.#check({ editor, cardId, entry, url }).finally(() => this.#checks.delete(check))
      this.#checks.add(check)
    }
  }

  async #check({ editor, cardId, entry, url }: Claim): Promise<void> {
    const answeredAt = performance.now()
    const version = entry.versions.at(-1)!
    const { closes } = editor
    await delay(handedOnWithinMs)
    for (let n = 0; n < 3; n++) await turn() // also on a busy machine: what the sockets hold is read
    const since = () => entry.versions.slice(entry.versions.indexOf(version))
    const isShown = () => since().some(({ state }) => matches(state, editor.cardAt(cardId)))
    if (!editor.isOpen || editor.closes !== closes || !entry.versions.includes(version)) return
    this.held += 1
    if (isShown()) return
    const [found, wanted] = [show(editor.cardAt(cardId)), since().map(({ state }) => show(state))]
    const passedMs = () => Math.round(performance.now() - answeredAt)
    const lookedMs = passedMs()
    const late = await until(isShown, 'it is shown', lateWithinMs).then(
      () => `it was right ${passedMs()} ms after the answer`,
      () => `it was not right ${passedMs()} ms after the answer`,
    )
    this.#faults.push(
      `live was true by ${url}, but after ${lookedMs} ms card ${cardId} was ${found} on the canvas of ${editor.name}; ` +
        `it should be ${wanted.join(' or ')}; ${late}, after ${editor.closes - closes} more closes; ` +
        (Number.isFinite(editor.backAt)
          ? `the canvas was back ${Math.round(answeredAt - editor.backAt)} ms before the answer`
          : 'the canvas had never been away'),
    )
  }
}

interface Claim {
  editor: EditorLoad
  cardId: string
  entry: Entry
  url: string
}
