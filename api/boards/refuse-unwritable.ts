import { requireWritable } from '../../collab/access.ts'
import type { Route } from '../http/route.ts'

/** `refuseEarly` of operations that write to the board of their path. Of caps only the body tells: it may add nothing. */
export const refuseUnwritable: NonNullable<Route['refuseEarly']> = async (
  { database },
  { principal, params },
) => {
  await requireWritable(database, principal.userId, params['id']!)
}
