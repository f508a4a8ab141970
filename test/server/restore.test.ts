/** Restores of small archives: what they keep, what they end, and what stops them. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Sql } from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readArchive } from '../../platform/archive/read-archive.ts'
import { writeArchive } from '../../platform/archive/write-archive.ts'
import { openEncryption } from '../../platform/secrets/encryption.ts'
import { backUp } from '../../server/backup/back-up.ts'
import type { ArchiveHeader } from '../../server/backup/format.ts'
import { openDatabase } from '../../sql/database.ts'
import { migrate } from '../../sql/migrate.ts'
import { makeBoard, makeCard, succeeded } from '../api/board.ts'
import { pngOf, upload } from '../api/file.ts'
import { until } from '../support/editor.ts'
import { emptyDatabase, firstRelease, readCatalog, readTables } from '../support/first-release.ts'
import { withDatabase } from '../support/global-setup.ts'
import { corkboard, repository, run, type Outcome } from '../support/instance.ts'
import { listenWith, s3Credentials, s3Handler } from '../support/s3-double.ts'
import { startService, testSecretKey, type TestService, type TestUser } from '../support/service.ts'
import { bucketName, newBucket } from '../support/store-drivers.ts'

const key = { SECRET_KEY: testSecretKey }

let folder: string
let service: TestService
let user: TestUser
/** An archive of one account with a board, a card and two files. */
let archive: string
let fileKeys: string[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corkboard-restore-'))
  service = await startService({ config: { dataDir: join(folder, 'source') }, nodes: 1, workers: false })
  user = await service.user()
  const board = await makeBoard(user)
  await makeCard(user, board.id)
  const sizes = [300, 2_000_000]
  fileKeys = []
  for (const bytes of sizes)
    fileKeys.push((await upload(service, user, board.id, pngOf(bytes))).body.image_key)
  archive = await backupOf('small.tar.zst')
}, 60_000)

afterAll(async () => {
  await service?.stop()
  await rm(folder, { recursive: true, force: true })
})

const source = () => ({ ...key, DATABASE_URL: service.databaseUrl })

async function backupOf(name: string, ...options: string[]): Promise<string> {
  const path = join(folder, name)
  const made = await corkboard(join(folder, 'source'), ['backup', '--to', path, ...options], source())
  expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' })
  return path
}

const newFolder = () => mkdtemp(join(folder, 'target-'))

async function restoreInto(
  url: string,
  from: string,
  options: string[] = [],
  env: Record<string, string> = {},
): Promise<Outcome> {
  return corkboard(await newFolder(), ['restore', '--from', from, ...options], {
    ...{ ...key, DATABASE_URL: url },
    ...env,
  })
}

async function restored(from: string, ...options: string[]): Promise<{ admin: Sql; told: any }> {
  const { url, admin } = await emptyDatabase()
  const { code, stdout, stderr } = await restoreInto(url, from, ['--json', ...options])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return { admin, told: JSON.parse(stdout) }
}

const schemaOf = async (admin: Sql) => {
  const [row] = await admin`select to_regnamespace('corkboard') as schema`
  return row!['schema'] as unknown
}

/** A restore that has to stop with this one line, and to leave the database empty. */
async function expectRefused(line: RegExp, from: string, env: Record<string, string> = {}): Promise<void> {
  const { url, admin } = await emptyDatabase()
  const { code, stdout, stderr } = await restoreInto(url, from, [], env)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(line)
  expect(stderr.split('\n')).toEqual([expect.stringMatching(/^corkboard: .*\.$/), ''])
  expect(await schemaOf(admin)).toBe(null)
}

const bucketAt = (url: string, bucket = bucketName) => ({
  ...{ STORAGE: 's3', S3_ENDPOINT: url, S3_BUCKET: bucket, S3_REGION: s3Credentials.region },
  S3_ACCESS_KEY_ID: s3Credentials.accessKeyId,
  S3_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
})

