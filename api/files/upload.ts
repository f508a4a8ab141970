import type { Readable } from 'node:stream'
import Type from 'typebox'
import { id, integer } from '../http/vocabulary.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { imageTypes } from '../../platform/images/image-header.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../http/route.ts'
import { fileKey, fileType, height, width } from './fields.ts'
import { storeImage } from './store-image.ts'

export const uploadImage = route('POST /uploads', 'write', {
  refuses: ['not_found', 'forbidden', 'limit_reached'],
  summary: `Upload an image of up to ${limits.files.uploadBytes / 1024 / 1024} MB. The body is the bytes of the image.`,
  schemas: {
    query: Type.Object({ board: id('Id of the board that the image is for.') }),
  },
  takesBytes: imageTypes,
  described: Type.Unsafe<Buffer>({ type: 'string', format: 'binary' }),
  answers: {
    201: Type.Object({
      image_key: fileKey,
      width,
      height,
      bytes: integer('Size in bytes.'),
      content_type: fileType,
    }),
  },
  async handle(context, { principal, query, body, request }) {
    const length = request.headers['content-length']
    const bytes = body as unknown as Readable | null
    if (!bytes)
      throw new ServiceError('unsupported_media_type', `The body must be an image: ${imageTypes.join(', ')}.`)
    try {
      const stored = await storeImage(context, {
        account: principal.userId,
        boardId: query.board.toLowerCase(),
        contentType: request.headers['content-type'],
        bytes: length === undefined ? null : Number(length),
        body: bytes,
        ownsChunks: true,
        finished: (stored) => currentOperation()?.answers(stored, 201),
      })
      return { status: 201, body: stored }
    } catch (error) {
      if (request.raw.errored)
        // the client has disconnected
        throw badRequest('The connection closed before the end of the body.', {
          cause: error,
        })
      throw error
    }
  },
})
