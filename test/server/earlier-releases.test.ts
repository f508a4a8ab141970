/** This version on the database and the data folder of each earlier release, which `test/releases` keeps. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import postgres from 'postgres'
import { Webhook } from 'standardwebhooks'
import { expect, inject, onTestFinished, test } from 'vitest'
import { migrate } from '../../sql/migrate.ts'
import type { RecordedRelease } from '../releases/recorded.ts'
import { until } from '../support/editor.ts'
import { withDatabase } from '../support/global-setup.ts'
import { ApiClient } from '../support/http.ts'
import { corkboard, repository, startInstance, testDataDir } from '../support/instance.ts'
import { openReceiver } from '../support/receiver.ts'

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

test.each(names)(
  '[VR3] an installation of %s goes on with this version, and passes verify',
  { timeout: 60_000 },
  async (name) => {
    const release = JSON.parse(
      brotliDecompressSync(await readFile(join(folder, name))).toString(),
    ) as RecordedRelease
    const { known } = release
    const env = {
      ...{
        DATABASE_URL: await restore(release),
        SECRET_KEY: release.secretKey,
        EGRESS_ALLOW: '127.0.0.1/32',
      },
    }
    const dataDir = await testDataDir()
    for (const [path, contents] of Object.entries(release.files)) {
      await mkdir(dirname(join(dataDir, 'files', path)), { recursive: true })
      await writeFile(join(dataDir, 'files', path), Buffer.from(contents, 'base64'))
    }
    const instance = await startInstance(dataDir, env)
    const api = new ApiClient(instance.url, known.token)
    for (const source of ['live', 'index']) {
      const { body } = await api.get(`/boards/${known.boardId}/cards?source=${source}`)
      expect(body.cards.map(({ id, title }: { id: string; title: string }) => ({ id, title }))).toEqual(
        known.cards,
      )
    }
    const image = await fetch(`${instance.url}/api/v1/images/${known.imageKey}`, {
      headers: { authorization: `Bearer ${known.token}` },
    })
    expect(Buffer.from(await image.arrayBuffer()).toString('base64')).toBe(known.image)
    const receiver = await openReceiver()
    onTestFinished(() => receiver.close())
    expect((await api.patch(`/webhooks/${known.webhookId}`, { url: receiver.url })).status).toBe(200)
    expect((await api.post(`/boards/${known.boardId}/cards`, { kind: 'note', title: 'New' })).status).toBe(
      201,
    )
    const isNew = ({ body }: { body: { type: string } }) => body.type === 'card.created'
    await until(() => receiver.received.some(isNew), 'the webhook is sent the change', 20_000)
    const { raw, headers } = receiver.received.find(isNew)!
    new Webhook(known.webhookSecret).verify(raw, headers as Record<string, string>)

    const verified = await corkboard(dataDir, ['verify'], env)
    expect(verified).toMatchObject({ code: 0, stderr: '' })
    expect((await instance.stop()).code).toBe(0)
  },
)

/** Makes a database with the schema and the rows of the release, and returns its URL. */
async function restore({ schema, rows }: RecordedRelease): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const server = postgres(inject('adminUrl'), { max: 1, onnotice: () => undefined })
  await server.unsafe(`create database ${name} owner corkboard`)
  onTestFinished(async () => {
    await server.unsafe(`drop database ${name} with (force)`)
    await server.end({ timeout: 2 })
  })
  const url = withDatabase(inject('serviceUrl'), name)
  await migrate(url, schema)
  const admin = postgres(withDatabase(inject('adminUrl'), name), {
    ...{ max: 1, onnotice: () => undefined, connection: { search_path: 'corkboard' } },
  })
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
  await admin.end()
  return url
}
