/**
 * `first-release/` holds the schema of the first release as it was: `schema.json.br`, its files in the order in which they
 * ran, and `rows.sql`, rows of every table. Neither changes any more.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { migrate, schemaFiles } from '../../sql/migrate.ts'
import { cloneDatabase } from '../support/database.ts'
import { firstRelease, readCatalog, readTables, release } from '../support/first-release.ts'
import { repository } from '../support/instance.ts'

test('[O53] the numbered files of the first release are as they were', async () => {
  const migrations = release.filter(({ name }) => name.startsWith('migrations/'))
  expect(migrations).toHaveLength(9)
  for (const { name, text } of migrations) {
    const present = await readFile(join(repository, 'sql', name), 'utf8').catch(() => '')
    expect(
      present === text,
      `sql/${name} belongs to a release and must not change: restore it, and put the change into a new numbered file.`,
    ).toBe(true)
  }
})

test('[CG10] a function that has changed since the release comes with a newer migration, which says with which code it works', async () => {
  const changed: string[] = []
  for (const { name, checksum } of await schemaFiles())
    if (!name.startsWith('migrations/') && release.find((file) => file.name === name)?.checksum !== checksum)
      changed.push(name)
  const added = (await readdir(join(repository, 'sql/migrations'))).filter(
    (name) => !release.some((file) => file.name === `migrations/${name}`),
  )
  expect(
    changed.length === 0 || added.length > 0,
    `${changed.join(', ')} changed since the release. Add a numbered file to sql/migrations, even one with a comment only: older code recognizes newer functions by its number.`,
  ).toBe(true)
  for (const name of added) {
    const text = await readFile(join(repository, 'sql/migrations', name), 'utf8')
    expect(
      /^-- (Works with: \d{4}|Works with no older code)$/m.test(text),
      `${name} says with which code it works`,
    ).toBe(true)
  }
})

test('[O53] a database of the first release becomes one of this version: its rows are there, and its schema is a new database’s', async () => {
  const { url, admin } = await firstRelease()
  const before = await readTables(admin)
  expect(Object.keys(before).filter((table) => before[table]!.length === 0)).toEqual([])

  await migrate(url)

  // A change that moves rows or values elsewhere says so here.
  expect(await readTables(admin)).toMatchObject(before)
  const fresh = await cloneDatabase()
  onTestFinished(() => fresh.drop())
  expect(await readCatalog(admin)).toEqual(await readCatalog(fresh.admin))
  expect(await migrate(url)).toEqual([])
})

test('[O54] a migration that has changed since it was applied, or that is unknown, stops the start and changes nothing', async () => {
  const { url, admin } = await firstRelease()
  const before = await admin`select * from schema_files order by name`
  const changed = release.map((file) =>
    file.name === 'migrations/0003-boards.sql' ? { ...file, checksum: 'another' } : file,
  )
  const function_ = { name: 'functions/new.sql', checksum: 'new', text: 'create table not_made ()' }
  await expect(migrate(url, [function_, ...changed])).rejects.toThrow(
    'migrations/0003-boards.sql has changed after it was applied. Restore it, and put the change into a new numbered file.',
  )
  await expect(migrate(url, [function_, ...release.slice(0, -1)])).rejects.toThrow(
    'The database is newer than this version of Corkboard: it has migrations/0009-operations.sql. Start the newer version.',
  )
  expect(await admin`select * from schema_files order by name`).toEqual(before)
})

test('[O55] a function whose body names what the schema lacks stops the start and changes nothing', async () => {
  const { url, admin } = await firstRelease()
  const text = `create function broken() returns bigint language sql set search_path = corkboard, pg_temp
    as $$ select count(*) from no_such_table $$`
  await expect(
    migrate(url, [...release, { name: 'functions/broken.sql', checksum: 'b', text }]),
  ).rejects.toThrow('relation "no_such_table" does not exist')
  expect([...(await admin`select from pg_proc where proname = 'broken'`)]).toEqual([])
})
