/**
 * Named versions of boards. A version has the whole document in a file of its own. So it stays when the retention of the
 * segments ends, and is opened without replaying them.
 */
import { randomUUID } from 'node:crypto'
import type * as Y from 'yjs'
import { inTrash, noBoard, notWritable } from '../../core/board.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits, type BytesByTier } from '../../core/limits.ts'
import { inTurns } from '../../platform/work/loop-turn.ts'
import { task } from '../../platform/work/worker-pool.ts'
import type { Transaction } from '../../sql/database.ts'
import type { LiveBoards } from '../boards/live.ts'
import { offload } from '../boards/offload.ts'
import { DocumentsFull, guestIsFull } from '../commit/refusal.ts'
import { claimFile, putFile } from '../log/history.ts'
import { encodeState } from '../updates/encode-state.ts'
import type { makeVersionFile } from './version-file.ts'

const fileTask = task<typeof makeVersionFile>(
  new URL('./version-file.ts', import.meta.url),
  'makeVersionFile',
)

/** A file that is written, but which no version has yet. */
export interface VersionFile {
  key: string
  bytes: number
  /** Keys of files that the document's cards name. */
  fileKeys: string[]
}

/**
 * Records the key of a file before the board is read for it. So a file whose version is never inserted is found and deleted
 * (workers/upkeep/history.ts). And when a card's past is expunged meanwhile, the version is refused: it may have the card.
 */
export async function claimVersionFile({ database }: LiveBoards, boardId: string): Promise<string> {
  const key = `history/${boardId}/version-${randomUUID()}`
  await claimFile(database, key)
  return key
}

export async function writeVersionFile(
  { history, pool }: LiveBoards,
  key: string,
  document: Y.Doc,
  account: string,
): Promise<VersionFile> {
  const [file, fileKeys] = await offload(pool, fileTask, [await inTurns(encodeState(document))], account)
  await putFile(history.files, key, file!)
  return { key, bytes: file!.byteLength, fileKeys: JSON.parse(Buffer.from(fileKeys!).toString()) as string[] }
}

export interface NamedMoment {
  boardId: string
  name: string
  position: number
  /** The moment that is named, and when the board had become like this. */
  at: Date
  changedAt: Date | null
}

/**
 * Inserts the version of a file, for the caller.
 *
 * @throws ServiceError `not_found`, `forbidden`, `conflict`, `limit_reached`, or `session_unavailable`
 */
export async function insertVersion(
  tx: Transaction,
  { boardId, name, position, at, changedAt }: NamedMoment,
  { key, bytes, fileKeys }: VersionFile,
  documentBytes: BytesByTier,
): Promise<{ id: string; createdAt: Date }> {
  const room = JSON.stringify({ bytes, free: documentBytes.free, pro: documentBytes.pro })
  const [row] = await tx<{ outcome: string; id: string; created_at: Date }[]>`
    select outcome, id, created_at
    from name_version(
      ${boardId}, ${name}, ${position}, ${at}, ${changedAt}, ${key}, ${fileKeys}::text[], ${room}::text::json,
      ${limits.versionsPerBoard}
    )`
  const { outcome, id, created_at: createdAt } = row!
  if (outcome !== 'ok') throw refusalOf(outcome)
  return { id, createdAt }
}

function refusalOf(outcome: string): ServiceError {
  switch (outcome) {
    case 'forbidden':
      return notWritable()
    case 'trashed':
      return inTrash()
    case 'many':
      return new ServiceError(
        'limit_reached',
        `A board has at most ${limits.versionsPerBoard} named versions. Delete one first.`,
      )
    case 'full':
      return new DocumentsFull()
    case 'guest':
      return guestIsFull()
    case 'late':
      return new ServiceError(
        'session_unavailable',
        'The history of this board was changed meanwhile. Try again shortly.',
      )
    default:
      return noBoard()
  }
}
