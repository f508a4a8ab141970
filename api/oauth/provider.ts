/** The authorization server: oidc-provider and its configuration. Features that are not named here are off. */
import { createPrivateKey } from 'node:crypto'
import { Provider, errors, interactionPolicy, type Configuration } from 'oidc-provider'
import type { Egress } from '../../platform/egress/egress.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'
import { makeToken, scopes } from '../../sql/accounts/tokens.ts'
import { ownClientId } from '../../sql/oauth/oauth-grants.ts'
import { openAdapter, type Store } from './adapter.ts'
import { bringInOrder, requirePath, withoutOpenId, type ClientMetadata } from './client-metadata.ts'
import { fetchBy } from './fetch-document.ts'
import { tellingOutages } from './outage.ts'
import { apiResource, isOurs } from './resources.ts'

export interface ProviderOptions extends Store {
  database: Database
  /** The URL at which clients reach the service. It is also the issuer. */
  publicUrl: string
  egress: Pick<Egress, 'fetch'>
  log: Logger
  /** 32 bytes each, the same in every process. The first key of `cookies` signs, all of them verify. */
  keys: { cookies: Buffer[]; signing: Buffer }
  /** Whether the service may fetch this client's metadata document now (rate limit). */
  mayFetch(clientId: string): boolean
  /** The HTML page for an invalid authorization request. */
  errorPage(fault: { error: string; error_description?: string }): string
}

export const paths = {
  authorization: '/oauth/authorize',
  interaction: '/oauth/interaction',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
}

export const authMethods = ['none', 'client_secret_basic', 'client_secret_post'] as const

const minute = 60
const day = 86_400
/** Lifetimes in seconds. */
const ttl = {
  AccessToken: 60 * minute,
  AuthorizationCode: minute,
  /** From the consent, whatever its use. */
  Grant: 365 * day,
  IdToken: minute,
  Interaction: 60 * minute,
  /** From its last use. */
  RefreshToken: 30 * day,
  /** How long a client may read its registration. */
  RegistrationAccessToken: 90 * day,
  Session: minute,
}

export function openProvider(options: ProviderOptions): Provider {
  const provider = new Provider(options.publicUrl, configuration(options) as Configuration)
  provider.proxy = true // mount.ts sets host and protocol in the headers of a proxy
  provider.on('server_error', (_ctx, error) => options.log.error({ err: error }, 'OAuth request failed'))
  provider.use(async (ctx, next) => {
    await next()
    if (ctx.status === 503) ctx.set('retry-after', '2')
    const isRegistration = ctx.path.startsWith(paths.registration) && ctx.status < 300
    if (isRegistration) ctx.body = withoutOpenId(ctx.body as Record<string, unknown>)
  })
  // Access tokens have the format of all tokens of this service, and are looked up by the same hash.
  Object.assign(provider.AccessToken.prototype, {
    generateTokenId(this: { format: string }) {
      this.format = 'opaque'
      return makeToken()
    },
  })
  return provider
}

function configuration(options: ProviderOptions) {
  const { encryption, clock, publicUrl } = options
  const database = tellingOutages(options.database, options.log)
  return {
    adapter: (kind: string) => openAdapter(kind, { database, encryption, clock }),
    clients: [ownClient(publicUrl)],
    clientAuthMethods: [...authMethods],
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      id_token_signed_response_alg: 'EdDSA',
      token_endpoint_auth_method: 'client_secret_basic',
    },
    // Any origin may call the endpoints for programs: none of them uses cookies.
    clientBasedCORS: () => true,
    cookies: cookies(options.keys.cookies),
    enabledJWA: { idTokenSigningAlgValues: ['EdDSA'] },
    expiresWithSession: () => false,
    extraClientMetadata: {
      properties: ['software_id', 'software_version'],
      validator(_ctx: unknown, key: string, _value: unknown, metadata: ClientMetadata) {
        if (key === 'software_id' && metadata.client_id !== ownClientId) bringInOrder(metadata)
      },
    },
    features: features(options),
    fetch: fetchBy(options.egress),
    findAccount: (_ctx: unknown, userId: string) => findAccount(database, userId),
    interactions: {
      policy: askEachTime(),
      url: (_ctx: unknown, { uid }: { uid: string }) =>
        `${new URL(publicUrl).pathname.replace(/\/$/, '')}${paths.interaction}/${uid}`,
    },
    issueRefreshToken: (_ctx: unknown, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed('refresh_token'),
    // The library requires a key for ID tokens, although none are issued.
    jwks: { keys: [signingKey(options.keys.signing)] },
    loadExistingGrant: (ctx: GrantContext) =>
      ctx.oidc.result?.consent?.grantId
        ? ctx.oidc.provider.Grant.find(ctx.oidc.result.consent.grantId)
        : undefined,
    pkce: { required: () => true },
    renderError(ctx: { type: string; body: string }, out: { error: string; error_description?: string }) {
      ctx.type = 'html'
      ctx.body = options.errorPage(out)
    },
    responseTypes: ['code'],
    rotateRefreshToken: true,
    routes: {
      authorization: paths.authorization,
      token: paths.token,
      registration: paths.registration,
      revocation: paths.revocation,
      jwks: '/oauth/jwks',
    },
    scopes: [...scopes],
    ttl: { ...ttl },
  }
}

