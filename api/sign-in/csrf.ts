/**
 * Tokens that bind a form to the cookie of its browser: `nonce.HMAC(cookie, nonce)`. Who does not know the cookie can't
 * make one, and each page has another, so that compressed answers tell nothing of it.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

export const csrfFieldName = 'csrf'

/** @param secret the value of the cookie that the form goes with */
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
