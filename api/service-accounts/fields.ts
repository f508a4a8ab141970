/** The fields of service accounts and their tokens that a write may carry. */
import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { ScopeError } from '../http/authenticate.ts'
import type { ApiContext } from '../http/route.ts'
import { scopes, type Principal, type Scope } from '../../sql/accounts/tokens.ts'

export const accountName = Type.String({
  maxLength: limits.name,
  description: `A name to recognise it by, 1 to ${limits.name} characters.`,
})

export const tokenFields = {
  scopes: Type.Optional(
    Type.Array(Type.Enum([...scopes]), {
      minItems: 1,
      maxItems: 10,
      description:
        'What the token may do; `read` when absent, and always included. No scope that the token of this request lacks.',
    }),
  ),
  ttl_days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.tokenLifetimeDays,
      description: `How many days the token is valid, 1 to ${limits.tokenLifetimeDays}. Without it the token is valid until it is revoked.`,
    }),
  ),
  rate_limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'How many requests an hour the token may send. At most what the operator allows: `MAX_RATE_LIMIT_PER_HOUR`, 100,000 by default.',
    }),
  ),
}

/** @throws ServiceError `bad_request` */
export function nameOf(given: string): string {
  const name = given.trim()
  if (name === '') throw new ServiceError('bad_request', `name must have 1 to ${limits.name} characters.`)
  return name
}

/** @throws ServiceError `bad_request` for more than the instance allows */
export function rateLimitOf(
  given: number | undefined,
  { maxRateLimitPerHour }: Pick<ApiContext, 'maxRateLimitPerHour'>,
): number | null {
  if (given !== undefined && given > maxRateLimitPerHour)
    throw new ServiceError('bad_request', `rate_limit must be <= ${maxRateLimitPerHour}.`)
  return given ?? null
}

/** @throws ServiceError `insufficient_scope` when the minting token would give what it lacks */
export function scopesOf(given: Scope[] | undefined, principal: Principal): Scope[] {
  const wanted = scopes.filter((scope) => scope === 'read' || given?.includes(scope))
  const lacking = wanted.find((scope) => !principal.scopes.includes(scope))
  if (lacking === undefined) return wanted
  throw new ScopeError(
    principal,
    lacking,
    `scopes: this token lacks \`${lacking}\`, so it cannot give it to another.`,
  )
}

/** @throws ServiceError `forbidden`: a service account makes no others */
export function requirePerson(principal: Principal): void {
  if (principal.serviceAccountId === null) return
  throw new ServiceError('forbidden', 'This needs the token of a person; a service account mints no tokens.')
}
