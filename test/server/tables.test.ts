/** Names that other people chose, in the tables that the command line prints. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runHere } from '../support/command.ts'
import { testSecretKey } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service } = await serviceOfFile({ workers: false, nodes: 1 })

test('[AD10] a name with signs that steer a terminal is printed with escapes, and has one row', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'corkboard-tables-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const name = '\u001b[2K\rZoë\nfake row\u202e 👩‍🚀'
  const user = await service.user({ name })
  const run = (...args: string[]) =>
    runHere(args, { DATABASE_URL: service.databaseUrl, SECRET_KEY: testSecretKey, DATA_DIR: dataDir })
  const { stdout } = await run('user', 'list')
  const [row, ...others] = stdout.split('\n').filter((line) => line.includes(user.email))
  expect(row).toContain('  \\u001b[2K\\u000dZoë\\u000afake row\\u202e 👩‍🚀  ')
  expect(others).toEqual([])
  expect(stdout.split('\n').find((line) => line.startsWith('fake row'))).toBe(undefined)
  expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
  const { users } = JSON.parse((await run('user', 'list', '--json')).stdout)
  expect(users).toContainEqual(expect.objectContaining({ email: user.email, name }))
})
