/** README.md and docs/: what they show works, and what they name is there. */
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readExamples } from '../api/description/examples.ts'
import { makeBoard } from './api/board.ts'
import { openEditor, until } from './support/editor.ts'
import { repository, run } from './support/instance.ts'
import { startService, type TestService, type TestUser } from './support/service.ts'

let service: TestService
let user: TestUser
let boardId: string
let readme: string

beforeAll(async () => {
  service = await startService({ workers: false })
  user = await service.user()
  boardId = (await makeBoard(user)).id
  readme = await readFile(join(repository, 'README.md'), 'utf8')
})
afterAll(() => service.stop())

const section = (heading: string) => readme.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!

/** The first snippet of a language, for this service, board and token. */
function snippet(text: string, language: string): string {
  const [, code = ''] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(text) ?? []
  return code
    .replaceAll('http://127.0.0.1:4000', service.url)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, boardId)
    .replaceAll('cork_…', user.token)
}

test('[DC1] the README’s request gets the answer that it shows', async () => {
  const text = section('A first card')
  const shown = JSON.parse(snippet(text, 'text'))
  const { stdout } = await run('sh', ['-c', snippet(text, 'sh')])
  const answer = JSON.parse(stdout)
  const [card] = answer.cards
  const { id, created_at, updated_at } = card
  expect(Date.parse(created_at)).toBeGreaterThan(0)
  expect(answer).toEqual({ ...shown, cards: [{ ...shown.cards[0], id, created_at, updated_at }] })
  expect(Object.keys(card)).toEqual(Object.keys(shown.cards[0]))
})

test('[DC2] the README’s first editor runs as it is written', { timeout: 60_000 }, async () => {
  const text = section('Your first editor')
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-editor-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'editor.mjs'), snippet(text, 'js'))
  const [, program, ...given] = snippet(text, 'sh').trim().split(' ')
  expect(program).toBe('node')

  const child = spawn(process.execPath, given, { cwd: folder })
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  await until(() => printed.includes('unsaved changes: 0'), 'the editor’s card is saved', 20_000)
  const { body } = await user.api.get(`/boards/${boardId}/cards`)
  const card = body.cards.find(({ title }: { title: string }) => title === 'From an editor')
  expect(card).toMatchObject({ kind: 'image', body: 'Its caption', width: 1, height: 1 })
  expect(printed).toContain(`${card.id}: From an editor at 0, 220\n`)

  const other = await openEditor(service.url, { boardId, token: user.token })
  onTestFinished(() => other.leave())
  other.provider.setAwarenessField('user', { name: 'Ben' })
  await until(() => printed.includes('here: 2'), 'it sees who comes')
  const states = () => [...other.provider.awareness!.getStates().values()]
  await until(
    () => states().some((state) => state['user']?.name === 'Ada' && state['cursor']?.x === 120),
    'it is seen',
  )
  await user.api.post(`/boards/${boardId}/cards`, { kind: 'note', title: 'By the API', x: 900, y: 900 })
  await until(() => printed.includes(': By the API at 900, 900\n'), 'it shows what the API writes')
})

test('[US15] the two examples that mint sessions, for Express and for Next.js, run as they are written', async () => {
  const guide = await readFile(join(repository, 'docs/editors.md'), 'utf8')
  const text = guide.split('\n## Sessions for your own users\n')[1]!
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-minting-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const given = `process.env.CORKBOARD_TOKEN = '${user.token}'; const person = { id: 'u-17', name: 'Ada' }\n`
  const express = `let route
    const app = { get: (_path, guard, handle) => (route = [guard, handle]) }
    const signedIn = (request, _answer, next) => next((request.user = person))\n`
  const ask = `export const tokenOf = (id) =>
    new Promise((told) => {
      const request = { params: { id } }
      const answer = { status: () => answer, json: told }
      route[0](request, answer, () => route[1](request, answer))
    })`
  await writeFile(join(folder, 'express.mjs'), `${given}${express}${snippet(text, 'js')}${ask}`)
  const signedIn = 'const signedIn = () => Promise.resolve(person)\n'
  const next =
    'export const tokenOf = async (id: string) => (await GET(null!, { params: Promise.resolve({ id }) })).json()'
  await writeFile(join(folder, 'next.mts'), `${given}${signedIn}${snippet(text, 'ts')}${next}`)
  for (const name of ['express.mjs', 'next.mts']) {
    const { tokenOf } = (await import(/* @vite-ignore */ join(folder, name))) as {
      tokenOf(id: string): Promise<{ token: string }>
    }
    const { token } = await tokenOf(boardId)
    const editor = await openEditor(service.url, { boardId, token })
    expect(editor.provider.authorizedScope).toBe('read-write')
    editor.leave()
  }
})

