/** An agent whose client is the MCP SDK's own: from a 401 to a tool, with nothing but the endpoint's address. */
import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { openEgress } from '../../platform/egress/egress.ts'
import { until } from '../support/editor.ts'
import { openSecureSite } from '../support/secure-site.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'
import { answerConsent, callback, toConsent } from './oauth.ts'
import { person, type Person } from './sign-in.ts'

const site = await forFile(openSecureSite())
const { service } = await serviceOfFile({
  config: { logLevel: 'error' },
  egress: openEgress({ allow: ['127.0.0.1'], ca: site.certificate }),
})

const metadata = {
  client_name: 'Agent',
  redirect_uris: [callback],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
}

/** What an agent's program keeps, in memory. */
function keeps(clientMetadataUrl?: string) {
  const kept: Record<string, any> = {}
  const provider: OAuthClientProvider = {
    redirectUrl: callback,
    ...(clientMetadataUrl ? { clientMetadataUrl } : {}),
    clientMetadata: metadata,
    state: () => 'a state of its own',
    clientInformation: () => kept['client'],
    saveClientInformation: (client) => void (kept['client'] = client),
    tokens: () => kept['tokens'],
    saveTokens: (tokens) => void (kept['tokens'] = tokens),
    redirectToAuthorization: (url) => void (kept['url'] = url),
    saveCodeVerifier: (verifier) => void (kept['verifier'] = verifier),
    codeVerifier: () => kept['verifier'],
    saveDiscoveryState: (state) => void (kept['discovered'] = state),
    discoveryState: () => kept['discovered'],
  }
  return { kept, provider }
}

async function connect(
  somebody: Person,
  provider: OAuthClientProvider,
  kept: Record<string, any>,
  unticked: string[] = [],
) {
  const open = () =>
    new StreamableHTTPClientTransport(new URL(`${service.homeUrl}/api/v1/mcp`), { authProvider: provider })
  const first = open()
  await expect(new Client({ name: 'agent', version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError)
  const consent = await toConsent(somebody.browser, { url: kept['url'] as URL }, somebody.email)
  expect(consent.text).toContain('Agent')
  const left = Object.fromEntries(unticked.map((scope) => [`scope_${scope}`, []]))
  const answer = await answerConsent(somebody.browser, consent, { decision: 'allow', ...left })
  expect(answer.searchParams.get('state')).toBe('a state of its own')
  await first.finishAuth(answer.searchParams)
  const client = new Client({ name: 'agent', version: '1' })
  await client.connect(open())
  return client
}

test.each(['registration', 'document'])(
  '[OC2] [OC3] the MCP SDK’s client goes from a 401 to a tool call, with a %s',
  async (way) => {
    const somebody = await person(service)
    const { kept, provider } = keeps(way === 'document' ? site.describe('/agent.json', metadata) : undefined)
    const client = await connect(somebody, provider, kept)
    const made = await client.callTool({ name: 'create_board', arguments: { name: 'By an agent' } })
    expect(made.isError, JSON.stringify(made)).toBeFalsy()
    const boards = (await somebody.api.get('/boards')).body.boards as { name: string }[]
    expect(boards.map(({ name }) => name)).toEqual(['By an agent'])
    expect(kept['client'].client_id.startsWith('https://')).toBe(way === 'document')
    const audit = await somebody.api.get('/audit?limit=1')
    expect(audit.body.entries[0].actor.client_id).toBe(kept['client'].client_id)

    // When its token has ended it gets the next one by itself.
    await service.admin`
      update tokens set expires_at = now() where hash = sha256(${kept['tokens'].access_token as string}::text::bytea)`
    const before = kept['tokens'].access_token as string
    await until(async () => {
      const { isError } = await client.callTool({ name: 'list_boards', arguments: {} })
      return !isError && kept['tokens'].access_token !== before
    }, 'the client has another token, and goes on')
    await client.close()
  },
)

test('[OC12] an agent that was allowed too little for a tool is sent back to ask for more', async () => {
  const somebody = await person(service)
  const { kept, provider } = keeps()
  const client = await connect(somebody, provider, kept, ['write', 'delete'])
  expect(kept['tokens'].scope).toBe('read')
  const call = { name: 'create_board', arguments: { name: 'Not yet' } }
  await expect(client.callTool(call)).rejects.toThrow(UnauthorizedError)
  expect((kept['url'] as URL).searchParams.get('scope')).toBe('read write')
  await client.close()
})
