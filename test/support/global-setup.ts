/** Starts one PostgreSQL for the whole run, with a migrated template that each test file clones. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../sql/embedded/embedded.ts'
import { migrate } from '../../sql/migrate.ts'
import { compareObserved, readObserved } from './observed.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the superuser. */
    adminUrl: string
    /** URL of the service's login role. */
    serviceUrl: string
  }
}

export const templateName = 'corkboard_template'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'corkboard-test-'))
  // Nothing of this server outlives the run, so nothing has to reach the disk.
  const volatile = { fsync: 'off', full_page_writes: 'off' }
  const server = await startEmbedded({ dataDir, settings: { max_connections: '300', ...volatile } })
  const admin = postgres(server.adminUrl, { max: 1, onnotice: () => undefined })
  await admin.unsafe(`create database ${templateName} owner corkboard`)
  await admin.end()
  await migrate(withDatabase(server.url, templateName))
  project.provide('adminUrl', server.adminUrl)
  project.provide('serviceUrl', server.url)
  const observedDir = await mkdtemp(join(tmpdir(), 'corkboard-observed-'))
  project.provide('observedDir', observedDir)
  return async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
    const { description, observed } = readObserved(observedDir)
    await rm(observedDir, { recursive: true, force: true })
    if (!description || !(await wereAllRun(project))) return
    const differences = compareObserved(description, observed)
    if (differences.length === 0) return
    throw new Error(`The answers in the tests differ from the API description:\n${differences.join('\n')}`)
  }
}

/** True when all tests ran and passed. A partial run does not cover the description. */
async function wereAllRun({ vitest }: TestProject): Promise<boolean> {
  if (vitest.config.testNamePattern) return false
  const run = vitest.state.getTestModules()
  const ran = new Set(run.map(({ moduleId }) => moduleId))
  const all = await vitest.globTestSpecifications()
  return all.every(({ moduleId }) => ran.has(moduleId)) && run.every((module) => module.ok())
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
