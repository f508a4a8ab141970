/** Changes the lists of boards as an event tells, without reading them again. */
import type { ListedBoard, Places } from '../service/boards.ts'

/** An event of a live list. docs/editors.md describes it. */
export interface BoardEvent {
  type: string
  resource: { id: string }
  workspace: { id: string }
  data: Readonly<Record<string, unknown>>
}

/** @returns the lists after the event. Null: it does not tell enough, so the lists have to be read */
export function applyEvent(places: Places, event: BoardEvent): Places | null {
  const { workspaces, shared } = places
  const within = workspaces.find(({ id }) => id === event.workspace.id)
  if (!within) {
    const boards = changed(shared, event)
    return boards && { workspaces, shared: boards }
  }
  const boards = changed(within.boards, event)
  return (
    boards && { shared, workspaces: workspaces.map((one) => (one === within ? { ...one, boards } : one)) }
  )
}

function changed(boards: ListedBoard[], { type, resource: { id }, data }: BoardEvent): ListedBoard[] | null {
  if (type === 'board.deleted')
    return boards
      .filter((board) => board.id !== id)
      .map((board) => (board.parent_board_id === id ? { ...board, parent_board_id: null } : board))
  if (type !== 'board.created' && type !== 'board.updated') return null
  const parent = boards.find((board) => board.id === data['parent_board_id'])?.id ?? null
  const after = { id, name: String(data['name']), parent_board_id: parent }
  if (boards.some((board) => board.id === id))
    return boards.map((board) => (board.id === id ? { ...board, ...after } : board))
  return type === 'board.created' ? [...boards, after] : null
}
