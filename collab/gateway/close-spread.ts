import { setTimeout as delay } from 'node:timers/promises'
import { closeCodes } from '../../core/errors.ts'

export interface Spread {
  /** Sockets that are closed without waiting. */
  atOnce: number
  /** Wait between two closes after these. */
  pauseMs: number
  /** Longest time for all closes. With many sockets the waits are shorter. */
  withinMs: number
}

interface Closable {
  close(code: number, reason: string): void
}

/** How often sockets that are due are closed. */
const tickMs = 10

/**
 * Closes sockets because the service restarts (1012). Every editor comes back to another node at once, authenticates and
 * loads its board. So many of them are closed over some seconds. A few don't wait.
 */
export async function closeSpread(sockets: Iterable<Closable>, spread: Spread): Promise<void> {
  const open = [...sockets]
  const { code, reason } = closeCodes.restart
  const late = Math.max(0, open.length - spread.atOnce)
  const totalMs = Math.min(spread.withinMs, late * spread.pauseMs)
  const begun = performance.now()
  let closed = 0
  for (;;) {
    const share = totalMs === 0 ? 1 : Math.min(1, (performance.now() - begun) / totalMs)
    const due = open.length - late + Math.floor(late * share)
    for (; closed < due; closed++) open[closed]!.close(code, reason)
    if (closed === open.length) return
    await delay(tickMs)
  }
}
