/** What has become of a board that can't be opened any more. */
import { Refused, request } from './api.ts'

export type BoardState = 'open' | 'trash' | 'gone'

/** @throws Error when the service can't be asked */
export async function readBoardState(id: string): Promise<BoardState> {
  try {
    const { board } = (await (await request(`/boards/${id}`)).json()) as { board: { deleted?: boolean } }
    return board.deleted === true ? 'trash' : 'open'
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return 'gone'
    throw error
  }
}

/** @throws Refused */
export const restoreBoard = async (id: string): Promise<void> =>
  void (await request(`/boards/${id}/restore`, { method: 'POST' }))
