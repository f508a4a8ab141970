/** The client library, for parts of the app that are loaded when they are needed. */
import { createClient, type Client } from '../../client/index.ts'
import { accessToken, forgetToken } from './token.ts'

export const client: Client = createClient({
  url: location.origin,
  token({ refused }) {
    if (refused) forgetToken()
    return accessToken()
  },
  // Somebody is waiting. What can wait longer tries again by itself.
  retryForMs: 8000,
})
