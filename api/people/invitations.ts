/**
 * Invitations to a workspace or to one of its boards. The answer does not depend on whether the invited address has an
 * account: nothing looks it up before the invitation is accepted (sign-in/invitation.ts).
 */
import { randomUUID } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import {
  invitedRoles,
  readInvitations,
  revokeInvitation,
  type NewInvitation,
} from '../../sql/accounts/invitations.ts'
import { currentOperation } from '../../sql/operation.ts'
import { openSecret, sealSecret } from '../http/idempotency/secret.ts'
import { cutPage, pageOf } from '../http/page.ts'
import { route, type Call } from '../http/route.ts'
import { createdAt, deletedAnswer, offsetPage, pageQuery, workspaceId } from '../http/schemas.ts'
import { flag, id, list, named, nullable, oneOf, text, time } from '../http/vocabulary.ts'
import { deliverInvitation, isEmail, makeInvitation } from './invite.ts'
import { requireWorkspaceOwner } from './owner.ts'

const invitationId = id('Id of the invitation.')
const workspaceParams = Type.Object({ id: workspaceId })
const invitedBoard = id('Id of the board. The person gets this board only, without its child boards.')

const Invitation = named('Invitation', 'An invitation that can still be accepted, once.', {
  id: invitationId,
  workspace_id: workspaceId,
  board_id: nullable(invitedBoard, 'Null: the whole workspace.'),
  email: nullable(
    text('Only the account with this address can accept. Null: any account that has the link.'),
  ),
  role: oneOf(invitedRoles, 'The role that the person gets. `owner`: the workspace is transferred.'),
  history: flag('With `board_id`: whether the person also sees the history of the board.'),
  created_at: createdAt,
  expires_at: time('When it expires.'),
})

const { days, perHour, email: longestEmail } = limits.invitations

const newInvitation = Type.Object({
  email: Type.Optional(
    text(
      'E-mail address. Only the account with this address can accept; a person without an account makes one by accepting. Without it, the answer has a link for one person who has an account.',
      { maxLength: longestEmail },
    ),
  ),
  role: oneOf(
    invitedRoles,
    '`editor` or `viewer`. `owner` transfers the workspace when the person accepts: you become an editor. It needs `email`.',
  ),
  board_id: Type.Optional(invitedBoard),
  history: Type.Optional(
    flag('With `board_id`: also show the history of the board, from the acceptance on.'),
  ),
})

export const listInvitations = route('GET /workspaces/:id/invitations', 'read', {
  refuses: ['forbidden'],
  summary: 'List the invitations that can still be accepted, newest first. Only the owner can.',
  schemas: { params: workspaceParams, query: Type.Object(pageQuery) },
  answers: { 200: offsetPage({ invitations: list(Invitation, 'The invitations of this page.') }) },
  notInSessions: true,
  async handle({ database }, { principal, params, query }) {
    const page = pageOf(query)
    const rows = await database.asUser(principal.userId, async (tx) => {
      await requireWorkspaceOwner(tx, params.id)
      return readInvitations(tx, params.id, { limit: page.limit + 1, offset: page.offset })
    })
    const { shown, end } = cutPage(page, rows)
    return { body: { invitations: shown, ...end } }
  },
})

export const createInvitation = route('POST /workspaces/:id/invitations', 'write', {
  answersSecret: true,
  refuses: ['forbidden', 'upstream_error', 'upstream_rejected'],
  summary: 'Invite a person to a workspace or to a board. Only the owner can.',
  description: `The answer is the same whether the person has an account. An invitation works once, for ${days} days. It takes the place of an earlier one of the person to the same workspace or board. An account can make ${perHour} in an hour.`,
  schemas: { params: workspaceParams, body: newInvitation },
  answers: {
    201: Type.Object({
      invitation: Invitation,
      sent: flag('Whether the service has sent the link by e-mail.'),
      url: nullable(
        text('The link, for you to pass on. It is not shown again. Null when the service has sent it.'),
      ),
    }),
  },
  notInSessions: true,
  async handle(context, call) {
    const invitation = invitationOf(call.params.id, call.body)
    const { database, answers } = context
    const { id } = invitation
    const code = await database.asUser(call.principal.userId, async (tx) => {
      const code = await makeInvitation(tx, invitation)
      currentOperation()?.made([{ type: 'secret', id, sealed: sealSecret(answers, id, code) }])
      return code
    })
    return { status: 201, body: await deliverInvitation(context, { ...calledBy(call), id, code }) }
  },
  async rebuild(context, call, made) {
    const secret = made.findLast((one) => one.type === 'secret')
    if (!secret) return null
    const { id, sealed } = secret
    const code = openSecret(context.answers, id, sealed)
    const body = await deliverInvitation(context, { ...calledBy(call), id, code })
    return body && { status: 201, body }
  },
})

export const deleteInvitation = route('DELETE /workspaces/:id/invitations/:invitationId', 'write', {
  refuses: ['forbidden'],
  summary: 'Revoke an invitation. Its link stops working. Only the owner can.',
  schemas: { params: Type.Object({ id: workspaceId, invitationId }) },
  answers: { 200: deletedAnswer('invitation') },
  notInSessions: true,
  async handle({ database }, { principal, params }) {
    await database.asUser(principal.userId, async (tx) => {
      await requireWorkspaceOwner(tx, params.id)
      currentOperation()?.concerns({ type: 'invitation', ids: [params.invitationId], workspace: params.id })
      if (!(await revokeInvitation(tx, params.id, params.invitationId)))
        throw new ServiceError('not_found', 'There is no such invitation that could still be accepted.')
    })
    return { body: { deleted: true, id: params.invitationId } }
  },
})

const calledBy = ({
  principal,
  params,
  request,
}: Pick<Call<{ id: string }, never, never>, 'principal' | 'params' | 'request'>) => ({
  inviter: principal,
  workspaceId: params.id,
  publicUrl: request.server.publicUrl(),
})

/** @throws ServiceError `bad_request` */
function invitationOf(workspace: string, body: Static<typeof newInvitation>): NewInvitation {
  const email = body.email?.trim() ?? null
  if (email !== null && !isEmail(email))
    throw badRequest('email must be an e-mail address, such as ben@example.com.')
  const boardId = body.board_id?.toLowerCase() ?? null
  if (body.role === 'owner' && email === null)
    throw badRequest('email is required with the role owner: a workspace is transferred to one account.')
  if (body.role === 'owner' && boardId !== null)
    throw badRequest('role must be editor or viewer with board_id.')
  const { role, history = false } = body
  return { id: randomUUID(), workspaceId: workspace, boardId, email, role, history }
}
