/** Searches everything that a service stores for a text: all tables, and all files of the store. */
import { buffer } from 'node:stream/consumers'
import { decompress } from '../../collab/log/segment.ts'
import type { TestService } from './service.ts'

/** Returns the tables and the files that contain the text, sorted. */
export async function placesOf({ admin, files }: TestService, text: string): Promise<string[]> {
  const places = new Set<string>()
  const hex = Buffer.from(text).toString('hex')
  const tables = await admin<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'corkboard'::regnamespace and relkind = 'r'`
  for (const { name } of tables) {
    const found = await admin`
      select from ${admin(name)} t where strpos(to_jsonb(t)::text, ${text}) > 0 or strpos(to_jsonb(t)::text, ${hex}) > 0 limit 1`
    if (found.length > 0) places.add(name)
  }
  for await (const { key } of files.list()) {
    const stored = await files.get(key)
    const bytes = stored ? await buffer(stored) : Buffer.alloc(0)
    const plain = key.startsWith('history/') ? Buffer.from(decompress(bytes)) : bytes
    if (plain.includes(text)) places.add(key.split('/')[0]!)
  }
  return [...places].toSorted()
}
