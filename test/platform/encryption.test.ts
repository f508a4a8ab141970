import { expect, test } from 'vitest'
import { DecryptionError, openEncryption } from '../../platform/secrets/encryption.ts'

const key = 'k'.repeat(32)
const secret = 'whsec_canary \u{1f600} \u2028'

test('[W50] what is encrypted is not to be seen, differs each time, and is read back', () => {
  const encryption = openEncryption([key], 'webhook secrets')
  const [one, two] = [encryption.seal(secret, 'a'), encryption.seal(secret, 'a')]
  expect(one.equals(two)).toBe(false)
  expect(one.includes('canary')).toBe(false)
  expect(openEncryption([key], 'webhook secrets').open(new Uint8Array(one), 'a')).toBe(secret)
  expect(encryption.open(encryption.seal('', 'a'), 'a')).toBe('')
})

test('[W51] with another key it is refused by name; with another purpose, owner or a flipped bit it is refused', () => {
  const encryption = openEncryption([key], 'webhook secrets')
  const sealed = encryption.seal(secret, 'a')
  for (const other of [
    openEncryption(['j'.repeat(32)], 'webhook secrets'),
    openEncryption([key], 'part urls'),
  ])
    expect(() => other.open(sealed, 'a')).toThrow('another SECRET_KEY')
  expect(() => encryption.open(sealed, 'b')).toThrow(DecryptionError)
  for (let at = 0; at < sealed.length; at++) {
    const flipped = Buffer.from(sealed)
    flipped[at]! ^= 1
    expect(() => encryption.open(flipped, 'a')).toThrow(DecryptionError)
    expect(() => encryption.open(sealed.subarray(0, at), 'a')).toThrow(DecryptionError)
  }
  expect(() => openEncryption([''], 'webhook secrets')).toThrow('SECRET_KEY must be at least 32 characters')
})