const stages = { begin: () => undefined, step: () => undefined }

test(
  '[BR7, BR8] every row of the first release is as it was, in the schema of this version',
  { timeout: 60_000 },
  async () => {
    const { url, admin } = await firstRelease()
    const sealed = openEncryption([testSecretKey], 'canary').seal('secret canary', 'secret canary')
    await admin`update corkboard.secret_canary set sealed = ${sealed}`
    const path = join(folder, 'first-release.tar.zst')
    const database = openDatabase({ url, poolSize: 1 })
    await backUp({ path, url, database, store: null, stages })
    await database.close()
    const before = await readTables(admin)
    await migrate(url)

    const target = await restored(path)
    const expected = await readTables(admin)
    const found = await readTables(target.admin)
    const ofProcesses = ['nodes', 'open_boards', 'commits', 'commit_pieces', 'rate_counters', 'rate_leases']
    for (const table of ofProcesses) {
      expect(before[table]!.length).toBeGreaterThan(0)
      expect(found[table]).toEqual([])
    }
    expect(found['delivery_pause']).toHaveLength(1)
    const withoutClient = (rows: unknown[]) =>
      rows.map((row) => ({ ...(row as object), api_client: null, api_clock: null }))
    for (const [table, rows] of Object.entries(expected)) {
      if ([...ofProcesses, 'delivery_pause'].includes(table)) continue
      if (table === 'board_documents') {
        expect(withoutClient(found[table]!)).toEqual(withoutClient(rows))
        expect(found[table]).not.toEqual(rows)
      } else expect({ table, rows: found[table] }).toEqual({ table, rows })
    }
    const sequences = (sql: Sql) =>
      sql`select sequencename, last_value from pg_sequences where schemaname = 'corkboard' order by 1`
    expect([...(await sequences(target.admin))]).toEqual([...(await sequences(admin))])
    expect(await readCatalog(target.admin)).toEqual(await readCatalog(admin))
    const statistics = (sql: Sql) =>
      sql`select attrelid::regclass::text, attnum, attstattarget from pg_attribute
      where attstattarget >= 0 and attrelid::regclass::text like 'search_index%'`
    expect([...(await statistics(target.admin))]).toEqual([...(await statistics(admin))])
    expect((await statistics(admin)).length).toBeGreaterThan(0)
    const [unforced] = await target.admin`
    select count(*) filter (where not relforcerowsecurity)::integer as policies,
      (select count(*)::integer from pg_trigger where not tgisinternal and tgenabled <> 'O') as triggers
    from pg_class where relnamespace = 'corkboard'::regnamespace and relkind = 'r'`
    expect(unforced).toEqual({ policies: 0, triggers: 0 })
  },
)

