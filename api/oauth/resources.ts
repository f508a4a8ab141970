/**
 * The resources that a client may request a token for (RFC 8707). The API and its MCP endpoint have the same rights, so a
 * token for either is valid for both. Any other resource is refused.
 */
import { apiRoot } from '../http/root.ts'

/** @param publicUrl without a slash at the end */
export const apiResource = (publicUrl: string): string => `${publicUrl}${apiRoot}`
export const mcpResource = (publicUrl: string): string => `${publicUrl}${apiRoot}/mcp`

export function isOurs(resource: string, publicUrl: string): boolean {
  const bare = resource.replace(/\/$/, '')
  return bare === apiResource(publicUrl) || bare === mcpResource(publicUrl)
}
