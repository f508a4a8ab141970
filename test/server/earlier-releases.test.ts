/** This version on the database and the data folder of each earlier release, which `test/releases` keeps. */
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import postgres from 'postgres'
import { Webhook } from 'standardwebhooks'
import { expect, inject, onTestFinished, test } from 'vitest'
import { migrate } from '../../sql/migrate.ts'
import { verifyFiles } from '../../workers/upkeep/verify-files.ts'
import type { RecordedRelease } from '../releases/recorded.ts'
import type { TestDatabase } from '../support/database.ts'
import { until } from '../support/editor.ts'
import { withDatabase } from '../support/global-setup.ts'
import { ApiClient } from '../support/http.ts'
import { repository } from '../support/instance.ts'
import { openReceiver, type Received } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { expectIndexesRight } from '../support/test-file.ts'

const folder = join(repository, 'test/releases')
const names = (await readdir(folder)).filter((name) => name.endsWith('.json.br'))

test('[VR3] each release but the one that is being made has a recording', async () => {
  const changelog = await readFile(join(repository, 'CHANGELOG.md'), 'utf8')
  const released = [...changelog.matchAll(/^## (\d+\.\d+\.\d+) /gm)].map(
    ([, version]) => `${version}.json.br`,
  )
  expect(released.length).toBeGreaterThan(0)
  expect(names.toSorted()).toEqual(released.toSorted())
})

test.each(names)('[VR3] an installation of %s goes on with this version, and passes verify', async (name) => {
  const release = JSON.parse(
    brotliDecompressSync(await readFile(join(folder, name))).toString(),
  ) as RecordedRelease
  const { known, secretKey } = release
  const dataDir = await mkdtemp(join(tmpdir(), 'corkboard-release-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  for (const [path, contents] of Object.entries(release.files)) {
    await mkdir(dirname(join(dataDir, 'files', path)), { recursive: true })
    await writeFile(join(dataDir, 'files', path), Buffer.from(contents, 'base64'))
  }
  const testDatabase = await restore(release)
  await migrate(testDatabase.url)
  const config = { dataDir, secretKey, egressAllow: ['127.0.0.1/32'] }
  const service = await startService({ testDatabase, config, queueTickMs: 20 })
  onTestFinished(() => service.stop())

  const api = new ApiClient(service.url, known.token)
  for (const query of ['', '?source=index']) {
    const { body } = await api.get<{ cards: { id: string; title: string }[] }>(
      `/boards/${known.boardId}/cards${query}`,
    )
    const shown = body.cards.map(({ id, title }) => ({ id, title }))
    expect(new Set(shown)).toEqual(new Set(known.cards))
  }
  const image = await fetch(`${service.url}/api/v1/images/${known.imageKey}`, {
    headers: { authorization: `Bearer ${known.token}` },
  })
  expect(Buffer.from(await image.arrayBuffer()).toString('base64')).toBe(known.image)
  const receiver = await openReceiver()
  onTestFinished(() => receiver.close())
  expect((await api.patch(`/webhooks/${known.webhookId}`, { url: receiver.url })).status).toBe(200)
  const card = { kind: 'note', title: 'New' }
  expect((await api.post(`/boards/${known.boardId}/cards`, card)).status).toBe(201)
  const isNew = ({ body }: Received) => body.type === 'card.created'
  await until(() => receiver.received.some(isNew), 'the webhook is sent the change', 20_000)
  const { raw, headers } = receiver.received.find(isNew)!
  new Webhook(known.webhookSecret).verify(raw, headers as Record<string, string>)

  await expectIndexesRight(service)
  const { count, differences } = await verifyFiles(service.database, service.files)
  expect({ count, differences }).toEqual({ count: 1, differences: [] })
})

/** Makes a database with the schema and the rows of the release. */
async function restore({ schema, rows }: RecordedRelease): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const server = postgres(inject('adminUrl'), { max: 1, onnotice: () => undefined })
  await server.unsafe(`create database ${name} owner corkboard`)
  const admin = postgres(withDatabase(inject('adminUrl'), name), {
    ...{ max: 1, onnotice: () => undefined, connection: { search_path: 'corkboard' } },
  })
  const drop = async () => {
    await admin.end({ timeout: 2 })
    await server.unsafe(`drop database ${name} with (force)`)
    await server.end({ timeout: 2 })
  }
  onTestFinished(drop)
  const url = withDatabase(inject('serviceUrl'), name)
  await migrate(url, schema)
  await admin.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    for (const [table, lines] of Object.entries(rows))
      await tx`
        insert into ${tx(table)} overriding system value
        select r.* from unnest(${lines}::text[]) as l(line)
        cross join lateral jsonb_populate_record(null::${tx(table)}, l.line::jsonb) as r`
    const numbered = await tx<{ table: string; column: string }[]>`
      select attrelid::regclass::text as table, attname as column from pg_attribute
      where attidentity <> '' and attrelid::regclass::text = any (${Object.keys(rows)})`
    for (const { table, column } of numbered)
      await tx`
        select setval(pg_get_serial_sequence(${table}, ${column}), coalesce(max(${tx(column)}), 1)) from ${tx(table)}`
  })
  return { url, admin, drop }
}
