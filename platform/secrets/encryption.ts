/**
 * Encrypts secrets that the service stores and must read again. It uses AES-256-GCM with a separate key for each
 * purpose, derived from SECRET_KEY. Format:
 *
 * version (1 byte) | key id (4) | nonce (12) | ciphertext | tag (16)
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

export interface Encryption {
  /** @param about names the object to which the text belongs. `open` must get the same value */
  seal(text: string, about: string): Buffer
  /** @throws DecryptionError */
  open(sealed: Uint8Array, about: string): string
}

export class DecryptionError extends Error {}

const version = 1
const keyIdBytes = 4
const nonceBytes = 12
const tagBytes = 16
const headBytes = 1 + keyIdBytes + nonceBytes
const minSecretLength = 32

/** Derives a key of 32 bytes from the secret key. @param purpose each purpose has a different key */
export function deriveKey(secretKey: string, purpose: string): Buffer {
  if (secretKey.length < minSecretLength)
    throw new Error(`SECRET_KEY must be at least ${minSecretLength} characters.`)
  return Buffer.from(hkdfSync('sha256', secretKey, '', `corkboard ${purpose} ${version}`, 32))
}

/** @param purpose each purpose has a different key */
export function openEncryption(secretKey: string, purpose: string): Encryption {
  const key = deriveKey(secretKey, purpose)
  const keyId = createHash('sha256').update(key).digest().subarray(0, keyIdBytes)
  const options = { authTagLength: tagBytes }
  return {
    seal(text, about) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce, options)
      cipher.setAAD(Buffer.from(about))
      const ciphertext = [cipher.update(text, 'utf8'), cipher.final()]
      return Buffer.concat([Buffer.of(version), keyId, nonce, ...ciphertext, cipher.getAuthTag()])
    },
    open(sealed, about) {
      const bytes = Buffer.from(sealed)
      if (bytes.length < headBytes + tagBytes || bytes[0] !== version) {
        throw new DecryptionError('These bytes were not encrypted by this service.')
      }
      if (!bytes.subarray(1, 1 + keyIdBytes).equals(keyId)) {
        throw new DecryptionError(
          'The text was encrypted with another SECRET_KEY. Set the earlier SECRET_KEY again to read it.',
        )
      }
      const nonce = bytes.subarray(1 + keyIdBytes, headBytes)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, options)
      decipher.setAAD(Buffer.from(about))
      decipher.setAuthTag(bytes.subarray(-tagBytes))
      try {
        return decipher.update(bytes.subarray(headBytes, -tagBytes)).toString('utf8') + decipher.final('utf8')
      } catch (cause) {
        const message = 'The encrypted text was modified, or it belongs to another object.'
        throw new DecryptionError(message, { cause })
      }
    },
  }
}
