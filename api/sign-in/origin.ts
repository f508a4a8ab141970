/** Whether a request comes from a page of this service, by headers that browsers set and pages can't forge. */
import type { IncomingHttpHeaders } from 'node:http'

/** Whether `Origin` matches `publicUrl` or the request's `Host`. */
export function isOwnOrigin(headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const { origin, host } = headers
  if (origin === undefined) return false
  const from = URL.parse(origin)
  if (!from || !/^https?:$/.test(from.protocol)) return false // such as `null`
  if (from.origin === URL.parse(publicUrl)?.origin) return true
  // A page loaded by http could be altered on the way, so it is not trusted where the service uses https.
  const isWeaker = publicUrl.startsWith('https:') && from.protocol === 'http:'
  return !isWeaker && from.host === host?.toLowerCase()
}

/** Whether a browser sent the form from a page of another site. Other clients send neither header, and are accepted. */
export function isForeignForm(headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  return headers.origin !== undefined && !isOwnOrigin(headers, publicUrl)
}
