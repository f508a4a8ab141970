/** Writes what sockets were sent: at the end of the tick, and large frames over several turns of the event loop. */

export interface Flushable {
  /** Bytes that were sent and are not written yet. */
  readonly outgoingBytes: number
  /** Writes them. */
  flush(): void
}

/** Copying fewer bytes costs less than writing them separately. */
export const sharedBytes = 16 * 1024

/**
 * Large frames of one turn leave over several turns, of this many bytes. Writing 4 MB takes up to 5 ms, and 100 people who
 * join a board wait for the same bytes.
 */
const turnBytes = 8 * 1024 * 1024

let flushing: Flushable[] = []
/** Sockets with large frames that have to wait for the next turn of the event loop. */
let flushingLater: Flushable[] = []

/** Flushes all sockets of this turn after one another. A tick for each of them costs about a microsecond more. */
export function flushSoon(socket: Flushable): void {
  if (flushing.length === 0) process.nextTick(flushAll)
  flushing.push(socket)
}

function flushAll(): void {
  const sockets = flushing
  flushing = []
  flushInTurns(sockets)
}

function flushLate(): void {
  const sockets = flushingLater
  flushingLater = []
  flushInTurns(sockets)
}

function flushInTurns(sockets: Flushable[]): void {
  let bytes = 0
  for (const socket of sockets) {
    const { outgoingBytes } = socket
    if (bytes < turnBytes || outgoingBytes < sharedBytes) {
      bytes += outgoingBytes
      socket.flush()
    } else if (flushingLater.push(socket) === 1) setImmediate(flushLate)
  }
}
