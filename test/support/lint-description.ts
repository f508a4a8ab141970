/** The API description held against the rules of Redocly's linter; see https://redocly.com/docs/cli/rules. */
import { createConfig, lintFromString } from '@redocly/openapi-core'

/** Rules beside those of the strict set, in which warnings are faults. */
const rules = {
  'operation-description': 'error',
  'parameter-description': 'error',
  'operation-singular-tag': 'error',
  'operation-tag-defined': 'error',
  'operation-parameters-unique': 'error',
  'path-excludes-patterns': { severity: 'error', patterns: ['^/.*/$'] },
}

/** @returns `rule: message at pointer` of each fault; none when it is clean */
export async function lintDescription(description: object): Promise<string[]> {
  // As text: to check its type against all that a configuration may say takes the compiler four seconds.
  const config = await createConfig(JSON.stringify({ extends: ['recommended-strict'], rules }))
  const problems = await lintFromString({
    source: JSON.stringify(description),
    absoluteRef: 'openapi.json',
    config,
  })
  return problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer ?? '#/'}`,
  )
}