/**
 * The service's own app. It has no refresh token: it gets a new access token by the session. Its redirect URI has the
 * service's own origin, which may be one by http that is refused to others.
 */
const ownClient = (publicUrl: string) => ({
  client_id: ownClientId,
  client_name: 'Corkboard',
  redirect_uris: [`${publicUrl}/app/signed-in`],
  grant_types: ['authorization_code'],
  response_types: ['code' as const],
  scope: scopes.join(' '),
  token_endpoint_auth_method: 'none' as const,
})

const cookies = (keys: Buffer[]) => ({
  keys: keys.map((key) => key.toString('base64url')),
  names: {
    session: 'corkboard_oauth',
    interaction: 'corkboard_oauth_interaction',
    resume: 'corkboard_oauth_resume',
  },
  long: { httpOnly: true, sameSite: 'lax', path: '/oauth' },
  short: { httpOnly: true, sameSite: 'lax' },
})

const features = ({ publicUrl, mayFetch }: ProviderOptions) => ({
  clientIdMetadataDocument: {
    enabled: true,
    ack: 'draft-02',
    allowFetch(_ctx: unknown, clientId: string) {
      requirePath(clientId)
      return mayFetch(clientId)
    },
    allowClient: () => true,
    cacheDuration: { min: 60, max: day },
  },
  devInteractions: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  registration: { enabled: true },
  resourceIndicators: {
    enabled: true,
    // If the client names several resources, the first; if none, the API.
    defaultResource: (_ctx: unknown, _client: unknown, oneOf?: string[]) =>
      oneOf?.[0] ?? apiResource(publicUrl),
    getResourceServerInfo(_ctx: unknown, resource: string) {
      if (!isOurs(resource, publicUrl)) throw new errors.InvalidTarget()
      return {
        scope: scopes.join(' '),
        accessTokenFormat: 'opaque' as const,
        accessTokenTTL: ttl.AccessToken,
      }
    },
    useGrantedResource: () => true,
  },
  revocation: { enabled: true },
  rpInitiatedLogout: { enabled: false },
  userinfo: { enabled: false },
})

async function findAccount(database: Pick<Database, 'asSystem'>, userId: string) {
  const [found] = await database.asSystem(
    (tx) => tx`
      select from users u
      where u.id = ${userId} and u.disabled_at is null
        and not exists (select from service_accounts s where s.id = u.id)`,
  )
  return found && { accountId: userId, claims: () => ({ sub: userId }) }
}

interface GrantContext {
  oidc: {
    provider: Provider
    result?: { consent?: { grantId?: string } }
  }
}

/** A policy that asks for consent at each request, on a page that names the account. No earlier consent is reused. */
function askEachTime() {
  const { Check, Prompt } = interactionPolicy
  return (['login', 'consent'] as const).map(
    (name) =>
      new Prompt(
        { name, requestable: true },
        new Check(
          `${name}_each_time`,
          `each request requires ${name}`,
          (ctx) => (ctx.oidc as { result?: Record<string, unknown> }).result?.[name] === undefined,
        ),
      ),
  )
}

/** An Ed25519 key from a seed of 32 bytes, by PKCS #8 (RFC 8410): a constant prefix and the seed. */
function signingKey(seed: Buffer) {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'jwk' })
}
