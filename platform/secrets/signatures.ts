/** Signs texts with a key for one purpose, derived from SECRET_KEY. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKey, type Purpose, type SecretKeys } from './encryption.ts'

export interface Signing {
  /** @returns the signature, in base64url */
  sign(text: string): string
  /** Whether one of the keys made the signature. */
  isSigned(text: string, signature: string): boolean
}

/** @param secretKeys the first one signs, all of them verify */
export function openSigning(secretKeys: SecretKeys, purpose: Purpose): Signing {
  const keys = secretKeys.map((secretKey) => deriveKey(secretKey, purpose))
  const sign = (text: string, key = keys[0]!) => createHmac('sha256', key).update(text).digest('base64url')
  return {
    sign: (text) => sign(text),
    isSigned(text, signature) {
      const given = Buffer.from(signature)
      return keys.some((key) => {
        const expected = Buffer.from(sign(text, key))
        return given.length === expected.length && timingSafeEqual(given, expected)
      })
    },
  }
}
