/** Signed URLs for the parts of multipart uploads to the disk store. */
import type { SecretKeys } from '../secrets/encryption.ts'
import { openSigning } from '../secrets/signatures.ts'

/** The rights that a URL grants: to upload one part of exactly `bytes` bytes until `expires`. */
export interface PartGrant {
  key: string
  uploadId: string
  partNumber: number
  bytes: number
  /** Unix seconds. */
  expires: number
}

export interface PartUrls {
  /** Returns the path and query of the URL. */
  sign(grant: PartGrant): string
  /** Returns null when the signature is wrong. @param query the URL's query parameters */
  verify(query: Record<string, unknown>): PartGrant | null
}

/** This path is outside the API. It needs no token, has no rate limit and takes no JSON. */
export const partPath = '/storage/parts'

/** @param secretKeys the first one signs, all of them verify */
export function openPartUrls(secretKeys: SecretKeys): PartUrls {
  const signing = openSigning(secretKeys, 'part urls')
  const textOf = (grant: PartGrant) =>
    JSON.stringify([grant.key, grant.uploadId, grant.partNumber, grant.bytes, grant.expires])
  return {
    sign(grant) {
      const query = new URLSearchParams({
        key: grant.key,
        upload: grant.uploadId,
        part: String(grant.partNumber),
        bytes: String(grant.bytes),
        expires: String(grant.expires),
        signature: signing.sign(textOf(grant)),
      })
      return `${partPath}?${query.toString()}`
    },
    verify(query) {
      const text = (name: string) => (typeof query[name] === 'string' ? query[name] : '')
      const grant = {
        key: text('key'),
        uploadId: text('upload'),
        partNumber: Number(text('part')),
        bytes: Number(text('bytes')),
        expires: Number(text('expires')),
      }
      return signing.isSigned(textOf(grant), text('signature')) ? grant : null
    },
  }
}
