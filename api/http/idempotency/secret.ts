/** A secret among the ids of what a request made, for an answer that has to be made again. */
import type { Encryption } from '../../../platform/secrets/encryption.ts'

/** @param of the id of what it opens */
export const sealSecret = (answers: Encryption, of: string, secret: string) =>
  answers.seal(secret, of).toString('base64')

export const openSecret = (answers: Encryption, of: string, sealed: string) =>
  answers.open(Buffer.from(sealed, 'base64'), of)
