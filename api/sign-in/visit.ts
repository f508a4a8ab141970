/**
 * What a page is: a definition like a route's, from which follow who may come, and that no form is taken from anybody
 * else's page. Pages are HTML for people; they stand outside of the API and its description.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Html } from './html.ts'
import type { Page } from './page.ts'
import type { SignedIn } from './session.ts'

interface AnyVisit {
  request: FastifyRequest
  reply: FastifyReply
  query: URLSearchParams
  /** Of a POST; else empty. */
  form: URLSearchParams
  /** The hidden field that each form of the page must have. */
  csrf: Html
}

/** Of a page for everybody. */
export interface OpenVisit extends AnyVisit {
  signedIn: SignedIn | undefined
}

/** Of a page for those who are signed in. */
export interface OwnVisit extends AnyVisit {
  signedIn: SignedIn
}

/** A page, or where to go on: a local path, or an address of which the handler is sure. */
export type VisitAnswer = (Page & { status?: number }) | { redirect: string }

interface PageDefinition<Visit> {
  method: 'GET' | 'POST'
  path: string
  handle(visit: Visit): Promise<VisitAnswer> | VisitAnswer
}

/** `session`: who is not signed in is led to /login and back. */
export type PageRoute =
  (PageDefinition<OpenVisit> & { needs: 'nothing' }) | (PageDefinition<OwnVisit> & { needs: 'session' })
