/**
 * Counts the acknowledged edits of a provider by watching its sockets. SyncStatus frames acknowledge the SyncStep2 and
 * Update frames of a connection in order. The provider's own count is wrong after offline edits: it does not count the
 * frames that it queued meanwhile, but counts their acknowledgements.
 */
import { WebSocket } from 'ws'

const sync = 0
const syncStatus = 8
const step2 = 1
const update = 2

export class Acknowledgements {
  /** Number of edits made. Increase it before the edit. */
  made = 0
  acknowledged = 0
  readonly #onAcknowledged: (upTo: number) => void

  /** @param onAcknowledged called with the number of acknowledged edits whenever it increases */
  constructor(onAcknowledged: (upTo: number) => void) {
    this.#onAcknowledged = onAcknowledged
  }

  /** A WebSocket class for the provider, which watches the frames. */
  observedSocket(): new (url: string) => WebSocket {
    const observe = () => this.#observe()
    return class extends WebSocket {
      readonly #watch = observe()

      constructor(url: string) {
        super(url)
        this.on('message', (data) => this.#watch.received(new Uint8Array(data as ArrayBuffer)))
      }

      override send(data: Uint8Array, ...rest: []): void {
        this.#watch.sent(data)
        super.send(data, ...rest)
      }
    }
  }

  /** Of one socket. */
  #observe() {
    const waiting: { upTo: number; isStep2: boolean }[] = []
    // A frame may build on edits that were lost with the last connection: those come with the SyncStep2, as does all
    // else.
    let isSynced = false
    return {
      sent: (frame: Uint8Array) => {
        const [type, part] = kindOf(frame)
        if (type === sync && (part === step2 || part === update))
          waiting.push({ upTo: this.made, isStep2: part === step2 })
      },
      received: (frame: Uint8Array) => {
        const [type, applied] = kindOf(frame)
        if (type !== syncStatus || applied !== 1) return
        const answered = waiting.shift()
        if (!answered) throw new Error('an acknowledgement without a frame')
        isSynced ||= answered.isStep2
        if (!isSynced || answered.upTo <= this.acknowledged) return
        this.acknowledged = answered.upTo
        this.#onAcknowledged(answered.upTo)
      },
    }
  }
}

/** Type and first value of a frame: varString address (a board id: one byte of length), varUint type, varUint. */
function kindOf(frame: Uint8Array): [type: number, part: number] {
  const at = 1 + (frame[0] ?? 0)
  return [frame[at] ?? -1, frame[at + 1] ?? -1]
}