test('[BR9] what lets somebody in again is listed; --revoke-all ends it', { timeout: 60_000 }, async () => {
  const other = await service.user()
  const { token, tokenId } = other
  await service.admin`
    insert into sessions (user_id, hash, expires_at, ip)
    values (${other.userId}, '\\x01', now() + interval '1 day', '127.0.0.1')`
  await service.admin`
    insert into sign_in_links (user_id, hash, expires_at) values (${other.userId}, '\\x02', now() + interval '1 day')`
  const [grant] = await service.admin`
    insert into oauth_grants (key, payload, user_id, client_id, client_name, scopes, ends_at)
    values ('\\x03', '\\x04', ${other.userId}, 'client', 'An agent', '{read}', now() + interval '1 day') returning id`
  const board = await makeBoard(other, { name: 'Shown to guests' })
  const { link } = succeeded(await other.api.post(`/boards/${board.id}/links`, { role: 'viewer' }))
  const { invitation } = succeeded(
    await other.api.post(`/workspaces/${other.workspaceId}/invitations`, { role: 'viewer' }),
  )
  const path = await backupOf('access.tar.zst')
  await corkboard(folder, ['token', 'revoke', '--id', tokenId], source())

  const { told } = await restored(path)
  const mine = told.access.filter(({ email }: { email: string }) => email === other.email)
  expect(mine).toMatchObject([
    { kind: 'application', id: grant!['id'], name: 'An agent', scopes: ['read'] },
    { kind: 'guest link', id: link.id, name: 'Shown to guests' },
    { kind: 'invitation', id: invitation.id },
    { kind: 'link', id: other.userId, expires_at: expect.any(String) },
    { kind: 'token', id: tokenId, name: 'test', expires_at: null },
  ])
  expect(told).toMatchObject({ sessions: 1, revoked: false })
  expect(JSON.stringify(told)).not.toContain(token)

  const ended = await restored(path, '--revoke-all', '--resume')
  expect(ended.told).toMatchObject({ sessions: 1, revoked: true, paused: false })
  const [left] = await ended.admin`
    select (select count(*)::integer from tokens where revoked_at is null) as tokens,
      (select count(*)::integer from oauth_grants where revoked_at is null) as applications,
      (select count(*)::integer from sign_in_links) as links, (select count(*)::integer from sessions) as sessions,
      (select count(*)::integer from board_links where ended_at is null) as guest_links,
      (select count(*)::integer from invitations where ended_at is null) as invitations,
      (select count(*)::integer from delivery_pause) as pauses`
  expect(left).toEqual({
    tokens: 0,
    applications: 0,
    links: 0,
    sessions: 0,
    guest_links: 0,
    invitations: 0,
    pauses: 0,
  })
})

test(
  '[BR10] a restore that is killed leaves the database empty, and runs again',
  { timeout: 60_000 },
  async () => {
    const { url, admin } = await emptyDatabase()
    const bucket = newBucket()
    const answers = s3Handler(bucketName, bucket)
    let puts = 0
    const s3 = await listenWith((request, response) => {
      // The second file gets no answer. By then all tables are loaded. The first put is that of the check.
      if (request.method === 'PUT' && (puts += 1) === 3) return
      return answers(request, response)
    })
    onTestFinished(() => s3.close())
    const env = { ...key, DATABASE_URL: url, ...bucketAt(s3.url) }
    const program = ['--import', './server/preflight.js', 'server/cli/main.ts', 'restore', '--from', archive]
    const child = spawn(process.execPath, program, {
      cwd: repository,
      env: { PATH: process.env['PATH'], DATA_DIR: await newFolder(), ...env },
    })
    await until(() => puts >= 3, 'the second file is being stored', 30_000)
    child.kill('SIGKILL')
    const sessions = () => admin`
    select from pg_stat_activity where application_name = 'corkboard restore' and datname = current_database()`
    await until(async () => (await sessions()).length === 0, 'the session has ended')
    expect(await schemaOf(admin)).toBe(null)
    const { code, stderr } = await restoreInto(url, archive, [], bucketAt(s3.url))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect([...bucket.objects.keys()].sort()).toEqual([...fileKeys].sort())
  },
)

/** Writes a copy of the archive with another header. */
async function withHeader(name: string, change: (header: ArchiveHeader) => void): Promise<string> {
  const path = join(folder, name)
  const copy = await writeArchive(path)
  for await (const part of readArchive(archive)) {
    let bytes = await buffer(part.body)
    if (part.name === 'header.json') {
      const header = JSON.parse(bytes.toString()) as ArchiveHeader
      change(header)
      bytes = Buffer.from(JSON.stringify(header))
    }
    await copy.add(part.name, bytes)
  }
  await copy.finish()
  return path
}

