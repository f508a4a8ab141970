/** What somebody reads before they allow a client anything. */
import type { Scope } from '../../sql/tokens.ts'
import { html, type Html } from '../sign-in/html.ts'
import type { Page } from '../sign-in/page.ts'
import type { OwnVisit } from '../sign-in/visit.ts'
import { isDocumentUrl } from './client-metadata.ts'
import { whereTo, type ConsentRequest } from './consent-request.ts'

/** In plain words. */
export const scopeWords: Record<Scope, string> = {
  read: 'See all boards, cards and files that you can see',
  write: 'Create and change boards, cards and files, and everything else that you can change',
  delete: 'Delete boards and cards',
}

export function consentPage(asked: ConsentRequest, { request, signedIn, csrf }: OwnVisit): Page {
  const { clientName, redirectUri, scopes } = asked
  return {
    title: `Connect ${clientName}`,
    formAction: [formTarget(redirectUri)],
    body: html`<main class="narrow">
      <h1>Connect “${clientName}”?</h1>
      <p>It wants to act as you, <strong>${signedIn.email}</strong>, and may then:</p>
      <form method="post" action="${request.url}">
        ${csrf}
        <fieldset>${scopes.map(scopeChoice)}</fieldset>
        <p class="fault">
          <strong>Nobody has verified this application.</strong> Its name is its own word. The answer goes to
          <strong>${whereTo(redirectUri)}</strong>${isHere(redirectUri) && ', a program on your own machine'}.
          ${knownBy(asked)} Go on only if you have just asked for this yourself, and trust who is there.
        </p>
        <p>
          <button name="decision" value="allow">Allow</button>
          <button class="plain" name="decision" value="deny">Deny</button>
        </p>
      </form>
      <p class="note">
        You can end this at any time under <a href="/settings">Settings</a>, Connected applications.
      </p>
    </main>`,
  }
}

/** Each can be unticked, but seeing: a token that can't is good for nothing. */
const scopeChoice = (scope: Scope): Html =>
  html`<label>
    <input type="checkbox" name="scope_${scope}" value="1" checked${scope === 'read' && html` disabled`} />
    ${scopeWords[scope]}
  </label>`

const knownBy = ({ clientId }: ConsentRequest) =>
  isDocumentUrl(clientId) && html`What it says of itself is at <strong>${new URL(clientId).host}</strong>.`

const isHere = ({ protocol }: URL) => protocol !== 'https:'

/** Browsers hold a form to it in redirects as well. There is no way to name an IPv6 address but by its scheme. */
function formTarget({ protocol, origin, hostname }: URL): string {
  const isNamed = (protocol === 'https:' || protocol === 'http:') && !hostname.startsWith('[')
  return isNamed ? origin : protocol
}
