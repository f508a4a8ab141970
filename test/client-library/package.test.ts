/** The client as npm publishes it: in Node of the host, in a browser without a bundler, and under Vite. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { build } from 'vite'
import { createClient, signForTest } from '../../client/index.ts'
import { makeBoard } from '../api/board.ts'
import { until } from '../support/editor.ts'
import { freePort } from '../support/free-port.ts'
import { repository, run } from '../support/instance.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'
import { hostNode, packedProject, runOnHost } from './packed.ts'

const [{ service, user }, project] = await Promise.all([
  serviceOfFile({ debounceMs: 30 }),
  forFile(packedProject()),
])
const environment = { CORKBOARD_URL: service.url, CORKBOARD_TOKEN: user.token, WORKSPACE: user.workspaceId }
const slow = { timeout: 60_000 }

async function example(name: string): Promise<string> {
  await copyFile(join(repository, 'docs/examples', name), join(project.folder, name))
  return name
}

/** Builds with Vite. @returns the bytes of the code, compressed as servers send it */
async function bundledBytes(entry: string, external: RegExp[]): Promise<number> {
  const built = await build({
    root: project.folder,
    logLevel: 'error',
    configFile: false,
    build: {
      write: false,
      minify: true,
      lib: { entry: join(project.folder, 'node_modules/@corkboard/client/dist', entry), formats: ['es'] },
      rollupOptions: { external },
    },
  })
  const [{ output }] = built as unknown as [{ output: { code?: string }[] }]
  return gzipSync(output.map(({ code = '' }) => code).join('')).length
}

test('[LB30] the package holds modules and types, and nothing else', () => {
  expect(project.files).toContain('dist/index.js')
  expect(project.files).toContain('dist/editor/index.d.ts')
  expect(project.files).toContain('dist/react/index.js')
  expect(project.files.filter((path) => !/^dist\/.*\.(js|d\.ts)$/.test(path))).toEqual(['package.json'])
})

test(
  '[LB30] the core is at most 10 KB, and the editor part without Yjs at most 12 KB, compressed',
  slow,
  async () => {
    const core = await bundledBytes('index.js', [])
    const yjs = [/^yjs$/, /^lib0/, /^y-protocols/]
    const editor = await bundledBytes('editor/index.js', [...yjs, /^@hocuspocus\/provider$/])
    const withProvider = await bundledBytes('editor/index.js', yjs)
    const bytes = { core, editor, withProvider }
    expect(core, JSON.stringify(bytes)).toBeLessThanOrEqual(10 * 1024)
    expect(editor, JSON.stringify(bytes)).toBeLessThanOrEqual(12 * 1024)
    expect(core + editor).toBeGreaterThan(3000)
    if (process.env['SIZES']) process.stderr.write(`${JSON.stringify(bytes)}\n`)
  },
)

