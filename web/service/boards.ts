/** Requests about boards as a whole: lists, the trash, search and the schedule. */
import { read, readWorkspaces, write } from './api.ts'
import { appRequest } from './app-request.ts'

export interface ListedBoard {
  id: string
  name: string
  parent_board_id: string | null
}

export interface Workspace {
  id: string
  name: string
  /** Whether the account creates and changes its boards. */
  canWrite: boolean
  /** In the order of their creation. */
  boards: ListedBoard[]
}

/** All boards that the account sees. */
export interface Places {
  workspaces: Workspace[]
  /** Boards of workspaces that the account is not in. */
  shared: ListedBoard[]
}

export interface Board extends ListedBoard {
  workspace_id: string
  view: 'canvas' | 'list'
  updated_at: string | null
  scheduled_date: string | null
  scheduled_end: string | null
  day_label: string | null
  sched_status: 'draft' | 'published' | 'cancelled'
  sched_version: number
  sched_published_at: string | null
}

const deepest = 20

export async function readPlaces(): Promise<Places> {
  const [workspaces, top] = await Promise.all([readWorkspaces(), readAll('parent=root')])
  const trees = workspaces.map(async ({ id, name, role }) => {
    const { boards } = await read<{ boards: ListedBoard[] }>(`/boards/tree?workspace=${id}&depth=${deepest}`)
    return { id, name, canWrite: role !== 'viewer', boards }
  })
  const shared = top.filter(({ workspace_id: of }) => workspaces.every(({ id }) => id !== of))
  return { workspaces: await Promise.all(trees), shared }
}

/** The boards in the trash, the latest first. */
export async function readTrash(): Promise<Board[]> {
  const boards = await readAll('deleted=1')
  return boards.toSorted((one, other) => (other.updated_at ?? '').localeCompare(one.updated_at ?? ''))
}

async function readAll(filter: string): Promise<Board[]> {
  const found: Board[] = []
  for (let offset: number | null = 0; offset !== null;) {
    const page: { boards: Board[]; next_offset: number | null } = await read(
      `/boards?${filter}&limit=500&offset=${offset}`,
    )
    found.push(...page.boards)
    offset = page.next_offset
  }
  return found
}

export const readBoard = async (id: string): Promise<Board> =>
  (await read<{ board: Board }>(`/boards/${id}`)).board

export const createBoard = async (
  workspaceId: string,
  name: string,
  parentId: string | null,
): Promise<Board> => {
  const body = { workspace_id: workspaceId, name, parent_board_id: parentId }
  return (await write<{ board: Board }>('POST', '/boards', body)).board
}

export type BoardChanges = Partial<
  Pick<Board, 'name' | 'view' | 'parent_board_id' | 'scheduled_date' | 'scheduled_end' | 'day_label'>
> & { notify?: boolean }

export const changeBoard = async (id: string, changes: BoardChanges): Promise<Board> =>
  (await write<{ board: Board }>('PATCH', `/boards/${id}`, changes)).board

export const trashBoard = (id: string): Promise<unknown> => write('DELETE', `/boards/${id}`)
export const restoreBoard = (id: string): Promise<unknown> => write('POST', `/boards/${id}/restore`)

/** The API has neither: they are routes of the app. */
export const changeSchedule = async (id: string, action: 'publish' | 'cancel'): Promise<Board> =>
  ((await appRequest(`/app/boards/${id}/${action}`)) as { board: Board }).board

export interface Found {
  boards: { items: ListedBoard[] }
  cards: { items: { id: string; board_id: string; kind: string; title: string | null; excerpt: string }[] }
}

export const search = (words: string): Promise<Found> =>
  read<Found>(`/search?limit=20&q=${encodeURIComponent(words)}`)
