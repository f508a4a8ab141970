/**
 * Opens cards of a board that is not in memory without loading it: a document with nothing but these cards, made of their
 * rows in the index. Their items have the ids that they have in the board's document (canvas/anchors.ts), so a change that
 * is built on them is the same as one that is built on the board's document.
 */
import * as Y from 'yjs'
import { indexColumns, type CardContent } from '../../core/card.ts'
import type { RestsOn } from '../../sql/commit-call.ts'
import { decodeAnchors, type Anchor } from '../canvas/anchors.ts'
import { cardsRoot, findCard, groupsRoot } from '../canvas/canvas.ts'
import { readCard } from '../canvas/project.ts'
import { MovedOn } from '../commit/refusal.ts'
import type { BoardHead } from '../log/log.ts'
import { encodeUpdate, type Struct } from '../updates/encode.ts'
import type { LiveBoards } from './live.ts'

/** Bounds of one request: what it reads, and the step in which the document is made. */
const most = { cards: 100, bodyBytes: 512 * 1024 }

/**
 * Bytes of a document that load in the time in which a write reads the index. When the writes of a board have taken as long
 * as loading it takes, it is loaded.
 */
const loadedPerWrite = 2000

interface IndexedCards {
  document: Y.Doc
  restsOn: RestsOn
}

interface Row extends BoardHead {
  /** Of the snapshot and the log after it. */
  bytes: number
  /** Those of the asked groups that the board has. */
  groups: string[]
  /** Id of the card. Null in the only row when none of the cards is on the board. */
  card: string | null
  position: number
  hash: string
  anchors: Buffer | null
}

type IndexedRow = Row & CardContent

/**
 * Opens cards, and groups that a change names. Null when that takes the document: the board is in memory, the index is
 * behind or lacks something, or the cards are many.
 *
 * A write that is built on them needs their `restsOn`, and `requireIndexed` when it is built.
 */
export async function openIndexed(
  live: LiveBoards,
  boardId: string,
  ids: string[],
  groups: string[],
): Promise<IndexedCards | null> {
  const queue = live.queue.board(boardId)
  if (queue.document || queue.edits.count > 0 || ids.length > most.cards) return null
  const rows = await live.database.asSystem(
    (tx) => tx<IndexedRow[]>`
      select d.seq, d.indexed_seq as "indexedSeq", d.api_client as "apiClient", d.api_clock as "apiClock", d.top_z as "topZ",
        d.log_rows as "logRows", d.log_bytes as "logBytes", d.log_bytes + coalesce(octet_length(d.snapshot), 0) as bytes, c.*, array(
          select g.group_id
          from group_index g
          where g.board_id = d.board_id and g.group_id = any (${groups}) and g.deleted_at is null
        ) as groups
      from board_documents d
      left join lateral (
        select x.card_id as card, x.position, x.hash, x.anchors, ${tx([...indexColumns])}
        from card_index x
        where x.board_id = d.board_id and x.card_id = any (${ids}) and x.deleted_at is null
      ) c on true
      where d.board_id = ${boardId} and d.indexed_seq = d.seq and (
        select coalesce(sum(octet_length(x.body)), 0)
        from card_index x
        where x.board_id = d.board_id and x.card_id = any (${ids}) and x.deleted_at is null
      ) <= ${most.bodyBytes}`,
  )
  const [first] = rows
  if (!first || queue.indexedWrites * loadedPerWrite > first.bytes) return null
  const cards = rows.filter(({ card }) => card !== null)
  const document = documentOf(cards, first.groups)
  if (!document) return null
  if (!queue.head) queue.learn(headOf(first))
  queue.indexedWrites += 1
  const positions = new Map(cards.map(({ card, position }) => [card, position]))
  return {
    document,
    restsOn: {
      cards: Object.fromEntries(ids.map((id) => [id, positions.get(id) ?? null])),
      groups: first.groups,
    },
  }
}

const headOf = ({ seq, indexedSeq, apiClient, apiClock, topZ, logRows, logBytes }: BoardHead): BoardHead => {
  return { seq, indexedSeq, apiClient, apiClock, topZ, logRows, logBytes }
}

/**
 * Checks that nobody has the board open in this process. Their edits would come before the write, and it is built without
 * them.
 *
 * @throws MovedOn
 */
export function requireIndexed({ queue }: LiveBoards, boardId: string): void {
  const { document, edits } = queue.board(boardId)
  if (document || edits.count > 0) throw new MovedOn()
}

function documentOf(rows: IndexedRow[], groups: string[]): Y.Doc | null {
  const items = new Items()
  for (const row of rows) {
    const anchors = row.anchors && decodeAnchors(row.anchors)
    if (!anchors) return null
    items.add(anchors.map, cardsRoot, row.card!, new Y.ContentType(new Y.Map()))
    for (const { key, id, value } of anchors.entries) {
      items.add(id, anchors.map, key, contentOf(key, value, row))
      if (value.state === 'text' && row.body) items.addOwn(id, null, new Y.ContentString(row.body))
    }
  }
  for (const id of groups) {
    const map = items.addOwn(groupsRoot, id, new Y.ContentType(new Y.Map()))
    items.addOwn(map, 'name', new Y.ContentAny(['']))
  }
  const structs = items.withoutGaps()
  if (!structs) return null
  const document = new Y.Doc()
  Y.applyUpdate(document, encodeUpdate(structs, new Map()))
  for (const { card, hash } of rows) {
    const shared = findCard(document, card!)
    if (shared && readCard(card!, shared).version === hash) continue
    document.destroy()
    return null
  }
  return document
}

function contentOf(key: string, value: Anchor['value'], row: IndexedRow): Y.Item['content'] {
  switch (value.state) {
    case 'column':
      return new Y.ContentAny([row[key as keyof CardContent]])
    case 'text':
      return new Y.ContentType(new Y.Text())
    case 'gone':
      return new Y.ContentDeleted(1)
    case 'json':
      return new Y.ContentAny([JSON.parse(value.json)])
  }
}

/** Items whose ids nobody refers to have this client, which no document has. */
const ownClient = Number.MAX_SAFE_INTEGER

/** The items of a document, in any order. */
class Items {
  readonly #byClient = new Map<number, Y.Item[]>()
  #ownClock = 0

  add(id: Y.ID, parent: Y.ID | string, key: string | null, content: Y.Item['content']): void {
    const item = new Y.Item(id, null, null, null, null, parent as Y.ID, key, content)
    this.#byClient.getOrInsertComputed(id.client, () => []).push(item)
  }

  addOwn(parent: Y.ID | string, key: string | null, content: Y.Item['content']): Y.ID {
    const id = Y.createID(ownClient, this.#ownClock)
    this.add(id, parent, key, content)
    this.#ownClock += content.getLength()
    return id
  }

  /** The items by client, with the gaps filled, as an update needs them. Null when two of them overlap. */
  withoutGaps(): Map<number, Struct[]> | null {
    const filled = new Map<number, Struct[]>()
    for (const [client, items] of this.#byClient) {
      items.sort((a, b) => a.id.clock - b.id.clock)
      const structs: Struct[] = []
      let end = 0
      for (const item of items) {
        const gap = item.id.clock - end
        if (gap < 0) return null
        if (gap > 0) structs.push(new Y.GC(Y.createID(client, end), gap))
        structs.push(item)
        end = item.id.clock + item.length
      }
      filled.set(client, structs)
    }
    return filled
  }
}
