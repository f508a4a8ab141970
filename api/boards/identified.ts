/**
 * Identifiers of boards. Each is on at most one live board of a workspace. They are read under the workspace's lock.
 */
import type { Identifier } from '../../core/card-values.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'

export interface Carried extends Identifier {
  workspaceId: string
}

/** A key for an identifier in its workspace. */
export const carriedKey = ({ workspaceId, scope, value }: Carried) =>
  JSON.stringify([workspaceId, scope, value])

export const nameIdentifier = ({ scope, value }: Identifier) => `${scope} ${JSON.stringify(value)}`

/** The live boards with these identifiers, by `carriedKey`. */
export async function readCarriers(tx: Transaction, wanted: Carried[]): Promise<Map<string, string>> {
  if (wanted.length === 0) return new Map()
  const rows = await tx<{ workspace_id: string; scope: string; value: string; board_id: string }[]>`
    select c.workspace_id, c.scope, c.value, c.board_id
    from json_to_recordset(${JSON.stringify(wanted)}::text::json) as w("workspaceId" uuid, scope text, value text)
    join board_identifiers c on c.workspace_id = w."workspaceId" and c.scope = w.scope and c.value = w.value`
  return new Map(
    rows.map(({ workspace_id, scope, value, board_id }) => [
      carriedKey({ workspaceId: workspace_id, scope, value }),
      board_id,
    ]),
  )
}

/** @throws ServiceError `conflict` when another board has one of the identifiers */
export async function requireFree(
  tx: Transaction,
  board: { boardId: string; workspaceId: string; identifiers: Identifier[] },
): Promise<void> {
  const wanted = board.identifiers.map(({ scope, value }) => ({
    workspaceId: board.workspaceId,
    scope,
    value,
  }))
  const carriers = await readCarriers(tx, wanted)
  const taken = wanted.find((one) => (carriers.get(carriedKey(one)) ?? board.boardId) !== board.boardId)
  if (taken) throw identifierTaken('', taken, carriers.get(carriedKey(taken))!)
}

export const identifierTaken = (where: string, identifier: Identifier, boardId: string) =>
  new ServiceError(
    'conflict',
    `${where}identifiers: ${nameIdentifier(identifier)} is already on board ${boardId}.`,
  )
