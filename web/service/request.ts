/** Requests of any operation, typed by the client library. What the first board needs is in api.ts, which is smaller. */
import { isFailure } from '../../client/errors.ts'
import type { Input, ListOperation, Row } from '../../client/operations.ts'
import { listRows } from '../../client/pages.ts'
import { openRequest, type Arguments } from '../../client/request.ts'
import { accessToken, forgetToken } from './token.ts'

/** @throws CorkboardError, SignedOut */
export const request = openRequest({
  url: location.origin,
  token({ refused }) {
    if (refused) forgetToken()
    return accessToken()
  },
  // A person waits for the answer.
  retryForMs: 8_000,
})

/** What went wrong, for the person. */
export const faultOf = (error: unknown): string =>
  isFailure(error, 'unreachable')
    ? 'The service does not answer. Check the network, and try again.'
    : (error as Error).message

/** For the request that deletes something: what somebody else has deleted is gone, too. */
export function ignoreGone(error: unknown): void {
  if (!isFailure(error, 'not_found')) throw error
}

/** All rows of a list. */
export async function readAll<O extends ListOperation>(
  operation: O,
  ...[input]: Arguments<Input<O>>
): Promise<Row<O>[]> {
  const rows: Row<O>[] = []
  for await (const row of listRows(request, operation, { ...input })) rows.push(row)
  return rows
}
