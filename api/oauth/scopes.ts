/** Scopes as applications ask for them. */
import { scopes, type Scope } from '../../sql/accounts/tokens.ts'

/** Those of a list, separated by spaces, that there are here. */
export function knownScopes(text: string): Scope[] {
  const asked = new Set(text.split(' '))
  return scopes.filter((scope) => asked.has(scope))
}

/**
 * What somebody is asked to allow: what the client asks for, of which there is some here, else reading alone. Every token
 * can read.
 */
export function scopesToAsk(asked: string | undefined, registered: string | undefined): Scope[] {
  const wanted = knownScopes(asked ?? registered ?? '')
  return scopes.filter((scope) => scope === 'read' || wanted.includes(scope))
}
