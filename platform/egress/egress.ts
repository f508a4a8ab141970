/**
 * The one way out: every HTTP request to a URL that somebody gave goes through here. `send` follows no redirects,
 * `fetch` does, each hop with all the checks.
 */
import { isIP } from 'node:net'
import { addressClasses } from './addresses.ts'
import { buildOpener } from './connector.ts'
import { exchange, type OutgoingRequest, type Outcome } from './exchange.ts'
import { openPool } from './pool.ts'
import { fetchAlong, type FetchOutcome, type FetchRequest, type Receive } from './fetch.ts'
import { openResolver, type Resolve } from './resolve.ts'
import { addressFault, readTarget } from './target.ts'

export type { Failure, OutgoingRequest, Outcome } from './exchange.ts'
export type { Fetched, FetchOutcome, FetchRequest, Receive } from './fetch.ts'

export interface Egress {
  /**
   * Whether requests to a URL may be sent, as far as can be told before they are. Null, or what is wrong in words that
   * follow the name of the field. A name that cannot be resolved now passes: each connection is checked again.
   */
  checkUrl(url: string): Promise<string | null>
  /** Never rejects for what the other side does. */
  send(request: OutgoingRequest): Promise<Outcome>
  /** Ends the connections that are kept. */
  close(): void
  /** GET, along redirects. Rejects only with what `receive` throws of its own. */
  fetch<T>(request: FetchRequest, receive: Receive<T>): Promise<FetchOutcome<T>>
}

export interface EgressOptions {
  /** Addresses and CIDR ranges that are not public and may be reached all the same, there also by http and on any port. */
  allow: string[]
  resolve?: Resolve
  /** Certificates that are trusted besides the usual ones. */
  ca?: string
}

/** A check of a URL waits no longer for its name. */
const resolveForCheckMs = 1000

export function openEgress({ allow, resolve = openResolver(), ca }: EgressOptions): Egress {
  const classify = addressClasses(allow)
  const open = buildOpener({ classify, resolve, ca })
  const pool = openPool(open)
  const read = kept((url) => readTarget(url, classify, allow.length > 0))
  return {
    async checkUrl(url) {
      const target = read(url)
      if ('refused' in target) return target.refused
      if (isIP(target.hostname)) return null
      const addresses = await within(resolveForCheckMs, resolve(target.hostname))
      if (addresses) return addressFault(addresses, target.namedOnly, classify)
      return target.namedOnly ? 'must lead to an address that is known: its name does not resolve' : null
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

/** A URL is read once while it is in use: what comes of it depends on nothing else. */
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

/** Null when it fails or takes longer. */
async function within<T>(limitMs: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), limitMs)
  })
  try {
    return await Promise.race([work, late])
  } catch {
    return null
  } finally {
    clearTimeout(timer)
  }
}
