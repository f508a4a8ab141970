/**
 * Encrypts what has to be read back, for storage. AES-256-GCM under a key of its own for each purpose, derived from the
 * configuration's SECRET_KEY.
 *
 * version (1 byte) | key id (4) | nonce (12) | ciphertext | tag (16)
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

export interface Encryption {
  /** @param about what the text belongs to; it can be opened with the same again only */
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

/** 32 bytes that only the holder of the key can tell. @param purpose no two have a key in common */
export function deriveKey(secretKey: string, purpose: string): Buffer {
  if (secretKey.length < minSecretLength)
    throw new Error(`SECRET_KEY must be at least ${minSecretLength} characters.`)
  return Buffer.from(hkdfSync('sha256', secretKey, '', `corkboard ${purpose} ${version}`, 32))
}

/** @param purpose no two have a key in common */
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
        throw new DecryptionError('This is nothing that was encrypted here.')
      }
      if (!bytes.subarray(1, 1 + keyIdBytes).equals(keyId)) {
        throw new DecryptionError(
          'This was encrypted with another SECRET_KEY: the one of that time is needed to read it.',
        )
      }
      const decipher = createDecipheriv(
        'aes-256-gcm',
        key,
        bytes.subarray(1 + keyIdBytes, headBytes),
        options,
      )
      decipher.setAAD(Buffer.from(about))
      decipher.setAuthTag(bytes.subarray(-tagBytes))
      try {
        return decipher.update(bytes.subarray(headBytes, -tagBytes)).toString('utf8') + decipher.final('utf8')
      } catch (cause) {
        throw new DecryptionError('This was changed since it was encrypted, or belongs to something else.', {
          cause,
        })
      }
    },
  }
}
