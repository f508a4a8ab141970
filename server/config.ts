/** Reads and checks the environment. An invalid value stops the start with one line that says what is accepted. */
import { isIPv4, isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { limits } from '../core/limits.ts'
import { parseRange } from '../platform/egress/addresses.ts'
import type { SecretKeys } from '../platform/secrets/encryption.ts'
import type { S3Options } from '../platform/storage/s3-store.ts'
import type { SupabaseOptions } from '../platform/storage/supabase-store.ts'

const integer = (options: { default: number; minimum: number; maximum?: number }) => Type.Integer(options)
const logLevels = ['debug', 'info', 'warn', 'error', 'silent']

const storages = ['disk', 'supabase', 's3'] as const
const urlOrNothing = '^(https?://[^/\\s](\\S*[^/\\s])?)?$'

/** Every variable, with its default. A test compares the table of docs/operations.md with this object. */
export const variables = Type.Object({
  PORT: integer({ default: 4000, minimum: 0, maximum: 65_535 }),
  HOST: Type.String({ default: '127.0.0.1', pattern: '^\\S+$' }),
  PUBLIC_URL: Type.String({ default: '', pattern: urlOrNothing }),
  DATA_DIR: Type.String({ default: './data', minLength: 1 }),
  DEMO: Type.Union([Type.Literal('on'), Type.Literal('off')], { default: 'on' }),
  DATABASE_URL: Type.String({ default: '', pattern: '^(postgres(ql)?://\\S+)?$' }),
  DATABASE_POOL: integer({ default: 12, minimum: 2, maximum: 200 }),
  DATABASE_WAIT_SECONDS: integer({ default: 30, minimum: 0, maximum: 3600 }),
  REDIS_URL: Type.String({ default: '', pattern: '^(rediss?://[^/\\s]\\S*)?$' }),
  SMTP_URL: Type.String({ default: '', pattern: '^(smtps?://[^/\\s]\\S*)?$' }),
  MAIL_FROM: Type.String({ default: '', pattern: '^([^\\s@<>]+@[^\\s@<>]+)?$' }),
  SECRET_KEY: Type.String({ default: '', pattern: '^(.{32,})?$' }),
  SECRET_KEY_PREVIOUS: Type.String({ default: '', pattern: '^(.{32,})?$' }),
  LOG_LEVEL: Type.Union(
    logLevels.map((level) => Type.Literal(level)),
    { default: 'info' },
  ),
  METRICS_PORT: integer({ default: 0, minimum: 0, maximum: 65_535 }),
  METRICS_HOST: Type.String({ default: '127.0.0.1', pattern: '^\\S+$' }),
  METRICS_TOKEN: Type.String({ default: '', pattern: '^(\\S{16,})?$' }),
  RATE_LIMIT_PER_HOUR: integer({ default: 1000, minimum: 1 }),
  MAX_RATE_LIMIT_PER_HOUR: integer({ default: limits.maxRateLimitPerHour, minimum: 1 }),
  FREE_CARD_CAP: integer({ default: 100, minimum: 0 }),
  WARM_DOCUMENT_BYTES: integer({ default: 64 * 1024 * 1024, minimum: 0 }),
  MAX_SOCKETS_PER_BOARD: integer({ default: 1000, minimum: 1 }),
  MAX_SOCKETS_PER_ACCOUNT_ON_BOARD: integer({ default: 500, minimum: 1 }),
  MAX_SOCKETS_PER_ACCOUNT: integer({ default: 2000, minimum: 1 }),
  TRUST_PROXY: integer({ default: 0, minimum: 0 }),
  DRAIN_SECONDS: integer({ default: 0, minimum: 0, maximum: 300 }),
  EGRESS_ALLOW: Type.String({ default: '' }),
  WEBHOOK_RETRY_WAITS: Type.String({
    default: '60,300,1500,7200,36000',
    pattern: '^\\d{1,6}(\\s*,\\s*\\d{1,6}){4}$',
  }),
  APP_EVENT_POLL_SECONDS: integer({ default: 15, minimum: 1, maximum: 60 }),
  AUDIT_RETENTION_DAYS: integer({ default: 400, minimum: 1, maximum: 36_500 }),
  FREE_HISTORY_DAYS: integer({ default: 30, minimum: 0, maximum: 36_500 }),
  PRO_HISTORY_DAYS: integer({ default: 365, minimum: 0, maximum: 36_500 }),
  FREE_STORAGE_BYTES: integer({ default: 1024 ** 3, minimum: 0 }),
  PRO_STORAGE_BYTES: integer({ default: 100 * 1024 ** 3, minimum: 0 }),
  FREE_DOCUMENTS_BYTES: integer({ default: 1024 ** 3, minimum: 0 }),
  PRO_DOCUMENTS_BYTES: integer({ default: 100 * 1024 ** 3, minimum: 0 }),
  STORAGE: Type.Union(
    storages.map((storage) => Type.Literal(storage)),
    { default: 'disk' },
  ),
  SUPABASE_URL: Type.String({ default: '', pattern: urlOrNothing }),
  SUPABASE_SERVICE_KEY: Type.String({ default: '' }),
  S3_ENDPOINT: Type.String({ default: '', pattern: urlOrNothing }),
  S3_REGION: Type.String({ default: 'us-east-1', pattern: '^[\\w-]+$' }),
  S3_BUCKET: Type.String({ default: '', pattern: '^([\\w.-]+)?$' }),
  S3_ACCESS_KEY_ID: Type.String({ default: '' }),
  S3_SECRET_ACCESS_KEY: Type.String({ default: '' }),
})

type Values = Static<typeof variables>
type Variable = keyof Values

const accepted: Partial<Record<Variable, string>> = {
  DEMO: 'on or off',
  HOST: 'an address or a host name to listen on',
  PUBLIC_URL: 'an http or https URL without a slash at its end',
  DATABASE_URL: 'a postgres:// URL',
  REDIS_URL: 'a redis:// or rediss:// URL, such as redis://user:password@host:6379',
  SMTP_URL: 'an smtp:// or smtps:// URL, such as smtps://user:password@mail.example.com',
  MAIL_FROM: 'an e-mail address',
  SECRET_KEY: 'at least 32 characters',
  SECRET_KEY_PREVIOUS: 'at least 32 characters',
  EGRESS_ALLOW: 'a comma-separated list of addresses and CIDR ranges, such as 10.0.0.0/8',
  WEBHOOK_RETRY_WAITS: 'five whole numbers of seconds, separated by commas, such as 60,300,1500,7200,36000',
  STORAGE: 'disk, supabase or s3',
  SUPABASE_URL: 'an http or https URL without a slash at its end',
  S3_ENDPOINT: 'an http or https URL without a slash at its end',
  S3_REGION: 'the name of a region, such as us-east-1',
  S3_BUCKET: 'the name of a bucket',
  METRICS_HOST: 'an address or a host name to listen on',
  METRICS_TOKEN: 'at least 16 characters without spaces',
  LOG_LEVEL: logLevels.join(', ').replace(/, (\w+)$/, ' or $1'),
}

/** Variables whose values no message may show, even when they are invalid. */
const secret = new Set<Variable>([
  'DATABASE_URL',
  'REDIS_URL',
  'SMTP_URL',
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'METRICS_TOKEN',
  'SUPABASE_SERVICE_KEY',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
])

/** Where files are stored. */
type StorageConfig =
  | { kind: 'disk' }
  | { kind: 's3'; s3: S3Options }
  | ({ kind: 'supabase' } & SupabaseOptions)

export type Config = ReturnType<typeof readConfig>

export class ConfigError extends Error {}

/** @throws ConfigError whose message names the variable and the accepted values */
export function readConfig(environment: NodeJS.ProcessEnv) {
  const values = readVariables(environment)
  return {
    port: values.PORT,
    host: values.HOST,
    /** URL at which clients reach the service, without a slash at the end. Null: the address on which it listens. */
    publicUrl: values.PUBLIC_URL || null,
    dataDir: resolve(values.DATA_DIR),
    /** Whether a first start makes a demo account with a board. */
    demo: values.DEMO === 'on',
    /** Null: the embedded PostgreSQL. */
    databaseUrl: values.DATABASE_URL || null,
    databasePool: values.DATABASE_POOL,
    /** How long a start waits for a database, or a file store, that is out of reach. */
    databaseWaitSeconds: values.DATABASE_WAIT_SECONDS,
    /** Null: messages between nodes go over NOTIFY. */
    redisUrl: values.REDIS_URL || null,
    smtp: smtpOf(values),
    /** Empty when the variable is not set; then secret-key.ts makes a key. */
    secretKey: values.SECRET_KEY,
    /** A second key that decrypts, during a rotation. Empty when the variable is not set. */
    previousSecretKey: values.SECRET_KEY_PREVIOUS,
    logLevel: values.LOG_LEVEL as string,
    /** 0: metrics have no port of their own. */
    metricsPort: values.METRICS_PORT,
    metricsHost: values.METRICS_HOST,
    /** Empty: metrics need no token, and the service's port does not serve them. */
    metricsToken: values.METRICS_TOKEN,
    rateLimitPerHour: values.RATE_LIMIT_PER_HOUR,
    /** Highest request limit that a token or a service account may have of its own. */
    maxRateLimitPerHour: values.MAX_RATE_LIMIT_PER_HOUR,
    freeCardCap: values.FREE_CARD_CAP,
    warmDocumentBytes: values.WARM_DOCUMENT_BYTES,
    maxSocketsPerBoard: values.MAX_SOCKETS_PER_BOARD,
    maxSocketsPerAccountOnBoard: values.MAX_SOCKETS_PER_ACCOUNT_ON_BOARD,
    maxSocketsPerAccount: values.MAX_SOCKETS_PER_ACCOUNT,
    trustProxy: values.TRUST_PROXY,
    /** How long `/readyz` says 503 before a stop closes anything. */
    drainSeconds: values.DRAIN_SECONDS,
    /** Addresses and CIDR ranges that are not public, but to which the service may send requests. */
    egressAllow: rangesIn(values.EGRESS_ALLOW),
    /** Five waits in seconds, between the six attempts of a delivery. */
    webhookRetryWaits: values.WEBHOOK_RETRY_WAITS.split(',').map(Number),
    /** Seconds during which the edits on a board are collected into one event. */
    appEventPollSeconds: values.APP_EVENT_POLL_SECONDS,
    auditRetentionDays: values.AUDIT_RETENTION_DAYS,
    storage: storageOf(values),
    /** Most bytes of files in all workspaces that an account owns. */
    storageBytes: { free: values.FREE_STORAGE_BYTES, pro: values.PRO_STORAGE_BYTES },
    /** For how many days the past of boards is kept. */
    historyDays: { free: values.FREE_HISTORY_DAYS, pro: values.PRO_HISTORY_DAYS },
    /** Most bytes of board documents in all workspaces that an account owns. */
    documentBytes: { free: values.FREE_DOCUMENTS_BYTES, pro: values.PRO_DOCUMENTS_BYTES },
  }
}

/** How to send mail. Null: the service sends none, and shows the links that it would send. */
function smtpOf({ SMTP_URL: url, MAIL_FROM: from }: Values): { url: string; from: string } | null {
  if (url === '') return null
  if (from === '') throw new ConfigError('SMTP_URL requires MAIL_FROM, the address of the sender. Set it.')
  return { url, from }
}

function readVariables(environment: NodeJS.ProcessEnv): Values {
  const given = Object.fromEntries(
    Object.keys(variables.properties).flatMap((name) => {
      const value = environment[name]?.trim()
      return value ? [[name, value]] : []
    }),
  )
  const typed = Object.fromEntries(
    // Only plain digits are converted. '1.5', '0x10' and 'true' stay strings, which the schema refuses.
    Object.entries(given).map(([name, value]) => [
      name,
      isInteger(name) && /^-?\d{1,15}$/.test(value) ? Number(value) : value,
    ]),
  )
  const values = Value.Default(variables, typed) as Values
  const [error] = Value.Errors(variables, values)
  const refuse = (name: Variable) => {
    const shown = secret.has(name) ? '' : `. It is ${JSON.stringify(given[name])}`
    throw new ConfigError(`${name} must be ${accepted[name] ?? range(name)}${shown}.`)
  }
  if (error) refuse(error.instancePath.slice(1).split('/')[0] as Variable)
  if (!rangesIn(values.EGRESS_ALLOW).every(isRange)) refuse('EGRESS_ALLOW')
  if (values.REDIS_URL && !isRedisUrl(values.REDIS_URL)) refuse('REDIS_URL')
  return values
}

const rangesIn = (text: string) => text.split(',').flatMap((part) => part.trim() || [])

/** The keys that decrypt. The first one encrypts. */
export const secretKeysOf = ({ secretKey, previousSecretKey }: Config): SecretKeys =>
  previousSecretKey ? [secretKey, previousSecretKey] : [secretKey]

/** @throws ConfigError that names the missing variables */
function storageOf(values: Values): StorageConfig {
  const kind = values.STORAGE as (typeof storages)[number]
  const need = (...names: Variable[]) => {
    const missing = names.filter((name) => values[name] === '')
    if (missing.length > 0)
      throw new ConfigError(`STORAGE=${kind} requires ${missing.join(', ')}. Set what is missing.`)
  }
  const s3 = (endpoint: string): S3Options => ({
    endpoint,
    region: values.S3_REGION,
    bucket: values.S3_BUCKET,
    accessKeyId: values.S3_ACCESS_KEY_ID,
    secretAccessKey: values.S3_SECRET_ACCESS_KEY,
  })
  switch (kind) {
    case 'disk':
      return { kind }
    case 's3':
      need('S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY')
      return { kind, s3: s3(values.S3_ENDPOINT) }
    case 'supabase': {
      need('SUPABASE_URL', 'SUPABASE_SERVICE_KEY', 'S3_BUCKET')
      const keys = values.S3_ACCESS_KEY_ID !== '' && values.S3_SECRET_ACCESS_KEY !== ''
      return {
        kind,
        url: values.SUPABASE_URL,
        serviceKey: values.SUPABASE_SERVICE_KEY,
        bucket: values.S3_BUCKET,
        s3: keys ? s3(values.S3_ENDPOINT || `${values.SUPABASE_URL}/storage/v1/s3`) : null,
      }
    }
  }
}

function isRange(text: string): boolean {
  try {
    return parseRange(text) !== null
  } catch {
    return false
  }
}

/** The path of such a URL is the number of a database, or empty. */
const isRedisUrl = (text: string) => /^(\/\d*)?$/.test(URL.parse(text)?.pathname ?? 'no URL')

function isInteger(name: string): boolean {
  return Type.IsInteger(variables.properties[name as Variable])
}

function range(name: Variable): string {
  const { minimum, maximum } = variables.properties[name] as { minimum?: number; maximum?: number }
  return `a whole number ${maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`}`
}

/** Returns the URL of the service as configured. Null when PORT is 0, because the port is then unknown. */
export const serviceUrl = ({ publicUrl, host, port }: Config): string | null =>
  publicUrl ?? (port === 0 ? null : `http://${reachableHost(host)}:${port}`)

/** True when only this machine can reach a service that listens on `host`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/**
 * Returns the host for a client's URL. `0.0.0.0` and `::` mean every address of the machine, so it returns localhost.
 */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}
