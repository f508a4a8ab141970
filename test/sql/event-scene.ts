/** A service whose outbox keeps its events, because nothing takes them out but the test. */
import { randomUUID } from 'node:crypto'
import { afterEach } from 'vitest'
import { leaveAll } from '../support/editor.ts'
import { gatedServiceOfFile } from '../support/test-file.ts'

export const { service, database: gated, user } = await gatedServiceOfFile({ workers: false, debounceMs: 50 })
afterEach(() => {
  leaveAll()
  gated.release()
})

export interface Row {
  type: string
  board_id: string | null
  from_board_id: string | null
  resource_type: string
  resource_id: string
  workspace_id: string
  data: Record<string, unknown> | null
  card_ids: string[] | null
  op: string | null
  origin: string
  occurred_at: Date
}

/** Takes what the outbox holds. */
export async function taken(): Promise<Row[]> {
  const rows = await service.admin<(Row & { id: number })[]>`delete from events returning *`
  return [...rows].sort((a, b) => a.id - b.id)
}

/** To be compared whatever the order. */
export const sorted = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).toSorted()

export const brief = (rows: Row[]) => rows.map(({ type, origin }) => `${type} ${origin}`)

export async function makeBoard(name = 'Board', rest: object = {}): Promise<string> {
  const { body } = await user.api.post('/boards', { name, ...rest })
  await taken()
  return body.board.id
}

export async function makeCards(board: string, count: number): Promise<string[]> {
  const cards = Array.from({ length: count }, (_, n) => ({ kind: 'note', title: `card ${n}`, x: n, y: n }))
  const { body } = await user.api.post(`/boards/${board}/cards`, { cards })
  await taken()
  return body.cards.map(({ id }: { id: string }) => id)
}

export const insertCard = (
  board: string,
  card: { id: string; cause?: string; op?: string; movedFrom?: string; z?: number },
) => service.admin`
  insert into card_index (board_id, card_id, workspace_id, kind, x, y, w, h, z, rotation, hash, position, op, cause, moved_from, created_at, updated_at)
  select id, ${card.id}, workspace_id, 'note', 0, 0, 1, 1, ${card.z ?? 0}, 0, 'h', 0, ${card.op ?? randomUUID()}, ${card.cause ?? 'editor'},
    ${card.movedFrom ?? null}, now(), now()
  from boards where id = ${board}`
