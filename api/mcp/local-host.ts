/**
 * Protects a service on a loopback address from DNS rebinding: a site can resolve its own name to 127.0.0.1, and its
 * pages then reach the service. So Host and Origin must name this machine or match PUBLIC_URL. On other addresses a
 * token suffices, from any page.
 */
import { isIPv4 } from 'node:net'
import { ServiceError } from '../../core/errors.ts'

/** @throws ServiceError `forbidden` */
export function requireLocal(
  { host, origin }: { host?: string | undefined; origin?: string | undefined },
  publicUrl: string,
): void {
  const own = new URL(publicUrl)
  const name = hostname(`http://${host ?? ''}`)
  if (name === null || !(isLocal(name) || name === own.hostname))
    throw new ServiceError('forbidden', 'The Host header must name this machine or the host of PUBLIC_URL.')
  if (origin === undefined || origin === own.origin) return
  const from = hostname(origin)
  if (from === null || !isLocal(from))
    throw new ServiceError(
      'forbidden',
      'The Origin header must name this machine or the origin of PUBLIC_URL.',
    )
}

function hostname(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null
}

const isLocal = (name: string) =>
  name === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'))
