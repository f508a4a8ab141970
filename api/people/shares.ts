/** The accounts with which one board is shared. Such an account sees this board only, not its children. */
import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import {
  addShare,
  changeShare,
  endShare,
  findShare,
  givenRoles,
  readShares,
} from '../../sql/accounts/people.ts'
import { currentOperation } from '../../sql/operation.ts'
import { cutPage, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { boardId, boardParams, offsetPage, pageQuery } from '../http/schemas.ts'
import { flag, list, named, nullable, oneOf, text, time } from '../http/vocabulary.ts'
import { givenRole, userId } from './members.ts'
import { notOwner, requireBoard, requireBoardOwner, requireLiveBoardOwner } from './owner.ts'

const params = Type.Object({ id: boardId, userId })

const Share = named(
  'Share',
  'A person who has one board, without its workspace and without its child boards.',
  {
    user_id: userId,
    email: text('E-mail address of the account.'),
    display_name: nullable(text('Name of the account. Null when it has none.')),
    role: oneOf(givenRoles, '`editor`: changes the board. `viewer`: reads it.'),
    history_since: nullable(
      time('From when on the account sees the history of the board. Null: it does not see it.'),
    ),
  },
)

const answer = Type.Object({ share: Share })
const history = flag('Whether the account sees the history of the board, from now on.')

export const listShares = route('GET /boards/:id/shares', 'read', {
  refuses: ['forbidden'],
  summary: 'List the accounts with which a board is shared. Only the owner of the workspace can.',
  schemas: { params: boardParams, query: Type.Object(pageQuery) },
  answers: { 200: offsetPage({ shares: list(Share, 'The shares of this page.') }) },
  notInSessions: true,
  async handle({ database }, { principal, params, query }) {
    const page = pageOf(query)
    const rows = await database.asUser(principal.userId, async (tx) => {
      await requireBoardOwner(tx, params.id)
      return readShares(tx, params.id, { limit: page.limit + 1, offset: page.offset })
    })
    const { shown, end } = cutPage(page, rows)
    return { body: { shares: shown, ...end } }
  },
})

export const createShare = route('POST /boards/:id/shares', 'write', {
  refuses: ['forbidden'],
  summary: 'Share a board with an account that you know. Only the owner of the workspace can.',
  description:
    'The account must be a member of one of your workspaces, or have another of your boards. Invite other people by e-mail: `POST /workspaces/{id}/invitations` with `board_id`. An existing share is replaced.',
  schemas: {
    params: boardParams,
    body: Type.Object({
      user_id: userId,
      role: givenRole,
      history: Type.Optional(history),
    }),
  },
  answers: { 201: answer },
  notInSessions: true,
  async handle({ database }, { principal, params, body }) {
    const account = body.user_id.toLowerCase()
    const share = await database.asUser(principal.userId, async (tx) => {
      await requireLiveBoardOwner(tx, params.id)
      const { role, history = false } = body
      if (!(await addShare(tx, { boardId: params.id, userId: account, role, history }))) throw stranger()
      concernsShare(params.id, account)
      const share = await findShare(tx, params.id, account)
      currentOperation()?.answers({ share }, 201)
      return share
    })
    return { status: 201, body: { share } }
  },
})

export const patchShare = route('PATCH /boards/:id/shares/:userId', 'write', {
  refuses: ['forbidden', 'conflict'],
  summary: 'Change a share of a board. Only the owner of the workspace can.',
  schemas: {
    params,
    body: Type.Object({ role: Type.Optional(givenRole), history: Type.Optional(history) }),
  },
  answers: { 200: answer },
  notInSessions: true,
  async handle({ database }, { principal, params, body }) {
    const share = await database.asUser(principal.userId, async (tx) => {
      await requireLiveBoardOwner(tx, params.id)
      if (!(await changeShare(tx, { boardId: params.id, userId: params.userId, ...body }))) throw noShare()
      return findShare(tx, params.id, params.userId)
    })
    return { body: { share } }
  },
})

export const deleteShare = route('DELETE /boards/:id/shares/:userId', 'write', {
  refuses: ['forbidden'],
  summary: 'End a share of a board. The owner of the workspace can, and the account itself.',
  description: 'Open editors of the account are disconnected within two seconds.',
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
      const { own } = await requireBoard(tx, params.id)
      if (!own && params.userId !== principal.userId) throw notOwner()
      if (!(await endShare(tx, { boardId: params.id, userId: params.userId }))) throw noShare()
    })
    return { body: { deleted: true, user_id: params.userId } }
  },
})

/** A POST names no account in its path. */
const concernsShare = (board: string, account: string) =>
  currentOperation()?.concerns({ type: 'share', ids: [account], board })

const noShare = () => new ServiceError('not_found', 'The board is not shared with this account.')
const stranger = () =>
  new ServiceError(
    'not_found',
    'user_id: there is no such account in your workspaces. Invite people by e-mail: POST /workspaces/{id}/invitations with board_id.',
  )
