import { randomBytes } from 'node:crypto'

/** 96 random bits each, in the alphabet of the ids of cards and groups. */
export function newIds(count: number): string[] {
  const bytes = randomBytes(count * 12)
  return Array.from({ length: count }, (_, n) => bytes.toString('base64url', n * 12, n * 12 + 12))
}
