/**
 * Consent: a person allows or denies that a client acts for them. The page shows the redirect host, the only fact about
 * a client that the service knows. Everything else is the client's own claim.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { errors, type InteractionResults, type Provider } from 'oidc-provider'
import { ServiceError } from '../../core/errors.ts'
import type { Database } from '../../sql/database.ts'
import { recordFor } from '../../sql/requests/audit.ts'
import { describeGrant, ownClientId } from '../../sql/oauth/oauth-grants.ts'
import type { Scope } from '../../sql/accounts/tokens.ts'
import { formOperation } from '../sign-in/operation.ts'
import { ownPage, type OwnVisit, type PageRoute, type VisitAnswer } from '../sign-in/visit.ts'
import { grantKey } from './adapter.ts'
import { consentPage, whereTo, type ConsentRequest } from './consent-page.ts'
import { paths } from './provider.ts'
import { scopesToAsk } from './scopes.ts'

export interface ConsentOptions {
  database: Database
  provider(): Provider
  /** Called before the provider reads a request. */
  prepare(request: IncomingMessage): void
}

export function consentPages(options: ConsentOptions): PageRoute[] {
  const path = `${paths.interaction}/:uid`
  return [
    ownPage('GET', path, (visit) => ask(options, visit)),
    ownPage('POST', path, (visit) => decide(options, visit)),
  ]
}

async function ask(options: ConsentOptions, visit: OwnVisit): Promise<VisitAnswer> {
  const { interaction, asked } = await load(options, visit)
  if (!isOwnApp(asked, visit)) return consentPage(asked, visit)
  return allow(options, visit, { interaction, asked, scopes: asked.scopes })
}

/**
 * Whether the service's own app requests access, from a page of the service. It needs no consent: the session could do all
 * that the token can. A request that another site has started shows the consent page.
 */
function isOwnApp({ clientId }: ConsentRequest, { request }: OwnVisit): boolean {
  return clientId === ownClientId && (request.headers['sec-fetch-site'] ?? 'same-origin') === 'same-origin'
}

async function decide(options: ConsentOptions, visit: OwnVisit): Promise<VisitAnswer> {
  const { interaction, asked } = await load(options, visit)
  if (interaction.result) return { redirect: interaction.returnTo } // the form was sent twice
  if (visit.form.get('decision') !== 'allow') {
    return finish(options, visit, {
      error: 'access_denied',
      error_description: 'The user denied the request.',
    })
  }
  const scopes = asked.scopes.filter((scope) => scope === 'read' || visit.form.has(`scope_${scope}`))
  return allow(options, visit, { interaction, asked, scopes })
}

async function allow(
  options: ConsentOptions,
  visit: OwnVisit,
  { interaction, asked, scopes }: { interaction: Interaction; asked: ConsentRequest; scopes: Scope[] },
): Promise<VisitAnswer> {
  const { userId } = visit.signedIn
  const grantId = await grant(options, visit, { asked, scopes, resources: resourcesOf(interaction.params) })
  interaction.params['scope'] = scopes.join(' ') // tokens get only the allowed scopes
  await interaction.persist()
  return finish(options, visit, { login: { accountId: userId, remember: false }, consent: { grantId } })
}

async function finish(
  { provider }: ConsentOptions,
  { request, reply }: OwnVisit,
  result: InteractionResults,
): Promise<VisitAnswer> {
  return { redirect: await provider().interactionResult(request.raw, reply.raw, result) }
}

interface Interaction {
  uid: string
  params: Record<string, unknown>
  returnTo: string
  result?: object
  persist(): Promise<string>
}

/** Loads the interaction that this browser has the cookie of. @throws ServiceError `not_found` */
async function load(
  options: ConsentOptions,
  { request, reply }: OwnVisit,
): Promise<{ interaction: Interaction; asked: ConsentRequest }> {
  options.prepare(request.raw)
  const interaction = await details(options.provider(), request.raw, reply.raw)
  const { uid } = request.params as { uid: string }
  if (!interaction || interaction.uid !== uid) throw over()
  const { params } = interaction
  const client = await options.provider().Client.find(String(params['client_id']))
  const redirectUri = URL.parse(String(params['redirect_uri']))
  if (!client || !redirectUri) throw over()
  const scopes = scopesToAsk(params['scope'] as string | undefined, client.scope)
  const clientName = visible(client.clientName ?? '') || whereTo(redirectUri)
  return { interaction, asked: { clientId: client.clientId, clientName, redirectUri, scopes } }
}

async function details(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Interaction | null> {
  try {
    return (await provider.interactionDetails(request, response)) as unknown as Interaction
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return null
    throw error
  }
}

const over = () =>
  new ServiceError(
    'not_found',
    'This request has expired, or it was started in another browser. Go back to the application and connect it again.',
  )

const resourcesOf = ({ resource }: Record<string, unknown>) =>
  (Array.isArray(resource) ? resource : [resource]) as string[]

async function grant(
  { database, provider }: ConsentOptions,
  { request, signedIn }: OwnVisit,
  { asked, scopes, resources }: { asked: ConsentRequest; scopes: Scope[]; resources: string[] },
): Promise<string> {
  const { Grant } = provider()
  const { userId } = signedIn
  const granted = new Grant({ accountId: userId, clientId: asked.clientId })
  for (const resource of resources) granted.addResourceScope(resource, scopes.join(' '))
  const grantId = await granted.save()
  const { clientName, redirectUri } = asked
  const operation = formOperation(request, signedIn, 'application.connect', asked.clientId)
  await database.asSystem(async (tx) => {
    await describeGrant(tx, grantKey(grantId), { clientName, redirectHost: whereTo(redirectUri) })
    if (asked.clientId !== ownClientId) await recordFor(tx, userId, operation)
  })
  return grantId
}

/** The name without invisible characters and without marks that reverse the text direction. */
const visible = (name: string) => name.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
