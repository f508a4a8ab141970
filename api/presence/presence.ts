/** Who is on a board, and the caller among them. */
import Type from 'typebox'
import { boardAccess } from '../../collab/access.ts'
import { inTrash, noBoard } from '../../core/board.ts'
import { badRequest } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Principal } from '../../sql/accounts/tokens.ts'
import { route, type ApiContext } from '../http/route.ts'
import { boardId, boardParams } from '../http/schemas.ts'
import { flag, id, integer, list, named, nullable, object, text, time } from '../http/vocabulary.ts'
import { readBoard } from '../boards/board.ts'

const { presenceSeconds, presenceStateBytes } = limits

const anyObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, description }))

const Present = named('Present', 'Somebody who is on a board at the moment.', {
  client_id: integer('Number of the client, as in awareness. A person with two windows is there twice.'),
  account: object('The account, as the service knows it.', {
    id: id('Id of the account.'),
    name: nullable(text('Its name.')),
    guest: Type.Optional(flag('Present and true for a guest who came by a link.')),
    session_user: Type.Optional(
      object('Only for a session that was minted for a user of another product: that user.', {
        id: text('The id that the product has for the user.'),
        name: nullable(text('Name of the user.')),
        color: nullable(text('Color of the user.')),
        avatar_url: nullable(text('URL of a picture of the user.')),
        service_account_id: nullable(
          id('The service account that minted the session. Null when a person did.'),
        ),
      }),
    ),
  }),
  agent: flag('Whether it is a service account, an application or a client of the API.'),
  read_only: flag('Whether it may not write on the board.'),
  state: anyObject('What the client tells about itself, such as `cursor`.'),
})

export const readPresence = route('GET /boards/:id/presence', 'read', {
  summary: 'List who is on a board at the moment: open editors, and agents that are shown.',
  schemas: { params: boardParams },
  answers: {
    200: Type.Object({ board_id: boardId, presence: list(Present, 'Everybody, in no order.') }),
  },
  async handle(context, { principal, params }) {
    await mayOpen(context, principal, params.id)
    const present = await context.presence.list(params.id)
    return {
      body: {
        board_id: params.id,
        presence: present.map(({ client: client_id, readOnly: read_only, ...known }) => ({
          ...{ client_id, ...known, read_only },
        })),
      },
    }
  },
})

export const putPresence = route('PUT /boards/:id/presence', 'write', {
  summary: 'Show the caller on a board, as an agent, for a while.',
  description:
    'Open canvases show it beside the people. Call it again to move, or to stay. A token is shown once on a board. Nothing of it is stored.',
  schemas: {
    params: boardParams,
    body: Type.Object({
      state: Type.Optional(
        anyObject(
          `What is shown, such as \`{"cursor": {"x": 0, "y": 0}}\`: an object of at most ${presenceStateBytes / 1024} KB.`,
        ),
      ),
      ttl_seconds: Type.Optional(
        integer('How long it is shown. Default: 60.', { minimum: 1, maximum: presenceSeconds }),
      ),
    }),
  },
  answers: {
    200: Type.Object({
      board_id: boardId,
      client_id: integer('Number of the client, as in awareness.'),
      expires_at: time('Until when it is shown.'),
    }),
  },
  refuses: ['conflict'],
  keepsNothing: true,
  async handle(context, { principal, params, body: { state: shown = {}, ttl_seconds: seconds = 60 } }) {
    const clientId = await showOn(context, principal, params.id, shown, seconds)
    if (clientId === null)
      throw badRequest(
        `state must be an object of at most ${presenceStateBytes / 1024} KB, with at most 16 levels.`,
      )
    const expiresAt = new Date(context.clock.now() + seconds * 1000)
    return { body: { board_id: params.id, client_id: clientId, expires_at: expiresAt.toISOString() } }
  },
})

export const deletePresence = route('DELETE /boards/:id/presence', 'write', {
  summary: 'Stop showing the caller on a board.',
  schemas: { params: boardParams },
  answers: {
    200: Type.Object({ deleted: Type.Literal(true, { description: 'Always true.' }), board_id: boardId }),
  },
  keepsNothing: true,
  async handle({ database, presence }, { principal, params }) {
    await database.asUser(principal.userId, (tx) => readBoard(tx, params.id))
    presence.hide(params.id, shownAs(principal))
    return { body: { deleted: true, board_id: params.id } }
  },
})

/** All sessions that a token mints have its id, so a session is shown as its user. */
const shownAs = ({ session, userId, tokenId }: Principal): string => (session ? userId : tokenId)

/** @returns the number of the client; null when the state is not fit to be shown */
export async function showOn(
  context: ApiContext,
  principal: Principal,
  board: string,
  state: Record<string, unknown>,
  seconds: number,
): Promise<number | null> {
  const { access, question } = await mayOpen(context, principal, board)
  const { may, linkId, name, sessionUser } = access
  if (may === 'none') throw inTrash()
  return context.presence.show({
    ...{ board, tokenId: shownAs(principal), question, state, ttlMs: seconds * 1000 },
    sender: { id: principal.userId, name, isGuest: linkId !== null, sessionUser, readOnly: may !== 'write' },
  })
}

/** @returns `none` for a board in the trash. @throws ServiceError `not_found` */
async function mayOpen({ database, documentBytes }: ApiContext, principal: Principal, boardId: string) {
  const { userId: account, tokenId, session } = principal
  await database.asUser(account, (tx) => readBoard(tx, boardId))
  const question = { account, tokenId, boardId, session: session?.claims }
  const [access] = await boardAccess(database, documentBytes, [question])
  if (!access) throw noBoard()
  return { access, question }
}
