/** What one can do with selected cards. Each is one change for others, and one step of undo. */
import type { CardFields, EditorCard as Card, OpenBoard } from '../../../client/editor/index.ts'
import { resized, wrapDegrees, type Box } from '../geometry.ts'

type Ids = Iterable<string>

export const boardIdOf = (board: OpenBoard): string => board.provider.configuration.name

export function step<Result>(board: OpenBoard, change: () => Result): Result {
  let result: Result
  board.newStep()
  board.transact(() => {
    result = change()
  })
  return result!
}

/** The cards that are still there, the lowest first. */
export function cardsOf(board: OpenBoard, ids: Ids): Card[] {
  const wanted = new Set(ids)
  return board.cards.get().filter(({ id }) => wanted.has(id))
}

export const changeAll = (
  board: OpenBoard,
  ids: Ids,
  fieldsOf: (card: Card, at: number) => Omit<CardFields, 'kind'>,
): void =>
  step(board, () =>
    cardsOf(board, ids).forEach((card, at) => board.cards.change(card.id, fieldsOf(card, at))),
  )

export const removeAll = (board: OpenBoard, ids: Ids): void =>
  step(board, () => {
    for (const id of ids) board.cards.remove(id)
  })

/** They keep their order among themselves. */
export function toFront(board: OpenBoard, ids: Ids): void {
  const top = board.cards.get().at(-1)?.z ?? 0
  changeAll(board, ids, (_card, at) => ({ z: top + 1 + at }))
}

export function toBack(board: OpenBoard, ids: Ids): void {
  const bottom = board.cards.get()[0]?.z ?? 0
  const count = cardsOf(board, ids).length
  changeAll(board, ids, (_card, at) => ({ z: bottom - count + at }))
}

export const nudge = (board: OpenBoard, ids: Ids, dx: number, dy: number): void =>
  changeAll(board, ids, ({ x, y }) => ({ x: x + dx, y: y + dy }))

export const turn = (board: OpenBoard, ids: Ids, degrees: number): void =>
  changeAll(board, ids, ({ rotation }) => ({ rotation: wrapDegrees(rotation + degrees) }))

/** Each by its lower right corner, along its own axes. */
export const resize = (board: OpenBoard, ids: Ids, across: number, down: number): void =>
  changeAll(board, ids, (card) => {
    const turned = (card.rotation * Math.PI) / 180
    const [cos, sin] = [Math.cos(turned), Math.sin(turned)]
    const by = { x: across * cos - down * sin, y: across * sin + down * cos }
    return rounded(resized(card, [1, 1], by))
  })

const rounded = ({ x, y, w, h }: Box) => ({ x: Math.round(x), y: Math.round(y), w, h })

export function group(board: OpenBoard, ids: Ids): void {
  step(board, () => {
    const id = board.groups.add({ name: 'Group', shape: 'box', outline: true })
    for (const card of cardsOf(board, ids)) board.cards.change(card.id, { group_id: id })
  })
}

/** Removes the groups of cards. All of their cards stay. */
export function ungroup(board: OpenBoard, ids: Ids): void {
  const groups = new Set(cardsOf(board, ids).map((card) => card.group_id))
  step(board, () => {
    for (const { id, group_id: groupId } of board.cards.get())
      if (groupId !== null && groups.has(groupId)) board.cards.change(id, { group_id: null })
    for (const id of groups) if (id !== null) board.groups.remove(id)
  })
}
