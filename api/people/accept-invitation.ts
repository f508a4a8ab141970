/** Accepts an invitation by the code in its link, for an account that has a token. `/login/invitation` is the page for it. */
import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { network } from '../../platform/client-address.ts'
import { isGuest } from '../../sql/accounts/guests.ts'
import { acceptInvitation, findInvitation, invitedRoles } from '../../sql/accounts/invitations.ts'
import { giveBackAttempt } from '../../sql/accounts/sign-in-allowances.ts'
import type { Principal } from '../../sql/accounts/tokens.ts'
import { currentOperation } from '../../sql/operation.ts'
import { recordFor } from '../../sql/requests/audit.ts'
import { route } from '../http/route.ts'
import { workspaceId } from '../http/schemas.ts'
import { id, nullable, oneOf, text } from '../http/vocabulary.ts'
import { takeTry } from './tries.ts'

/** Codes that do not work. */
const ofAccount = { burst: 10, seconds: 90 }
const ofAddress = { burst: 30, seconds: 20 }

export const acceptInvitationRoute = route('POST /invitations/accept', 'write', {
  refuses: ['not_found', 'forbidden'],
  summary: 'Accept an invitation to a workspace or a board.',
  description:
    'The `code` is the one in the link of the invitation. An invitation to an e-mail address is for the account with this address. Service accounts and guests cannot accept one.',
  schemas: {
    body: Type.Object({ code: text('The code in the link of the invitation.', { maxLength: 200 }) }),
  },
  answers: {
    200: Type.Object({
      workspace_id: workspaceId,
      board_id: nullable(
        id('Id of the board.'),
        'The board that you can open now. Null: the whole workspace.',
      ),
      role: oneOf(invitedRoles, 'Your role. `owner`: the workspace is yours now.'),
    }),
  },
  notInSessions: true,
  async handle({ database }, { principal, body, request }) {
    const { userId } = principal
    if (principal.serviceAccountId !== null) throw notAPerson()
    const tries = [
      { name: `invitation account ${userId}`, ...ofAccount },
      { name: `invitation address ${network(request.ip)}`, ...ofAddress },
    ]
    await takeTry(database, tries)
    const answer = await database.asSystem(async (tx) => {
      if (await isGuest(tx, userId)) throw notAPerson()
      const held = await findInvitation(tx, body.code, true)
      if (!held) throw noInvitation()
      requireInvited(principal, held.email)
      await acceptInvitation(tx, held, userId)
      const { id, workspaceId: workspace_id, boardId: board_id, role } = held
      const answer = { workspace_id, board_id, role }
      const operation = currentOperation()!
      operation.concerns({ type: 'invitation', ids: [id], board: board_id, workspace: workspace_id })
      operation.answers(answer)
      await recordFor(tx, userId, operation)
      await giveBackAttempt(tx, tries)
      return answer
    })
    return { body: answer }
  },
})

/** @throws ServiceError `forbidden` */
function requireInvited(principal: Principal, email: string | null): void {
  if (email !== null && email.toLowerCase() !== principal.email.toLowerCase())
    throw new ServiceError(
      'forbidden',
      'This invitation is for another e-mail address. Use a token of the account with that address.',
    )
}

const notAPerson = () =>
  new ServiceError('forbidden', 'Only the account of a person can accept an invitation.')

/** The same for an invitation that was used or revoked, has expired or never existed. */
const noInvitation = () =>
  new ServiceError('not_found', 'This invitation does not work. Ask the people who sent it for a new one.')
