/** The section for workspaces: lists them. The owner manages a workspace on a page of its own; a member can leave. */
import { removeMember } from '../../sql/accounts/people.ts'
import { withOperation } from '../../sql/operation.ts'
import { uuidPattern } from '../http/schemas.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { html, type Html } from '../sign-in/html.ts'
import type { OwnVisit } from '../sign-in/visit.ts'
import { actionPages, type ConfirmedAction } from './confirmed-action.ts'
import { peopleOperation } from './people-operation.ts'
import type { Section } from './section.ts'
import { rowAction, table } from './table.ts'

interface WorkspaceRow {
  id: string
  name: string
  role: 'owner' | 'editor' | 'viewer'
}

export const workspacePath = '/settings/workspace'

export const workspacesSection: Section = {
  id: 'workspaces',
  title: 'Workspaces',
  show: showWorkspaces,
  pages: (context) => actionPages(context, leaving),
}

async function showWorkspaces({ database }: SignInContext, { signedIn }: OwnVisit): Promise<Html> {
  const rows = await database.asUser(
    signedIn.userId,
    (tx) => tx<WorkspaceRow[]>`
      select w.id, w.name, coalesce(m.role, 'owner') as role
      from workspaces w
      left join workspace_members m on m.workspace_id = w.id and m.user_id = ${signedIn.userId}
      order by w.created_at, w.id
      limit 500`,
  )
  return rows.length === 0
    ? html`<p class="note">You have no workspace yet. One is made with your first board.</p>`
    : table(rows, [
        { head: 'Name', cell: ({ name }) => name },
        { head: 'Role', cell: ({ role }) => role },
        {
          head: 'Action',
          cell: ({ id, name, role }) =>
            role === 'owner'
              ? html`<a
                  class="button plain"
                  href="${workspacePath}?id=${id}"
                  aria-label="Manage the workspace ${name}"
                  >Manage</a
                >`
              : rowAction(leaving, id, `the workspace ${name}`),
        },
      ])
}

const leaving: ConfirmedAction<{ name: string }> = {
  path: '/settings/workspaces/leave',
  back: () => '/settings#workspaces',
  field: 'id',
  label: 'Leave',
  isName: (id) => uuidPattern.test(id),
  find: (tx, userId, id) => tx`select name from workspaces where id = ${id} and owner_id <> ${userId}`,
  ask: ({ name }) => ({
    question: `Leave the workspace “${name}”?`,
    consequence: 'You lose its boards at once. The owner can invite you again.',
    label: 'Leave workspace',
  }),
  perform: ({ database }, visit, id) =>
    withOperation(peopleOperation(visit, 'member.delete', visit.signedIn.userId, id), () =>
      database.asUser(visit.signedIn.userId, (tx) => removeMember(tx, id, visit.signedIn.userId)),
    ),
}
