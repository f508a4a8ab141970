/** The fields of service accounts and their tokens that a write may carry. */
import Type from 'typebox'
import { integer, listOf, text } from '../http/vocabulary.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { ScopeError } from '../http/authenticate.ts'
import type { ApiContext } from '../http/route.ts'
import { scopes, type Principal, type Scope } from '../../sql/accounts/tokens.ts'

export const accountName = text(`Name for people, 1 to ${limits.name} characters.`, {
  maxLength: limits.name,
})

export const tokenFields = {
  scopes: Type.Optional(
    listOf(
      Type.Enum([...scopes]),
      10,
      'What the token may do. `read` is always included. The token of this request must have these scopes itself.',
    ),
  ),
  ttl_days: Type.Optional(
    integer(
      `Lifetime of the token in days, 1 to ${limits.tokenLifetimeDays}. Without it, the token is valid until it is revoked.`,
      { minimum: 1, maximum: limits.tokenLifetimeDays },
    ),
  ),
  rate_limit: Type.Optional(
    integer(
      `Requests that the token may send in an hour. The operator sets the maximum, \`MAX_RATE_LIMIT_PER_HOUR\` (default ${limits.maxRateLimitPerHour.toLocaleString('en')}).`,
      { minimum: 1 },
    ),
  ),
}

/** @throws ServiceError `bad_request` */
export function nameOf(given: string): string {
  const name = given.trim()
  if (name === '') throw badRequest(`name must have 1 to ${limits.name} characters.`)
  return name
}

/** @throws ServiceError `bad_request` above the operator's maximum */
export function rateLimitOf(
  given: number | undefined,
  { maxRateLimitPerHour }: Pick<ApiContext, 'maxRateLimitPerHour'>,
): number | null {
  if (given !== undefined && given > maxRateLimitPerHour)
    throw badRequest(`rate_limit must be <= ${maxRateLimitPerHour}.`)
  return given ?? null
}

/** @throws ServiceError `insufficient_scope` for a scope that the request's own token lacks */
export function scopesOf(given: Scope[] | undefined, principal: Principal): Scope[] {
  const wanted = scopes.filter((scope) => scope === 'read' || given?.includes(scope))
  const lacking = wanted.find((scope) => !principal.scopes.includes(scope))
  if (lacking === undefined) return wanted
  throw new ScopeError(
    principal,
    lacking,
    `scopes: this token lacks \`${lacking}\`, so it cannot create a token with it. Leave it out, or use a token that has it.`,
  )
}

/** @throws ServiceError `forbidden` for the token of a service account */
export function requirePerson(principal: Principal): void {
  if (principal.serviceAccountId === null) return
  throw new ServiceError('forbidden', 'Service accounts cannot create tokens. Use the token of a person.')
}
