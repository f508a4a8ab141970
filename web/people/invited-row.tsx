/** An invitation that nobody has accepted yet. */
import type { ReactNode } from 'react'
import type { Row } from '../../client/operations.ts'
import { Ask } from '../controls/ask.tsx'
import { Person } from '../controls/people.tsx'
import { When } from '../controls/when.tsx'
import { ignoreGone, request } from '../service/request.ts'

export type Invitation = Row<'GET /workspaces/{id}/invitations'>

interface InvitedRowProps {
  invitation: Invitation
  reload(): Promise<void>
}

export function InvitedRow({ invitation, reload }: InvitedRowProps): ReactNode {
  const { id, workspace_id: workspace, email, role, expires_at: end } = invitation
  const name = email ?? 'Whoever has the link'
  return (
    <li>
      <Person of={{ email: name }} />
      <span className="quiet">
        Invited as {role}, until <When at={end} as="date" />
      </span>
      <Ask
        label="Revoke"
        name={`Revoke the invitation of ${name}`}
        question="Revoke this invitation? Its link stops working."
        confirm="Revoke"
        act={async () => {
          const path = { id: workspace, invitationId: id }
          await request('DELETE /workspaces/{id}/invitations/{invitationId}', { path }).catch(ignoreGone)
          await reload()
        }}
      />
    </li>
  )
}
