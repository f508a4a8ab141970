/** The people on a board, as the app shows them. */
import type { Person } from '../../client/editor/index.ts'

export const nameOf = ({ account }: Person): string => account?.name ?? 'Somebody'

/** The account, or the client when the service has not named the account. One person may have several windows. */
export const whoIs = ({ account, clientId }: Person): string => account?.id ?? String(clientId)

export type Sort = 'person' | 'guest' | 'agent'

export function sortOf({ account, agent }: Person): Sort {
  if (agent) return 'agent'
  return account?.guest === true ? 'guest' : 'person'
}
