/**
 * The cookies of pages. With https their names begin with `__Host-`: no other host can set them (RFC 6265bis, 4.1.3.2).
 */
import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply } from 'fastify'

/**
 * `session`: the signed-in session. `form`: binds forms to the browser before sign-in. `device`: an account has signed in
 * with this browser before.
 */
export type CookieName = 'session' | 'form' | 'device'

const isSecure = (publicUrl: string) => publicUrl.startsWith('https:')
export const cookieName = (name: CookieName, publicUrl: string): string =>
  `${isSecure(publicUrl) ? '__Host-' : ''}corkboard_${name}`

/** @param header the request's `Cookie` header */
export function readCookie(
  header: string | undefined,
  name: CookieName,
  publicUrl: string,
): string | undefined {
  return header === undefined ? undefined : parseCookie(header)[cookieName(name, publicUrl)]
}

/** @param days null: the cookie lasts until the browser is closed; 0: removes it */
export function writeCookie(
  reply: FastifyReply,
  name: CookieName,
  publicUrl: string,
  cookie: { value: string; days: number | null },
): void {
  const header = stringifySetCookie({
    name: cookieName(name, publicUrl),
    value: cookie.value,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure(publicUrl),
    ...(cookie.days === null ? {} : { maxAge: cookie.days * 86_400 }),
  })
  reply.header('set-cookie', header)
}
