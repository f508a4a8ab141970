/** Decides to which addresses the service may connect. */
import ipaddr from 'ipaddr.js'

/** `public`: a public address. `named`: an address in EGRESS_ALLOW, public or not. `forbidden`: any other. */
export type AddressClass = 'public' | 'named' | 'forbidden'

export type ClassifyAddress = (address: string) => AddressClass

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Addresses at which clouds serve credentials. They are always forbidden, even inside a range of EGRESS_ALLOW. */
const metadata = new Set([
  '169.254.169.254', // most of them
  '168.63.129.16', // Azure, a public address
  '100.100.100.200', // Alibaba
  '192.0.0.192', // Oracle
  'fd00:ec2::254', // AWS
])

/** The public IPv6 range. ipaddr.js also calls undefined ranges `unicast`, for example that of `::7f00:1`. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** @throws Error when the text is neither an address nor a range in CIDR notation */
export function parseRange(text: string): Range {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.parse(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

/** @param allowed addresses and CIDR ranges of EGRESS_ALLOW. @throws Error when an entry is neither */
export function addressClasses(allowed: string[]): ClassifyAddress {
  const ranges = allowed.map(parseRange)
  return (text) => {
    if (!ipaddr.isValid(text)) return 'forbidden'
    const address = ipaddr.process(text) // turns an IPv4-mapped IPv6 address into the IPv4 address
    if (metadata.has(address.toString())) return 'forbidden'
    if (ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits)))
      return 'named'
    if (address.range() !== 'unicast') return 'forbidden'
    return address instanceof ipaddr.IPv6 && !address.match(globalUnicast) ? 'forbidden' : 'public'
  }
}
