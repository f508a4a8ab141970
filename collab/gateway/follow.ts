/**
 * Compares every open board with the database several times a second. It looks for commits of other nodes, for edits that
 * their node does not index, and for accounts that have lost their access. One query covers all boards. Polling does not depend on notices, so a lost
 * notice can't leave anyone connected. It has connections of its own, so that slow requests can't delay it.
 */
import type { Connection, Hocuspocus } from '@hocuspocus/server'
import * as Y from 'yjs'
import { closeCodes } from '../../core/errors.ts'
import type { BytesByTier } from '../../core/limits.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'
import { boardAccess, type AccessQuestion, type BoardAccess } from '../access.ts'
import type { DocumentQuota } from '../commit/document-quota.ts'
import type { Documents } from '../documents/documents.ts'
import { accessFrame, questionFrame } from './protocol.ts'
import { mayWriteOn } from './room-notice.ts'
import { closeConnection, type EditorContext } from './connection.ts'

/** Several revocations within `soonMs` cause one check. */
const everyMs = 750
const soonMs = 50

export interface FollowOptions {
  hocuspocus: Hocuspocus<EditorContext>
  database: Database
  documents: Documents
  documentBytes: BytesByTier
  quota: DocumentQuota
  log: Logger
  /** Interval of the checks. Default: `everyMs`. */
  accessCheckMs?: number
  /** API clients that are shown on boards. */
  shown(): { question: AccessQuestion; end(): void }[]
  /** Called when a connection became read-only or writable. */
  rightsChanged(connection: Connection<EditorContext>): void
}

export class Following {
  readonly #options: FollowOptions
  /** Null while a check is running. */
  #timer: NodeJS.Timeout | null = null
  #wanted = false
  #failing = false
  #stopped = false

  constructor(options: FollowOptions) {
    this.#options = options
    this.#checkIn(this.#options.accessCheckMs ?? everyMs)
  }

  async checkAccess(): Promise<void> {
    const { hocuspocus, database, documents, documentBytes, quota } = this.#options
    const { shown: shownNow, rightsChanged } = this.#options
    const connections = [...hocuspocus.documents.values()].flatMap((document) =>
      document.getConnections(),
    ) as Connection<EditorContext>[]
    const asked = [...Map.groupBy(connections, ({ context }) => context.questionKey).values()]
    const shown = shownNow()
    const questions = [
      ...asked.map(([first]) => first!.context.question),
      ...shown.map(({ question }) => question),
    ]
    const answers = await boardAccess(database, documentBytes, questions, 'follow')
    asked.forEach((group, at) => {
      for (const connection of group)
        if (apply(connection, answers[at]!, quota, documents)) rightsChanged(connection)
    })
    const ofShown = answers.slice(asked.length)
    for (const [at, { end }] of shown.entries()) if (ofShown[at]!.may === 'none') end()
  }

  /** Checks soon. If a check is running, another follows it. */
  soon(): void {
    if (this.#wanted || this.#stopped) return
    this.#wanted = true
    if (!this.#timer) return
    clearTimeout(this.#timer)
    this.#checkIn(soonMs)
  }

  stop(): void {
    this.#stopped = true
    if (this.#timer) clearTimeout(this.#timer)
  }

  #checkIn(ms: number): void {
    this.#timer = setTimeout(() => void this.#check(), ms)
  }

  async #check(): Promise<void> {
    this.#timer = null
    this.#wanted = false
    try {
      await Promise.all([this.checkAccess(), this.#noticeCommits()])
      this.#failing = false
    } catch (error) {
      if (!this.#failing)
        this.#options.log.warn({ err: error }, 'checking open boards against the database failed; retrying')
      this.#failing = true
    }
    if (!this.#stopped) this.#checkIn(this.#wanted ? soonMs : (this.#options.accessCheckMs ?? everyMs))
  }

  async #noticeCommits(): Promise<void> {
    const { database, documents } = this.#options
    const boards = documents.all().filter((board) => board.editors > 0 || board.outstanding)
    if (boards.length === 0) return
    const rows = await database.callAsSystem(
      (sql) => sql<{ board_id: string; seq: number; indexed_seq: number; bytes: number }[]>`
        select board_id, seq, indexed_seq, coalesce(length(snapshot), 0) + log_bytes as bytes
        from board_documents
        where board_id = any (${boards.map((board) => board.boardId)}::uuid[])`,
      'follow',
    )
    for (const row of rows) documents.find(row.board_id)?.compared(row.seq, row.indexed_seq, row.bytes)
  }
}

/** Applies the current access to a connection. @returns whether it became read-only or writable */
function apply(
  connection: Connection<EditorContext>,
  access: BoardAccess,
  quota: DocumentQuota,
  documents: Documents,
): boolean {
  if (access.may === 'none') {
    closeConnection(connection, closeCodes.forbidden)
    return false
  }
  connection.context.isGuest = access.isGuest
  connection.context.seat.stamp.update({ name: access.name, sessionUser: access.sessionUser })
  const readOnly = !mayWriteOn(connection, access, quota)
  if (connection.readOnly === readOnly) return false
  connection.readOnly = readOnly
  const { messageAddress, document } = connection
  const { seat } = connection.context
  connection.send(accessFrame(messageAddress, readOnly))
  if (readOnly || seat.refused === 0) return true
  // Ask for the refused updates. Without them, everything that this editor writes later would wait forever.
  seat.owed += seat.refused
  seat.refused = 0
  const { vector } = documents.find(document.name)?.shared ?? {}
  connection.send(questionFrame(messageAddress, vector ?? Y.encodeStateVector(document)))
  return true
}
