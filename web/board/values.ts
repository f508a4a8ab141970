/** Reads values that anybody can have written. */
import type { Place } from '../../client/editor/index.ts'

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

export function placeOf(value: unknown): Place | null {
  const { x, y } = isRecord(value) ? value : {}
  return Number.isFinite(x) && Number.isFinite(y) ? { x: x as number, y: y as number } : null
}
