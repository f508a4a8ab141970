/** Whether a request comes from pages of this service: what browsers say about it, and pages can't forge. */
import type { IncomingHttpHeaders } from 'node:http'

/** @param publicUrl where clients reach the service; the host that the request names counts as well */
export function isOwnOrigin(headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const { origin, host } = headers
  if (origin === undefined) return false
  const from = URL.parse(origin)
  if (!from || !/^https?:$/.test(from.protocol)) return false // `null` among them
  if (from.origin === URL.parse(publicUrl)?.origin) return true
  // What can be changed on its way is not believed where all goes by https.
  const isWeaker = publicUrl.startsWith('https:') && from.protocol === 'http:'
  return !isWeaker && from.host === host?.toLowerCase()
}

/** Of a form: clients that are no browsers say nothing of it. */
export function isForeignForm(headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  return headers.origin !== undefined && !isOwnOrigin(headers, publicUrl)
}
