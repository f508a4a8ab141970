/** The environment, read once and checked: a bad value stops the start with one line that says what is accepted. */
import { isIPv4, isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parseRange } from '../platform/egress/addresses.ts'

const integer = (options: { default: number; minimum: number; maximum?: number }) => Type.Integer(options)
const logLevels = ['debug', 'info', 'warn', 'error', 'silent']

/** Every variable, with its default. The README's table is checked against this. */
export const variables = Type.Object({
  PORT: integer({ default: 4000, minimum: 0, maximum: 65_535 }),
  HOST: Type.String({ default: '127.0.0.1', pattern: '^\\S+$' }),
  PUBLIC_URL: Type.String({ default: '', pattern: '^(https?://[^/\\s](\\S*[^/\\s])?)?$' }),
  DATA_DIR: Type.String({ default: './data', minLength: 1 }),
  DATABASE_URL: Type.String({ default: '', pattern: '^(postgres(ql)?://\\S+)?$' }),
  DATABASE_POOL: integer({ default: 12, minimum: 2, maximum: 200 }),
  SECRET_KEY: Type.String({ default: '', pattern: '^(.{32,})?$' }),
  LOG_LEVEL: Type.Union(
    logLevels.map((level) => Type.Literal(level)),
    { default: 'info' },
  ),
  RATE_LIMIT_PER_HOUR: integer({ default: 1000, minimum: 1 }),
  FREE_CARD_CAP: integer({ default: 100, minimum: 0 }),
  WARM_DOCUMENT_BYTES: integer({ default: 64 * 1024 * 1024, minimum: 0 }),
  MAX_SOCKETS_PER_BOARD: integer({ default: 1000, minimum: 1 }),
  MAX_SOCKETS_PER_ACCOUNT: integer({ default: 2000, minimum: 1 }),
  TRUST_PROXY: integer({ default: 0, minimum: 0 }),
  EGRESS_ALLOW: Type.String({ default: '' }),
  WEBHOOK_RETRY_WAITS: Type.String({
    default: '60,300,1500,7200,36000',
    pattern: '^\\d{1,6}(\\s*,\\s*\\d{1,6}){4}$',
  }),
  APP_EVENT_POLL_SECONDS: integer({ default: 15, minimum: 1, maximum: 60 }),
})

type Variable = keyof Static<typeof variables>

const accepted: Partial<Record<Variable, string>> = {
  HOST: 'an address or a host name to listen on',
  PUBLIC_URL: 'an http or https URL without a slash at its end',
  DATABASE_URL: 'a postgres:// URL',
  SECRET_KEY: 'at least 32 characters',
  EGRESS_ALLOW: 'a comma list of addresses and CIDR ranges, such as 10.0.0.0/8',
  WEBHOOK_RETRY_WAITS: 'five whole numbers of seconds, separated by commas, such as 60,300,1500,7200,36000',
  LOG_LEVEL: logLevels.join(', ').replace(/, (\w+)$/, ' or $1'),
}

/** Never shown, not even when they are bad. */
const secret = new Set<Variable>(['DATABASE_URL', 'SECRET_KEY'])

export interface Config {
  port: number
  host: string
  /** Where clients reach the service, without a slash at the end. Null: where it listens. */
  publicUrl: string | null
  dataDir: string
  /** Null: the embedded PostgreSQL. */
  databaseUrl: string | null
  databasePool: number
  /** Empty when it was not set; secret-key.ts then makes one. */
  secretKey: string
  logLevel: string
  rateLimitPerHour: number
  freeCardCap: number
  warmDocumentBytes: number
  maxSocketsPerBoard: number
  maxSocketsPerAccount: number
  trustProxy: number
  /** Addresses and CIDR ranges that requests may be sent to although they are not public. */
  egressAllow: string[]
  /** Seconds between the six attempts of a delivery. */
  webhookRetryWaits: number[]
  /** So long what editors do is gathered into one event. */
  appEventPollSeconds: number
}

export class ConfigError extends Error {}

/** @throws ConfigError whose message names the variable and what it accepts */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(
    Object.keys(variables.properties).flatMap((name) => {
      const value = environment[name]?.trim()
      return value ? [[name, value]] : []
    }),
  )
  const typed = Object.fromEntries(
    // Nothing else is a number: '1.5', '0x10' and 'true' must not become one silently.
    Object.entries(given).map(([name, value]) => [
      name,
      isInteger(name) && /^-?\d{1,15}$/.test(value) ? Number(value) : value,
    ]),
  )
  const values = Value.Default(variables, typed) as Static<typeof variables>
  const [error] = Value.Errors(variables, values)
  const refuse = (name: Variable) => {
    const shown = secret.has(name) ? '' : `; it is ${JSON.stringify(given[name])}`
    throw new ConfigError(`${name} must be ${accepted[name] ?? range(name)}${shown}.`)
  }
  if (error) refuse(error.instancePath.slice(1).split('/')[0] as Variable)
  const egressAllow = values.EGRESS_ALLOW.split(',').flatMap((part) => part.trim() || [])
  if (!egressAllow.every(isRange)) refuse('EGRESS_ALLOW')
  return {
    port: values.PORT,
    host: values.HOST,
    publicUrl: values.PUBLIC_URL || null,
    dataDir: resolve(values.DATA_DIR),
    databaseUrl: values.DATABASE_URL || null,
    databasePool: values.DATABASE_POOL,
    secretKey: values.SECRET_KEY,
    logLevel: values.LOG_LEVEL,
    rateLimitPerHour: values.RATE_LIMIT_PER_HOUR,
    freeCardCap: values.FREE_CARD_CAP,
    warmDocumentBytes: values.WARM_DOCUMENT_BYTES,
    maxSocketsPerBoard: values.MAX_SOCKETS_PER_BOARD,
    maxSocketsPerAccount: values.MAX_SOCKETS_PER_ACCOUNT,
    trustProxy: values.TRUST_PROXY,
    egressAllow,
    webhookRetryWaits: values.WEBHOOK_RETRY_WAITS.split(',').map(Number),
    appEventPollSeconds: values.APP_EVENT_POLL_SECONDS,
  }
}

function isRange(text: string): boolean {
  try {
    return parseRange(text) !== null
  } catch {
    return false
  }
}

function isInteger(name: string): boolean {
  return Type.IsInteger(variables.properties[name as Variable])
}

function range(name: Variable): string {
  const { minimum, maximum } = variables.properties[name] as { minimum?: number; maximum?: number }
  return `a whole number ${maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`}`
}

/** Whether only this machine can reach an address that is listened on. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/** An address that is listened on, as a client names it in a URL. All addresses of a machine are none it could name. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}
