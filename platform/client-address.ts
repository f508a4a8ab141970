/** The client addresses of requests, for limits per address. */
import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

/**
 * Returns the address of the client.
 *
 * @param trustedProxies number of proxies in front of the service. Each adds its peer's address to `X-Forwarded-For`
 */
export function clientAddress(request: IncomingMessage, trustedProxies: number): string {
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '')
  const nearestFirst = [request.socket.remoteAddress ?? '', ...forwarded.toReversed()]
  return nearestFirst[Math.min(trustedProxies, nearestFirst.length - 1)]!
}

/** Returns the key for limits per address. For IPv6 it is the /64 network, which one subscriber has for itself. */
export function network(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return ipaddr.fromByteArray([...address.toByteArray().slice(0, 8), ...Array<number>(8).fill(0)]).toString()
}
