/** A session in the API: its fields in requests and answers. */
import Type, { type Static } from 'typebox'
import { limits } from '../../core/limits.ts'
import type { SessionClaims } from '../../sql/acting-session.ts'
import { scopes } from '../../sql/accounts/tokens.ts'
import { boardId, workspaceId } from '../http/schemas.ts'
import {
  flag,
  id,
  integer,
  list,
  listOf,
  named,
  nullable,
  object,
  oneOf,
  text,
  time,
  uuid,
} from '../http/vocabulary.ts'

const bounds = limits.sessions

export const sessionUserId = text(
  `Your own id of the user, 1 to ${bounds.userId} characters. It belongs to the workspace: the same id is the same user, whoever mints.`,
  { minLength: 1, maxLength: bounds.userId },
)
const userName = text('Name of the user, as others see it.', { minLength: 1, maxLength: limits.name })
const userColor = text('Color of the user, such as `#ffd966`.', { maxLength: 40 })
const userAvatar = text('URL of a picture of the user, http or https.', { maxLength: 2000 })
const userAgent = flag('Whether the user is a program. Others see it marked as an agent.')
const role = oneOf(['viewer', 'editor'], 'What the session may do on its boards.')

export const newSession = Type.Object({
  board_ids: Type.Optional(
    listOf(uuid, bounds.boards, 'The boards that the session opens, all of one workspace.'),
  ),
  workspace_id: Type.Optional(id('The workspace whose boards the session opens, all of them.')),
  role,
  user: object('The user of your product to whom you give the session.', {
    id: sessionUserId,
    name: userName,
    color: Type.Optional(nullable(userColor)),
    avatar_url: Type.Optional(nullable(userAvatar)),
    agent: Type.Optional(userAgent),
  }),
  ttl_seconds: Type.Optional(
    integer(
      `Lifetime in seconds, ${bounds.ttlSeconds.min} to ${bounds.ttlSeconds.max}. Default: ${bounds.ttlSeconds.default}. Mint again to go on.`,
      { minimum: bounds.ttlSeconds.min, maximum: bounds.ttlSeconds.max },
    ),
  ),
  scopes: Type.Optional(
    listOf(
      Type.Enum([...scopes]),
      10,
      'What the session may do. Default: `read` for a viewer, `read` and `write` for an editor. Never `delete` unless you name it.',
    ),
  ),
  history: Type.Optional(
    flag('Whether the session shows the history of its boards, from the first such session of the user on.'),
  ),
})

export type NewSessionBody = Static<typeof newSession>

export const Session = named('Session', 'The rights of a user of your product, for a time.', {
  workspace_id: workspaceId,
  board_ids: nullable(list(boardId, 'The boards that it opens.'), 'Null: all boards of the workspace.'),
  role,
  scopes: list(Type.String(), 'What it may do: `read`, `write`, `delete`.'),
  history: flag('Whether it shows the history of its boards.'),
  user: object('Its user.', {
    id: sessionUserId,
    account_id: id('Id of the user’s account here, as in `user_id` of history and audit.'),
    name: userName,
    color: nullable(userColor),
    avatar_url: nullable(userAvatar),
    agent: userAgent,
  }),
  issued_at: time('When it was minted.'),
  expires_at: time('When it ends. Not later than the token that minted it.'),
})

export interface ShownUser {
  id: string
  name: string
  color: string | null
  avatarUrl: string | null
}

export const presentSession = (claims: SessionClaims, user: ShownUser) => ({
  workspace_id: claims.workspace,
  board_ids: claims.boards,
  role: claims.role,
  scopes: claims.scopes,
  history: claims.history,
  user: {
    id: user.id,
    account_id: claims.account,
    name: user.name,
    color: user.color,
    avatar_url: user.avatarUrl,
    agent: claims.agent,
  },
  issued_at: claims.issued,
  expires_at: claims.expires,
})
