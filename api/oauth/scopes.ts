/** The scopes that applications request, as text separated by spaces. */
import { scopes, type Scope } from '../../sql/accounts/tokens.ts'

/** The scopes in the text that this service has. */
export function knownScopes(text: string): Scope[] {
  const asked = new Set(text.split(' '))
  return scopes.filter((scope) => asked.has(scope))
}

/**
 * The scopes for the consent page: `read`, as every token can read, and the known scopes of the request. A request without
 * scopes gets those of the client's registration.
 */
export function scopesToAsk(asked: string | undefined, registered: string | undefined): Scope[] {
  const wanted = knownScopes(asked ?? registered ?? '')
  return scopes.filter((scope) => scope === 'read' || wanted.includes(scope))
}
