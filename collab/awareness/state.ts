/** Parses awareness states. */
import { isPlainObject } from '../../core/card-values.ts'
import type { ReceivedState } from './encoding.ts'

export interface ParsedState extends ReceivedState {
  state: Record<string, unknown>
}

const maxStateDepth = 16
/** Like the decoder of clients, it keeps a byte order mark, which is no JSON. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Parses a state. Throws when it isn't JSON in UTF-8: each client that received it would throw, too. */
export function readState(json: Uint8Array, maxBytes: number): Record<string, unknown> | 'gone' | 'unfit' {
  if (json.byteLength > maxBytes) return 'unfit'
  const state: unknown = JSON.parse(utf8.decode(json))
  if (state === null) return 'gone'
  return isPlainObject(state) && isShallow(state, maxStateDepth) ? state : 'unfit'
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (levels === 0) return false
  for (const key in value) if (!isShallow((value as Record<string, unknown>)[key], levels - 1)) return false
  return true
}
