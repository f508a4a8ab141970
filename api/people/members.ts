/** The members of a workspace. Invitations add members (invitations.ts). */
import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import {
  findMember,
  givenRoles,
  readMembers,
  removeMember,
  setMemberRole,
} from '../../sql/accounts/people.ts'
import { currentOperation } from '../../sql/operation.ts'
import { cutPage, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { offsetPage, pageQuery, workspaceId } from '../http/schemas.ts'
import { id, list, named, nullable, oneOf, text } from '../http/vocabulary.ts'
import { notOwner, requireWorkspace, requireWorkspaceOwner } from './owner.ts'

export const userId = id('Id of the account.')
const params = Type.Object({ id: workspaceId, userId })

export const Member = named('Member', 'A person who can see all boards of a workspace.', {
  user_id: userId,
  email: text('E-mail address of the account.'),
  display_name: nullable(text('Name of the account. Null when it has none.')),
  role: oneOf(
    ['owner', ...givenRoles],
    '`owner`: manages who has access, and pays. `editor`: changes boards. `viewer`: reads them.',
  ),
})

export const givenRole = oneOf(givenRoles, '`editor` or `viewer`.')

export const listMembers = route('GET /workspaces/:id/members', 'read', {
  refuses: ['forbidden'],
  summary: 'List the members of a workspace, the owner first. Only the owner can.',
  schemas: { params: Type.Object({ id: workspaceId }), query: Type.Object(pageQuery) },
  answers: { 200: offsetPage({ members: list(Member, 'The members of this page.') }) },
  notInSessions: true,
  async handle({ database }, { principal, params, query }) {
    const page = pageOf(query)
    const rows = await database.asUser(principal.userId, async (tx) => {
      await requireWorkspaceOwner(tx, params.id)
      return readMembers(tx, params.id, { limit: page.limit + 1, offset: page.offset })
    })
    const { shown, end } = cutPage(page, rows)
    return { body: { members: shown, ...end } }
  },
})

export const patchMember = route('PATCH /workspaces/:id/members/:userId', 'write', {
  refuses: ['forbidden', 'conflict'],
  summary: 'Change the role of a member. Only the owner can.',
  description: 'To transfer the workspace, invite the new owner with the role `owner`.',
  schemas: { params, body: Type.Object({ role: givenRole }) },
  answers: { 200: Type.Object({ member: Member }) },
  notInSessions: true,
  async handle({ database }, { principal, params, body }) {
    const member = await database.asUser(principal.userId, async (tx) => {
      await requireWorkspaceOwner(tx, params.id)
      if (params.userId === principal.userId) throw ownsIt()
      concernsMember(params)
      const changed = { workspaceId: params.id, userId: params.userId, role: body.role }
      if (!(await setMemberRole(tx, changed))) throw noMember()
      return findMember(tx, params.id, params.userId)
    })
    return { body: { member } }
  },
})

export const deleteMember = route('DELETE /workspaces/:id/members/:userId', 'write', {
  refuses: ['forbidden', 'conflict'],
  summary: 'Remove a member, or leave a workspace.',
  description:
    'The owner can remove every other member. A member can remove itself. Open editors are disconnected within two seconds.',
  schemas: { params },
  answers: {
    200: Type.Object({
      deleted: Type.Literal(true, { description: 'Always true.' }),
      user_id: userId,
    }),
  },
  notInSessions: true,
  async handle({ database }, { principal, params }) {
    await database.asUser(principal.userId, async (tx) => {
      const { own } = await requireWorkspace(tx, params.id)
      if (own && params.userId === principal.userId) throw ownsIt()
      if (!own && params.userId !== principal.userId) throw notOwner()
      concernsMember(params)
      if (!(await removeMember(tx, params.id, params.userId))) throw noMember()
    })
    return { body: { deleted: true, user_id: params.userId } }
  },
})

/** The audit entry names the member, and the workspace, whose owner reads it. */
const concernsMember = ({ id, userId }: { id: string; userId: string }) =>
  currentOperation()?.concerns({ type: 'member', ids: [userId], workspace: id })

const noMember = () => new ServiceError('not_found', 'There is no such member of the workspace.')
const ownsIt = () =>
  new ServiceError(
    'conflict',
    'This account owns the workspace. Invite another owner first: an invitation with the role `owner`.',
  )
