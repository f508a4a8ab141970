/**
 * What a token can be asked for (RFC 8707). The API and its endpoint for agents are one service with one set of rights
 * under two names, so a token that was asked for under either is good for both; any other name is refused.
 */
import { apiRoot } from '../http/root.ts'

/** @param publicUrl without a slash at the end */
export const apiResource = (publicUrl: string): string => `${publicUrl}${apiRoot}`
export const mcpResource = (publicUrl: string): string => `${publicUrl}${apiRoot}/mcp`

export function isOurs(resource: string, publicUrl: string): boolean {
  const bare = resource.replace(/\/$/, '')
  return bare === apiResource(publicUrl) || bare === mcpResource(publicUrl)
}
