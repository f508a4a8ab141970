/** Creates boards, and updates those that have an identifier of an entry: all or none. */
import { boardColumnNames, newBoard } from '../../core/board-columns.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { currentOperation } from '../../sql/operation.ts'
import type { Transaction } from '../../sql/database.ts'
import { changeQuietly, readBoards, selectBoard, updateBoards, type BoardRow } from './board.ts'
import type { Entry } from './entry.ts'
import { requireSchedule } from './fields.ts'
import { carriedKey, identifierTaken, nameIdentifier, readCarriers, type Carried } from './identified.ts'
import { placeEntries } from './place.ts'
import { findCycle, lockBoards, lockStructure, readAbove } from './structure.ts'

export interface WrittenBoard {
  board: BoardRow
  created: boolean
}

interface Placed extends Entry {
  workspaceId: string
}

/**
 * @param options.update an entry updates the live board of its workspace that has one of its identifiers
 * @returns in the order of the entries
 */
export async function writeEntries(
  tx: Transaction,
  entries: Entry[],
  options: { update?: boolean } = {},
): Promise<WrittenBoard[]> {
  const places = await placeEntries(tx, entries)
  const placed = entries.map((entry, at): Placed => ({ ...entry, workspaceId: places[at]! }))
  const targets = await matchIdentifiers(tx, placed, options.update === true)
  const updates = placed.filter((_, at) => targets[at] !== undefined)
  const inserts = placed.filter((_, at) => targets[at] === undefined)
  const updatedIds = targets.filter((id) => id !== undefined)
  for (const { where, columns } of inserts)
    requireSchedule(columns.scheduled_date, columns.scheduled_end, where)
  await requireUpdatable(tx, updates, updatedIds)
  const inserted = (await insertBoards(tx, inserts)).values()
  const quiet = updatedIds.filter((_, at) => updates[at]!.quiet)
  if (quiet.length > 0) await changeQuietly(tx, quiet)
  await updateBoards(
    tx,
    updates.map(({ columns }, at) => ({ id: updatedIds[at]!, ...columns })),
  )
  const updated = updates.length > 0 ? await readBoards(tx, updatedIds) : new Map<string, BoardRow>()
  const written = targets.map((target) =>
    target === undefined
      ? { board: inserted.next().value!, created: true }
      : { board: updated.get(target)!, created: false },
  )
  const operation = currentOperation()
  for (const [workspace, boards] of Map.groupBy(written, ({ board }) => board.workspace_id))
    operation?.concerns({ type: 'board', ids: boards.map(({ board }) => board.id), workspace })
  operation?.made(written.map(({ board: { id }, created }) => ({ type: created ? 'new' : 'changed', id })))
  return written
}

/** The board that each entry updates, if any. */
async function matchIdentifiers(
  tx: Transaction,
  entries: Placed[],
  update: boolean,
): Promise<(string | undefined)[]> {
  const identified = entries.filter(({ columns }) => (columns.identifiers ?? []).length > 0)
  if (identified.length === 0) return entries.map(() => undefined)
  await lockStructure(
    tx,
    identified.map(({ workspaceId }) => workspaceId),
  )
  const carriedBy = ({ workspaceId, columns }: Placed) =>
    (columns.identifiers ?? []).map(({ scope, value }): Carried => ({ workspaceId, scope, value }))

  const seen = new Map<string, Placed>()
  for (const entry of identified) {
    for (const identifier of carriedBy(entry)) {
      const key = carriedKey(identifier)
      const other = seen.get(key)
      if (other)
        throw ambiguous(
          entry,
          `${nameIdentifier(identifier)} is in ${other.where.replace(/\.$/, '')} of the same batch, too; each identifier may be in one entry only`,
        )
      seen.set(key, entry)
    }
  }
  const carriers = await readCarriers(tx, identified.flatMap(carriedBy))
  const matched = new Map<string, Placed>()
  return entries.map((entry) => {
    const found = carriedBy(entry).filter((one) => carriers.has(carriedKey(one)))
    const [first] = found
    if (!first) return undefined
    const boardId = carriers.get(carriedKey(first))!
    if (!update) throw identifierTaken(entry.where, first, boardId)
    const second = found.find((one) => carriers.get(carriedKey(one)) !== boardId)
    if (second) {
      const on = `${nameIdentifier(first)} is on board ${boardId}, ${nameIdentifier(second)} on board ${carriers.get(carriedKey(second))}`
      throw ambiguous(entry, on)
    }
    const other = matched.get(boardId)
    if (other) {
      const both = `${nameIdentifier(first)} is on board ${boardId}, which ${other.where.replace(/\.$/, '')} of the same batch updates`
      throw ambiguous(entry, both)
    }
    matched.set(boardId, entry)
    return boardId
  })
}

const ambiguous = (entry: Entry, why: string) => badRequest(`${entry.where}identifiers: ${why}.`)

/** Makes the checks that need the existing boards. */
async function requireUpdatable(tx: Transaction, entries: Placed[], boardIds: string[]): Promise<void> {
  if (entries.length === 0) return
  await lockBoards(tx, boardIds)
  const before = await readBoards(tx, boardIds)
  const moves = new Map<string, string | null>()
  for (const [at, { where, columns }] of entries.entries()) {
    const board = before.get(boardIds[at]!)!
    const { scheduled_date: date = board.scheduled_date, scheduled_end: end = board.scheduled_end } = columns
    requireSchedule(date, end, where)
    if (columns.parent_board_id !== undefined) moves.set(board.id, columns.parent_board_id)
  }
  const parents = [...moves.values()].filter((parent) => parent !== null)
  if (parents.length === 0) return
  const cycle = findCycle(new Map([...(await readAbove(tx, parents)), ...moves]), moves.keys())
  if (cycle !== null) {
    const { where } = entries[boardIds.indexOf(cycle)]!
    throw new ServiceError('conflict', `${where}parent_board_id: a board cannot be below itself.`)
  }
}

/** Inserts the boards in one statement, with the caller's rights. @returns the boards, in the order of the entries */
async function insertBoards(tx: Transaction, entries: Placed[]): Promise<BoardRow[]> {
  if (entries.length === 0) return []
  const rows = entries.map(({ workspaceId, columns }) => ({
    ...newBoard,
    ...columns,
    workspace_id: workspaceId,
  }))
  const names = tx(['workspace_id', ...boardColumnNames])
  return tx<BoardRow[]>`
    insert into boards as b (${names})
    select ${names}
    from json_populate_recordset(null::boards, ${JSON.stringify(rows)}::text::json)
    returning ${selectBoard(tx, tx`b.parent_board_id`)}`
}
