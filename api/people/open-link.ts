/**
 * Opens a guest link. It needs no token, so every try is counted before it costs anything: by address, then by link, and
 * before a password is hashed once more. All that is wrong with a link has the same answer at the same cost.
 */
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { network } from '../../platform/client-address.ts'
import { addGuest, findBoardLink, type OpenBoardLink } from '../../sql/accounts/guests.ts'
import { givenRoles } from '../../sql/accounts/people.ts'
import { giveBackAttempt } from '../../sql/accounts/sign-in-allowances.ts'
import { Operation } from '../../sql/operation.ts'
import { recordFor } from '../../sql/requests/audit.ts'
import { auditedRequest } from '../http/action.ts'
import { openRoute, type ApiContext } from '../http/route.ts'
import { boardId } from '../http/schemas.ts'
import { oneOf, text, time } from '../http/vocabulary.ts'
import { userId } from './members.ts'
import { takeTry } from './tries.ts'

const { tokenHours, name: longestName, password } = limits.guests

/** Opening a link, right or wrong. */
const ofAddress = { burst: 100, seconds: 36 }
const ofLink = { burst: 300, seconds: 12 }
/** Wrong passwords. */
const guessesOfAddress = { burst: 10, seconds: 90 }
const guessesOfLink = { burst: 20, seconds: 30 }

export const openLink = openRoute('POST /links/open', {
  answersSecret: true,
  refuses: ['not_found', 'forbidden'],
  summary: 'Open a guest link. The answer has a token for the one board, as a guest with this name.',
  description: `The token is for the API and for editors at \`/collab\`. It has no scope \`delete\`, and is valid for ${tokenHours} hours at most, and not longer than the link. Open the link again for another one. An address can open ${ofAddress.burst} links in an hour, and a link can be opened ${ofLink.burst} times in an hour.`,
  schemas: {
    body: Type.Object({
      token: text('The token of the link.', { maxLength: 200 }),
      name: text('Your name. Others on the board see it.', { minLength: 1, maxLength: longestName }),
      password: Type.Optional(text('The password, if the link has one.', { maxLength: password.max })),
    }),
  },
  answers: {
    201: Type.Object({
      access_token: text('The token of the guest. It is not shown again.'),
      expires_at: time('When the token expires.'),
      user_id: userId,
      board_id: boardId,
      role: oneOf(givenRoles, '`editor` or `viewer`.'),
    }),
  },
  async handle(context, { body, request }) {
    const { database } = context
    const name = nameOf(body.name)
    const address = network(request.ip)
    await takeTry(database, [{ name: `link address ${address}`, ...ofAddress }])
    const link = await database.asSystem((tx) => findBoardLink(tx, body.token))
    if (!link) throw noLink()
    await takeTry(database, [{ name: `link ${link.id}`, ...ofLink }])
    if (link.phc !== null) await checkPassword(context, link, address, body.password)
    const guest = await database.asSystem(async (tx) => {
      const added = await addGuest(tx, link, name)
      if (added) await recordFor(tx, added.userId, openedBy(request, name, link))
      return added
    })
    if (!guest) throw noLink()
    const { token: access_token, expiresAt: expires_at, userId: user_id } = guest
    return {
      status: 201,
      body: { access_token, expires_at, user_id, board_id: link.boardId, role: link.role },
    }
  },
})

/** Only a wrong password counts. @throws ServiceError `forbidden` or `rate_limited` */
async function checkPassword(
  { database, passwords }: ApiContext,
  { id, phc }: OpenBoardLink,
  address: string,
  given: string | undefined,
): Promise<void> {
  if (given === undefined) throw new ServiceError('forbidden', 'This link needs a password. Send password.')
  const allowances = [
    { name: `link password address ${address}`, ...guessesOfAddress },
    { name: `link password ${id}`, ...guessesOfLink },
  ]
  await takeTry(database, allowances)
  let isWrong = false
  try {
    isWrong = !(await passwords.check(given, phc)).isRight
  } finally {
    if (!isWrong) await database.asSystem((tx) => giveBackAttempt(tx, allowances))
  }
  if (isWrong) throw new ServiceError('forbidden', 'The password of this link is wrong.')
}

function nameOf(given: string): string {
  const name = given.trim()
  if (name === '' || /\p{Cc}/u.test(name))
    throw badRequest(`name must have 1 to ${longestName} characters, without control characters.`)
  return name
}

const openedBy = (request: FastifyRequest, name: string, { id, boardId }: OpenBoardLink) =>
  new Operation({
    action: 'link.open',
    ...{ display_name: name, token_id: null, service_account_id: null, client_id: null },
    ...auditedRequest(request),
    trace: null, // opening a link causes no events
    status: 201,
    named: { type: 'link', ids: [id], board: boardId },
    key: null,
  })

/** The same for a link that was deleted, has expired or never existed, or whose board is in the trash. */
const noLink = () =>
  new ServiceError('not_found', 'This link does not work. Ask the people who sent it for a new one.')
