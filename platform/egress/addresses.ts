/** Which addresses may be connected to. */
import ipaddr from 'ipaddr.js'

/** `public`: anybody's. `named`: not public, or not necessarily, but in the operator's list. */
export type AddressClass = 'public' | 'named' | 'forbidden'

export type ClassifyAddress = (address: string) => AddressClass

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Where clouds hand out credentials. Never, also not by a range of the operator's that happens to hold one. */
const metadata = new Set([
  '169.254.169.254', // most of them
  '168.63.129.16', // Azure, a public address
  '100.100.100.200', // Alibaba
  '192.0.0.192', // Oracle
  'fd00:ec2::254', // AWS
])

/** Of IPv6 only this is given out to the public; `unicast` is also what nobody has defined yet, `::7f00:1` among it. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** @throws Error when it is neither an address nor a range in CIDR notation */
export function parseRange(text: string): Range {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.parse(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

/** @param allowed addresses and CIDR ranges of the operator's; @throws Error when one is none */
export function addressClasses(allowed: string[]): ClassifyAddress {
  const ranges = allowed.map(parseRange)
  return (text) => {
    if (!ipaddr.isValid(text)) return 'forbidden'
    const address = ipaddr.process(text) // of an IPv4 address in IPv6 clothes, the IPv4 address
    if (metadata.has(address.toString())) return 'forbidden'
    if (ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits)))
      return 'named'
    if (address.range() !== 'unicast') return 'forbidden'
    return address instanceof ipaddr.IPv6 && !address.match(globalUnicast) ? 'forbidden' : 'public'
  }
}
