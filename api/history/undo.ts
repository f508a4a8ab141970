/** `POST /boards/{id}/undo`: undoes what a request, an import or an actor did. */
import Type, { type Static } from 'typebox'
import { undoChanges, type Undone } from '../../collab/history/undo.ts'
import type { Selector } from '../../collab/history/trace.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import type { Principal } from '../../sql/accounts/tokens.ts'
import { ownClientId } from '../../sql/oauth/oauth-grants.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../http/route.ts'
import { boardId, boardParams, live, uuidPattern } from '../http/schemas.ts'
import { flag, id, text } from '../http/vocabulary.ts'
import { broughtBack, dryRun, leftAlone } from './brought-back.ts'
import { requireRoom } from '../boards/capacity.ts'
import { timeOf } from '../boards/history.ts'
import { pastReader } from '../boards/past.ts'
import { roomFor } from './restore-to.ts'

const selection = Type.Object({
  operation_id: Type.Optional(id('Changes of this operation: `operation_id` of the history.')),
  request_id: Type.Optional(
    text('Changes of this request: its header `x-request-id`, or `request_id` of the history.', {
      minLength: 1,
      maxLength: 200,
    }),
  ),
  actor: Type.Optional(
    text(
      'Changes by this account, token, session, service account or connected application: its id, or `me` for the caller’s own token. Without an operation or a request, `since` is required.',
      { minLength: 1, maxLength: 2000 },
    ),
  ),
  since: Type.Optional(text('Changes at or after this time only. RFC 3339.', { format: 'date-time' })),
  until: Type.Optional(text('Changes at or before this time only. RFC 3339.', { format: 'date-time' })),
  dry_run: dryRun,
})

export const undoOnBoard = route('POST /boards/:id/undo', 'write', {
  summary: 'Undo what a request, an import or an actor changed on a board.',
  description:
    'A new change, which can be undone in turn. A field gets the value from before only where nobody else has changed it since. Of a text, changes at other places are kept. Cards that were created are removed (scope `delete`), unless somebody else changed them; cards that were removed come back whole, with their ids. Moves between boards are not undone. What is named several times has to be true of a change at once. A change that is not there is 404, also an actor without one, but not `me`. A guest needs the history to be shared.',
  schemas: { params: boardParams, body: selection },
  answers: {
    200: Type.Object({
      board_id: boardId,
      undone: broughtBack('What was undone.'),
      not_undone: leftAlone('What was not undone, and why.'),
      dry_run: flag('True when nothing was written.'),
      live,
    }),
  },
  refuses: ['forbidden', 'limit_reached'],
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const { dry_run = false } = body
    const of = selectorOf(principal, body)
    const reader = await pastReader(context.database, principal.userId, params.id)
    const operation = currentOperation()
    const present = ({ changes, kept, live }: Undone) => ({
      board_id: params.id,
      undone: changes,
      not_undone: kept,
      ...{ dry_run, live },
    })
    const undone = await undoChanges(context.live, {
      boardId: params.id,
      of,
      reader,
      dryRun: dry_run,
      mayDelete: principal.scopes.includes('delete'),
      remember: (undone) => operation?.draft(present(undone)) ?? [],
    })
    // An actor without changes may be a misspelled one. `me` is known.
    const isOwnSpan = body.actor === 'me' && (of.operation ?? of.request) === null
    if (!undone && !isOwnSpan) throw unknown
    const answer = undone ?? { changes: [], kept: [], live: true }
    if (dry_run)
      await requireRoom(context.database, context.freeCardCap, roomFor(principal.userId, params.id, answer))
    return { body: present(answer) }
  },
})

const unknown = new ServiceError(
  'not_found',
  'This board’s history has no such change, or it is not kept any more. GET /boards/{id}/history lists the changes with their actors.',
)

function selectorOf(principal: Principal, given: Static<typeof selection>): Selector {
  const { operation_id, request_id, actor } = given
  const since = timeOf(given.since, 'since')
  if (operation_id === undefined && request_id === undefined && actor === undefined)
    throw badRequest('One of operation_id, request_id and actor is required.')
  if (operation_id === undefined && request_id === undefined && !since)
    throw badRequest('since is required with actor.')
  const until = timeOf(given.until, 'until')
  if (since && until && until < since) throw badRequest('until must not be before since.')
  return {
    operation: operation_id?.toLowerCase() ?? null,
    request: request_id ?? null,
    ...(actor === 'me' ? own(principal) : { actor: asStored(actor ?? null), account: null }),
    since: since?.getTime() ?? 0,
    until: until?.getTime() ?? Number.MAX_SAFE_INTEGER,
  }
}

/** The id of a connected application can be a URL. All others are UUIDs. */
const asStored = (actor: string | null) =>
  actor !== null && uuidPattern.test(actor) ? actor.toLowerCase() : actor

/** A connected application gets a new token every hour, so its changes are found by its id and the person's. */
const own = ({ tokenId, clientId, userId }: Principal): Pick<Selector, 'actor' | 'account'> =>
  clientId === null || clientId === ownClientId
    ? { actor: tokenId, account: null }
    : { actor: clientId, account: userId }
