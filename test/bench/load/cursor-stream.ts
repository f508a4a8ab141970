import { Awareness, encodeAwarenessUpdate } from 'y-protocols/awareness'
import * as Y from 'yjs'

/** The awareness states of one editor whose cursor moves. */
export class CursorStream {
  readonly #document = new Y.Doc()
  readonly #awareness = new Awareness(this.#document)
  #step = 0

  get clientId(): number {
    return this.#document.clientID
  }

  next(): { states: Uint8Array; clock: number } {
    this.#step += 1
    this.#awareness.setLocalState({
      user: { name: 'Ada', color: '#1971c2' },
      cursor: { x: (this.#step * 37) % 5_000, y: (this.#step * 91) % 4_000 },
    })
    const { clock } = this.#awareness.meta.get(this.clientId)!
    return { states: encodeAwarenessUpdate(this.#awareness, [this.clientId]), clock }
  }

  /** The state as it is, with a new clock. */
  renew(): { states: Uint8Array } {
    this.#awareness.setLocalState(this.#awareness.getLocalState() ?? { user: { name: 'Ada' } })
    return { states: encodeAwarenessUpdate(this.#awareness, [this.clientId]) }
  }

  end(): void {
    this.#awareness.destroy()
  }
}
