/** Where a request comes from, for bounds by address. */
import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

/** @param trustedProxies how many proxies in front have each added the address that it saw to `X-Forwarded-For` */
export function clientAddress(request: IncomingMessage, trustedProxies: number): string {
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '')
  const nearestFirst = [request.socket.remoteAddress ?? '', ...forwarded.toReversed()]
  return nearestFirst[Math.min(trustedProxies, nearestFirst.length - 1)]!
}

/** Of IPv6 the /64: so many addresses one subscriber has. */
export function network(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return ipaddr.fromByteArray([...address.toByteArray().slice(0, 8), ...Array<number>(8).fill(0)]).toString()
}
