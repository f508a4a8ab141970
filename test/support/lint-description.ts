/** Checks the API description with Redocly's linter; see https://redocly.com/docs/cli/rules. */
import { createConfig, lintFromString } from '@redocly/openapi-core'

/** Rules in addition to those of the strict set, in which warnings are errors. */
const rules = {
  'operation-description': 'error',
  'parameter-description': 'error',
  'operation-singular-tag': 'error',
  'operation-tag-defined': 'error',
  'operation-parameters-unique': 'error',
  'path-excludes-patterns': { severity: 'error', patterns: ['^/.*/$'] },
}

/** @returns `rule: message at pointer` for each fault */
export async function lintDescription(description: object): Promise<string[]> {
  // Passed as text, because the compiler takes four seconds to check an object against the type of a configuration.
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
