import { afterAll, expect, test } from 'vitest'
import type { CardRow } from '../../collab/canvas/project.ts'
import type { CommitItem } from '../../sql/commit-call.ts'
import { cloneDatabase } from '../support/database.ts'

const database = await cloneDatabase()
afterAll(() => database.drop())

/** TypeScript holds the keys to the interfaces. */
const itemFields: Record<keyof CommitItem, string> = {
  n: 'integer',
  board: 'uuid',
  kind: 'text',
  op: 'uuid',
  cause: 'text',
  account: 'uuid',
  session: 'jsonb',
  actors: 'uuid[]',
  causes: 'json',
  blob_at: 'integer',
  blob_bytes: 'integer',
  clock: 'bigint',
  used: 'integer',
  seen: 'bigint',
  adds: 'integer',
  creates: 'boolean',
  top_z: 'double precision',
  partner: 'integer',
  claims: 'jsonb',
  operation: 'json',
  files: 'json',
  room: 'json',
  is_full: 'boolean',
  guests: 'json',
  node: 'uuid',
  reservation: 'text',
  rests_on: 'jsonb',
}
const rowFields: Record<keyof CardRow | 'n', string> = {
  n: 'integer',
  id: 'text',
  gone: 'boolean',
  fresh: 'boolean',
  kind: 'text',
  title: 'text',
  body: 'text',
  x: 'double precision',
  y: 'double precision',
  w: 'double precision',
  h: 'double precision',
  z: 'double precision',
  rotation: 'double precision',
  group_id: 'text',
  image_key: 'text',
  file_key: 'text',
  poster_key: 'text',
  url: 'text',
  identifiers: 'jsonb',
  hash: 'text',
  anchors: 'bytea',
  moved_from: 'uuid',
  was: 'text',
}

test('[O56] commit_batch reads the fields that its caller writes: of items and of card rows', async () => {
  expect(await fieldsOf('commit_item')).toEqual(itemFields)
  expect(await fieldsOf('commit_row')).toEqual(rowFields)
})

async function fieldsOf(type: string): Promise<Record<string, string>> {
  const rows = await database.admin<{ name: string; type: string }[]>`
    select attname as name, format_type(atttypid, atttypmod) as type
    from pg_attribute
    where attrelid = ${`corkboard.${type}`}::regclass and not attisdropped`
  return Object.fromEntries(rows.map((row) => [row.name, row.type]))
}
