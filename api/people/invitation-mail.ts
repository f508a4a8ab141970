import type { Mail } from '../../platform/mail.ts'
import type { InvitationRow } from '../../sql/accounts/invitations.ts'
import { invitationPath } from '../sign-in/invitation.ts'

export const invitationUrl = (publicUrl: string, code: string) => `${publicUrl}${invitationPath}?code=${code}`

interface Invited {
  to: string
  inviter: { displayName: string | null; email: string }
  workspace: string
  board: string | null
  invitation: InvitationRow
  url: string
}

/** The names in it are those that a stranger may have chosen, so it also shows the inviter's address. */
export function invitationMail({ to, inviter, workspace, board, invitation, url }: Invited): Mail {
  const who = oneLine(
    inviter.displayName === null ? inviter.email : `${inviter.displayName} (${inviter.email})`,
  )
  const what = oneLine(board === null ? `the workspace “${workspace}”` : `the board “${board}”`)
  const offer =
    invitation.role === 'owner'
      ? `${who} wants to make you the owner of ${what} on Corkboard.`
      : `${who} invites you to ${what} on Corkboard, as ${invitation.role === 'editor' ? 'an editor' : 'a viewer'}.`
  return {
    to,
    subject: invitation.role === 'owner' ? `Become the owner of ${what}` : `Invitation to ${what}`,
    text: `${offer}

Open this link to accept:
${url}

The link works once, until ${invitation.expires_at.toISOString().slice(0, 10)}. If you do not know ${who}, ignore this mail.
`,
  }
}

const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
