/** A client's request for access, as the consent page shows it. */
import type { Scope } from '../../sql/accounts/tokens.ts'

export interface ConsentRequest {
  clientId: string
  clientName: string
  redirectUri: URL
  scopes: Scope[]
}

/** The host of the redirect URI. For a program's own scheme, the scheme. */
export const whereTo = ({ protocol, host }: URL): string =>
  protocol === 'https:' || protocol === 'http:' ? host : protocol
