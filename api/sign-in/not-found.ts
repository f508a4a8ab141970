/** The page for a 404. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { apiRoot } from '../http/root.ts'
import { html } from './html.ts'
import { sendPage } from './page.ts'

/** Whether a request outside of the API prefers HTML to JSON, as browsers do. */
export function wantsPage(request: FastifyRequest): boolean {
  const [path = ''] = request.url.split('?', 1)
  if (path === apiRoot || path.startsWith(`${apiRoot}/`)) return false
  return new Negotiator(request.raw).mediaType(['application/json', 'text/html']) === 'text/html'
}

export const sendNotFound = (reply: FastifyReply): FastifyReply =>
  sendPage(
    reply,
    {
      title: 'Not found',
      body: html`<main class="narrow">
        <h1>There is nothing at this address</h1>
        <p>Check the address, or go to the <a href="/">start page</a>.</p>
      </main>`,
    },
    404,
  )
