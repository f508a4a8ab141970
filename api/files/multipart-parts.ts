import Type from 'typebox'
import { listOf } from '../http/vocabulary.ts'
import { ServiceError } from '../../core/errors.ts'
import { partBytes } from '../../core/file.ts'
import { limits } from '../../core/limits.ts'
import { route } from '../http/route.ts'
import { findSession, sessionFields } from './session.ts'
import { noUpload } from './upload-fault.ts'

const partNumber = Type.Integer({ minimum: 1, maximum: limits.files.parts })

export const signParts = route({
  method: 'POST',
  path: '/uploads/multipart/parts',
  scope: 'write',
  answersSecret: true,
  refuses: ['not_found', 'forbidden'],
  summary: 'Get signed URLs for the parts of a multipart upload.',
  description: `Send each part to its URL with PUT. A URL accepts exactly the size of its part, and is valid for ${limits.files.partUrlSeconds / 60} minutes. Keep the \`etag\` header of each response.`,
  schemas: {
    body: Type.Object({
      ...sessionFields,
      part_numbers: listOf(
        partNumber,
        limits.files.partsPerRequest,
        'Numbers of the parts to upload next, from 1.',
      ),
    }),
  },
  answers: {
    200: Type.Object({
      urls: Type.Record(Type.String({ pattern: '^\\d+$' }), Type.String(), {
        description: 'The signed URLs by part number.',
      }),
    }),
  },
  async handle(context, { principal, body }) {
    const session = await findSession(context, principal.userId, body)
    if (session.state !== 'open') throw noUpload()
    const { bytes, partSize } = session
    const count = Math.ceil(bytes / partSize)
    const beyond = body.part_numbers.find((number) => number > count)
    if (beyond !== undefined)
      throw new ServiceError(
        'bad_request',
        `part_numbers must be 1 to ${count} for this upload, not ${beyond}.`,
      )
    const parts = [...new Set(body.part_numbers)].map((number) => ({
      partNumber: number,
      bytes: partBytes(bytes, partSize, number),
    }))
    const urls = await context.files.signParts(body.key, body.upload_id, parts, limits.files.partUrlSeconds)
    return { body: { urls: Object.fromEntries(urls) } }
  },
})
