/** The start page at `/`: says what the service is and links to the other pages. */
import type { FastifyInstance } from 'fastify'
import { apiRoot } from '../../api/http/root.ts'
import { html } from '../../api/sign-in/html.ts'
import { sendPage, type Page } from '../../api/sign-in/page.ts'

export function registerHome(app: FastifyInstance): void {
  app.get('/', { schema: { hide: true } as object }, (_request, reply) => sendPage(reply, home))
}

const home: Page = {
  title: 'Start',
  body: html`<main class="text">
    <h1>Corkboard</h1>
    <p>
      This is a Corkboard server. It keeps boards of cards that people edit together and programs read and
      write. A card that a program writes appears at once on every open canvas.
    </p>
    <p class="actions">
      <a class="button" href="/login">Sign in</a> <a class="button plain" href="/docs">API reference</a>
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
}
