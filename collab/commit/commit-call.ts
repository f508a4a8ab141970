/** Encodes a commit as the arguments of `commit_batch`, and types its answer; see sql/functions/commit.sql. */
import { encodeMade } from '../../sql/made.ts'
import { randomUUID } from 'node:crypto'
import type { BytesByTier } from '../../core/limits.ts'
import { ownClientId } from '../../sql/oauth/oauth-grants.ts'
import type { Cause, CommitItem } from '../../sql/commit-call.ts'
import type { CommitCall } from '../../sql/database.ts'
import type { BatchItem, WriteItem } from './items.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { bytesOf, frame, type BoardHead } from '../log/log.ts'
import type { CardRow } from '../canvas/project.ts'

export interface CommitAnswer {
  t: number
  boards:
    | [
        b: string,
        seq: number,
        indexed: number,
        client: number,
        clock: number,
        top: number,
        rows: number,
        bytes: number,
      ][]
    | null
  /** Items with an outcome other than `ok`. */
  items: [n: number, outcome: Outcome, detail: RefusalDetail][]
  times: [n: number, id: string, created: number, updated: number][] | null
}
export type Outcome =
  | 'ok'
  | 'again'
  | 'reserved'
  | 'busy'
  | 'missing'
  | 'forbidden'
  | 'trashed'
  | 'limit'
  | 'identifier'
  | 'full'
  | 'guest'
  | 'moved_on'
  | 'storage'
export type RefusalDetail =
  | number
  | [used: number, quota: number, bytes: number]
  | [scope: string, value: string, card: string]
  | null

/** The limits of an owner, by tier. */
export interface Quotas {
  freeCardCap: number | null
  storageBytes: BytesByTier
  documentBytes: BytesByTier
}

/**
 * Encodes a commit, in steps, because it may contain tens of megabytes.
 *
 * @param node the id of the commit queue
 */
export function* encodeCall(
  batch: BatchItem[],
  node: string,
  { freeCardCap, storageBytes, documentBytes }: Quotas,
): Steps<CommitCall> {
  const blobs: Uint8Array[] = []
  let length = 0
  const put = (pieces: Uint8Array[]) => {
    const at = pieces.length > 0 ? length : 0
    const bytes = bytesOf(pieces)
    for (const piece of pieces) blobs.push(piece)
    length += bytes
    return { blob_at: at, blob_bytes: bytes }
  }
  const rows: object[] = []
  const groups: object[] = []
  const removed: object[] = []
  const items = batch.map((item, n): CommitItem => {
    const at = put(frame(item.updates))
    const common = { n, board: item.queue.boardId, kind: item.kind, ...at, ...(n === 0 ? { node } : {}) }
    switch (item.kind) {
      case 'edit':
        return { ...common, actors: item.actors, causes: item.causes, guests: item.guests }
      case 'flush':
        for (const row of item.flush.rows) rows.push({ n, ...row })
        for (const row of item.flush.groups) groups.push({ n, ...row })
        return {
          ...common,
          kind: item.flush.isPart ? 'part' : 'flush',
          op: randomUUID(),
          cause: 'editor',
          seen: item.seen,
          reservation: item.queue.flushReservation.state,
          actors: [],
          top_z: highest(item.flush.rows),
        }
      case 'write': {
        const { built, write } = item
        const { account } = write.request
        for (const row of built?.rows ?? []) rows.push({ n, ...row })
        for (const row of built?.groups ?? []) groups.push({ n, ...row })
        for (const { token, id, state } of built?.removed ?? [])
          removed.push({ n, token, id, ...put([state]) })
        return {
          ...common,
          op: write.op,
          cause: write.isPair ? 'move' : 'api',
          partner: write.isPair ? partnerOf(item, batch) : null,
          claims: built?.claims ?? null,
          account,
          session: write.session,
          actors: [account],
          causes: [causeOf(item)],
          clock: item.clock,
          used: built?.used ?? 0,
          seen: item.seen,
          rests_on: write.restsOn,
          reservation: write.reservation.state,
          adds: built?.adds ?? 0,
          creates: onlyCreates(item) || undefined,
          top_z: built?.top ?? null,
          operation:
            write.operation && built?.made
              ? { ...write.operation, made: built.made.map(encodeMade) }
              : write.operation,
          room: built && built.grows > 0 ? { bytes: at.blob_bytes, ...documentBytes } : undefined,
          is_full: item.full !== null || undefined,
          files: built?.files?.length ? { keys: built.files, ...storageBytes } : undefined,
        }
      }
    }
  })
  return {
    commitId: randomUUID(),
    freeCardCap,
    items: JSON.stringify(items),
    blob: blobs,
    rows: yield* jsonOf(rows),
    groups: yield* jsonOf(groups),
    removed: yield* jsonOf(removed),
  }
}

/** The record of a request names its token and, for an agent, its service account or application. The service's own app is no agent. */
interface RecordedCaller {
  token_id?: string | null
  service_account_id?: string | null
  client_id?: string | null
  request_id?: string
  action?: string
}

function causeOf({ write, queue, updates }: WriteItem): Cause {
  const caller: RecordedCaller = write.operation ?? {}
  return {
    n: updates.length,
    by: write.isPair ? 'move' : 'api',
    accounts: [write.request.account],
    tokens: caller.token_id ? [caller.token_id] : [],
    op: write.op,
    request: caller.request_id,
    action: caller.action,
    agent: write.session?.agent === false ? undefined : agentOf(caller),
    other: write.isPair ? write.queues.find((other) => other !== queue)?.boardId : undefined,
  }
}

const agentOf = ({ service_account_id: account, client_id: client }: RecordedCaller): string | undefined =>
  account ?? (client === ownClientId ? undefined : (client ?? undefined))

/** Whether a write does nothing but create cards; see CommitItem. A commit of such writes takes the database a quarter less. */
function onlyCreates({ write, built, updates, full }: WriteItem): boolean {
  if (!built || built.adds === 0 || updates.length === 0 || full) return false
  if (write.isPair || write.session || write.reservation.state) return false
  if (built.rows.length !== built.adds || built.groups.length > 0 || built.removed.length > 0) return false
  return !built.claims && !built.files?.length && built.rows.every((row) => row.fresh)
}

const partnerOf = (item: WriteItem, batch: BatchItem[]): number =>
  batch.findIndex((other) => other !== item && other.kind === 'write' && other.write === item.write)

/** A list as JSON, in pieces; null for an empty list. */
function* jsonOf(rows: object[]): Steps<string[] | null> {
  if (rows.length === 0) return null
  const pieces: string[] = []
  let piece = '['
  for (const [at, row] of rows.entries()) {
    piece += at === 0 ? JSON.stringify(row) : `,${JSON.stringify(row)}`
    if (piece.length >= pieceChars) {
      pieces.push(piece)
      piece = ''
      yield
    }
  }
  return [...pieces, `${piece}]`]
}

const pieceChars = 64 * 1024

export function headOf([, seq, indexedSeq, apiClient, apiClock, topZ, logRows, logBytes]: NonNullable<
  CommitAnswer['boards']
>[number]): BoardHead {
  return { seq, indexedSeq, apiClient, apiClock, topZ, logRows, logBytes }
}

function highest(rows: CardRow[]): number | null {
  return rows.reduce<number | null>((top, { z }) => (z === undefined ? top : Math.max(top ?? z, z)), null)
}
