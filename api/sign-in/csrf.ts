/**
 * CSRF tokens, which bind a form to the cookie of its browser: `nonce.HMAC(cookie, nonce)`. Making one requires the
 * cookie. Each page has another nonce, so that the size of compressed answers reveals nothing (BREACH).
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

export const csrfFieldName = 'csrf'

/** @param secret the value of the cookie that the form is bound to */
export function csrfToken(secret: string): string {
  const nonce = randomBytes(12).toString('base64url')
  return `${nonce}.${tag(secret, nonce).toString('base64url')}`
}

export function isCsrfToken(token: string | null, secret: string): boolean {
  const [, nonce = '', given = ''] = /^([\w-]{16})\.([\w-]{43})$/.exec(token ?? '') ?? []
  if (given === '') return false
  return timingSafeEqual(Buffer.from(given, 'base64url'), tag(secret, nonce))
}

const tag = (secret: string, nonce: string) => createHmac('sha256', secret).update(`csrf ${nonce}`).digest()
