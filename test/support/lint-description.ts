/** The API description held against the rules of Redocly's linter; see https://redocly.com/docs/cli/rules. */
import { createConfig, lintFromString } from '@redocly/openapi-core'

/** All warnings of the strict set are faults, but for what does not apply to this API. */
const rules = {
  'info-license': 'off', // it is not published under one
  'operation-4xx-response': 'error',
  'operation-operationId': 'error',
  'operation-operationId-unique': 'error',
  'operation-operationId-url-safe': 'error',
  'operation-parameters-unique': 'error',
  'path-params-defined': 'error',
  'no-ambiguous-paths': 'off', // `/boards/move` goes before `/boards/{id}`; a test of the routes holds that
  'no-invalid-media-type-examples': 'error',
  'no-unused-components': 'error',
  'no-server-example.com': 'off', // where it listens in a test is a loopback address
  'response-contains-header': 'off',
  'security-defined': 'error',
} as const

/** @returns `rule: message at pointer` of each fault; none when it is clean */
export async function lintDescription(description: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules })
  const problems = await lintFromString({
    source: JSON.stringify(description),
    absoluteRef: 'openapi.json',
    config,
  })
  return problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer ?? '#/'}`,
  )
}
