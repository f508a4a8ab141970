/** The protocol's own conformance suite, against the service over HTTP. */
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repository, run } from '../support/instance.ts'
import { startService, type TestService } from '../support/service.ts'
import { openTokenProxy, type TokenProxy } from '../support/token-proxy.ts'

let service: TestService
let proxy: TokenProxy
let results: string

beforeAll(async () => {
  service = await startService({ workers: false })
  const user = await service.user()
  proxy = await openTokenProxy(service.url, user.token)
  results = await mkdtemp(join(tmpdir(), 'corkboard-conformance-'))
})
afterAll(async () => {
  await proxy.close()
  await service.stop()
  await rm(results, { recursive: true, force: true })
})

const suite = join(repository, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

interface Check {
  id: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
}

/** Of the protocol's suite for 2026-07-28. What is not here passes with every check. */
const leftOut: Record<string, string> = {
  ...Object.fromEntries(
    [
      'tools-call-simple-text',
      'tools-call-image',
      'tools-call-audio',
      'tools-call-embedded-resource',
      'tools-call-mixed-content',
      'tools-call-error',
      'tools-call-with-progress',
    ].map((name) => [
      name,
      'calls a tool that only the suite’s own server has; our tools are tested in tools.test.ts',
    ]),
  ),
  ...Object.fromEntries(
    ['resources-read-text', 'resources-read-binary', 'resources-templates-read'].map((name) => [
      name,
      'reads a resource test://… that only the suite’s own server has; ours are tested in resources.test.ts',
    ]),
  ),
  ...Object.fromEntries(
    [
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
    ].map((name) => [name, 'gets a prompt that only the suite’s own server has']),
  ),
  ...Object.fromEntries(
    [
      'basic-elicitation',
      'basic-sampling',
      'basic-list-roots',
      'request-state',
      'multiple-input-requests',
      'multi-round',
      'missing-input-response',
      'non-tool-request',
      'result-type',
      'tampered-state',
      'capability-check',
      'ignore-extra-params',
    ].map((name) => [
      `input-required-result-${name}`,
      'needs a tool that asks the client back; none of ours does, and the suite’s own are not here',
    ]),
  ),
  'completion-complete': 'an optional capability that is not offered: arguments are ids and free text',
}

/** Of scenarios that pass otherwise: checks that ask for tools of the suite’s own server. */
const untestable: Record<string, string[]> = {
  'server-stateless': [
    'sep-2575-server-rejects-undeclared-capability',
    'sep-2575-missing-capability-http-400',
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-server-no-log-without-loglevel',
  ],
}

/** Run by the suite without being required; these are optional extensions, or ask for tools of its own server. */
const notRequired = /^(tasks-|json-schema-2020-12$|http-custom-header-server-validation$)/

test(
  '[MC13] the conformance suite of the protocol passes, but for what needs tools and resources of its own',
  { timeout: 300_000 },
  async () => {
    const mcp = `${proxy.url}/api/v1/mcp`
    const args = ['server', '--url', mcp, '--requirements', '2026-07-28', '-o', results]
    const { stdout } = await run(process.execPath, [suite, ...args], { cwd: results })
    const failing: Record<string, string[]> = {}
    const folders = await readdir(results)
    for (const folder of folders) {
      const [, scenario] = /^server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(folder)!
      const checks = JSON.parse(await readFile(join(results, folder, 'checks.json'), 'utf8')) as Check[]
      expect([scenario, checks.length > 0]).toEqual([scenario, true])
      const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
      if (bad.length > 0 && !notRequired.test(scenario!)) failing[scenario!] = bad.map(({ id }) => id)
    }
    expect(folders.length, stdout.slice(-2000)).toBe(50)
    // What passes is not left out, and what is left out is said here.
    const { ...unexpected } = failing
    for (const name of Object.keys(leftOut)) {
      expect([name, failing[name]?.length ?? 0]).toEqual([name, 1])
      delete unexpected[name]
    }
    expect(unexpected).toEqual(untestable)
  },
)
