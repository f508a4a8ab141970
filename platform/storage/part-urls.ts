/** Signed URLs to which the parts of an upload are sent when the files are in a folder of ours. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** What a URL allows: one part, of so many bytes, until then. */
export interface PartGrant {
  key: string
  uploadId: string
  partNumber: number
  bytes: number
  /** Unix seconds. */
  expires: number
}

export interface PartUrls {
  /** Path and query. */
  sign(grant: PartGrant): string
  /** Null when it was not signed here. @param query of the URL */
  verify(query: Record<string, unknown>): PartGrant | null
}

/** Outside the API: no token, no rate limit, no JSON. */
export const partPath = '/storage/parts'

export function openPartUrls(secretKey: string): PartUrls {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'corkboard part urls 1', 32))
  const signature = (grant: PartGrant) =>
    createHmac('sha256', key)
      .update(JSON.stringify([grant.key, grant.uploadId, grant.partNumber, grant.bytes, grant.expires]))
      .digest()
  return {
    sign(grant) {
      const query = new URLSearchParams({
        key: grant.key,
        upload: grant.uploadId,
        part: String(grant.partNumber),
        bytes: String(grant.bytes),
        expires: String(grant.expires),
        signature: signature(grant).toString('base64url'),
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
      const given = Buffer.from(text('signature'), 'base64url')
      const expected = signature(grant)
      return given.length === expected.length && timingSafeEqual(given, expected) ? grant : null
    },
  }
}
