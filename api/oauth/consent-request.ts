/** What somebody is asked. */
import type { Scope } from '../../sql/accounts/tokens.ts'

export interface ConsentRequest {
  clientId: string
  clientName: string
  redirectUri: URL
  scopes: Scope[]
}

/** The host, or of a program on the user's machine its scheme. */
export const whereTo = ({ protocol, host }: URL): string =>
  protocol === 'https:' || protocol === 'http:' ? host : protocol
