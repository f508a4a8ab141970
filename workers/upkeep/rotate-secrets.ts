/**
 * Encrypts everything that is stored encrypted with the first of two keys, while the service runs. The key's id is in each
 * encrypted text, so the rows themselves say what is left: the work can be interrupted, repeated, and done by two
 * processes at once.
 *
 * Each batch locks its rows for some milliseconds, in the order of their keys. The rounds go on until one finds nothing:
 * the service may copy a secret that the round has not reached to a place behind it, as when a webhook's secret is
 * replaced.
 */
import {
  DecryptionError,
  openEncryption,
  type Encryption,
  type Purpose,
  type SecretKeys,
} from '../../platform/secrets/encryption.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import { decodeMade } from '../../sql/made.ts'

/** A column that holds encrypted values. */
interface SealedColumn {
  table: string
  column: string
  /** A unique column, and its type. */
  key: string
  type: 'uuid' | 'text' | 'bytea'
  purpose: Purpose
  /** What the encryption of a value is about. @param key of its row; in hex if it consists of bytes */
  about(key: string): string
}

const itself = (key: string) => key
const webhooks = { table: 'webhooks', key: 'id', type: 'uuid', purpose: 'webhook secrets' } as const
const replays = { table: 'idempotency_keys', key: 'id', type: 'bytea' } as const
const oauth = { key: 'key', type: 'bytea', purpose: 'oauth' } as const

/** Columns of bytes. */
const columns: SealedColumn[] = [
  { ...webhooks, column: 'secret', about: itself },
  { ...webhooks, column: 'previous_secret', about: itself },
  {
    ...{ table: 'oauth_clients', column: 'metadata', key: 'client_id', type: 'text', purpose: 'oauth' },
    about: (id) => `Client ${id}`,
  },
  { ...oauth, table: 'oauth_grants', column: 'payload', about: itself },
  { ...oauth, table: 'oauth_artifacts', column: 'payload', about: itself },
  { ...replays, column: 'response', purpose: 'answers kept for replay', about: itself },
]

/** Rows of one transaction. */
const batch = 200

export interface Rotation {
  /** How many values were encrypted anew, by `table.column`. */
  rotated: Record<string, number>
  /** How many values no key decrypts. They stay as they are. The service could not read them before, either. */
  unreadable: number
}

interface Batch {
  rotated: number
  unreadable: number
  /** The last key of the batch. Null: there are no more rows. */
  last: string | null
}

export async function rotateSecrets(
  database: Database,
  secretKeys: SecretKeys,
  onBatch: (rotated: number) => void = () => undefined,
): Promise<Rotation> {
  const rotated: Record<string, number> = {}
  for (;;) {
    const round = { rotated: 0, unreadable: 0 }
    const walk = async (name: string, run: (tx: Transaction, after: string | null) => Promise<Batch>) => {
      rotated[name] ??= 0
      for (let after: string | null = null; ;) {
        const from: string | null = after
        const done: Batch = await database.asSystem((tx) => run(tx, from), 'background')
        rotated[name] += done.rotated
        round.rotated += done.rotated
        round.unreadable += done.unreadable
        onBatch(done.rotated)
        if (done.last === null) break
        after = done.last
      }
    }
    for (const column of columns) {
      const encryption = openEncryption(secretKeys, column.purpose)
      await walk(`${column.table}.${column.column}`, (tx, after) =>
        rotateBytes(tx, column, encryption, after),
      )
    }
    const encryption = openEncryption(secretKeys, 'answers kept for replay')
    await walk('idempotency_keys.result', (tx, after) => rotateNotes(tx, encryption, after))
    if (round.rotated === 0) return { rotated, unreadable: round.unreadable }
  }
}

async function rotateBytes(
  tx: Transaction,
  { table, column, key, type, about }: SealedColumn,
  encryption: Encryption,
  after: string | null,
): Promise<Batch> {
  const cast = tx.unsafe(`::${type}`)
  const rows = await tx<{ key: string; sealed: Buffer }[]>`
    select ${tx(key)}::text as key, ${tx(column)} as sealed
    from ${tx(table)}
    where (${after}::text is null or ${tx(key)} > ${after}::text${cast})
      and substring(${tx(column)} from 1 for ${encryption.head.length}) <> ${encryption.head}
    order by ${tx(table)}.${tx(key)}
    limit ${batch}
    for no key update`
  const fresh = rows.flatMap((row) => {
    const sealed = sealAgain(encryption, row.sealed, about(row.key.replace(/^\\x/, '')))
    return sealed ? [{ key: row.key, hex: sealed.toString('hex') }] : []
  })
  await tx`
    update ${tx(table)} as t set ${tx(column)} = decode(f.hex, 'hex')
    from unnest(${fresh.map((row) => row.key)}::text[], ${fresh.map(({ hex }) => hex)}::text[]) as f(key, hex)
    where t.${tx(key)} = f.key${cast}`
  return batchOf(rows, fresh.length)
}

/** The encrypted notes among the objects that a request made (sql/made.ts). */
async function rotateNotes(tx: Transaction, encryption: Encryption, after: string | null): Promise<Batch> {
  // 8 characters in base64 are 6 bytes, and the head has 5.
  const rows = await tx<{ key: string; result: unknown[] }[]>`
    select encode(id, 'hex') as key, result
    from idempotency_keys
    where (${after}::text is null or id > decode(${after}::text, 'hex'))
      and exists (
        select from jsonb_array_elements(result) as e
        where jsonb_typeof(e) = 'object' and e ? 'sealed'
          and substring(decode(left(e ->> 'sealed', 8), 'base64') from 1 for ${encryption.head.length}) <> ${encryption.head}
      )
    order by idempotency_keys.id
    limit ${batch}
    for no key update`
  let rotated = 0
  for (const { key, result } of rows) {
    const fresh = result.map((stored) => {
      const made = decodeMade(stored)
      if (!('sealed' in made)) return stored
      const about = made.type === 'secret' ? made.id : key
      const sealed = sealAgain(encryption, Buffer.from(made.sealed, 'base64'), about)
      return sealed ? { ...made, sealed: sealed.toString('base64') } : stored
    })
    if (fresh.every((one, at) => one === result[at])) continue
    rotated += 1
    await tx`
      update idempotency_keys set result = ${JSON.stringify(fresh)}::text::jsonb where id = decode(${key}, 'hex')`
  }
  return batchOf(rows, rotated)
}

const batchOf = (rows: { key: string }[], rotated: number): Batch => ({
  rotated,
  unreadable: rows.length - rotated,
  last: rows.length < batch ? null : rows.at(-1)!.key,
})

/** Null when no key decrypts the value. */
function sealAgain(encryption: Encryption, sealed: Uint8Array, about: string): Buffer | null {
  try {
    return encryption.seal(encryption.open(sealed, about), about)
  } catch (error) {
    if (error instanceof DecryptionError) return null
    throw error
  }
}
