/** The part for invitations to a workspace: makes, lists and revokes them. */
import { randomUUID } from 'node:crypto'
import { limits } from '../../core/limits.ts'
import {
  invitedRoles,
  readInvitations,
  revokeInvitation,
  type InvitationRow,
  type NewInvitation,
} from '../../sql/accounts/invitations.ts'
import { withOperation } from '../../sql/operation.ts'
import { deliverInvitation, isEmail, makeInvitation } from '../people/invite.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { html, type Html } from '../sign-in/html.ts'
import { formOperation } from '../sign-in/operation.ts'
import { ownPage, type OwnVisit, type VisitAnswer } from '../sign-in/visit.ts'
import { uuidPattern } from '../http/schemas.ts'
import { actionPages, type ConfirmedAction } from './confirmed-action.ts'
import { isPair, pairOf, peopleOperation, readPair } from './people-operation.ts'
import { rowAction, table } from './table.ts'
import { time } from './time.ts'
import { choices, faultNews, partUrl, type WorkspacePages, type WorkspacePart } from './workspace-part.ts'

const path = '/settings/workspace/invitations'
const { days, email: longestEmail } = limits.invitations

export const invitationsPart: WorkspacePart = {
  id: 'invitations',
  title: 'Invitations',
  show: showInvitations,
  pages: (context, shell) => [
    ownPage('POST', path, (visit) => invitePerson(context, shell, visit)),
    ...actionPages(context, revoking),
  ],
}

async function invitePerson(
  context: SignInContext,
  shell: WorkspacePages,
  visit: OwnVisit,
): Promise<VisitAnswer> {
  const { form, request, signedIn } = visit
  const workspaceId = form.get('workspace') ?? ''
  if (!uuidPattern.test(workspaceId)) return { redirect: '/settings#workspaces' }
  const invitation = readInvitation(form, workspaceId)
  if (typeof invitation === 'string')
    return shell.show(visit, workspaceId, faultNews('invitations', invitation))
  const { id } = invitation
  const code = await withOperation(formOperation(request, signedIn, 'invitation.create', id), () =>
    context.database.asUser(signedIn.userId, (tx) => makeInvitation(tx, invitation)),
  )
  const inviter = { userId: signedIn.userId, displayName: signedIn.name, email: signedIn.email }
  const url = (
    await deliverInvitation(context, {
      ...{ inviter, workspaceId, id, code, publicUrl: context.publicUrl() },
    })
  )?.url
  const body = url
    ? html`<p role="status">
          Pass this link on${invitation.email !== null && ` to ${invitation.email}`}. It is not shown again.
        </p>
        <code class="secret">${url}</code>`
    : html`<p role="status">The invitation was sent to ${invitation.email}.</p>`
  return shell.show(visit, workspaceId, { section: 'invitations', body })
}

/** @returns the invitation to make, or an error message */
function readInvitation(form: URLSearchParams, workspaceId: string): NewInvitation | string {
  const email = form.get('email')?.trim() || null
  if (email !== null && (email.length > longestEmail || !isEmail(email)))
    return 'E-mail must be an address, such as ben@example.com.'
  const role = invitedRoles.find((one) => one === form.get('role'))
  if (!role) return 'Choose a role.'
  if (role === 'owner' && email === null) return 'Give the e-mail of the new owner.'
  return { id: randomUUID(), workspaceId, boardId: null, email, role, history: false }
}

async function showInvitations(
  { database }: SignInContext,
  { signedIn, csrf }: OwnVisit,
  workspaceId: string,
): Promise<Html> {
  const rows = await database.asUser(signedIn.userId, (tx) =>
    readInvitations(tx, workspaceId, { limit: 500, offset: 0 }),
  )
  return html`${rows.length > 0 && invitationTable(rows)}
    <form class="fields" method="post" action="${path}">
      ${csrf}<input type="hidden" name="workspace" value="${workspaceId}" />
      <label
        >E-mail (empty: a link for a person who has an account)
        <input name="email" type="email" maxlength="${longestEmail}" />
      </label>
      ${choices('role', 'The person becomes', [
        ['viewer', 'viewer: reads all boards'],
        ['editor', 'editor: changes all boards'],
        ['owner', 'owner: the workspace is transferred, and you become an editor'],
      ])}
      <button>Invite</button>
    </form>
    <p class="note">An invitation works once, for ${days} days.</p>`
}

const invitationTable = (rows: InvitationRow[]) =>
  table(rows, [
    { head: 'For', cell: (row) => row.email ?? 'whoever has the link' },
    { head: 'To', cell: (row) => (row.board_id === null ? 'the workspace' : 'a board') },
    { head: 'Role', cell: (row) => row.role },
    { head: 'Expires', cell: (row) => time(row.expires_at, '') },
    {
      head: 'Action',
      cell: (row) =>
        rowAction(
          revoking,
          pairOf(row.workspace_id, row.id),
          `the invitation for ${row.email ?? 'whoever has the link'}`,
        ),
    },
  ])

const revoking: ConfirmedAction<InvitationRow> = {
  path: `${path}/revoke`,
  back: (name) => partUrl(readPair(name)[0], 'invitations'),
  field: 'invitation',
  label: 'Revoke',
  isName: isPair,
  find: (tx, _userId, name) => {
    const [workspaceId, id] = readPair(name)
    return readInvitations(tx, workspaceId, { limit: 1, offset: 0 }, id)
  },
  ask: ({ email }) => ({
    question: email === null ? 'Revoke this invitation?' : `Revoke the invitation for ${email}?`,
    consequence: 'Its link stops working.',
    label: 'Revoke invitation',
  }),
  perform({ database }, visit, name) {
    const [workspaceId, id] = readPair(name)
    return withOperation(peopleOperation(visit, 'invitation.delete', id, workspaceId), () =>
      database.asUser(visit.signedIn.userId, (tx) => revokeInvitation(tx, workspaceId, id)),
    )
  },
}
