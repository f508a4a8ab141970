/** Sessions as requests carry them: a cookie, whose value only its browser knows. */
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
  /** Where clients reach the service, without a slash; asked only once it listens. */
  publicUrl(): string
}

export class Sessions {
  readonly #options: SessionOptions

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** Who is signed in. @throws ServiceError `storage_unavailable` */
  async read(request: FastifyRequest): Promise<SignedIn | undefined> {
    const secret = this.secretOf(request)
    return secret === null ? undefined : ((await findSession(this.#options.database, secret)) ?? undefined)
  }

  /** The cookie's value, whether a session has it or not. */
  secretOf({ headers }: { headers: IncomingHttpHeaders }): string | null {
    const secret = readCookie(headers.cookie, 'session', this.#options.publicUrl())
    return secret !== undefined && secretHash(secret) ? secret : null
  }

  /**
   * Of a request that becomes a socket. Browsers send cookies with those of any page, and ask nobody: only what a page
   * of this service opens goes by them.
   *
   * @returns who is signed in, asked anew at each call
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
