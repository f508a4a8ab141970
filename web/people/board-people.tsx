/** The people of a board: members of its workspace, those it is shared with, and those who are invited. */
import { useState, type ReactNode } from 'react'
import type { Row } from '../../client/operations.ts'
import { Ask, useAction } from '../controls/ask.tsx'
import { Check, Choice, Field, Form, written } from '../controls/form.tsx'
import { Shown } from '../controls/loading.tsx'
import { Once } from '../controls/once.tsx'
import { nameOf, Person, RolePicker, roleNotes, roles, type Role } from '../controls/people.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { ignoreGone, readAll, request } from '../service/request.ts'
import { InvitedRow, type Invitation } from './invited-row.tsx'
import type { SharedBoard } from './shared-board.ts'

type Member = Row<'GET /workspaces/{id}/members'>
type Share = Row<'GET /boards/{id}/shares'>

interface Access {
  members: Member[]
  shares: Share[]
  invitations: Invitation[]
  /** People of the account's other workspaces. They need no invitation. */
  known: Member[]
}

async function readAccess({ boardId, workspaceId }: SharedBoard): Promise<Access> {
  const inWorkspace = { path: { id: workspaceId } }
  const [members, shares, invitations, workspaces] = await Promise.all([
    readAll('GET /workspaces/{id}/members', inWorkspace),
    readAll('GET /boards/{id}/shares', { path: { id: boardId } }),
    readAll('GET /workspaces/{id}/invitations', inWorkspace),
    readAll('GET /workspaces'),
  ])
  const others = workspaces.filter(({ id, role }) => role === 'owner' && id !== workspaceId)
  const known = await Promise.all(
    others.map(({ id }) => readAll('GET /workspaces/{id}/members', { path: { id } })),
  )
  return {
    members,
    shares,
    invitations: invitations.filter(({ board_id }) => board_id === boardId),
    known: known.flat(),
  }
}

export function BoardPeople(board: SharedBoard): ReactNode {
  const access = useLoaded(board.boardId, () => readAccess(board))
  return (
    <section>
      <h3>People</h3>
      <Shown of={access}>
        {(value) => (
          <>
            <Invite {...board} access={value} reload={access.reload} />
            <ul className="rows" aria-label="Who has access">
              {value.shares.map((share) => (
                <SharedRow
                  key={share.user_id}
                  boardId={board.boardId}
                  {...{ share, reload: access.reload }}
                />
              ))}
              {value.invitations.map((invitation) => (
                <InvitedRow key={invitation.id} {...{ invitation, reload: access.reload }} />
              ))}
              {value.members.map((member) => (
                <li key={member.user_id}>
                  <Person of={member} />
                  <span className="quiet">
                    {member.role === 'owner'
                      ? 'Owner of the workspace'
                      : `${roles[member.role]} in the workspace`}
                  </span>
                </li>
              ))}
            </ul>
            <p className="quiet">
              Members see all boards of the workspace.{' '}
              <a href={`/app/workspaces/${board.workspaceId}/settings#members`}>Manage members</a>
            </p>
          </>
        )}
      </Shown>
    </section>
  )
}

function Invite({
  boardId,
  workspaceId,
  access,
  reload,
}: SharedBoard & { access: Access; reload(): Promise<void> }): ReactNode {
  const [url, setUrl] = useState<string | null>(null)
  const [done, setDone] = useState<string | null>(null)
  const send = async (values: FormData) => {
    const given = written(values, 'email') ?? ''
    const [role, history] = [values.get('role') as Role, values.has('history')]
    if (find(access.members, given))
      throw new Error(`email: ${given} is a member of the workspace, and sees this board already.`)
    const known = find(access.known, given)
    if (known) {
      const body = { user_id: known.user_id, role, history }
      await request('POST /boards/{id}/shares', { path: { id: boardId }, body })
      setDone(`${nameOf(known)} has the board now.`)
    } else {
      const body = { email: given, role, history, board_id: boardId }
      const answer = await request('POST /workspaces/{id}/invitations', { path: { id: workspaceId }, body })
      setUrl(answer.url)
      setDone(answer.sent ? `The invitation is on its way to ${given}.` : null)
    }
    await reload()
  }
  return (
    <>
      <Form label="Invite somebody" submit="Invite" send={send}>
        <Field
          label="E-mail address, or the name of somebody you know"
          name="email"
          list="known-people"
          required
        />
        <datalist id="known-people">
          {access.known.map((person) => (
            <option key={person.user_id} value={person.email}>
              {nameOf(person)}
            </option>
          ))}
        </datalist>
        <Choice label="Role" name="role" options={roles} note={roleNotes} />
        <Check label="Also show the history of the board, from now on" name="history" />
      </Form>
      {done !== null && <p role="status">{done}</p>}
      {url !== null && (
        <Once label="Invitation" value={url} close={() => setUrl(null)}>
          The service sends no mail. Pass this link on yourself: it is not shown again, and works once.
        </Once>
      )}
    </>
  )
}

/** Who has this address, or as the only one this name. */
function find(people: Member[], given: string): Member | undefined {
  const is = (text: string | null) => text?.toLowerCase() === given.toLowerCase()
  const named = people.filter(({ display_name: name }) => is(name))
  const ids = new Set(named.map(({ user_id }) => user_id))
  return people.find(({ email }) => is(email)) ?? (ids.size === 1 ? named[0] : undefined)
}

interface SharedRowProps {
  boardId: string
  share: Share
  reload(): Promise<void>
}

function SharedRow({ boardId, share, reload }: SharedRowProps): ReactNode {
  const { run, fault } = useAction()
  const path = { id: boardId, userId: share.user_id }
  const name = nameOf(share)
  const change = (body: { role?: Role; history?: boolean }) =>
    void run(async () => {
      await request('PATCH /boards/{id}/shares/{userId}', { path, body })
      await reload()
    })
  return (
    <li>
      <Person of={share} />
      <label className="inline">
        <input
          type="checkbox"
          checked={share.history_since !== null}
          onChange={({ target }) => change({ history: target.checked })}
        />{' '}
        History<span className="hidden"> for {name}</span>
      </label>
      <RolePicker of={name} role={share.role} change={(role) => change({ role })} />
      <Ask
        label="Remove"
        name={`Remove ${name}`}
        question={`Take the board from ${name}?`}
        confirm="Remove"
        act={async () => {
          await request('DELETE /boards/{id}/shares/{userId}', { path }).catch(ignoreGone)
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
