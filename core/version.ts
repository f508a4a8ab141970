/**
 * Versions of cards and boards. A version is a hash of the content. So a card has the same version in its document and in
 * the index, and after a compaction, a reload, a move or a restore. A card whose content is changed back has its earlier
 * version again. One might use the position of the last change instead. But the document does not contain it, and changes
 * without effect would change the version.
 */
import { hash } from 'node:crypto'

/** The condition of a write: whether a card or board with this version may be changed. */
export type Expects = (version: string) => boolean

/** The condition that both conditions hold. */
export const both = (first: Expects | undefined, second: Expects | undefined): Expects | undefined =>
  first && second ? (version) => first(version) && second(version) : (first ?? second)

/**
 * The hash over the names and values of all fields that differ from their default, sorted by name. So every process
 * computes the same hash, and a field added by a later version of the service changes only the hashes of objects that
 * use it.
 */
export function hashOf(fields: object, defaults: Record<string, unknown> = {}): string {
  const values = fields as Record<string, unknown>
  const names = Object.keys(values).filter((name) => !isDefault(values[name], defaults[name]))
  const pairs = names.sort().map((name): [string, unknown] => [name, sorted(values[name])])
  return hash('sha1', JSON.stringify(pairs), 'base64').slice(0, 22)
}

/** Whether a value is the default. Absent, null and an empty list are defaults for every field. */
const isDefault = (value: unknown, other: unknown) =>
  value === null || value === undefined || value === other || (Array.isArray(value) && value.length === 0)

/** The value with the keys of its objects sorted. A `replacer` of JSON.stringify would take three times as long. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  if (value instanceof Date) return value.toJSON()
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}