test('[LB2] the types of the package are complete, and refuse what the API does not know', slow, async () => {
  await writeFile(
    join(project.folder, 'consumer.ts'),
    `import { createClient, isFailure, verifyWebhook, type Card, type WebhookEvent } from '@corkboard/client'
import { openBoard } from '@corkboard/client/editor'
import { useBoard, useCards } from '@corkboard/client/react'
const client = createClient({ url: 'https://boards.example.com', token: 'cork_' })
export async function use() {
  const { cards } = await client.request('POST /boards/{id}/cards', { path: { id: '' }, body: { kind: 'note' } })
  const card: Card = cards[0]!
  const title: string | null = card.title
  for await (const board of client.list('GET /boards', { query: { limit: 5 } })) board.name satisfies string
  for await (const { rows, cursor } of client.follow('GET /boards/{id}/cards', { path: { id: '' } })) {
    cursor satisfies string
    for (const row of rows) if (!('deleted' in row)) row.x satisfies number
  }
  const image: Response = await client.request('GET /images/{key}', { path: { key: 'f' } })
  const event: WebhookEvent = await verifyWebhook({ headers: image.headers, body: '' }, 'whsec_')
  if (event.type === 'card.created') event.data.count satisfies number
  try {} catch (error) { if (isFailure(error, 'not_found')) error.code satisfies 'not_found' }
  // @ts-expect-error no such operation
  void client.request('GET /bords')
  // @ts-expect-error the id is missing
  void client.request('GET /boards/{id}')
  // @ts-expect-error a name is a text
  void client.request('POST /boards', { body: { name: 5 } })
  // @ts-expect-error no such code
  void isFailure(null, 'not_there')
  // @ts-expect-error this is no list
  client.list('GET /me')
  // @ts-expect-error and this no feed
  client.follow('GET /webhooks')
  // @ts-expect-error cards have no such field
  void card.colour
  const board = openBoard({ url: '', board: '', token: async () => '' })
  board.bind(card.id, document.querySelector('textarea')!)
  board.bind(card.id, document.querySelector('input')!)
  board.cards.add({ kind: 'note', title, own: true })
  // @ts-expect-error a card has a kind
  board.cards.add({ title })
  return [useBoard, useCards]
}
`,
  )
  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ]) {
    const compilerOptions = {
      ...{ module, moduleResolution, strict: true, noEmit: true, target: 'es2022', skipLibCheck: false },
      ...{ lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
    }
    await writeFile(
      join(project.folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
    )
    await writeFile(join(project.folder, 'package.json'), JSON.stringify({ type: 'module' }))
    const compiled = await run(process.execPath, [
      join(repository, 'node_modules/typescript/bin/tsc'),
      ...['-p', join(project.folder, 'tsconfig.json')],
    ])
    expect(compiled).toMatchObject({ stdout: '', code: 0 })
  }
})

test('[LB30] core and editor run in the Node of the host, from 20 on', slow, async () => {
  const version = (await run(hostNode(), ['--version'])).stdout
  expect(Number(/^v(\d+)/.exec(version)![1])).toBeGreaterThanOrEqual(20)
  const board = await makeBoard(user)
  await writeFile(
    join(project.folder, 'edit.mjs'),
    `import { createClient } from '@corkboard/client'
import { openBoard } from '@corkboard/client/editor'
import { WebSocket } from 'ws'
const [url, token, board] = process.argv.slice(2)
const open = openBoard({ url, token, board, WebSocket })
await open.ready
const id = open.cards.add({ kind: 'note', title: 'From the host', body: 'Node' })
await open.saved()
open.close()
const { card } = await createClient({ url, token }).request('GET /boards/{id}/cards/{cardId}', { path: { id: board, cardId: id } })
console.log(card.title, card.body)
`,
  )
  const ran = await runOnHost(project, ['edit.mjs', service.url, user.token, board.id])
  expect(ran).toMatchObject({ stdout: 'From the host Node\n', code: 0 })
})

