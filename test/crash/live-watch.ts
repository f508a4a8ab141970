/** Holds each `live: true` against what the open canvases had received when it was answered. */
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import type { EditorLoad } from './editor-load.ts'
import { matches, show, type Entry } from './ledger.ts'

/** What a balancer and this process need to hand a frame on that had been sent before the answer. */
const handedOnWithinMs = 100

export class LiveWatch {
  readonly faults: string[] = []
  /** How often an answer was held against a canvas. */
  held = 0
  readonly #editors: () => EditorLoad[]

  constructor(editors: () => EditorLoad[]) {
    this.#editors = editors
  }

  /** Call it when a write of a card was answered with `live: true`. The last version of `entry` is what was written. */
  claimed(boardId: string, cardId: string, entry: Entry): void {
    const version = entry.versions.at(-1)!
    const open = this.#editors()
      .filter((editor) => editor.boardId === boardId && editor.isOpen)
      .map((editor) => ({ editor, closes: editor.closes }))
    if (open.length === 0) return
    void (async () => {
      await delay(handedOnWithinMs)
      for (let n = 0; n < 3; n++) await turn() // also on a busy machine: what the sockets hold is read
      const since = entry.versions.slice(entry.versions.indexOf(version))
      if (since[0] !== version) return
      for (const { editor, closes } of open) {
        if (!editor.isOpen || editor.closes !== closes) continue
        this.held += 1
        const card = editor.cardAt(cardId)
        if (!since.some(({ state }) => matches(state, card)))
          this.faults.push(
            `live was true, but on the canvas of ${editor.name} card ${cardId} is ${show(card)}; ` +
              `it should be ${since.map(({ state }) => show(state)).join(' or ')}; ${open.length} canvases are open`,
          )
      }
    })()
  }
}
