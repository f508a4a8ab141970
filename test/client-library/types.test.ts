import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { describeRoutes } from '../../api/description/document.ts'
import { routes } from '../../api/routes.ts'
import { repository, run } from '../support/instance.ts'

const head = `/**
 * The types of the API, made from its description. Do not change this file: \`npm run client:types\` makes it anew.
 */
`

interface Description {
  paths: Record<string, Record<string, { responses: Record<string, { headers?: object }> }>>
  components: { responses?: object; headers?: object }
}

/** The description without headers and refusals of operations: the client has errors of its own. */
function describeSuccesses(): object {
  const description = structuredClone(
    describeRoutes(routes)('https://boards.example.com'),
  ) as unknown as Description
  for (const operation of Object.values(description.paths).flatMap((path) => Object.values(path)))
    for (const [status, response] of Object.entries(operation.responses))
      if (status.startsWith('2')) delete response.headers
      else delete operation.responses[status]
  delete description.components.responses
  delete description.components.headers
  return description
}

test('[LB1] the types of the client are those of the description; `npm run client:types` renews them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-types-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [description, types] = [join(folder, 'openapi.json'), join(folder, 'schema.ts')]
  await writeFile(description, JSON.stringify(describeSuccesses()))
  const generator = join(repository, 'test/client/node_modules/openapi-typescript/bin/cli.js')
  expect(await run(process.execPath, [generator, description, '-o', types])).toMatchObject({ code: 0 })
  const generated = (await readFile(types, 'utf8')).replace(/^\/\*\*[^]*?\*\/\n\n?/, head)
  await expect(generated).toMatchFileSnapshot(join(repository, 'client/schema.ts'))
}, 60_000)
