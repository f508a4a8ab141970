/**
 * The session in which a request acts: one that a service account or an owner minted for a user of its product. It
 * travels in an AsyncLocalStorage, where `asUser`, searches and the commit queue read it, and hand it to PostgreSQL. Its
 * account has no rights without it. So a path that loses the session refuses; it never allows more.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** What a session's token says. functions/sessions.sql decides by it. */
export interface SessionClaims {
  /** The account of the session's user, a row of `session_users`. */
  account: string
  /** The account that minted the session, and the id of its token. */
  minter: string
  token: string
  workspace: string
  /** Ids of the boards that it opens. Null: all of the workspace. */
  boards: string[] | null
  role: 'viewer' | 'editor'
  scopes: string[]
  /** Whether it shows the history of its boards. */
  history: boolean
  /** Whether its user is a program. */
  agent: boolean
  /** Times of the database, in its own text form, to the microsecond. */
  issued: string
  expires: string
}

/** The user of a session, as others see them. */
export interface SessionUser {
  /** The product's own id of the user. */
  externalId: string
  color: string | null
  avatarUrl: string | null
  /** The service account that minted the session. Null when a person did. */
  mintedBy: string | null
  /** The owner of the workspace, whose limits apply. */
  ownerId: string
}

const acting = new AsyncLocalStorage<SessionClaims | undefined>()

export const withSession = <T>(claims: SessionClaims | undefined, work: () => T): T =>
  acting.run(claims, work)

/** The claims of the session in which `account` acts. Undefined when it acts without one. */
export function actingSession(account: string): SessionClaims | undefined {
  const claims = acting.getStore()
  return claims?.account === account ? claims : undefined
}
