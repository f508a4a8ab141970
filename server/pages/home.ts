/** The start page at `/`: says what the service is and links to the other pages. Who is signed in gets to the boards. */
import type { FastifyInstance } from 'fastify'
import { apiRoot } from '../../api/http/root.ts'
import { html } from '../../api/sign-in/html.ts'
import { sendPage, sendTo, type Page } from '../../api/sign-in/page.ts'
import type { Sessions } from '../../api/sign-in/session.ts'
import { appPath, notBuilt } from './web-app.ts'

export function registerHome(
  app: FastifyInstance,
  { sessions, isBuilt }: { sessions: Sessions; isBuilt: boolean },
): void {
  app.get('/', { schema: { hide: true } as object }, async (request, reply) => {
    if (isBuilt && (await sessions.read(request))) return sendTo(reply, appPath)
    return sendPage(reply, home(isBuilt))
  })
}

const home = (isBuilt: boolean): Page => ({
  title: 'Start',
  body: html`<main class="text">
    <h1>Corkboard</h1>
    <p>
      This is a Corkboard server. It keeps boards of cards that people edit together and programs read and
      write. A card that a program writes appears at once on every open canvas.
    </p>
    ${!isBuilt && html`<p class="notice">${notBuilt}</p>`}
    <p class="actions">
      ${isBuilt && html`<a class="button" href="${appPath}">Open the boards</a>`}
      <a class="${isBuilt ? 'button plain' : 'button'}" href="/login">Sign in</a>
      <a class="button plain" href="/docs">API reference</a>
    </p>
    <dl>
      <dt><a href="/settings">Settings</a></dt>
      <dd>Your access tokens, connected applications, sessions and password.</dd>
      <dt><a href="/docs">API reference</a></dt>
      <dd>All operations, with a form to try each of them.</dd>
      <dt><a href="${apiRoot}/openapi.json">OpenAPI document</a></dt>
      <dd>The same description for programs and code generators.</dd>
      <dt><a href="/changelog">Changelog</a></dt>
      <dd>What is new, by version.</dd>
    </dl>
  </main>`,
})
