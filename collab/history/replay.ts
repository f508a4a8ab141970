/** Rebuilds a past state from segments. Runs in a worker thread. */
import * as Y from 'yjs'
import { moved } from '../../platform/work/moved.ts'
import { documentOf, type LogContent } from '../log/log.ts'
import { decodeSegment, decompress } from '../log/segment.ts'
import { cutUpdate } from '../updates/cut.ts'
import type { Instant } from './outline.ts'

export interface Replayed {
  /** The position of the state, and its time in milliseconds; null for a base alone. */
  seq: number | null
  at: number | null
  /** The time of the next row; null when it is not in these segments. */
  nextAt: number | null
}

/**
 * Replays segments on their base, up to a moment.
 *
 * @returns JSON of `Replayed`, and then the state as updates (V1) that are applied in order
 */
export function replaySegments({
  base,
  segments,
  until,
}: {
  base: Uint8Array | null
  segments: Uint8Array[]
  until: Instant
}): Uint8Array[] {
  const rows = segments.flatMap(decodeSegment)
  const isAfter = (row: { seq: number; at: number }) =>
    'at' in until ? row.at > until.at : row.seq > until.position
  const next = rows.findIndex(isAfter)
  const wanted = next < 0 ? rows : rows.slice(0, next)
  const parts = cutUpdate(
    stateOf({ snapshot: base && decompress(base), updates: wanted.flatMap(({ updates }) => updates) }),
  )
  if (!parts) throw new Error('The past state of a board is malformed.')
  const last = wanted.at(-1)
  const replayed: Replayed = {
    seq: last?.seq ?? null,
    at: last?.at ?? null,
    nextAt: rows[next]?.at ?? null,
  }
  return moved([Buffer.from(JSON.stringify(replayed)), ...parts])
}

/** In a function of its own, so that the document's memory is free when its state is cut. */
const stateOf = (content: LogContent): Uint8Array => Y.encodeStateAsUpdate(documentOf(content))
