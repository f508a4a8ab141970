/** The page on which a person allows or denies what a client asks for. */
import type { Scope } from '../../sql/accounts/tokens.ts'
import { html, type Html } from '../sign-in/html.ts'
import type { Page } from '../sign-in/page.ts'
import type { OwnVisit } from '../sign-in/visit.ts'
import { isDocumentUrl } from './client-metadata.ts'
import { whereTo, type ConsentRequest } from './consent-request.ts'

/** What each scope allows, in plain words. */
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
      <form method="post" action="${request.url}">
        ${csrf}
        <fieldset>
          <legend>It wants to act as you, <strong>${signedIn.email}</strong>, and asks to:</legend>
          ${scopes.map(scopeChoice)}
        </fieldset>
        <p class="notice">
          <strong>Nobody has verified this application.</strong> It chose its name itself. Your answer goes to
          <strong>${whereTo(redirectUri)}</strong>${isHere(redirectUri) && ', a program on your own machine'}.
          ${knownBy(asked)} Allow it only if you have just asked for this yourself, and trust that address.
        </p>
        <p class="actions">
          <button name="decision" value="allow">Allow</button>
          <button class="plain" name="decision" value="deny">Deny</button>
        </p>
      </form>
      <p class="note">
        You can end this at any time in the <a href="/settings#applications">settings</a>, under Connected
        applications.
      </p>
    </main>`,
  }
}

/** Reading cannot be unticked: every token can read. Deleting has to be ticked: it cannot be taken back. */
const scopeChoice = (scope: Scope): Html =>
  html`<label class="choice">
    <input
      type="checkbox"
      name="scope_${scope}"
      value="1"
      ${isTicked(scope) && html` checked`}${scope === 'read' && html` disabled`}
    />
    ${scopeWords[scope]}
  </label>`

const isTicked = (scope: Scope) => scope !== 'delete'

const knownBy = ({ clientId }: ConsentRequest) =>
  isDocumentUrl(clientId) && html`Its description of itself is at <strong>${new URL(clientId).host}</strong>.`

const isHere = ({ protocol }: URL) => protocol !== 'https:'

/** The source for `form-action`, which browsers also apply to redirects. An IPv6 address can be named by its scheme only. */
function formTarget({ protocol, origin, hostname }: URL): string {
  const isNamed = (protocol === 'https:' || protocol === 'http:') && !hostname.startsWith('[')
  return isNamed ? origin : protocol
}
