/**
 * A large board that is only shown: it has no document. Canvases get the stored bytes of its log, and then the bytes of
 * each commit. The document is built when somebody edits the board, or reads what the index does not have.
 */
import type { Document } from '@hocuspocus/server'
import { inTurns } from '../../platform/work/loop-turn.ts'
import { bytesOf, type Added } from '../log/log.ts'
import { encodeState } from '../updates/encode-state.ts'
import { weigh } from '../updates/weight.ts'
import { partBytes } from './apply-writes.ts'
import { sendToCanvases, type BoardLog } from './board-log.ts'
import type { EncodedState } from './shared-state.ts'
import { StoredState } from './stored-state.ts'

/** How often a log is read for clients that join. Beyond it the document is built: the board is written often. */
const maxReads = 3

export interface ShownBoardOptions {
  /** It has the canvases, and no content. */
  document: Document
  log: BoardLog
  /** Its position in the log. */
  seq: number
  /** The state vector of the open canvases, encoded; null when no canvas is open. */
  vector: Uint8Array | null
  /** Called when the document should be built: the log is read often. */
  wanted(): void
}

export class ShownBoard {
  readonly #options: ShownBoardOptions
  readonly #state: StoredState

  constructor(options: ShownBoardOptions) {
    const { document, log, seq, vector, wanted } = options
    this.#options = options
    let reads = 0
    this.#state = new StoredState({
      ...{ seq, vector },
      read: () => {
        reads += 1
        if (reads > maxReads) wanted()
        return log.content()
      },
      weighs: (bytes) => (weigh(document).contentBytes += bytes),
      send: (update) => sendToCanvases(document, update),
    })
  }

  /** For clients that join. */
  get state(): EncodedState {
    return this.#state
  }

  /** Canvases were sent everything up to this position. */
  get seq(): number {
    return this.#state.seq
  }

  /** Sends canvases one commit. */
  send(seq: number, updates: Uint8Array[]): void {
    this.#state.send(seq, updates)
    this.#options.log.sizeBytes += bytesOf(updates)
  }

  /** Sends canvases what another node has added. @returns false when the document has to be built: not all is indexed */
  async take({ head, updates }: Added): Promise<boolean> {
    if (head.indexedSeq < head.seq) return false
    this.send(head.seq, updates)
    return true
  }

  /**
   * Sends canvases what the log has got.
   *
   * @returns its newest position; null when the document has to be built: not all is indexed, or it is much
   */
  async readOn(): Promise<number | null> {
    const { seq, indexedSeq, snapshot, updates } = await this.#options.log.follow(this.seq)
    if (snapshot || indexedSeq < seq || bytesOf(updates) > partBytes) return null
    this.send(seq, updates)
    return seq
  }

  /** The document is built, and contains the log up to `seq`. Sends canvases what they lack of it. */
  async sendRest(seq: number): Promise<void> {
    const { document } = this.#options
    const { known } = this.#state
    if (!known || seq <= this.seq) return
    sendToCanvases(document, await inTurns(encodeState(document, known)))
  }

  /** From now on canvases are shown the document. Joins that still wait get `successor`. */
  end(successor: EncodedState): void {
    this.#state.end(successor)
  }
}
