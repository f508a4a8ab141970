/** Receives the parts of multipart uploads for the disk store. It does what S3 does for its signed URLs. */
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { badRequest, ServiceError } from '../core/errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { DiskStore } from '../platform/storage/disk-store.ts'
import { partPath, type PartUrls } from '../platform/storage/part-urls.ts'

export interface PartUploadOptions {
  store: DiskStore
  urls: PartUrls
  clock: Clock
}

export async function registerPartUploads(app: FastifyInstance, options: PartUploadOptions): Promise<void> {
  const { store, urls, clock } = options
  await app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload))
    scope.put<{ Querystring: Record<string, unknown>; Body: Readable }>(partPath, async (request, reply) => {
      const grant = urls.verify(request.query)
      if (!grant) throw new ServiceError('forbidden', 'This URL was not signed by this service.')
      if (grant.expires < clock.now() / 1000)
        throw new ServiceError('forbidden', 'This URL has expired. Request a new one.')
      if (request.headers['content-length'] !== String(grant.bytes))
        throw new ServiceError(
          'forbidden',
          `content-length: must be ${grant.bytes}, the size of this part in bytes.`,
        )
      const stored = await store.putPart(grant, request.body)
      if (stored.outcome === 'unknown')
        throw new ServiceError(
          'not_found',
          'This upload does not exist. It was completed or aborted, or has expired.',
        )
      if (stored.outcome === 'wrong-size')
        throw badRequest(`This part must have exactly ${grant.bytes} bytes.`)
      return reply.header('etag', `"${stored.etag}"`).code(200).send()
    })
    done()
  })
}
