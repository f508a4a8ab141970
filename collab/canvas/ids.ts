import { randomBytes } from 'node:crypto'

/** Returns random ids for cards and groups: 96 bits each, in the alphabet of ids. */
export function newIds(count: number): string[] {
  const bytes = randomBytes(count * 12)
  return Array.from({ length: count }, (_, n) => bytes.toString('base64url', n * 12, n * 12 + 12))
}
