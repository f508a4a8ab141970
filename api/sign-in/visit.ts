/**
 * The definition of a page, like that of a route. It says whether the page needs a session. pages.ts then checks the
 * session and the CSRF token. Pages are HTML for people and not part of the API description.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Html } from './html.ts'
import type { Page } from './page.ts'
import type { SignedIn } from '../../sql/accounts/sessions.ts'

interface AnyVisit {
  request: FastifyRequest
  reply: FastifyReply
  query: URLSearchParams
  /** The fields of a POST; empty for a GET. */
  form: URLSearchParams
  /** The hidden CSRF field. Each form of the page must contain it. */
  csrf: Html
}

/** A visit to a page for everybody. */
export interface OpenVisit extends AnyVisit {
  signedIn: SignedIn | undefined
}

/** A visit to a page that needs a session. */
export interface OwnVisit extends AnyVisit {
  signedIn: SignedIn
}

/** A page, or a redirect to a local path or to a URL that the handler has validated. */
export type VisitAnswer = (Page & { status?: number }) | { redirect: string }

type Method = 'GET' | 'POST'
type Handle<Visit> = (visit: Visit) => Promise<VisitAnswer> | VisitAnswer

export type PageRoute = { method: Method; path: string } & (
  | { needs: 'nothing'; handle: Handle<OpenVisit> }
  | { needs: 'session'; handle: Handle<OwnVisit> }
)

/** A page for everybody. */
export const openPage = (method: Method, path: string, handle: Handle<OpenVisit>): PageRoute => {
  return { method, path, needs: 'nothing', handle }
}

/** A page for signed-in users. A visitor without a session is redirected to /login, and back after signing in. */
export const ownPage = (method: Method, path: string, handle: Handle<OwnVisit>): PageRoute => {
  return { method, path, needs: 'session', handle }
}
