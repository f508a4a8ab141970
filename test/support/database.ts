/** A separate database for a test file, cloned from the migrated template. */
import { randomBytes } from 'node:crypto'
import postgres, { type Sql } from 'postgres'
import { inject } from 'vitest'
import { templateName, withDatabase } from './global-setup.ts'

export interface TestDatabase {
  /** URL with the service's role. */
  url: string
  /** Connection as superuser, for whom no policy applies. */
  admin: Sql
  drop(): Promise<void>
}

export async function cloneDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const server = postgres(inject('adminUrl'), { max: 1, onnotice: () => undefined })
  // PostgreSQL clones a template for only one session at a time.
  await server`select pg_advisory_lock(1)`
  await server.unsafe(`create database ${name} template ${templateName} strategy file_copy owner corkboard`)
  await server`select pg_advisory_unlock(1)`
  const admin = postgres(withDatabase(inject('adminUrl'), name), {
    max: 4,
    onnotice: () => undefined,
    connection: { search_path: 'corkboard' },
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
  })
  return {
    url: withDatabase(inject('serviceUrl'), name),
    admin,
    async drop() {
      await admin.end({ timeout: 2 })
      await server.unsafe(`drop database if exists ${name} with (force)`)
      await server.end({ timeout: 2 })
    },
  }
}
