import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { closeCodes } from '../../core/errors.ts'
import { isLoopback, reachableHost, readConfig, variables } from '../../server/config.ts'
import { resolveSecretKey } from '../../server/secret-key.ts'
import { repository } from '../support/instance.ts'

const defaults = Object.fromEntries(
  Object.entries(variables.properties).map(([name, schema]) => [
    name,
    String((schema as { default?: unknown }).default),
  ]),
)

test.each([
  ['PORT', '65536', 'PORT must be a whole number from 0 to 65535. It is "65536".'],
  ['PORT', '80.5', 'PORT must be a whole number from 0 to 65535. It is "80.5".'],
  ['PORT', 'http', 'PORT must be a whole number from 0 to 65535. It is "http".'],
  ['RATE_LIMIT_PER_HOUR', '0', 'RATE_LIMIT_PER_HOUR must be a whole number of at least 1. It is "0".'],
  ['TRUST_PROXY', 'true', 'TRUST_PROXY must be a whole number of at least 0. It is "true".'],
  ['HOST', 'a b', 'HOST must be an address or a host name to listen on. It is "a b".'],
  [
    'EGRESS_ALLOW',
    '10.0.0.0/8, intranet',
    'EGRESS_ALLOW must be a comma-separated list of addresses and CIDR ranges, such as 10.0.0.0/8. It is "10.0.0.0/8, intranet".',
  ],
  [
    'WEBHOOK_RETRY_WAITS',
    '60,300,1500,7200',
    'WEBHOOK_RETRY_WAITS must be five whole numbers of seconds, separated by commas, such as 60,300,1500,7200,36000. It is "60,300,1500,7200".',
  ],
  ['APP_EVENT_POLL_SECONDS', '61', 'APP_EVENT_POLL_SECONDS must be a whole number from 1 to 60. It is "61".'],
  ['LOG_LEVEL', 'loud', 'LOG_LEVEL must be debug, info, warn, error or silent. It is "loud".'],
  [
    'PUBLIC_URL',
    'https://a.example/',
    'PUBLIC_URL must be an http or https URL without a slash at its end. It is "https://a.example/".',
  ],
])('[O4] %s=%s is refused in one line', (name, value, message) => {
  expect(() => readConfig({ [name]: value })).toThrow(message)
})

test.each([
  ['SECRET_KEY', 'too-short', 'SECRET_KEY must be at least 32 characters.'],
  ['SECRET_KEY_PREVIOUS', 'too-short', 'SECRET_KEY_PREVIOUS must be at least 32 characters.'],
  ['DATABASE_URL', 'mysql://root:canary@localhost/x', 'DATABASE_URL must be a postgres:// URL.'],
  [
    'SMTP_URL',
    'https://user:canary@mail.example',
    'SMTP_URL must be an smtp:// or smtps:// URL, such as smtps://user:password@mail.example.com.',
  ],
  [
    'SMTP_URL',
    'smtp://user:canary@mail.example',
    'SMTP_URL requires MAIL_FROM, the address of the sender. Set it.',
  ],
  ['METRICS_TOKEN', 'too short', 'METRICS_TOKEN must be at least 16 characters without spaces.'],
])('[O4] a bad %s is refused without being shown', (name, value, message) => {
  expect(() => readConfig({ [name]: value })).toThrow(new Error(message))
})

test.each([
  'http://:canary@redis',
  'redis://',
  'redis:canary',
  'redis://:canary@redis/x',
  'redis://:canary@redis:x',
])('[O4] REDIS_URL=%s is refused without being shown', (REDIS_URL) =>
  expect(() => readConfig({ REDIS_URL })).toThrow(
    new Error('REDIS_URL must be a redis:// or rediss:// URL, such as redis://user:password@host:6379.'),
  ),
)

test.each(['redis://redis', 'rediss://user:word@redis.example:6380/3', 'redis://[::1]:6379/'])(
  '[O4] REDIS_URL=%s is taken',
  (url) => expect(readConfig({ REDIS_URL: url }).redisUrl).toBe(url),
)

