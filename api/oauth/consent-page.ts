/** The page on which a person allows or denies a client's request. */
import type { Scope } from '../../sql/accounts/tokens.ts'
import { html, type Html } from '../sign-in/html.ts'
import type { Page } from '../sign-in/page.ts'
import type { OwnVisit } from '../sign-in/visit.ts'
import { isDocumentUrl } from './client-metadata.ts'

/** A client's request for access, as the page shows it. */
export interface ConsentRequest {
  clientId: string
  clientName: string
  redirectUri: URL
  scopes: Scope[]
}

/** The host of the redirect URI. For a program's own scheme, the scheme. */
export const whereTo = ({ protocol, host }: URL): string =>
  protocol === 'https:' || protocol === 'http:' ? host : protocol

/** What each scope allows. */
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
          <legend>
            This application wants to act as you, <strong>${signedIn.email}</strong>. It asks to:
          </legend>
          ${scopes.map(scopeChoice)}
        </fieldset>
        <p class="notice">
          <strong>Nobody has verified this application.</strong> It chose its name itself. Your answer goes to
          <strong>${whereTo(redirectUri)}</strong>${isHere(redirectUri) && ', a program on your own machine'}.
          ${knownBy(asked)} Allow it only if you have just started this yourself and trust that address.
        </p>
        <p class="actions">
          <button name="decision" value="allow">Allow</button>
          <button class="plain" name="decision" value="deny">Deny</button>
        </p>
      </form>
      <p class="note">
        You can disconnect the application at any time in the <a href="/settings#applications">settings</a>,
        under Connected applications.
      </p>
    </main>`,
  }
}

/** `read` is always ticked, because every token can read. `delete` starts unticked, because deleting can lose data. */
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
  isDocumentUrl(clientId) && html`It publishes its description at <strong>${new URL(clientId).host}</strong>.`

const isHere = ({ protocol }: URL) => protocol !== 'https:'

/**
 * The source for `form-action`, which browsers also apply to redirects. It can't name an IPv6 address, so that gets its
 * scheme.
 */
function formTarget({ protocol, origin, hostname }: URL): string {
  const isNamed = (protocol === 'https:' || protocol === 'http:') && !hostname.startsWith('[')
  return isNamed ? origin : protocol
}
