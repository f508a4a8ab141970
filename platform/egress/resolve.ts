/** Names to addresses. */
import { Resolver } from 'node:dns/promises'

/** All addresses of a name. Rejects, with the `code` of a DNS failure, when there is none. */
export type Resolve = (hostname: string) => Promise<string[]>

/**
 * Asks the name servers itself: the system's way, `getaddrinfo`, blocks one of the process's four worker threads for as
 * long as a hostile name server likes. `/etc/hosts` does not count.
 */
export function openResolver(): Resolve {
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  return async (hostname) => {
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) return ['127.0.0.1', '::1'] // RFC 6761
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const failed = answers.find((answer) => answer.status === 'rejected')
    if (addresses.length === 0)
      throw failed?.reason ?? Object.assign(new Error(hostname), { code: 'ENODATA' })
    return addresses
  }
}
