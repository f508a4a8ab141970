/**
 * Records a small installation of this version: its schema, the rows of its database, its files and its secret key. Run it
 * when a version is released, `node test/releases/record.ts`. It writes `test/releases/VERSION.json.br`, which never changes
 * afterwards. test/server/earlier-releases.test.ts starts each later version on it.
 */
import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliCompressSync } from 'node:zlib'
import type { Database } from '../../sql/database.ts'
import { schemaFiles } from '../../sql/migrate.ts'
import { openEditor } from '../support/editor.ts'
import { ServiceProcess } from '../support/service-process.ts'
import type { RecordedRelease } from './recorded.ts'

const repository = join(import.meta.dirname, '../..')
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const service = await ServiceProcess.make()
try {
  service.launch()
  await service.ready(300_000)
  const known = await work()
  const rows = await service.withDatabase(readRows)
  const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
    version: string
  }
  const release: RecordedRelease = {
    version,
    schema: await schemaFiles(),
    rows,
    secretKey: (await readFile(join(service.dataDir, 'secret-key'), 'utf8')).trim(),
    files: await readFiles(join(service.dataDir, 'files')),
    known,
  }
  const bytes = brotliCompressSync(JSON.stringify(release))
  await writeFile(join(import.meta.dirname, `${version}.json.br`), bytes)
  process.stdout.write(`test/releases/${version}.json.br: ${bytes.length} bytes\n`)
} finally {
  await service.remove()
}
process.exit(0)

/** Makes what the fixture holds, by the API and by an editor. */
async function work(): Promise<RecordedRelease['known']> {
  const { token, workspace_id } = await corkboard(
    'user',
    'add',
    '--email',
    'ada@example.com',
    '--name',
    'Ada',
  )
  const guest = await corkboard('user', 'add', '--email', 'ben@example.com', '--name', 'Ben')
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const isJson = !Buffer.isBuffer(body)
    const answer = await fetch(`${service.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : new Uint8Array(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as any
  }
  const { board } = await call('POST', '/boards', {
    name: 'Plans',
    identifiers: [{ scope: 'crm', value: '17' }],
  })
  const path = `/boards/${board.id}`
  await call('POST', '/boards', { name: 'Below', parent_board_id: board.id })
  await corkboard('board', 'share', '--board', board.id, '--email', 'ben@example.com', '--role', 'editor')
  const { group } = await call('POST', `${path}/groups`, { name: 'Ideas' })
  const { image_key } = await call('POST', `/uploads?board=${board.id}`, Buffer.from(png, 'base64'), {
    'content-type': 'image/png',
  })
  const made = await call(
    'POST',
    `${path}/cards`,
    {
      cards: [
        { kind: 'note', title: 'Grüße', body: 'A body 🎉', group_id: group.id },
        { kind: 'image', title: 'A pixel', image_key },
        {
          kind: 'link',
          url: 'https://example.com',
          props: { a: [1] },
          identifiers: [{ scope: 'crm', value: '1' }],
        },
        { kind: 'note', title: 'Removed later' },
      ],
    },
    { 'idempotency-key': 'recorded' },
  )
  await call('DELETE', `${path}/cards`, { card_ids: [made.cards[3].id] })
  await call('PATCH', path, { scheduled_date: '2027-01-01' })
  await corkboard('board', 'publish', '--board', board.id, '--email', 'ada@example.com')
  const hook = await call('POST', '/webhooks', {
    workspace_id,
    url: 'https://example.com/hook',
    events: ['*'],
  })
  await call('POST', '/service-accounts', { workspace_id, name: 'Robot', scopes: ['write'] })

  const editor = await openEditor(service.url, { boardId: board.id, token: guest.token })
  editor.addCard('by-an-editor', { title: 'By an editor' })
  await editor.saved()
  editor.leave()
  const listed = async (): Promise<{ id: string; title: string }[]> =>
    (await call('GET', `${path}/cards?source=index`)).cards
  while ((await listed()).length < 4) await delay(50)
  const cards = (await listed()).map(({ id, title }) => ({ id, title }))
  return {
    ...{ token, boardId: board.id, cards, imageKey: image_key, image: png },
    ...{ webhookId: hook.webhook.id, webhookSecret: hook.secret },
  }
}

async function corkboard(...args: string[]): Promise<any> {
  const program = ['--import', './server/preflight.js', 'server/cli/main.ts', ...args]
  const { stdout } = await promisify(execFile)(process.execPath, program, {
    cwd: repository,
    env: { ...process.env, DATA_DIR: service.dataDir, DATABASE_URL: '' },
  })
  return JSON.parse(stdout)
}

/** Reads all rows as JSON. */
async function readRows(database: Database): Promise<RecordedRelease['rows']> {
  return database.asSystem(async (tx) => {
    const tables = await tx<{ name: string }[]>`
      select relname as name from pg_class
      where relnamespace = 'corkboard'::regnamespace and relkind = 'r' and relname not in ('schema_files', 'nodes')
      order by relname`
    const rows: RecordedRelease['rows'] = {}
    for (const { name } of tables) {
      const found = await tx<{ row: string }[]>`select to_jsonb(t)::text as row from ${tx(name)} as t`
      rows[name] = found.map(({ row }) => row)
    }
    return rows
  })
}

/** The contents of the files of a folder, in base64, by their path in it. */
async function readFiles(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(
    await Promise.all(
      paths.map(async (path) => [path.slice(folder.length + 1), (await readFile(path)).toString('base64')]),
    ),
  )
}
