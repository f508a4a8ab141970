/** What a URL has to be like before anything is connected to: its form, and its host as it is written. */
import { isIP } from 'node:net'
import type { ClassifyAddress } from './addresses.ts'

export interface Target {
  url: URL
  origin: string
  /** With the query. */
  path: string
  /** Without the brackets of an IPv6 address and the dot at the end of a name. */
  hostname: string
  /** http, or a port of its own: only for addresses in the operator's list. */
  namedOnly: boolean
}

/** Words for a person, to follow "url". */
export interface Refusal {
  refused: string
}

/** Networks' own names, which no public name server knows. */
const privateName = /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa)$/

/** Names under which clouds serve credentials. They are refused always, whatever addresses the operator allows. */
const metadataNames = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'instance-data',
  'instance-data.ec2.internal',
])

/** @param namesAreOpen the operator has a list: then a name is judged by its addresses alone */
export function readTarget(text: string, classify: ClassifyAddress, namesAreOpen: boolean): Target | Refusal {
  const url = URL.parse(text)
  if (!url) return { refused: 'must be a whole URL such as https://example.com/hook' }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { refused: 'must begin with https://' }
  if (url.username || url.password) return { refused: 'must not hold a user name or a password' }
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

/** The addresses that may be connected to. */
export function permitted(addresses: string[], namedOnly: boolean, classify: ClassifyAddress): string[] {
  return addresses.filter((address) => {
    const found = classify(address)
    return found === 'named' || (found === 'public' && !namedOnly)
  })
}

/** Null when one of them may be connected to; else words for a person, to follow "url". */
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