test(
  '[TM6] the commands of docs/api.md run as they are written, one after the other',
  { timeout: 60_000 },
  async () => {
    const guide = await readFile(join(repository, 'docs/api.md'), 'utf8')
    const blocks = [...guide.matchAll(/^```sh\n([^]*?)^```/gm)].map(([block]) => snippet(block, 'sh'))
    // A stream has no end, and the generator of types is not installed.
    const commands = blocks.filter((block) => !/curl -N|npx/.test(block))
    expect(commands.length).toBeGreaterThan(7)
    const { stdout, stderr, code } = await run('bash', ['--norc', '-euc', commands.join('\necho\n')], {
      cwd: repository,
    })
    expect([code, stderr]).toEqual([0, ''])
    const answers = stdout.match(/^\{.*\}$/gm)!
    // One command shows what a version that does not match is answered.
    expect(answers.flatMap((answer) => JSON.parse(answer).code ?? [])).toEqual(['precondition_failed'])
    for (const part of ['/login/invitation?', '"cork_', '"corks_', 'signature=', '"presence":[{'])
      expect(stdout).toContain(part)
  },
)

interface Guide {
  path: string
  text: string
}

async function readGuides(): Promise<Guide[]> {
  const names = (await readdir(join(repository, 'docs'))).filter((name) => name.endsWith('.md'))
  const paths = ['README.md', ...names.map((name) => `docs/${name}`)]
  return Promise.all(
    paths.map(async (path) => ({ path, text: await readFile(join(repository, path), 'utf8') })),
  )
}

const withoutCode = (text: string) => text.replaceAll(/```[^]*?```/g, '')

/** As GitHub makes it. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, '')
    .replaceAll(' ', '-')

const anchors = ({ text }: Guide) =>
  [...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchor(heading!))

const isThere = (path: string) =>
  stat(join(repository, path)).then(
    () => true,
    () => false,
  )

/** What a guide leads to or names, and isn't there. */
async function dangling(guide: Guide, guides: Guide[]): Promise<string[]> {
  const missing: string[] = []
  const text = withoutCode(guide.text)
  for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
    const [file = '', heading] = target.split('#')
    const path = file === '' ? guide.path : join(dirname(guide.path), file)
    const leadsTo = guides.find((one) => one.path === path)
    if (
      !(leadsTo || (await isThere(path))) ||
      (heading !== undefined && leadsTo && !anchors(leadsTo).includes(heading))
    )
      missing.push(`${guide.path}: ${target}`)
  }
  const named =
    /`((?:server|api|collab|workers|sql|platform|core|client|web|test|docs|patches)\/[\w./-]+|\.env\.example)`/g
  for (const [, path = ''] of text.matchAll(named))
    if (!(await isThere(path))) missing.push(`${guide.path}: ${path}`)
  return missing
}

test('[DC3] the README is short, and what the guides lead to or name is there', async () => {
  const guides = await readGuides()
  expect(guides.length).toBeGreaterThan(7)
  expect(guides[0]!.text.trimEnd().split('\n').length).toBeLessThanOrEqual(200)
  const planted = {
    path: 'docs/planted.md',
    text: '# Here\n[a](api.md#nowhere) [b](#here) [c](none.md) [d](../README.md) `core/none.ts` `core/card.ts`\n',
  }
  expect(await dangling(planted, [...guides, planted])).toEqual([
    'docs/planted.md: api.md#nowhere',
    'docs/planted.md: none.md',
    'docs/planted.md: core/none.ts',
  ])
  expect((await Promise.all(guides.map((guide) => dangling(guide, guides)))).flat()).toEqual([])
})

test('[DC4] docs/webhooks.md shows the body of every event', async () => {
  const text = await readFile(join(repository, 'docs/webhooks.md'), 'utf8')
  const bodies = [...text.matchAll(/^### `([\w.]+)`\n[^]*?```json\n([^]*?)```/gm)]
  expect(Object.fromEntries(bodies.map(([, event, body]) => [event, JSON.parse(body!)]))).toEqual(
    readExamples().events,
  )
})

test('[DC5] docs/architecture.md tells of every room', async () => {
  const text = await readFile(join(repository, 'docs/architecture.md'), 'utf8')
  const rooms: string[] = []
  for (const folder of ['server', 'api', 'workers', 'collab', 'sql', 'platform', 'core', 'client', 'web']) {
    const entries = await readdir(join(repository, folder), { withFileTypes: true })
    const within = entries.filter((one) => one.isDirectory() && one.name !== 'dist')
    rooms.push(folder, ...within.map(({ name }) => `${folder}/${name}`))
  }
  expect(rooms.length).toBeGreaterThan(30)
  expect(rooms.filter((room) => !text.includes(`**\`${room}\`**`))).toEqual([])
})
