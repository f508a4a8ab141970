/** Cuts a board's log into parts. Runs in a worker thread. */
import * as Y from 'yjs'
import { moved } from '../../platform/work/moved.ts'
import { cutUpdate, deletesOf, maxRanges } from '../updates/cut.ts'
import { documentOf, type LogContent } from './log.ts'

/** An update up to this size has no more deleted ranges than a part may have. */
const tinyBytes = 2 * maxRanges
/** Deleting so many takes about 10 ms. */
const manyClocks = 1500

/**
 * Whether an update deletes too much for one turn. Then the document is made here, so that what is deleted is collected
 * already when the log is applied.
 */
function deletesMuch(update: Uint8Array): boolean {
  let clocks = 0
  for (const ranges of deletesOf(update)?.clients.values() ?? []) for (const { len } of ranges) clocks += len
  return clocks > manyClocks
}

/**
 * Cuts a log without making a document of it: that took 600 MB and twice the time for 100,000 cards (16 MB).
 *
 * @returns updates (V1) that give the log's document when they are applied in order; each takes little time. One that is
 *   malformed is returned as it is
 */
export const cutLog = (log: LogContent): Uint8Array[] => moved(partsOf(log))

/** The same, in this thread. */
export function partsOf(log: LogContent): Uint8Array[] {
  const { snapshot, updates } = log
  const all = updates.some(deletesMuch)
    ? [Y.encodeStateAsUpdate(documentOf(log))]
    : [...(snapshot ? [Y.convertUpdateFormatV2ToV1(snapshot)] : []), ...updates]
  return all.flatMap((update) => (update.byteLength > tinyBytes && cutUpdate(update)) || [update])
}
