/** The members of a workspace, and those who are invited. The owner manages them; a member can leave. */
import { useState, type ReactNode } from 'react'
import type { Row } from '../../client/operations.ts'
import { Ask, useAction } from '../controls/ask.tsx'
import { Choice, Field, Form, written } from '../controls/form.tsx'
import { Shown } from '../controls/loading.tsx'
import { Once } from '../controls/once.tsx'
import { nameOf, Person, RolePicker, roleNotes, roles, type Role } from '../controls/people.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { ignoreGone, readAll, request } from '../service/request.ts'
import { InvitedRow } from './invited-row.tsx'

type Member = Row<'GET /workspaces/{id}/members'>

export function Members({ workspaceId }: { workspaceId: string }): ReactNode {
  const inWorkspace = { path: { id: workspaceId } }
  const people = useLoaded(workspaceId, async () => {
    const [members, invitations] = await Promise.all([
      readAll('GET /workspaces/{id}/members', inWorkspace),
      readAll('GET /workspaces/{id}/invitations', inWorkspace),
    ])
    return { members, invitations }
  })
  return (
    <>
      <Invite {...{ workspaceId, reload: people.reload }} />
      <Shown of={people}>
        {({ members, invitations }) => (
          <ul className="rows" aria-label="Members">
            {members.map((member) => (
              <MemberRow key={member.user_id} {...{ workspaceId, member, reload: people.reload }} />
            ))}
            {invitations.map((invitation) => (
              <InvitedRow key={invitation.id} {...{ invitation, reload: people.reload }} />
            ))}
          </ul>
        )}
      </Shown>
      <p className="quiet">
        Guest links of all boards are listed on{' '}
        <a href={`/settings/workspace?id=${workspaceId}#links`}>a page of the settings</a>. Those of one board
        are under Share, on the board.
      </p>
      <Transfer {...{ workspaceId, reload: people.reload }} />
    </>
  )
}

interface WorkspaceForm {
  workspaceId: string
  reload(): Promise<void>
}

function Invite({ workspaceId, reload }: WorkspaceForm): ReactNode {
  const { told, send } = useInvite(workspaceId, reload)
  return (
    <>
      <Form
        label="Invite a member"
        submit="Invite"
        send={(values) => send(written(values, 'email'), values.get('role') as Role)}
      >
        <Field
          label="E-mail address"
          name="email"
          type="email"
          note="Leave it empty to get a link that one person with an account can use."
        />
        <Choice label="Role" name="role" options={roles} note={roleNotes} />
      </Form>
      {told}
    </>
  )
}

/** Gives the workspace to somebody else, who has to accept it. */
function Transfer({ workspaceId, reload }: WorkspaceForm): ReactNode {
  const { told, send } = useInvite(workspaceId, reload)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <h3>Another owner</h3>
      <p>
        The owner pays for the workspace and manages who has access. When the person accepts, you become an
        editor.
      </p>
      {isOpen ? (
        <Form
          label="Give the workspace to somebody else"
          submit="Offer the workspace"
          send={async (values) => {
            await send(written(values, 'email'), 'owner')
            setOpen(false)
          }}
          cancel={() => setOpen(false)}
        >
          <Field label="E-mail address of the new owner" name="email" type="email" required autoFocus />
        </Form>
      ) : (
        <button type="button" onClick={() => setOpen(true)}>
          Give the workspace to somebody else…
        </button>
      )}
      {told}
    </>
  )
}

function useInvite(workspaceId: string, reload: () => Promise<void>) {
  const [made, setMade] = useState<{ url: string | null; email: string | undefined } | null>(null)
  const send = async (email: string | undefined, role: Role | 'owner') => {
    const body = { role, ...(email === undefined ? {} : { email }) }
    const { url } = await request('POST /workspaces/{id}/invitations', { path: { id: workspaceId }, body })
    setMade({ url, email })
    await reload()
  }
  const told =
    made &&
    (made.url === null ? (
      <p role="status">The invitation is on its way to {made.email}.</p>
    ) : (
      <Once label="Invitation" value={made.url} close={() => setMade(null)}>
        Pass this link on: it is not shown again, and works once.
      </Once>
    ))
  return { told, send }
}

function MemberRow({ workspaceId, member, reload }: WorkspaceForm & { member: Member }): ReactNode {
  const { run, fault } = useAction()
  const name = nameOf(member)
  const path = { id: workspaceId, userId: member.user_id }
  const change = async (role: Role) => {
    await request('PATCH /workspaces/{id}/members/{userId}', { path, body: { role } })
    await reload()
  }
  if (member.role === 'owner')
    return (
      <li>
        <Person of={member} />
        <span className="quiet">Owner</span>
      </li>
    )
  return (
    <li>
      <Person of={member} />
      <RolePicker of={name} role={member.role} change={(role) => void run(() => change(role))} />
      <Ask
        label="Remove"
        name={`Remove ${name}`}
        question={`Remove ${name}? The boards of this workspace close for them at once. What they made stays.`}
        confirm="Remove"
        act={async () => {
          await request('DELETE /workspaces/{id}/members/{userId}', { path }).catch(ignoreGone)
          await reload()
        }}
      />
      {fault !== null && (
        <p className="fault" role="alert">
          {fault}
        </p>
      )}
    </li>
  )
}

export function Leave({ workspaceId, role }: { workspaceId: string; role: Role }): ReactNode {
  return (
    <>
      <p>
        You are {role === 'editor' ? 'an editor' : 'a viewer'} here. Only the owner sees and manages the
        members.
      </p>
      <Ask
        label="Leave the workspace"
        question="Leave this workspace? You lose its boards at once. The owner can invite you again."
        confirm="Leave"
        act={async () => {
          const { user_id: userId } = await request('GET /me')
          await request('DELETE /workspaces/{id}/members/{userId}', { path: { id: workspaceId, userId } })
          location.assign('/app/')
        }}
      />
    </>
  )
}
