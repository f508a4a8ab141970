/** Applications that people connect: discovery, registration, consent, tokens. */
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'
import { answerConsent, begin, callback, redeem, register, toConsent } from './oauth.ts'
import { person } from './sign-in.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ config: { logLevel: 'error' } })
})
afterAll(() => service.stop())

test('[OC1] the stock client goes from a 401 by metadata and registration, sign-in and consent to a code, a token and a call', async () => {
  const refused = await service.anonymous.get('/me')
  expect(refused.status).toBe(401)
  const [, metadata = ''] =
    /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
  const resource = new URL(`${service.homeUrl}/api/v1`)
  const about = await oauth.processResourceDiscoveryResponse(resource, await fetch(metadata))
  expect(about.authorization_servers).toEqual([service.homeUrl])

  const somebody = await person(service)
  const application = await register(service)
  const begun = await begin(service, application, { scope: about.scopes_supported!.join(' ') })
  const consent = await toConsent(somebody.browser, begun, somebody.email)
  expect(consent.status, consent.text).toBe(200)
  expect(consent.text).toContain('Clipper')
  expect(consent.text).toContain('127.0.0.1:33418')
  expect(consent.text).not.toMatch(/<script/i)
  const answer = await answerConsent(somebody.browser, consent, { decision: 'allow', scope_delete: '1' })
  expect(answer.origin + answer.pathname).toBe(callback)
  expect(answer.searchParams.get('iss')).toBe(service.homeUrl)
  const tokens = await redeem(application, begun, answer)
  expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'read write delete' })

  const me = await new ApiClient(service.url, tokens.access_token).get('/me')
  expect([me.status, me.body.user_id, me.body.scopes]).toEqual([
    200,
    somebody.userId,
    ['read', 'write', 'delete'],
  ])
})
