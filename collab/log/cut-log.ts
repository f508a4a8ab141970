/** Cuts a board's log into parts. Runs in a worker thread. */
import * as Y from 'yjs'
import { moved } from '../../platform/work/moved.ts'
import { cutUpdate, maxRanges } from '../updates/cut.ts'
import type { LogContent } from './log.ts'

/** An update up to this size has no more deleted ranges than a part may have. */
const tinyBytes = 2 * maxRanges

/**
 * Cuts a log without making a document of it: that took 600 MB and twice the time for 100,000 cards (16 MB).
 *
 * @returns updates (V1) that give the log's document when they are applied in order; each takes little time. One that is
 *   malformed is returned as it is
 */
export function cutLog({ snapshot, updates }: LogContent): Uint8Array[] {
  const all = snapshot ? [Y.convertUpdateFormatV2ToV1(snapshot), ...updates] : updates
  return moved(all.flatMap((update) => (update.byteLength > tinyBytes && cutUpdate(update)) || [update]))
}
