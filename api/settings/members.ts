/** The part for the members of a workspace: changes roles, removes members. */
import {
  findMember,
  givenRoles,
  readMembers,
  removeMember,
  setMemberRole,
  type MemberRow,
} from '../../sql/accounts/people.ts'
import { withOperation } from '../../sql/operation.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { html, type Html } from '../sign-in/html.ts'
import { ownPage, type OwnVisit, type VisitAnswer } from '../sign-in/visit.ts'
import { actionPages, type ConfirmedAction } from './confirmed-action.ts'
import { isPair, pairOf, peopleOperation, readPair } from './people-operation.ts'
import { rowAction, table } from './table.ts'
import { partUrl, type WorkspacePart } from './workspace-part.ts'

const rolePath = '/settings/workspace/members/role'

export const membersPart: WorkspacePart = {
  id: 'members',
  title: 'Members',
  show: showMembers,
  pages: (context) => [
    ownPage('POST', rolePath, (visit) => changeRole(context, visit)),
    ...actionPages(context, removing),
  ],
}

async function showMembers(
  { database }: SignInContext,
  { signedIn, csrf }: OwnVisit,
  workspaceId: string,
): Promise<Html> {
  const rows = await database.asUser(signedIn.userId, (tx) =>
    readMembers(tx, workspaceId, { limit: 500, offset: 0 }),
  )
  return table(rows, [
    { head: 'Name', cell: (row) => row.display_name ?? '–' },
    { head: 'E-mail', cell: (row) => row.email },
    { head: 'Role', cell: (row) => row.role },
    { head: 'Action', cell: (row) => (row.role === 'owner' ? '–' : memberActions(csrf, workspaceId, row)) },
  ])
}

function memberActions(csrf: Html, workspaceId: string, { user_id, email, role }: MemberRow): Html {
  const other = role === 'editor' ? 'viewer' : 'editor'
  const name = pairOf(workspaceId, user_id)
  return html`<div class="actions">
    <form method="post" action="${rolePath}">
      ${csrf}<input type="hidden" name="member" value="${name}" />
      <input type="hidden" name="role" value="${other}" />
      <button class="plain" aria-label="Make ${other}: ${email}">Make ${other}</button>
    </form>
    ${rowAction(removing, name, email)}
  </div>`
}

async function changeRole({ database }: SignInContext, visit: OwnVisit): Promise<VisitAnswer> {
  const { form, signedIn } = visit
  const name = form.get('member') ?? ''
  const role = givenRoles.find((one) => one === form.get('role'))
  if (!isPair(name) || !role) return { redirect: '/settings#workspaces' }
  const [workspaceId, userId] = readPair(name)
  await withOperation(peopleOperation(visit, 'member.update', userId, workspaceId), () =>
    database.asUser(signedIn.userId, (tx) => setMemberRole(tx, { workspaceId, userId, role })),
  )
  return { redirect: partUrl(workspaceId, 'members') }
}

const removing: ConfirmedAction<MemberRow> = {
  path: '/settings/workspace/members/remove',
  back: (name) => partUrl(readPair(name)[0], 'members'),
  field: 'member',
  label: 'Remove',
  isName: isPair,
  async find(tx, userId, name) {
    const [workspaceId, member] = readPair(name)
    const row = member === userId ? null : await findMember(tx, workspaceId, member)
    return row ? [row] : []
  },
  ask: ({ email }) => ({
    question: `Remove ${email}?`,
    consequence: 'The member loses the boards of this workspace at once. What the member made stays.',
    label: 'Remove member',
  }),
  perform({ database }, visit, name) {
    const [workspaceId, userId] = readPair(name)
    return withOperation(peopleOperation(visit, 'member.delete', userId, workspaceId), () =>
      database.asUser(visit.signedIn.userId, (tx) => removeMember(tx, workspaceId, userId)),
    )
  },
}
