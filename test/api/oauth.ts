/** An application that somebody connects, by the stock OAuth client; and the person who does, in a browser. */
import * as oauth from 'oauth4webapi'
import type { Browser, Shown } from '../support/browser.ts'
import type { TestService } from '../support/service.ts'
import { rightPassword, type Person } from './sign-in.ts'

export const insecure = { [oauth.allowInsecureRequests]: true }

export interface Application {
  server: oauth.AuthorizationServer
  client: oauth.Client
  auth: oauth.ClientAuth
  redirectUri: string
}

/** What an application asks for; null leaves a parameter out. */
export interface Asked {
  scope?: string | null
  resource?: string | string[] | null
  redirectUri?: string
  challengeMethod?: string | null
  challenge?: string | null
  more?: Record<string, string>
}

export interface Begun {
  url: URL
  verifier: string
  state: string
}

export const callback = 'http://127.0.0.1:33418/callback'

export async function discover(service: TestService): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(service.homeUrl)
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
  return oauth.processDiscoveryResponse(issuer, response)
}

export async function register(
  service: TestService,
  metadata: Partial<oauth.Client> & Record<string, oauth.JsonValue> = {},
): Promise<Application> {
  const server = await discover(service)
  const response = await oauth.dynamicClientRegistrationRequest(
    server,
    {
      client_name: 'Clipper',
      redirect_uris: [callback],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      ...metadata,
    },
    insecure,
  )
  const client = (await oauth.processDynamicClientRegistrationResponse(response)) as oauth.Client
  const secret = client['client_secret'] as string | undefined
  return {
    server,
    client,
    auth: secret ? oauth.ClientSecretBasic(secret) : oauth.None(),
    redirectUri: (client['redirect_uris'] as string[])[0]!,
  }
}

export async function begin(
  service: TestService,
  { server, client, redirectUri }: Application,
  asked: Asked = {},
): Promise<Begun> {
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const url = new URL(server.authorization_endpoint!)
  const set = (name: string, value: string | null) => {
    if (value !== null) url.searchParams.append(name, value)
  }
  set('client_id', client.client_id)
  set('redirect_uri', asked.redirectUri ?? redirectUri)
  set('response_type', 'code')
  set('state', state)
  set('scope', asked.scope === undefined ? 'read write' : asked.scope)
  const challenge =
    asked.challenge === undefined ? await oauth.calculatePKCECodeChallenge(verifier) : asked.challenge
  set('code_challenge', challenge)
  set('code_challenge_method', asked.challengeMethod === undefined ? 'S256' : asked.challengeMethod)
  for (const resource of [asked.resource === undefined ? `${service.homeUrl}/api/v1` : asked.resource].flat())
    set('resource', resource)
  for (const [name, value] of Object.entries(asked.more ?? {})) url.searchParams.set(name, value)
  return { url, verifier, state }
}

/** Opens what the application begins, and signs in where that is asked. */
export async function toConsent(
  browser: Browser,
  { url }: Pick<Begun, 'url'>,
  email: string,
): Promise<Shown> {
  const shown = await browser.open(url.pathname + url.search)
  if (!shown.path.startsWith('/login')) return shown
  return browser.submit(shown.form('/login'), { email, password: rightPassword })
}

/** Where the browser is sent in the end: back to the application. */
export async function answerConsent(
  browser: Browser,
  consent: Shown,
  typed: Record<string, string | string[]> = { decision: 'allow' },
): Promise<URL> {
  const shown = await browser.submit(consent.form(consent.path), typed)
  return new URL(shown.headers.get('location') ?? `missing:${shown.status} ${shown.text}`)
}

export async function redeem(
  { server, client, auth, redirectUri }: Application,
  { verifier, state }: Begun,
  answer: URL,
  more: Record<string, string> = {},
): Promise<oauth.TokenEndpointResponse> {
  const parameters = oauth.validateAuthResponse(server, client, answer, state)
  const response = await oauth.authorizationCodeGrantRequest(
    ...([server, client, auth, parameters, redirectUri, verifier] as const),
    { additionalParameters: more, ...insecure },
  )
  return oauth.processAuthorizationCodeResponse(server, client, response)
}

/** All of it, allowed. */
export async function connect(
  service: TestService,
  person: Person,
  asked: Asked = {},
  application?: Application,
): Promise<{ application: Application; tokens: oauth.TokenEndpointResponse }> {
  const app = application ?? (await register(service))
  const begun = await begin(service, app, asked)
  const consent = await toConsent(person.browser, begun, person.email)
  const answer = await answerConsent(person.browser, consent, allowing(consent))
  return { application: app, tokens: await redeem(app, begun, answer) }
}

/** With all that is offered ticked. */
const allowing = ({ text }: Shown): Record<string, string> => ({
  decision: 'allow',
  ...Object.fromEntries([...text.matchAll(/name="(scope_\w+)"/g)].map(([, name]) => [name, '1'])),
})

export async function refresh(
  { server, client, auth }: Application,
  refreshToken: string,
  more: Record<string, string> = {},
): Promise<oauth.TokenEndpointResponse> {
  const response = await oauth.refreshTokenGrantRequest(server, client, auth, refreshToken, {
    additionalParameters: more,
    ...insecure,
  })
  return oauth.processRefreshTokenResponse(server, client, response)
}

/** The code of the error with which an endpoint refused. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'none'
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError)
      return error.error
    throw error
  }
}
