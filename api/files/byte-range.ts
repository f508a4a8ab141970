/** Parses the header `Range` (RFC 9110, 14). Only a single range of bytes is supported. */
import type { ByteRange } from '../../platform/storage/object-store.ts'

/** Null: send the whole file. Also for unsupported headers, such as several ranges. */
export function parseRange(header: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return null
  if (first === '') {
    const start = Math.max(0, bytes - Number(last))
    return start < bytes ? { start, end: bytes - 1 } : 'unsatisfiable'
  }
  if (last !== '' && Number(last) < Number(first)) return null
  if (Number(first) >= bytes) return 'unsatisfiable'
  return { start: Number(first), end: last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1) }
}

/** Whether a list of ETags, as in `If-None-Match`, contains this one. */
export function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
}
