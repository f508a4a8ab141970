/**
 * Sends every HTTP request to a URL that a user gave. `send` follows no redirects. `fetch` follows them and checks
 * every hop.
 */
import { isIP } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { addressClasses } from './addresses.ts'
import { buildOpener } from './connector.ts'
import { exchange, type OutgoingRequest, type Outcome } from './exchange.ts'
import { Pool } from './pool.ts'
import { fetchAlong, type FetchOutcome, type FetchRequest, type Receive } from './fetch.ts'
import { openResolver, type Resolve } from './resolve.ts'
import { addressFault, readTarget } from './target.ts'

export type { Failure, OutgoingRequest, Outcome } from './exchange.ts'
export type { Fetched, FetchOutcome, FetchRequest, Receive } from './fetch.ts'

export interface Egress {
  /**
   * Checks a URL before any request is sent. Returns null, or a text that follows the field's name and says what is
   * wrong. A name that does not resolve now is accepted, because each connection is checked again.
   */
  checkUrl(url: string): Promise<string | null>
  /** Sends one request. Faults of the receiver are outcomes and never reject the promise. */
  send(request: OutgoingRequest): Promise<Outcome>
  /** Closes the idle connections. */
  close(): void
  /** Sends a GET and follows redirects. Rejects only with an error that `receive` itself throws. */
  fetch<T>(request: FetchRequest, receive: Receive<T>): Promise<FetchOutcome<T>>
}

export interface EgressOptions {
  /** Addresses and CIDR ranges that are not public but permitted, also by http and on any port. */
  allow: string[]
  resolve?: Resolve
  /** Certificates to trust in addition to the system's. */
  ca?: string
}

/** `checkUrl` waits at most this long for DNS. */
const resolveForCheckMs = 1000

export function openEgress({ allow, resolve = openResolver(), ca }: EgressOptions): Egress {
  const classify = addressClasses(allow)
  const open = buildOpener({ classify, resolve, ca })
  const pool = new Pool(open)
  const read = kept((url) => readTarget(url, classify, allow.length > 0))
  return {
    async checkUrl(url) {
      const target = read(url)
      if ('refused' in target) return target.refused
      if (isIP(target.hostname)) return null
      const late = delay(resolveForCheckMs, null, { ref: false })
      const addresses = await Promise.race([resolve(target.hostname).catch(() => null), late])
      if (addresses) return addressFault(addresses, target.namedOnly, classify)
      return target.namedOnly
        ? 'must have a host that resolves to an address: with http or a port, the address must be in EGRESS_ALLOW'
        : null
    },
    send(request) {
      const target = read(request.url)
      if ('refused' in target)
        return Promise.resolve({ outcome: 'refused', error: `url ${target.refused}`, durationMs: 0 })
      return exchange(pool, target, request)
    },
    close: () => pool.close(),
    fetch: (request, receive) => fetchAlong({ read, open }, request, receive),
  }
}

const targetsKept = 1000

/** Caches the result of `read` for each URL. The result depends only on the URL. */
function kept<T>(read: (url: string) => T): (url: string) => T {
  const found = new Map<string, T>()
  return (url) => {
    const known = found.get(url)
    if (known !== undefined) return known
    const target = read(url)
    if (found.size >= targetsKept) found.clear()
    found.set(url, target)
    return target
  }
}
