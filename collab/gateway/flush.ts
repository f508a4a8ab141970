/** Writes what sockets were sent: at the end of the tick, and large frames over several turns of the event loop. */
import { LoopTurn } from '../../platform/work/loop-turn.ts'

export interface Flushable {
  /** Bytes that were sent and are not written yet. */
  readonly outgoingBytes: number
  /** Writes them. */
  flush(): void
}

/** Copying fewer bytes costs less than writing them separately. */
export const sharedBytes = 16 * 1024

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

/**
 * Writing 4 MB takes 5 to 15 ms, and 100 people who join a board wait for the same bytes. So a turn writes large frames
 * until its time is over.
 */
function flushInTurns(sockets: Flushable[]): void {
  const turn = new LoopTurn()
  for (const socket of sockets) {
    if (socket.outgoingBytes < sharedBytes || !turn.isOver()) socket.flush()
    else if (flushingLater.push(socket) === 1) setImmediate(flushLate)
  }
}
