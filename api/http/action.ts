/** The fields of audit entries: the caller, the request, the name of the operation, and the resource that its path names. */
import type { FastifyRequest } from 'fastify'
import type { Resources } from '../../sql/operation.ts'
import type { AuditedCaller } from './route.ts'

/** For a session: the token and the service account that minted it. */
export const auditedCaller = ({
  displayName,
  tokenId,
  serviceAccountId,
  clientId,
  session,
}: AuditedCaller) => ({
  display_name: displayName,
  token_id: tokenId,
  service_account_id: session ? session.mintedBy : serviceAccountId,
  client_id: clientId,
})

export const auditedRequest = ({ method, url, id, ip }: FastifyRequest) => {
  return { method, path: url.split('?', 1)[0]!.slice(0, 1000), request_id: id, ip }
}

const byMethod: Record<string, string> = { POST: 'create', PATCH: 'update', DELETE: 'delete', GET: 'read' }

/**
 * `POST /boards/:id/cards/move` → `card.move`, `DELETE /service-accounts/:id` → `service_account.delete`,
 * `DELETE /boards/:id/cards/:cardId/history` → `card.delete_history`
 */
export function actionOf({ method, path }: { method: string; path: string }): string {
  const words = path.split('/').filter((part) => part !== '' && !part.startsWith(':'))
  const noun = words.findLastIndex(isPlural)
  const rest = words.slice(noun + 1).join('_')
  const verb = method === 'DELETE' && rest !== '' ? `delete_${rest}` : rest
  return `${noun < 0 ? 'service' : singular(words[noun]!)}.${snake(verb || byMethod[method]!)}`
}

/**
 * The resource that a path names. Under `/boards` the last resource with an id; elsewhere the first, whose workspace the
 * audit looks up.
 */
export function namedBy(path: string, params: Record<string, string>): Resources {
  const parts = path.split('/').filter(Boolean)
  const isParameter = (part: string) => part.startsWith(':')
  const last = parts[0] === 'boards' ? parts.findLastIndex(isParameter) : parts.findIndex(isParameter)
  if (last < 1) return { type: singular(parts.findLast(isPlural) ?? 'service'), ids: [null] }
  return {
    type: singular(parts[last - 1]!),
    ids: [params[parts[last]!.slice(1)]?.replaceAll('\0', '').toWellFormed() ?? null], // without text that PostgreSQL can't store
    board: parts[0] === 'boards' ? (params['id'] ?? null) : null,
  }
}

const isPlural = (word: string) => word.endsWith('s') && word !== 'status'
const snake = (word: string) => word.replaceAll('-', '_')
const singular = (word: string) => snake(word.replace(/ies$/, 'y').replace(/s$/, ''))
