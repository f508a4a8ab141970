/**
 * Normalises and validates client metadata (RFC 7591) before the provider does. Unsupported scopes and grant types are
 * left out. Redirect URIs that could harm a user are refused.
 */
import { errors } from 'oidc-provider'
import { knownScopes } from './scopes.ts'

export interface ClientMetadata {
  client_id?: string
  client_name?: unknown
  redirect_uris?: unknown
  grant_types?: unknown
  response_types?: unknown
  scope?: unknown
  application_type?: string
  token_endpoint_auth_method?: string
  software_id?: unknown
  software_version?: unknown
}

const most = { redirectUris: 20, uriLength: 2000, nameLength: 200 }

/** Normalises `metadata` in place. @throws InvalidClientMetadata, InvalidRedirectUri */
export function bringInOrder(metadata: ClientMetadata): void {
  const { client_name: name, scope } = metadata
  if (name !== undefined && (typeof name !== 'string' || name.length > most.nameLength))
    throw new errors.InvalidClientMetadata(
      `client_name must be text of at most ${most.nameLength} characters`,
    )
  for (const field of ['software_id', 'software_version'] as const) {
    const value = metadata[field]
    if (value !== undefined && (typeof value !== 'string' || value.length > most.nameLength))
      throw new errors.InvalidClientMetadata(`${field} must be text of at most ${most.nameLength} characters`)
  }
  if (typeof scope === 'string') {
    const known = knownScopes(scope)
    if (known.length > 0) metadata.scope = known.join(' ')
    else delete metadata.scope
  }
  metadata.response_types = ['code']
  metadata.grant_types = Array.isArray(metadata.grant_types)
    ? grantTypes.filter((type) => type === 'authorization_code' || asks(metadata.grant_types, type))
    : [...grantTypes]
  // Anybody can read a metadata document, so its client can't have a secret.
  if (isDocumentUrl(metadata.client_id) && metadata.token_endpoint_auth_method === 'client_secret_basic')
    metadata.token_endpoint_auth_method = 'none'
  metadata.application_type = applicationType(redirectUris(metadata.redirect_uris))
}

const grantTypes = ['authorization_code', 'refresh_token']
const asks = (list: unknown, type: string) => Array.isArray(list) && list.includes(type)

/** Whether a client's id is the URL of its metadata (draft-ietf-oauth-client-id-metadata-document). */
export const isDocumentUrl = (clientId: string | undefined): boolean =>
  clientId?.startsWith('https://') ?? false

/**
 * Requires a path in the URL of a metadata document; `/` is enough (section 3 of the draft). The provider checks the
 * other rules. Tests the text, because a parsed URL always has a path.
 *
 * @throws InvalidClient
 */
export function requirePath(clientId: string): void {
  if (!/^https:\/\/[^/?#]+\//i.test(clientId))
    throw new errors.InvalidClient(
      'client_id must be the URL of a metadata document with a path, such as https://app.example/client.json',
    )
}

/**
 * Keeps the fields that this service uses or that RFC 7591 and RFC 7592 define. The provider also returns fields of
 * OpenID Connect, such as `subject_type` and `require_auth_time`, which have no meaning here.
 */
export const withoutOpenId = (client: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(client).filter(([field]) => registrationFields.has(field)))

const registrationFields = new Set([
  'application_type',
  'client_id',
  'client_id_issued_at',
  'client_name',
  'client_secret',
  'client_secret_expires_at',
  'client_uri',
  'contacts',
  'grant_types',
  'jwks',
  'jwks_uri',
  'logo_uri',
  'policy_uri',
  'redirect_uris',
  'registration_access_token',
  'registration_client_uri',
  'response_types',
  'scope',
  'software_id',
  'software_version',
  'token_endpoint_auth_method',
  'tos_uri',
])

function redirectUris(given: unknown): URL[] {
  if (!Array.isArray(given) || given.length === 0) return [] // the provider says what is missing
  if (given.length > most.redirectUris)
    throw new InvalidRedirectUris(`redirect_uris must hold at most ${most.redirectUris} URIs`)
  return given.map((uri) => {
    const url = typeof uri === 'string' && uri.length <= most.uriLength ? URL.parse(uri) : null
    if (!url)
      throw new InvalidRedirectUris(
        `redirect_uris must be absolute URLs of at most ${most.uriLength} characters`,
      )
    const fault = faultOf(url)
    if (fault) throw new InvalidRedirectUris(`redirect_uris: ${url.protocol}//${url.host} ${fault}`)
    return url
  })
}

class InvalidRedirectUris extends errors.CustomOIDCProviderError {
  constructor(description: string) {
    super('invalid_redirect_uri', description)
  }
}

/** Checks a redirect URI. Accepts https, http to a loopback address, and a program's own scheme (RFC 8252). */
function faultOf({ protocol, hostname, username, password, hash }: URL): string | null {
  if (username || password) return 'must not contain a user name or a password'
  if (hash) return 'must not have a fragment'
  if (protocol === 'https:') return null
  if (protocol === 'http:')
    return loopback.has(hostname) ? null : 'must begin with https:// (http is for localhost)'
  return notAPrograms.has(protocol) ? 'has a scheme that is not accepted' : null
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Schemes that a browser handles itself, or that open something other than an OAuth client. */
const notAPrograms = new Set(
  `javascript data vbscript file filesystem blob about view-source ws wss ftp ftps gopher mailto tel sms urn jar intent
  chrome chrome-extension moz-extension resource ms-settings search-ms ldap ssh telnet`
    .split(/\s+/)
    .map((scheme) => `${scheme}:`),
)

/**
 * `native` if a redirect URI leads to a program on the user's machine. The provider lets only native clients choose any
 * port. The client's own `application_type` is ignored.
 */
function applicationType(uris: URL[]): 'native' | 'web' {
  return uris.some(({ protocol }) => protocol !== 'https:') ? 'native' : 'web'
}
