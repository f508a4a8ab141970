/** The environment, read once and checked: a bad value stops the start with one line that says what is accepted. */
import { resolve } from 'node:path'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'

const integer = (options: { default: number; minimum?: number; maximum?: number }) => Type.Integer(options)

/** Every variable, with its default. The README's table is checked against this. */
export const variables = Type.Object({
  PORT: integer({ default: 4000, minimum: 0, maximum: 65_535 }),
  HOST: Type.String({ default: '127.0.0.1', minLength: 1 }),
  PUBLIC_URL: Type.String({ default: '', pattern: '^(https?://\\S*[^/\\s])?$' }),
  DATA_DIR: Type.String({ default: './data', minLength: 1 }),
  DATABASE_URL: Type.String({ default: '', pattern: '^(postgres(ql)?://\\S+)?$' }),
  DATABASE_POOL: integer({ default: 12, minimum: 2, maximum: 200 }),
  SECRET_KEY: Type.String({ default: '', pattern: '^(.{32,})?$' }),
  LOG_LEVEL: Type.Union(
    ['debug', 'info', 'warn', 'error', 'silent'].map((level) => Type.Literal(level)),
    { default: 'info' },
  ),
  RATE_LIMIT_PER_HOUR: integer({ default: 1000, minimum: 1 }),
  FREE_CARD_CAP: integer({ default: 100, minimum: 0 }),
  WARM_DOCUMENT_BYTES: integer({ default: 64 * 1024 * 1024, minimum: 0 }),
  MAX_SOCKETS_PER_BOARD: integer({ default: 1000, minimum: 1 }),
  MAX_SOCKETS_PER_ACCOUNT: integer({ default: 2000, minimum: 1 }),
  TRUST_PROXY: integer({ default: 0, minimum: 0 }),
})

const accepted: Partial<Record<keyof Static<typeof variables>, string>> = {
  PUBLIC_URL: 'an http or https URL without a slash at its end',
  DATABASE_URL: 'a postgres:// URL',
  SECRET_KEY: 'at least 32 characters',
  LOG_LEVEL: 'debug, info, warn, error or silent',
}

export interface Config {
  port: number
  host: string
  /** Empty: made of host and port once they are known. */
  publicUrl: string
  dataDir: string
  /** Null: the embedded PostgreSQL. */
  databaseUrl: string | null
  databasePool: number
  secretKey: string
  logLevel: string
  rateLimitPerHour: number
  freeCardCap: number
  warmDocumentBytes: number
  maxSocketsPerBoard: number
  maxSocketsPerAccount: number
  trustProxy: number
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
  const values = Value.Convert(variables, Value.Default(variables, given)) as Static<typeof variables>
  const [error] = Value.Errors(variables, values)
  if (error) {
    const name = error.instancePath.slice(1).split('/')[0] as keyof typeof accepted
    throw new ConfigError(
      `${name} must be ${accepted[name] ?? error.message.replace(/^must be /, '')}; it is ${JSON.stringify(given[name])}.`,
    )
  }
  if (values.DATABASE_URL && !values.SECRET_KEY) {
    throw new ConfigError(
      'SECRET_KEY must be set when DATABASE_URL is: at least 32 characters, the same at every start.',
    )
  }
  return {
    port: values.PORT,
    host: values.HOST,
    publicUrl: values.PUBLIC_URL,
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
  }
}

export const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.')
