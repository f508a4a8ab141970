/**
 * The operations that begin a multipart upload, sign the URLs to which a client sends its parts, and abort it. The one
 * that completes it is in `multipart-complete.ts`.
 */
import Type from 'typebox'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { partBytes, planParts } from '../../core/file.ts'
import { limits } from '../../core/limits.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../http/route.ts'
import { flag, id, integer, listOf, text } from '../http/vocabulary.ts'
import { dropUpload, endUpload, reserveUpload } from './reserve.ts'
import { findSession, sessionFields } from './session.ts'
import { noUpload } from './upload-fault.ts'

const newUpload = Type.Object({
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

export const beginUpload = route('POST /uploads/multipart', 'write', {
  answersSecret: true,
  refuses: ['not_found', 'forbidden', 'limit_reached'],
  summary: 'Begin a multipart upload. The board’s owner needs a paid plan.',
  schemas: {
    query: Type.Object({ board: id('Id of the board that the file is for.') }),
    body: newUpload,
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
      await dropUpload(context, account, key)
      throw error
    }
  },
})

const partNumber = Type.Integer({ minimum: 1, maximum: limits.files.parts })

export const signParts = route('POST /uploads/multipart/parts', 'write', {
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
      throw badRequest(`part_numbers must be 1 to ${count} for this upload, not ${beyond}.`)
    const parts = [...new Set(body.part_numbers)].map((number) => ({
      partNumber: number,
      bytes: partBytes(bytes, partSize, number),
    }))
    const urls = await context.files.signParts(body.key, body.upload_id, parts, limits.files.partUrlSeconds)
    return { body: { urls: Object.fromEntries(urls) } }
  },
})

export const abortUpload = route('POST /uploads/multipart/abort', 'write', {
  refuses: ['not_found', 'forbidden'],
  summary: 'Abort a multipart upload and discard its parts.',
  schemas: { body: Type.Object(sessionFields) },
  answers: {
    200: Type.Object({
      aborted: flag('Always true.'),
      key: sessionFields.key,
      upload_id: sessionFields.upload_id,
    }),
  },
  async handle(context, { principal, body }) {
    await findSession(context, principal.userId, body)
    const answer = { aborted: true, key: body.key, upload_id: body.upload_id }
    const ended = await endUpload(context, principal.userId, body.key, () => {
      const operation = currentOperation()
      operation?.concerns({ type: 'upload', ids: [body.key], board: body.board_id.toLowerCase() })
      operation?.answers(answer)
    })
    if (!ended) throw new ServiceError('conflict', 'This upload is already complete. It cannot be aborted.')
    return { body: answer }
  },
})

/** The extension with its dot. Empty when the name has none, or one that is not allowed in a key. */
function extensionOf(name = ''): string {
  const [found = ''] = /\.[A-Za-z0-9]{1,10}$/.exec(name) ?? []
  return found.toLowerCase()
}
