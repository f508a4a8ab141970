/** Resolves names to addresses. */
import { Resolver } from 'node:dns/promises'

/** Returns all addresses of a name. Rejects with the `code` of a DNS failure when the name has no address. */
export type Resolve = (hostname: string) => Promise<string[]>

/**
 * Makes a resolver that queries the name servers directly and ignores `/etc/hosts`. It does not use `getaddrinfo`,
 * which blocks one of the four threads of libuv: a hostile name server could block them all.
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
