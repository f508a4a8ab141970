/** The options of commands. Their values are checked before the command opens the database. */
import { InvalidArgumentError, Option } from 'commander'
import { limits } from '../../core/limits.ts'
import { readConfig } from '../config.ts'
import { scopes, type Scope } from '../../sql/accounts/tokens.ts'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const emailPattern = /^[^\s@]+@[^\s@]+$/
const maxEmailLength = 254

export const emailOption = (flags = '--email <email>', description = 'e-mail address of the account') =>
  new Option(flags, description).argParser(parseEmail).makeOptionMandatory()

/** @param description of what the command is limited to; without the option it is about all */
export const someEmailOption = (description: string) =>
  new Option('--email <email>', description).argParser(parseEmail)

export const tierOption = () => new Option('--tier <tier>', 'plan of the account').choices(['free', 'pro'])

export const dryRunOption = () =>
  new Option('--dry-run', 'show what the command would do, and change nothing')

export const nameOption = (description: string) =>
  new Option('--name <name>', description).argParser(parseName).makeOptionMandatory()

export const sessionUserOption = () =>
  new Option('--user <id>', "the product's own id of the user").makeOptionMandatory()

export const idOption = (flags: string, description: string) =>
  new Option(flags, description).argParser(parseId).makeOptionMandatory()

export const roleOption = (roles: readonly string[]) =>
  new Option('--role <role>', 'role of the account').choices(roles).makeOptionMandatory()

export const scopesOption = (preset: readonly Scope[]) =>
  new Option('--scopes <scopes>', `comma-separated list of ${scopes.join(', ')}`)
    .argParser(parseScopes)
    .default([...preset], preset.join(','))

export const ttlOption = () =>
  new Option(
    '--ttl-days <days>',
    `days until the token expires, 1 to ${limits.tokenLifetimeDays}; by default it does not expire`,
  ).argParser((text: string) => parseCount(text, limits.tokenLifetimeDays, 'days'))

export const rateLimitOption = () =>
  new Option(
    '--rate-limit <requests>',
    'requests per hour, 1 to MAX_RATE_LIMIT_PER_HOUR; the default is RATE_LIMIT_PER_HOUR',
  ).argParser((text: string) =>
    parseCount(text, readConfig(process.env).maxRateLimitPerHour, 'requests per hour'),
  )

/** An id for examples. */
export const someId = '0198c2c4-5a3e-7d1f-9b7a-2f6f5d1f0a11'

/** Shows at the end of a command's help how to call it. These are the arguments of `addHelpText`. */
export const examples = (...commands: string[]): ['after', string] => {
  const heading = commands.length > 1 ? 'Examples' : 'Example'
  return ['after', [`\n${heading}:`, ...commands].join('\n  npm run -s corkboard -- ')]
}

export function parseId(text: string): string {
  if (!uuidPattern.test(text)) throw new InvalidArgumentError('Use a UUID.')
  return text.toLowerCase()
}

function parseEmail(text: string): string {
  const email = text.trim()
  if (!emailPattern.test(email) || email.length > maxEmailLength)
    throw new InvalidArgumentError('Use an e-mail address.')
  return email
}

function parseName(text: string): string {
  const name = text.trim()
  if (name === '' || Array.from(name).length > limits.name)
    throw new InvalidArgumentError(`Use 1 to ${limits.name} characters.`)
  return name
}

function parseScopes(text: string): Scope[] {
  const named = text.split(',').map((scope) => scope.trim())
  const unknown = named.find((name) => !scopes.some((scope) => scope === name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`Use a comma-separated list of ${scopes.join(', ')}.`)
  return scopes.filter((scope) => named.includes(scope))
}

export function parseCount(text: string, maximum: number, unit: string): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > maximum)
    throw new InvalidArgumentError(`Use a whole number of ${unit}, 1 to ${maximum}.`)
  return value
}
