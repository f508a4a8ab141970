/**
 * Encrypts secrets that the service stores and must read again. It uses AES-256-GCM with a separate key for each
 * purpose, derived from SECRET_KEY. Format:
 *
 * version (1 byte) | key id (4) | nonce (12) | ciphertext | tag (16)
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

/** What a key is for. Each purpose has a key of its own. */
export type Purpose =
  | 'canary'
  | 'webhook secrets'
  | 'answers kept for replay'
  | 'browsers that signed in'
  | 'oauth'
  | 'oauth cookies'
  | 'oauth signing'
  | 'part urls'
  | 'sessions'
  | 'image urls'
  | 'messages between nodes'

/** The values of SECRET_KEY and, during a rotation, of SECRET_KEY_PREVIOUS. The first one encrypts, all of them decrypt. */
export type SecretKeys = readonly [string, ...string[]]

export interface Encryption {
  /** How each text begins that the first key has encrypted: the version and the key's id. */
  head: Buffer
  /** Whether the first key has encrypted it. */
  isCurrent(sealed: Uint8Array): boolean
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

/** Derives a key of 32 bytes from a secret key. */
export function deriveKey(secretKey: string, purpose: Purpose): Buffer {
  if (secretKey.length < minSecretLength)
    throw new Error(`SECRET_KEY must be at least ${minSecretLength} characters.`)
  return Buffer.from(hkdfSync('sha256', secretKey, '', `corkboard ${purpose} ${version}`, 32))
}

export function openEncryption(secretKeys: SecretKeys, purpose: Purpose): Encryption {
  const [current, ...others] = secretKeys.map((secretKey) => cipherOf(deriveKey(secretKey, purpose)))
  const all = [current!, ...others]
  return {
    head: current!.head,
    isCurrent: (sealed) => current!.head.equals(sealed.subarray(0, current!.head.length)),
    seal: (text, about) => current!.seal(text, about),
    open(sealed, about) {
      const bytes = Buffer.from(sealed)
      if (bytes.length < headBytes + tagBytes || bytes[0] !== version) {
        throw new DecryptionError('These bytes were not encrypted by this service.')
      }
      const cipher = all.find(({ head }) => bytes.subarray(0, head.length).equals(head))
      if (!cipher) {
        throw new DecryptionError(
          'The text was encrypted with another SECRET_KEY. Set the earlier SECRET_KEY again to read it.',
        )
      }
      return cipher.open(bytes, about)
    },
  }
}

function cipherOf(key: Buffer) {
  const keyId = createHash('sha256').update(key).digest().subarray(0, keyIdBytes)
  const head = Buffer.concat([Buffer.of(version), keyId])
  const options = { authTagLength: tagBytes }
  return {
    head,
    seal(text: string, about: string): Buffer {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce, options)
      cipher.setAAD(Buffer.from(about))
      const ciphertext = [cipher.update(text, 'utf8'), cipher.final()]
      return Buffer.concat([head, nonce, ...ciphertext, cipher.getAuthTag()])
    },
    open(bytes: Buffer, about: string): string {
      const nonce = bytes.subarray(head.length, headBytes)
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
