/** Mounts pages: reads cookies and forms, redirects to /login, refuses forged forms, and shows errors as a page. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { makeSecret, secretHash } from '../../sql/accounts/sessions.ts'
import { reportFailure } from '../http/error-reply.ts'
import { readCookie, writeCookie } from './cookies.ts'
import { csrfFieldName, csrfToken, isCsrfToken } from './csrf.ts'
import { html } from './html.ts'
import { isForeignForm } from './origin.ts'
import { sendPage, sendTo } from './page.ts'
import type { Sessions } from './session.ts'
import type { PageRoute, VisitAnswer } from './visit.ts'

export interface PagesOptions {
  sessions: Sessions
  publicUrl(): string
}

export async function registerPages(
  app: FastifyInstance,
  options: PagesOptions,
  pages: readonly PageRoute[],
): Promise<void> {
  await app.register((scope, _options, done) => {
    acceptFormsOnly(scope)
    scope.setErrorHandler((error, request, reply) => sendFault(error, request, reply))
    for (const page of pages) {
      scope.route({
        method: page.method,
        url: page.path,
        bodyLimit: limits.signIn.formBytes,
        handler: (request, reply) => visit(options, page, request, reply),
      })
    }
    done()
  })
}

async function visit(
  { sessions, publicUrl }: PagesOptions,
  page: PageRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const url = publicUrl()
  const isForm = page.method === 'POST'
  if (isForm && isForeignForm(request.headers, url)) throw forged()
  const signedIn = await sessions.read(request)
  if (page.needs === 'session' && !signedIn) {
    const back = isForm ? '' : `?next=${encodeURIComponent(request.url)}`
    return sendTo(reply, `/login${back}`)
  }
  const form = (isForm ? (request.body as URLSearchParams | undefined) : undefined) ?? new URLSearchParams()
  const binding =
    page.needs === 'session' ? sessions.secretOf(request) : formSecret(request, reply, url, isForm)
  if (binding === null || (isForm && !isCsrfToken(form.get(csrfFieldName), binding))) throw forged()
  const query = new URLSearchParams(request.url.split('?').slice(1).join('?'))
  const csrf = html`<input type="hidden" name="${csrfFieldName}" value="${csrfToken(binding)}" />`
  const about = { request, reply, query, form, csrf }
  const answer =
    page.needs === 'session'
      ? await page.handle({ ...about, signedIn: signedIn! })
      : await page.handle({ ...about, signedIn })
  return send(reply, answer)
}

function send(reply: FastifyReply, answer: VisitAnswer): FastifyReply {
  if ('redirect' in answer) return sendTo(reply, answer.redirect)
  const { status, ...page } = answer
  return sendPage(reply, page, status)
}

/** The value of the cookie that binds forms before sign-in. Null: a form was sent without the cookie. */
function formSecret(
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
  isForm: boolean,
): string | null {
  const known = readCookie(request.headers.cookie, 'form', publicUrl)
  if (known !== undefined && secretHash(known)) return known
  if (isForm) return null
  const secret = makeSecret()
  writeCookie(reply, 'form', publicUrl, { value: secret, days: null })
  return secret
}

const forged = () =>
  new ServiceError(
    'forbidden',
    'This form has expired, or it was not sent from a page of this service. Allow cookies, go back, reload the page, and try again.',
  )

function acceptFormsOnly(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, text, done) => done(null, new URLSearchParams(String(text))),
  )
}

function sendFault(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, message } = reportFailure(error, request, reply)
  return sendPage(reply, { title: titles[status] ?? 'That did not work', body: faultBody(message) }, status)
}

const titles: Record<number, string> = {
  403: 'Not accepted',
  404: 'Not found',
  415: 'Not a form',
  429: 'Too many attempts',
  503: 'Temporarily unavailable',
}

const faultBody = (said: string) =>
  html`<main class="narrow">
    <h1>That did not work</h1>
    <p class="fault" role="alert">${said}</p>
    <p><a href="/settings">Go to the settings</a></p>
  </main>`
