/** Makes invitations and sends their links, for the API and for the settings. */
import { noBoard } from '../../core/board.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Mailer } from '../../platform/mail.ts'
import {
  endEarlierInvitations,
  invite,
  readInvitations,
  withdrawInvitation,
  type InvitationRow,
  type NewInvitation,
} from '../../sql/accounts/invitations.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import { currentOperation, withoutOperation } from '../../sql/operation.ts'
import { invitationMail, invitationUrl } from './invitation-mail.ts'
import { requireLiveBoardOwner, requireWorkspaceOwner } from './owner.ts'

/** The mail server says which addresses exist. */
export const isEmail = (text: string) => /^[^\s@\p{Cc}<>,;"]+@[^\s@\p{Cc}<>,;"]+$/u.test(text)

/**
 * Makes an invitation, with its audit entry.
 *
 * @returns its code
 * @throws ServiceError `not_found`, `forbidden`, `conflict` for a board in the trash, or `rate_limited`
 */
export async function makeInvitation(tx: Transaction, invitation: NewInvitation): Promise<string> {
  const { id, workspaceId, boardId } = invitation
  await requireWorkspaceOwner(tx, workspaceId)
  if (boardId !== null) {
    const board = await requireLiveBoardOwner(tx, boardId)
    if (board.workspaceId !== workspaceId) throw noBoard('board_id: ')
  }
  const made = await invite(tx, invitation)
  if ('waitSeconds' in made) throw tooMany(made.waitSeconds)
  currentOperation()?.concerns({ type: 'invitation', ids: [id], workspace: workspaceId })
  return made.code
}

export interface Delivery {
  inviter: { userId: string; displayName: string | null; email: string }
  workspaceId: string
  publicUrl: string
  /** Id and code of the invitation. */
  id: string
  code: string
}

/**
 * Sends the link, or returns it as `url`. Then earlier invitations of the same address end. A mail that can't be sent
 * ends its own invitation.
 *
 * @returns null when the invitation has ended
 * @throws ServiceError as `Mailer.send`
 */
export async function deliverInvitation(
  { database, mailer }: { database: Database; mailer: Mailer | null },
  { inviter, workspaceId, publicUrl, id, code }: Delivery,
): Promise<{ invitation: InvitationRow; sent: boolean; url: string | null } | null> {
  const found = await database.asUser(inviter.userId, async (tx) => {
    const [invitation] = await readInvitations(tx, workspaceId, { limit: 1, offset: 0 }, id)
    if (!invitation) return null
    const [names] = await tx<{ workspace: string; board: string | null }[]>`
      select name as workspace, (select b.name from boards b where b.id = ${invitation.board_id}) as board
      from workspaces
      where id = ${workspaceId}`
    return { invitation, ...names! }
  })
  if (!found) return null
  const { invitation } = found
  const { email } = invitation
  const url = invitationUrl(publicUrl, code)
  if (email === null) return { invitation, sent: false, url }
  const end = async (which: (tx: Transaction, id: string) => Promise<void>) =>
    withoutOperation(() => database.asSystem((tx) => which(tx, id)))
  try {
    await mailer?.send(invitationMail({ ...found, to: email, inviter, url }))
  } catch (error) {
    await end(withdrawInvitation)
    throw error
  }
  await end(endEarlierInvitations)
  const sent = mailer !== null
  return { invitation, sent, url: sent ? null : url }
}

const { perHour } = limits.invitations

const tooMany = (seconds: number) =>
  new ServiceError(
    'rate_limited',
    `You have made ${perHour} invitations in the last hour. Try again in ${seconds} seconds.`,
    { retryAfterSeconds: seconds },
  )