test('[LB32] the snippets of docs/client.md run one after the other', slow, async () => {
  const board = await makeBoard(user, { name: 'Of the guide' })
  const guide = await readFile(join(repository, 'docs/client.md'), 'utf8')
  const program = [...guide.matchAll(/^```js\n([^]*?)^```/gm)]
    .map(([, code = '']) => code)
    .join('\n')
    .replaceAll('http://127.0.0.1:4000', service.url)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, board.id)
    .replaceAll('cork_…', user.token)
  await writeFile(join(project.folder, 'guide.mjs'), program)
  const ran = await runOnHost(project, ['guide.mjs'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  for (const line of ['Of the guide', '100 %', '204', '2 cards']) expect(ran.stdout).toContain(`${line}\n`)
  const { body } = await user.api.get(`/boards/${board.id}/cards`)
  const [first, second] = body.cards
  expect(first).toMatchObject({ kind: 'image', title: 'Hello!', body: '\nDone.' })
  expect(second).toMatchObject({ title: 'Typed here', x: 40, y: 80 })
})

test('[LB32] the nightly sync copies everything, and then only what has changed', slow, async () => {
  const sync = await example('nightly-sync.mjs')
  expect(
    (await readFile(join(project.folder, sync), 'utf8')).trimEnd().split('\n').length,
  ).toBeLessThanOrEqual(60)
  const mine = await service.user()
  const own = { ...environment, CORKBOARD_TOKEN: mine.token, WORKSPACE: mine.workspaceId }
  const [kept, deleted] = [
    await makeBoard(mine, { name: 'Kept' }),
    await makeBoard(mine, { name: 'Deleted' }),
  ]
  const { body } = await mine.api.post(`/boards/${kept.id}/cards`, {
    cards: [
      { kind: 'note', title: 'A' },
      { kind: 'note', title: 'B' },
    ],
  })
  const [a, b] = body.cards
  const runs = () => runOnHost(project, [sync, 'copy.json'], own)
  const copied = async () => JSON.parse(await readFile(join(project.folder, 'copy.json'), 'utf8')).boards
  // A feed is up to a second behind while others write.
  await until(async () => {
    expect((await runs()).stderr).toBe('')
    return Object.keys((await copied())[kept.id]?.cards ?? {}).length === 2
  }, 'all is copied')
  await mine.api.patch(`/boards/${kept.id}/cards/${a.id}`, { title: 'A now' })
  await mine.api.delete(`/boards/${kept.id}/cards/${b.id}`)
  await mine.api.delete(`/boards/${deleted.id}`)
  let told = ''
  await until(async () => {
    told += (await runs()).stdout
    const { [deleted.id]: gone, [kept.id]: here } = await copied()
    return gone.deleted && !here.cards[b.id] && here.cards[a.id].title === 'A now'
  }, 'the changes are copied')
  expect(told.match(/\d+(?= changes)/g)!.reduce((sum, count) => sum + Number(count), 0)).toBe(3)
  expect((await runs()).stdout).toBe('0 changes, 2 boards\n')
})

/** Starts an example that runs until it is killed. */
async function running(name: string, env: Record<string, string>) {
  const child = spawn(hostNode(), [await example(name)], {
    cwd: project.folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  onTestFinished(async () => {
    if (child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  })
  return { printed: () => printed }
}

test('[LB32] the webhook receiver handles each genuine delivery once, and refuses others', slow, async () => {
  const port = await freePort()
  const receiver = await running('webhook-receiver.mjs', {
    PORT: String(port),
    WEBHOOK_SECRET: 'whsec_new,whsec_old',
  })
  await until(() => receiver.printed().includes('listening'), 'it listens', 20_000)
  const url = `http://127.0.0.1:${port}/hook`
  const deliveryId = crypto.randomUUID()
  const event = {
    type: 'card.created' as const,
    resource: { type: 'board' as const, id: 'b' },
    workspace: { id: 'w' },
    board: { id: 'b' },
    data: { count: 3, card_ids: ['c'] },
    occurred_at: '2026-03-02T09:30:00.000Z',
  }
  for (const [secret, status] of [
    ['whsec_old', 204],
    ['whsec_old', 204],
    ['whsec_forged', 401],
  ] as const)
    expect((await fetch(await signForTest(url, event, secret, { deliveryId }))).status).toBe(status)
  expect((await fetch(url)).status).toBe(405)
  expect(receiver.printed().match(/3 new on board b/g)).toHaveLength(1)
})

test('[LB32] the agent answers a question on the card', slow, async () => {
  const board = await makeBoard(user)
  const client = createClient({ url: service.url, token: user.token })
  const create = (title: string) =>
    client.request('POST /boards/{id}/cards', { path: { id: board.id }, body: { kind: 'note', title } })
  await create('Lighthouse keeper')
  const { cards } = await create('? lighthouse')
  await running('agent.mjs', { ...environment, BOARD: board.id, EVERY_MS: '100' })
  const answer = async () =>
    (
      await client.request('GET /boards/{id}/cards/{cardId}', {
        path: { id: board.id, cardId: cards[0]!.id },
      })
    ).card.body
  await until(async () => (await answer()) === 'Lighthouse keeper', 'it has answered', 20_000)
})