test(
  '[BR11] a damaged archive, one of a newer version, or another file is refused before anything is written',
  { timeout: 120_000 },
  async () => {
    const whole = await readFile(archive)
    const damaged = async (name: string, bytes: Buffer) => {
      const path = join(folder, name)
      await writeFile(path, bytes)
      return path
    }
    const flipped = Buffer.from(whole)
    flipped[Math.floor(whole.length / 2)]! ^= 0xff
    const incomplete = /is damaged or incomplete: .*\. Use another copy of it\. Nothing was changed\.$/m
    await expectRefused(incomplete, await damaged('truncated', whole.subarray(0, -1)))
    await expectRefused(incomplete, await damaged('half', whole.subarray(0, whole.length / 2)))
    await expectRefused(incomplete, await damaged('flipped', flipped))
    await expectRefused(incomplete, await damaged('text', Buffer.from('no archive')))
    await expectRefused(/can't be read: ENOENT/, join(folder, 'nothing'))
    const format = await withHeader('format', (header) => (header.format = 2))
    await expectRefused(/A newer version of Corkboard made this archive/, format)
    const schema = await withHeader('schema', ({ migrations }) =>
      migrations.push({ name: 'migrations/9999-later.sql', checksum: '' }),
    )
    await expectRefused(
      /the schema of a newer version of Corkboard, with migrations\/9999-later\.sql/,
      schema,
    )
  },
)

test(
  '[BR16] a part that is changed, missing or added is found; tar and sha256sum read the archive',
  { timeout: 60_000 },
  async () => {
    const opened = await mkdtemp(join(folder, 'opened-'))
    const inside = (line: string) => run('sh', ['-c', `set -e; ${line}`], { cwd: opened })
    await writeFile(join(folder, 'plain.tar'), zstdDecompressSync(await readFile(archive)))
    const listed = await inside('tar -xf ../plain.tar; tar -tf ../plain.tar')
    const names = listed.stdout.trim().split('\n')
    expect(await inside('cat sums/* | sha256sum --check --quiet')).toMatchObject({ code: 0, stdout: '' })
    /** Packs the parts again after a change, and reads the result. */
    const readAfter = async (change: string, parts = names) => {
      const path = join(folder, 'packed')
      const packed = await inside(`${change}; tar -cf ../packed.tar ${parts.join(' ')}`)
      expect(packed).toMatchObject({ code: 0 })
      await writeFile(path, zstdCompressSync(await readFile(join(folder, 'packed.tar'))))
      for await (const _ of readArchive(path));
    }
    const users = 'tables/users/000001'
    const without = (name: string) => names.filter((one) => one !== name)
    await readAfter('true')
    await expect(readAfter('true', without(users))).rejects.toThrow('differs from its checksum')
    await expect(readAfter('true', without('end.json'))).rejects.toThrow('its end is missing')
    const added = names.flatMap((name) => (name === users ? [users, 'tables/users/000002'] : [name]))
    await expect(readAfter(`cp ${users} tables/users/000002`, added)).rejects.toThrow(
      'tables/users/000002 differs from its checksum',
    )
    await expect(readAfter(`echo more >> ${users}`)).rejects.toThrow(`${users} differs from its checksum`)
  },
)

test('[BR12] a full disk is one line at the backup and at the restore', { timeout: 60_000 }, async () => {
  // A limit on the size of files stands for a full disk: no file of the command grows past it.
  const limited = (args: string[], env: Record<string, string>) =>
    run('sh', ['-c', `ulimit -f 2000; exec "$0" "$@"`, process.execPath, ...args], {
      cwd: repository,
      env: { PATH: process.env['PATH'], ...env },
    })
  const program = ['--import', './server/preflight.js', 'server/cli/main.ts']
  await upload(service, user, (await makeBoard(user)).id, Buffer.concat([pngOf(300), randomBytes(1_500_000)]))
  const path = join(folder, 'too-large.tar.zst')
  const backup = await limited([...program, 'backup', '--to', path], {
    ...source(),
    DATA_DIR: join(folder, 'source'),
  })
  expect(backup).toMatchObject({ code: 1, stdout: '' })
  expect(backup.stderr).toBe(
    `corkboard: There is no room left for ${path}. Make room, or choose another path.\n`,
  )
  expect((await readdir(folder)).filter((name) => name.startsWith('too-large'))).toEqual([])

  const { url, admin } = await emptyDatabase()
  const restore = await limited([...program, 'restore', '--from', archive], {
    ...{ ...key, DATABASE_URL: url, DATA_DIR: await newFolder() },
  })
  expect(restore).toMatchObject({ code: 1, stdout: '' })
  expect(restore.stderr).toMatch(
    /^corkboard: The file \S+ could not be stored: EFBIG.*\. Check the file store .*\.\n$/,
  )
  expect(await schemaOf(admin)).toBe(null)
})

test(
  '[BR13] a store, a database or a key that is not right is one line, and nothing is changed',
  { timeout: 120_000 },
  async () => {
    const bucket = newBucket()
    const s3 = await listenWith(s3Handler(bucketName, bucket))
    onTestFinished(() => s3.close())
    await expectRefused(/bucket/, archive, bucketAt(s3.url, 'no-such-bucket'))
    bucket.readOnly = true
    await expectRefused(/cannot be used: PUT .* answered 403/, archive, bucketAt(s3.url))
    await s3.close()
    await expectRefused(/cannot be|reached/, archive, bucketAt(s3.url))
    await expectRefused(/another SECRET_KEY/, archive, { SECRET_KEY: 'x'.repeat(40) })
    await expectRefused(/Set SECRET_KEY to the key of the service that was backed up/, archive, {
      SECRET_KEY: '',
    })

    const missing = await restoreInto(withDatabase(service.databaseUrl, 'no_such_database'), archive)
    expect(missing.stderr).toMatch(/^corkboard: .*"no_such_database" does not exist.*\n$/)
    const users = await service.admin`select count(*) from users`
    const full = await restoreInto(service.databaseUrl, archive)
    expect(full.stderr).toMatch(/^corkboard: The database \S+ is not empty: .*\n$/)
    expect(await service.admin`select count(*) from users`).toEqual(users)
    const again = await corkboard(join(folder, 'source'), ['backup', '--to', archive], source())
    expect(again).toMatchObject({
      code: 1,
      stderr: `corkboard: ${archive} exists already. Choose another path, or remove it.\n`,
    })
    const nowhere = join(folder, 'no-such-folder', 'a.tar.zst')
    const unwritable = await corkboard(join(folder, 'source'), ['backup', '--to', nowhere], source())
    expect(unwritable.stderr).toMatch(/can't be written: ENOENT.*\n$/)
  },
)

test(
  '[BR14] a file without bytes is named; a file that was reclaimed meanwhile is left out',
  { timeout: 60_000 },
  async () => {
    const board = await makeBoard(user)
    const lost = (await upload(service, user, board.id)).body.image_key
    const reclaimed = (await upload(service, user, board.id)).body.image_key
    await service.files.remove([lost, reclaimed])
    await service.admin`update images set condemned_at = now(), unreferenced_since = now() where image_key = ${reclaimed}`
    const path = join(folder, 'missing.tar.zst')
    const made = await corkboard(join(folder, 'source'), ['backup', '--to', path], source())
    expect(JSON.parse(made.stdout)).toMatchObject({ missing_files: [lost] })
    const { admin, told } = await restored(path)
    expect(told.missing_files).toEqual([lost])
    const left = await admin`select image_key from images where image_key = any (${[lost, reclaimed]})`
    expect([...left]).toEqual([{ image_key: lost }])
    await service.admin`delete from images where image_key = any (${[lost, reclaimed]})`
  },
)

test('[BR15] an archive without files restores the database alone', { timeout: 60_000 }, async () => {
  const path = await backupOf('without.tar.zst', '--without-files')
  const { admin, told } = await restored(path)
  expect(told).toMatchObject({ files: null, file_bytes: null, missing_files: null })
  const found = await admin`select image_key from images where image_key = any (${fileKeys})`
  expect(found).toHaveLength(2)
})
