/** Guest links of a board: whoever has one comes in as a guest (open-link.ts). */
import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import {
  countBoardLinks,
  createBoardLink,
  endBoardLink,
  readBoardLinks,
  type BoardLinkRow,
  type NewBoardLink,
} from '../../sql/accounts/guests.ts'
import { givenRoles } from '../../sql/accounts/people.ts'
import type { Transaction } from '../../sql/database.ts'
import { currentOperation } from '../../sql/operation.ts'
import { parseTime } from '../http/feed.ts'
import { cutPage, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { boardId, boardParams, createdAt, deletedAnswer, offsetPage, pageQuery } from '../http/schemas.ts'
import { flag, id, integer, list, named, nullable, oneOf, text, time } from '../http/vocabulary.ts'
import { requireBoardOwner, requireLiveBoardOwner } from './owner.ts'

const linkId = id('Id of the link.')
const { password: passwordLength, perBoard } = limits.guests
const expires = 'From then on the link does not work, and its guests are disconnected.'

const Link = named('Link', 'A link that lets whoever has it open one board, as a guest with a name.', {
  id: linkId,
  board_id: boardId,
  name: nullable(text('Name of the link, for you.')),
  role: oneOf(givenRoles, '`editor`: guests change the board. `viewer`: they read it.'),
  has_password: flag('Whether guests need a password.'),
  history_since: nullable(
    time('From when on guests see the history of the board. Null: they do not see it.'),
  ),
  created_at: createdAt,
  expires_at: nullable(time(`${expires} Null: never.`)),
  uses: integer('How many guests came by it.'),
  last_used_at: nullable(time('When the last guest came. Null: none has come.')),
})

export const listLinks = route('GET /boards/:id/links', 'read', {
  refuses: ['forbidden'],
  summary: 'List the guest links of a board. Only the owner of the workspace can.',
  schemas: { params: boardParams, query: Type.Object(pageQuery) },
  answers: { 200: offsetPage({ links: list(Link, 'The links of this page.') }) },
  notInSessions: true,
  async handle({ database }, { principal, params, query }) {
    const page = pageOf(query)
    const rows = await database.asUser(principal.userId, async (tx) => {
      await requireBoardOwner(tx, params.id)
      return readBoardLinks(tx, params.id, { limit: page.limit + 1, offset: page.offset })
    })
    const { shown, end } = cutPage(page, rows)
    return { body: { links: shown, ...end } }
  },
})

const newLink = Type.Object({
  role: oneOf(givenRoles, '`editor`: guests change the board. `viewer`: they read it.'),
  name: Type.Optional(text('Name of the link, for you.', { minLength: 1, maxLength: limits.name })),
  expires_at: Type.Optional(text(`${expires} RFC 3339.`, { format: 'date-time' })),
  password: Type.Optional(
    text(`A password that guests need, ${passwordLength.min} to ${passwordLength.max} characters.`, {
      minLength: passwordLength.min,
      maxLength: passwordLength.max,
    }),
  ),
  history: Type.Optional(flag('Whether guests see the history of the board, from now on.')),
})

export const createLink = route('POST /boards/:id/links', 'write', {
  answersSecret: true,
  refuses: ['forbidden', 'limit_reached'],
  summary: 'Create a guest link of a board. Only this answer contains its token.',
  description: `Only the owner of the workspace can. Put the token into the fragment of a URL of your application, such as \`https://app.example/open#TOKEN\`: browsers send a fragment to no server. Your page sends it to \`POST /links/open\`. A board can have ${perBoard} links.`,
  schemas: { params: boardParams, body: newLink },
  answers: {
    201: Type.Object({ link: Link, token: text('The token of the link. It is not shown again.') }),
  },
  notInSessions: true,
  async handle({ database, clock, passwords }, { principal, params, body }) {
    const expiresAt = expiryOf(body.expires_at, clock.now())
    await database.asUser(principal.userId, (tx) => requireLiveBoardOwner(tx, params.id)) // before the password costs CPU time
    const phc = body.password === undefined ? null : await passwords.hash(body.password)
    const { role, name = null, history = false } = body
    const link = { boardId: params.id, name, role, phc, history, expiresAt }
    const made = await database.asUser(principal.userId, async (tx) => {
      const made = await makeLink(tx, link)
      currentOperation()?.answers(made, 201)
      return made
    })
    return { status: 201, body: made }
  },
})

export const deleteLink = route('DELETE /boards/:id/links/:linkId', 'write', {
  refuses: ['forbidden'],
  summary: 'Delete a guest link. Its guests are disconnected within two seconds.',
  schemas: { params: Type.Object({ id: boardId, linkId }) },
  answers: { 200: deletedAnswer('link') },
  notInSessions: true,
  async handle({ database }, { principal, params }) {
    await database.asUser(principal.userId, async (tx) => {
      await requireBoardOwner(tx, params.id)
      if (!(await endBoardLink(tx, params.id, params.linkId)))
        throw new ServiceError('not_found', 'The board has no such link.')
    })
    return { body: { deleted: true, id: params.linkId } }
  },
})

/**
 * Makes a link, with its audit entry.
 *
 * @throws ServiceError `not_found`, `forbidden`, `conflict` for a board in the trash, or `limit_reached`
 */
export async function makeLink(
  tx: Transaction,
  given: Omit<NewBoardLink, 'id'>,
): Promise<{ link: BoardLinkRow; token: string }> {
  const { boardId } = given
  await requireLiveBoardOwner(tx, boardId)
  if ((await countBoardLinks(tx, boardId)) >= perBoard) throw tooMany()
  const id = randomUUID()
  const token = await createBoardLink(tx, { ...given, id })
  currentOperation()?.concerns({ type: 'link', ids: [id], board: boardId })
  const [link] = await readBoardLinks(tx, boardId, { limit: 1, offset: 0 }, id)
  return { link: link!, token }
}

/** @throws ServiceError `bad_request` */
function expiryOf(given: string | undefined, now: number): Date | null {
  if (given === undefined) return null
  const at = parseTime(given)
  if (at && at.getTime() > now) return at
  throw badRequest('expires_at must be an RFC 3339 time in the future, such as 2027-01-31T09:00:00.000Z.')
}

const tooMany = () =>
  new ServiceError('limit_reached', `A board can have ${perBoard} guest links. Delete one first.`)
