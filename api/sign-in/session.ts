/** The session cookie: reads, sets and removes it. */
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../../core/limits.ts'
import type { Database } from '../../sql/database.ts'
import { findSession, secretHash, type SignedIn } from '../../sql/accounts/sessions.ts'
import { readCookie, writeCookie } from './cookies.ts'
import { isOwnOrigin } from './origin.ts'

export type Sessions = ReturnType<typeof openSessions>

/** @param publicUrl the URL at which clients reach the service. Called only after it listens */
export function openSessions({ database, publicUrl }: { database: Database; publicUrl(): string }) {
  /** The cookie's value. It may belong to no session. Null: no cookie, or a malformed value. */
  function secretOf({ headers }: { headers: IncomingHttpHeaders }): string | null {
    const secret = readCookie(headers.cookie, 'session', publicUrl())
    return secret !== undefined && secretHash(secret) ? secret : null
  }

  return {
    secretOf,

    /** The account that is signed in; undefined when none is. @throws ServiceError `storage_unavailable` */
    async read(request: FastifyRequest): Promise<SignedIn | undefined> {
      const secret = secretOf(request)
      return secret === null ? undefined : ((await findSession(database, secret)) ?? undefined)
    },

    /**
     * Looks up the session of a websocket's upgrade request. Browsers send cookies with sockets of any site, without a
     * CORS check. So the cookie counts only for a page of this service.
     *
     * @returns a function that reads the session from the database at each call; null: not signed in
     */
    ofUpgrade(headers: IncomingHttpHeaders): () => Promise<SignedIn | null> {
      const secret = isOwnOrigin(headers, publicUrl()) ? secretOf({ headers }) : null
      return async () => (secret === null ? null : findSession(database, secret))
    },

    give(reply: FastifyReply, secret: string): void {
      writeCookie(reply, 'session', publicUrl(), { value: secret, days: limits.signIn.session.days })
    },

    takeAway(reply: FastifyReply): void {
      writeCookie(reply, 'session', publicUrl(), { value: '', days: 0 })
    },
  }
}
