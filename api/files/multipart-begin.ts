import Type from 'typebox'
import { id, integer, text } from '../http/vocabulary.ts'
import { planParts } from '../../core/file.ts'
import { limits } from '../../core/limits.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../http/route.ts'
import { giveUpUpload, reserveUpload } from './reserve.ts'
import { sessionFields } from './session.ts'
import { noUpload } from './upload-fault.ts'

const body = Type.Object({
  bytes: integer('Size of the whole file in bytes.', { minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  content_type: Type.Optional(
    text('Media type of the file. Default: `application/octet-stream`.', {
      maxLength: 200,
      pattern: '^[\\w.+-]+/[\\w.+-]+( *; *[\\w.+-]+=[\\w.+-]+)*$',
    }),
  ),
  filename: Type.Optional(
    text('Name of the file. Only its extension is used.', { maxLength: limits.files.fileName }),
  ),
})

export const beginUpload = route({
  method: 'POST',
  path: '/uploads/multipart',
  scope: 'write',
  answersSecret: true,
  refuses: ['not_found', 'forbidden', 'limit_reached'],
  summary: 'Begin a multipart upload. The board’s owner needs a paid plan.',
  schemas: {
    query: Type.Object({ board: id('Id of the board that the file is for.') }),
    body,
  },
  answers: {
    201: Type.Object({
      key: sessionFields.key,
      upload_id: sessionFields.upload_id,
      part_size: integer('Size in bytes of each part except the last.'),
      part_count: integer('How many parts to upload.'),
      content_type: text('Media type of the file.'),
    }),
  },
  async handle(context, { principal, query, body }) {
    const { partSize, partCount } = planParts(body.bytes)
    const contentType = body.content_type?.toLowerCase() ?? 'application/octet-stream'
    const account = principal.userId
    const { key, reserved } = reserveUpload(context, {
      account,
      boardId: query.board.toLowerCase(),
      contentType,
      bytes: body.bytes,
      partSize,
      extension: extensionOf(body.filename),
      lifetimeMs: limits.files.sessionMs,
    })
    await reserved
    let isNamed = false
    try {
      const uploadId = await context.files.beginMultipart(key, contentType)
      const answer = {
        key,
        upload_id: uploadId,
        part_size: partSize,
        part_count: partCount,
        content_type: contentType,
      }
      await context.database.asUser(account, async (tx) => {
        const named = await tx`select from name_upload(${key}, ${uploadId}) as named where named`
        if (named.length === 0) throw noUpload()
        isNamed = true
        currentOperation()?.concerns({ type: 'upload', ids: [key], board: query.board.toLowerCase() })
        currentOperation()?.answers(answer, 201)
      })
      return { status: 201, body: answer }
    } catch (error) {
      if (isNamed) throw error // the commit, and the answer stored for the idempotency key, may have succeeded
      await giveUpUpload(context, account, key).catch((left: unknown) =>
        context.log.warn(
          { err: left, key },
          'cleanup of a failed upload failed; it is removed when it expires',
        ),
      )
      throw error
    }
  },
})

/** The extension with its dot. Empty when the name has none, or one that is not allowed in a key. */
function extensionOf(name = ''): string {
  const [found = ''] = /\.[A-Za-z0-9]{1,10}$/.exec(name) ?? []
  return found.toLowerCase()
}
