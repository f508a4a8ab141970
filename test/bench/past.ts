/** Makes boards with a long past, in bulk: as compaction would have archived it. */
import { join } from 'node:path'
import type { Sql } from 'postgres'
import * as Y from 'yjs'
import { putFile } from '../../collab/log/history.ts'
import { compress, encodeSegment, type SegmentRow } from '../../collab/log/segment.ts'
import { systemClock } from '../../platform/clock.ts'
import { DiskStore } from '../../platform/storage/disk-store.ts'
import { openPartUrls } from '../../platform/storage/part-urls.ts'

const rowsPerSegment = 1000
const pastDays = 360
const dayMs = 86_400_000
/** Updates on which a document that keeps everything is measured. With all of them it would not fit into memory. */
const comparedUpdates = 100_000

/** Bytes per update. */
export interface PastBytes {
  archived: number
  /** Rows of the log: updates and causes. */
  raw: number
  /** A Y.Doc without garbage collection. */
  notCollected: number
}

export interface PastOptions {
  sql: Sql
  dataDir: string
  board: string
  /** The board's document: empty, or that of another board. Its changes are continued. */
  document: Y.Doc
  cards: number
  updates: number
}

/** Gives a board this document as its first change, and then a past with this number of updates. */
export async function makePast(options: PastOptions): Promise<PastBytes> {
  const { sql, dataDir, board, document, cards, updates } = options
  const store = openStore(dataDir)
  const whole = new Y.Doc({ gc: false })
  const pending: Uint8Array[] = []
  const writer = new Writer(document, cards)
  pending.push(Y.encodeStateAsUpdate(document))
  const changed: Changed[] = [{}]
  const keep = (update: Uint8Array) => pending.push(update)
  document.on('update', keep)
  let seq = 0
  let sinceBase = 0
  let snapshotBytes = 0
  const bytes = { archived: 0, raw: 0, before: 0, compared: 0 }
  const archive = async (base: Uint8Array | null) => {
    const rows = pending.map((update, n) => rowOf(seq + n + 1, updates, update, changed[n]!))
    const segment = encodeSegment(rows, pending)
    const rowBytes = rows.reduce((sum, row) => sum + row.bytes, 0)
    const key = `history/${board}/${seq + 1}-${seq + rows.length}-bench`
    await putFile(store, key, segment)
    if (base) await putFile(store, `${key}-base`, base)
    await sql`
      insert into board_history (
        board_id, workspace_id, from_seq, to_seq, from_at, to_at, row_bytes, bytes, key, base_bytes, base_key, base_at
      )
      select id, workspace_id, ${seq + 1}, ${seq + rows.length}, ${new Date(rows[0]!.at)}, ${new Date(rows.at(-1)!.at)},
        ${rowBytes}, ${segment.byteLength}, ${key}, ${base?.byteLength ?? 0}, ${base && `${key}-base`},
        ${base && new Date(rows[0]!.at)}
      from boards where id = ${board}`
    sinceBase = (base ? 0 : sinceBase) + rowBytes
    if (seq > 0 && seq <= comparedUpdates) {
      bytes.archived += segment.byteLength + (base?.byteLength ?? 0)
      bytes.raw += rows.reduce((sum, row) => sum + row.bytes + JSON.stringify([row.causes]).length, 0)
      bytes.compared += rows.length
    }
    if (seq <= comparedUpdates) for (const update of pending) Y.applyUpdate(whole, update)
    if (seq === 0) bytes.before = Y.encodeStateAsUpdateV2(whole).byteLength
    seq += rows.length
    pending.length = 0
    changed.length = 0
  }
  await sql`update boards set created_at = now() - interval '1 year' where id = ${board}`
  await archive(null)
  for (let left = updates; left > 0; left -= rowsPerSegment) {
    // As compaction does, but a snapshot is made for bases only. The size of cards hardly changes.
    const snapshot = sinceBase > snapshotBytes ? Y.encodeStateAsUpdateV2(document) : null
    if (snapshot) snapshotBytes = snapshot.byteLength
    const base = snapshot && compress(snapshot)
    for (let n = 0; n < rowsPerSegment; n++) changed.push(writer.change(seq + n))
    await archive(base)
  }
  await sql`
    update board_documents
    set seq = ${seq}, snapshot_seq = ${seq}, indexed_seq = ${seq}, snapshot = ${Buffer.from(Y.encodeStateAsUpdateV2(document))}
    where board_id = ${board}`
  const grown = Y.encodeStateAsUpdateV2(whole).byteLength - bytes.before
  whole.destroy()
  document.off('update', keep)
  const perUpdate = (total: number) => total / bytes.compared
  return {
    archived: perUpdate(bytes.archived),
    raw: perUpdate(bytes.raw),
    notCollected: perUpdate(grown),
  }
}

const openStore = (dataDir: string) =>
  new DiskStore({
    ...{
      folder: join(dataDir, 'files'),
      urls: openPartUrls(['a key of the bench, of more than 32 characters']),
    },
    ...{ clock: systemClock, publicUrl: () => '' },
  })

/** Fields by card. */
type Changed = Record<string, string[]>

function rowOf(seq: number, updates: number, update: Uint8Array, changed: Changed): SegmentRow {
  // Somebody works for half a minute at a time: a change every 0.1 to 0.4 seconds.
  const burst = (Math.floor(seq / 100) * 100) / (updates + rowsPerSegment)
  const at = Math.floor(
    Date.now() - (1 - burst) * (pastDays - 1) * dayMs - dayMs + (seq % 100) * 250 + Math.random() * 150,
  )
  const account = '6f0c4c1e-3e0b-4f7e-9a2c-0d6f5f3f8a11'
  const changes = { added: [], removed: [], changed, groups: [] }
  return {
    ...{ seq, at, bytes: 4 + update.byteLength },
    causes: [{ n: 1, by: 'editor', accounts: [account], tokens: [account], changes }],
  }
}

/**
 * Writes as editors do: somebody types into a card, deletes it again, and moves the card. Each value of a map that is
 * replaced stays in a Yjs document for good, as an empty item. So a document with a million moves takes long to load,
 * whatever its history.
 */
class Writer {
  readonly #document: Y.Doc
  readonly #cards: Y.Map<unknown>[]

  constructor(document: Y.Doc, count: number) {
    this.#document = document
    const cards = document.getMap<Y.Map<unknown>>('cards')
    document.transact(() => {
      for (let n = cards.size; n < count; n++) {
        const body = new Y.Text('Some words on a card. '.repeat(10))
        const [x, y] = [(n % 100) * 300, Math.floor(n / 100) * 200]
        const fields = { kind: 'note', title: `Card ${n}`, body, x, y, w: 280, h: 180, z: n, rotation: 0 }
        cards.set(`card-${n}`, new Y.Map<unknown>(Object.entries(fields)))
      }
    })
    this.#cards = [...cards.values()]
  }

  change(n: number): Changed {
    const at = (Math.floor(n / 100) * 7919) % this.#cards.length
    const card = this.#cards[at]!
    const body = card.get('body') as Y.Text
    const step = n % 100
    this.#document.transact(() => {
      if (step < 45) body.insert(body.length, 'abcdefghij'[n % 10]!)
      else if (step < 90) body.delete(body.length - 1, 1)
      else {
        card.set('x', (n * 37) % 30_000)
        card.set('y', (n * 91) % 20_000)
      }
    })
    return { [`card-${at}`]: step < 90 ? ['body'] : ['x', 'y'] }
  }
}
