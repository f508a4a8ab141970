/** Groups, as a client and an editor make them. */
import * as Y from 'yjs'
import type { TestUser } from '../support/service.ts'
import { succeeded, type Shown } from './board.ts'

export const groupsPath = (boardId: string) => `/boards/${boardId}/groups`

export const groupsOf = (user: TestUser) => ({
  makeGroup: async (boardId: string, fields: object = {}): Promise<Shown> =>
    succeeded(await user.api.post(groupsPath(boardId), { name: 'Group', ...fields })).group,
  listGroups: async (boardId: string): Promise<Shown[]> =>
    succeeded(await user.api.get(groupsPath(boardId))).groups,
})

/** A group in an editor's document. */
export const shared = (fields: object) => new Y.Map<unknown>(Object.entries(fields))
