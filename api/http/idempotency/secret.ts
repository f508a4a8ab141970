/** Encrypts a secret that is stored with the ids of created resources, so that an answer with it can be rebuilt. */
import type { Encryption } from '../../../platform/secrets/encryption.ts'

/** @param of the id of the resource that the secret belongs to */
export const sealSecret = (answers: Encryption, of: string, secret: string) =>
  answers.seal(secret, of).toString('base64')

export const openSecret = (answers: Encryption, of: string, sealed: string) =>
  answers.open(Buffer.from(sealed, 'base64'), of)
