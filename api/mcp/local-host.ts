/**
 * On a loopback address a page of any site could reach the service, once its name is made to lead there (DNS
 * rebinding). The names under which it is called, and from which pages, are then those of this machine, or of
 * PUBLIC_URL. Elsewhere a token is all that it takes, from any page.
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
    throw new ServiceError('forbidden', 'Host must name this machine, or be that of PUBLIC_URL.')
  if (origin === undefined || origin === own.origin) return
  const from = hostname(origin)
  if (from === null || !isLocal(from))
    throw new ServiceError('forbidden', 'Origin must be of this machine, or that of PUBLIC_URL.')
}

function hostname(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null
}

const isLocal = (name: string) =>
  name === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'))
