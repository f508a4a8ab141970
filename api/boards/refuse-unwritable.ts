import { requireWritable } from '../../collab/access.ts'
import type { Route } from '../http/route.ts'

/**
 * The `refuseEarly` of operations that write to the board in their path. It does not check limits, because only the
 * body tells whether anything is added.
 */
export const refuseUnwritable: NonNullable<Route['refuseEarly']> = async (
  { database },
  { principal, params },
) => {
  await requireWritable(database, principal.userId, params['id']!)
}
