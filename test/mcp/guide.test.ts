/** "Connect Claude, ChatGPT or your own agent" in docs/agents.md, as it is written. */
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { messageLimits } from '../../api/mcp/messages.ts'
import { listedPrompts } from '../../api/mcp/prompts.ts'
import { resourceTemplates } from '../../api/mcp/resources.ts'
import { tools } from '../../api/mcp/tools.ts'
import { repository, run } from '../support/instance.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

let service: TestService
let user: TestUser
let section: string

beforeAll(async () => {
  service = await startService({ workers: false })
  user = await service.user()
  const guide = await readFile(join(repository, 'docs/agents.md'), 'utf8')
  section = guide.split('\n## Connect Claude, ChatGPT or your own agent\n')[1]!.split('\n## ')[0]!
})
afterAll(() => service.stop())

/** The nth snippet of a language, for this service and this token. */
const snippet = (language: string, n = 0) => {
  const all = [...section.matchAll(/```(\w+)\n([^]*?)```/g)].filter(([, name]) => name === language)
  return all[n]![2]!.replaceAll('http://127.0.0.1:4000', service.url).replaceAll('cork_…', user.token)
}

/** A stock client that is told an address and a header. */
async function toolsAt(url: string, headers: Record<string, string>): Promise<string[]> {
  const client = new Client({ name: 'test', version: '1' })
  onTestFinished(() => client.close())
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  return (await client.listTools()).tools.map(({ name }) => name)
}

const allTools = tools.map(({ name }) => name)

test('[MC19] the guide’s table has each tool with its title, its operation and its scope', () => {
  const rows = [...section.matchAll(/^\| `(\w+)` +\| (.+?) +\| `(\w+) (\S+)` +\| `(\w+)` +\|$/gm)]
  expect(rows.map(([, name, title, method, path, scope]) => ({ name, title, method, path, scope }))).toEqual(
    tools.map(({ name, title, route: { method, path, scope } }) => ({
      name,
      title,
      method,
      path: path.replace(/:(\w+)/g, '{$1}'),
      scope,
    })),
  )
  for (const { uriTemplate } of resourceTemplates) expect(section).toContain(`\`${uriTemplate}\``)
  for (const { name } of listedPrompts) expect(section).toContain(`\`${name}\``)
  expect(section).toContain(`Batches** of up to ${messageLimits.batch} messages`)
  expect(messageLimits.bodyBytes).toBe(4 * 1024 * 1024)
})

test(
  '[MC19] what the guide tells Claude Code is an address and a header that work',
  { timeout: 120_000 },
  async () => {
    const [, url, name, value] =
      /^claude mcp add --transport http corkboard (\S+) --header "([^:]+): (.+)"\n$/.exec(snippet('sh'))!
    expect(await toolsAt(url!, { [name!]: value! })).toEqual(allTools)
  },
)

test('[MC19] so are those of the guide’s .mcp.json', { timeout: 120_000 }, async () => {
  const { corkboard } = JSON.parse(snippet('json')).mcpServers
  expect(corkboard.type).toBe('http')
  expect(await toolsAt(corkboard.url, corkboard.headers)).toEqual(allTools)
})

test('[MC19] the guide’s agent makes a board', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-agent-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'agent.mjs'), snippet('js'))
  const { stdout, stderr } = await run(process.execPath, [join(folder, 'agent.mjs')])
  expect(stderr).toBe('')
  const { body } = await user.api.get(`/boards/${stdout.trim()}`)
  expect(body.board.name).toBe('Made by an agent')
})

test('[MC19] the guide’s curl lists boards', { timeout: 120_000 }, async () => {
  const { stdout } = await run('sh', ['-c', snippet('sh', 1)])
  expect(JSON.parse(stdout).result.structuredContent.boards).toEqual(expect.any(Array))
})
