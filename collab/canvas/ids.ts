import { randomFillSync } from 'node:crypto'

const idBytes = 12
/** Random bytes for the next ids: drawing them for each request takes six times as long. */
const pool = Buffer.allocUnsafeSlow(idBytes * 256)
let used = pool.length

/** Returns random ids for cards and groups: 96 bits each, in the alphabet of ids. */
export function newIds(count: number): string[] {
  return Array.from({ length: count }, newId)
}

function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const id = pool.toString('base64url', used, used + idBytes)
  used += idBytes
  return id
}
