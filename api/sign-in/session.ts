/** The session cookie: reads, sets and removes it. */
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../../core/limits.ts'
import type { Database } from '../../sql/database.ts'
import { findSession, secretHash, type SignedIn } from '../../sql/accounts/sessions.ts'
import { readCookie, writeCookie } from './cookies.ts'
import { isOwnOrigin } from './origin.ts'

export type { SignedIn }

export interface SessionOptions {
  database: Database
  /** The URL at which clients reach the service, without a slash at the end. Called only after it listens. */
  publicUrl(): string
}

export class Sessions {
  readonly #options: SessionOptions

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** The account that is signed in; undefined when none is. @throws ServiceError `storage_unavailable` */
  async read(request: FastifyRequest): Promise<SignedIn | undefined> {
    const secret = this.secretOf(request)
    return secret === null ? undefined : ((await findSession(this.#options.database, secret)) ?? undefined)
  }

  /** The cookie's value. It may belong to no session. Null: no cookie, or a malformed value. */
  secretOf({ headers }: { headers: IncomingHttpHeaders }): string | null {
    const secret = readCookie(headers.cookie, 'session', this.#options.publicUrl())
    return secret !== undefined && secretHash(secret) ? secret : null
  }

  /**
   * Looks up the session of a websocket's upgrade request. Browsers send cookies with sockets of any site, without a CORS
   * check. So the cookie counts only for a page of this service.
   *
   * @returns a function that reads the session from the database at each call; null: not signed in
   */
  ofUpgrade(headers: IncomingHttpHeaders): () => Promise<SignedIn | null> {
    const { database, publicUrl } = this.#options
    const secret = isOwnOrigin(headers, publicUrl()) ? this.secretOf({ headers }) : null
    return async () => (secret === null ? null : findSession(database, secret))
  }

  give(reply: FastifyReply, secret: string): void {
    writeCookie(reply, 'session', this.#options.publicUrl(), {
      value: secret,
      days: limits.signIn.session.days,
    })
  }

  takeAway(reply: FastifyReply): void {
    writeCookie(reply, 'session', this.#options.publicUrl(), { value: '', days: 0 })
  }
}