test('[O4] nothing set, or set to nothing, gives the defaults', () => {
  const config = readConfig({})
  expect(config).toMatchObject({ port: 4000, host: '127.0.0.1', databaseUrl: null, rateLimitPerHour: 1000 })
  expect(config.publicUrl).toBeNull()
  expect(readConfig(Object.fromEntries(Object.keys(defaults).map((name) => [name, ' '])))).toEqual(config)
  expect(readConfig(defaults)).toEqual(config)
})

test.each([
  ['::1', '[::1]'],
  ['0.0.0.0', 'localhost'],
  ['::', 'localhost'],
  ['127.0.0.1', '127.0.0.1'],
])('[O4] what listens on %s is named %s to clients', (host, named) => {
  expect(reachableHost(host)).toBe(named)
})

test('[O3] an address that others can reach is no loopback address', () => {
  expect(['127.0.0.1', '127.1.2.3', '::1', 'localhost'].filter((host) => !isLoopback(host))).toEqual([])
  expect(['0.0.0.0', '::', '10.0.0.1', '127.example.com', 'cork.example'].filter(isLoopback)).toEqual([])
})

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-config-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('[O5] with an external database a missing SECRET_KEY is refused, and a given one is taken', async () => {
  const DATABASE_URL = 'postgres://cork@db.example/cork'
  await expect(resolveSecretKey(readConfig({ DATABASE_URL }))).rejects.toThrow(
    'SECRET_KEY must be set when DATABASE_URL is set. Use at least 32 characters, the same at every start.',
  )
  const SECRET_KEY = 'k'.repeat(32)
  expect(await resolveSecretKey(readConfig({ DATABASE_URL, SECRET_KEY }))).toBe(SECRET_KEY)
})

test('[O5] on the embedded database a key is made once, for its user alone to read', async () => {
  const config = readConfig({ DATA_DIR: join(await newFolder(), 'data') })
  const keys = await Promise.all(Array.from({ length: 8 }, () => resolveSecretKey(config)))
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^[\w-]{43}$/)
  const file = join(config.dataDir, 'secret-key')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await readFile(file, 'utf8')).trim()).toBe(keys[0])
  expect(await resolveSecretKey(config)).toBe(keys[0])
})

test('[O5] a key file that was spoilt stops the start, and is left alone', async () => {
  const DATA_DIR = await newFolder()
  const file = join(DATA_DIR, 'secret-key')
  await writeFile(file, 'torn')
  await chmod(file, 0o600)
  await expect(resolveSecretKey(readConfig({ DATA_DIR }))).rejects.toThrow(
    'Restore the file, or set SECRET_KEY',
  )
  expect(await readFile(file, 'utf8')).toBe('torn')
})

test('[O15] docs/operations.md and .env.example list every variable with its default, and no other', async () => {
  const expected = Object.entries(defaults)
  const guide = await readFile(join(repository, 'docs/operations.md'), 'utf8')
  const rows = [...guide.matchAll(/^\| `([A-Z0-9_]+)` +\| (?:`([^`]*)`|–) +\|/gm)]
  expect(rows.map(([, name, value = '']) => [name, value])).toEqual(expected)

  const example = await readFile(join(repository, '.env.example'), 'utf8')
  const lines = [...example.matchAll(/^#([A-Z0-9_]+)=(.*)$/gm)]
  expect(lines.map(([, name, value]) => [name, value])).toEqual(expected)
})

test('[O16] docs/editors.md lists every close code with its reason', async () => {
  const guide = await readFile(join(repository, 'docs/editors.md'), 'utf8')
  const rows = [...guide.matchAll(/^\| (\d{4}) \| `([^`]+)` +\|/gm)]
  const listed = rows.map(([, code, reason]) => ({ code: Number(code), reason }))
  expect(listed).toEqual(Object.values(closeCodes))
})
