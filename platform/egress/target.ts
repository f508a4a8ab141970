/** Checks a URL before a connection is opened: its form and its host. */
import { isIP } from 'node:net'
import type { ClassifyAddress } from './addresses.ts'

export interface Target {
  url: URL
  origin: string
  /** The path with the query string. */
  path: string
  /** Without the brackets of an IPv6 address and the dot at the end of a name. */
  hostname: string
  /** The URL uses http or a port. Then only addresses in EGRESS_ALLOW are permitted. */
  namedOnly: boolean
}

/** Says what is wrong, as the rest of a sentence that begins with "url". */
export interface Refusal {
  refused: string
}

/** Names that exist only in local networks. */
const privateName = /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa)$/

/** Names under which clouds serve credentials. They are always refused, whatever EGRESS_ALLOW contains. */
const metadataNames = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'instance-data',
  'instance-data.ec2.internal',
])

/**
 * Parses and checks a URL.
 *
 * @param namesAreOpen true when EGRESS_ALLOW is set. Then only the addresses of a name are checked, not the name itself
 */
export function readTarget(text: string, classify: ClassifyAddress, namesAreOpen: boolean): Target | Refusal {
  const url = URL.parse(text)
  if (!url) return { refused: 'must be an absolute URL such as https://example.com/page' }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { refused: 'must begin with https://' }
  if (url.username || url.password) return { refused: 'must not contain a user name or a password' }
  const hostname = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (hostname === '') return { refused: 'must name a host' }
  const { origin } = url
  const path = url.pathname + url.search
  const target = { url, origin, path, hostname, namedOnly: url.protocol === 'http:' || url.port !== '' }
  if (isIP(hostname)) {
    const fault = addressFault([hostname], target.namedOnly, classify)
    return fault ? { refused: fault } : target
  }
  if (metadataNames.has(hostname)) return { refused: hostFault }
  if (namesAreOpen) return target
  if (target.namedOnly) return { refused: formFault }
  if (!hostname.includes('.') || privateName.test(hostname)) return { refused: hostFault }
  return target
}

/** Returns the addresses to which the service may connect. */
export function permitted(addresses: string[], namedOnly: boolean, classify: ClassifyAddress): string[] {
  return addresses.filter((address) => {
    const found = classify(address)
    return found === 'named' || (found === 'public' && !namedOnly)
  })
}

/** Returns null when an address is permitted. Otherwise returns a text that continues "url" and says what is wrong. */
export function addressFault(
  addresses: string[],
  namedOnly: boolean,
  classify: ClassifyAddress,
): string | null {
  if (permitted(addresses, namedOnly, classify).length > 0) return null
  return addresses.some((address) => classify(address) === 'public') ? formFault : hostFault
}

const formFault = 'must begin with https:// and use its default port, 443'

const hostFault =
  'must lead to a public address: private and loopback addresses, metadata services and names of a local network are refused'
