import { buffer } from 'node:stream/consumers'
import Type from 'typebox'
import { integer, listOf, text } from '../http/vocabulary.ts'
import { badRequest } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { imageTypes, readImageHeader, type ImageHeader } from '../../platform/images/image-header.ts'
import { byPartNumber, type CompletedPart, type ObjectStore } from '../../platform/storage/object-store.ts'
import { withoutOperation } from '../../sql/operation.ts'
import { route, type ApiContext } from '../http/route.ts'
import { assembleOnce } from './assemblies.ts'
import { fileFields } from './fields.ts'
import { finishUpload, giveUpUpload } from './reserve.ts'
import { findSession, sessionFields, type Session } from './session.ts'
import { noUpload, uploadRefused } from './upload-fault.ts'

const part = Type.Object({
  part_number: integer('Number of the part, from 1.', { minimum: 1, maximum: limits.files.parts }),
  etag: text('The `etag` in the response to the part’s PUT, with or without quotes.', {
    minLength: 1,
    maxLength: 200,
  }),
})
const body = Type.Object({
  ...sessionFields,
  parts: listOf(part, limits.files.parts, 'All parts of the upload.'),
})

export const completeUpload = route('POST /uploads/multipart/complete', 'write', {
  refuses: ['not_found', 'forbidden'],
  summary: 'Complete a multipart upload: the parts become the file. Safe to repeat.',
  schemas: { body },
  answers: {
    201: Type.Object(fileFields),
  },
  bodyLimitBytes: 4 * 1024 * 1024, // 10,000 parts
  async handle(context, { principal, body }) {
    const account = principal.userId
    const session = await findSession(context, account, body)
    if (session.state === 'ending') throw noUpload()
    const parts = partsOf(body.parts, session)
    const { files, database } = context
    const { key, upload_id } = body
    const work = async () => {
      await assemble(files, body, parts, session)
      return headerOf(files, key, session)
    }
    const assembly = { account, key, content: [upload_id, parts], work }
    const image = session.state === 'open' ? await assembleOnce(database, assembly) : null
    const { width: imageWidth = null, height: imageHeight = null } = image?.size ?? {}
    const file = {
      key: body.key,
      boardId: body.board_id.toLowerCase(),
      contentType: typeOf(session, image),
      width: imageWidth,
      height: imageHeight,
    }
    const finish = () => finishUpload(context, account, file)
    const recorded = await (session.state === 'stored' ? withoutOperation(finish) : finish())
    if (recorded.fault) {
      // The upload was aborted or has expired meanwhile. Nothing else would remove the assembled object.
      if (recorded.fault === 'gone') await removeUnlessStored(context, body.key)
      else await giveUpUpload(context, account, body.key)
      throw uploadRefused(recorded.fault, session.bytes)
    }
    const { bytes, width, height } = recorded
    return { status: 201, body: { image_key: body.key, bytes, width, height } }
  },
})

/** Another request may have completed the upload, whose row is deleted when its time is over. */
async function removeUnlessStored({ database, files }: ApiContext, key: string): Promise<void> {
  const stored = await database.asSystem((tx) => tx`select from images where image_key = ${key} limit 1`)
  if (stored.length === 0) await files.remove([key])
}

/** Sorts the parts by number. @throws ServiceError `bad_request` unless each part is listed once */
function partsOf(
  given: { part_number: number; etag: string }[],
  { bytes, partSize }: Session,
): CompletedPart[] {
  const count = Math.ceil(bytes / partSize)
  const numbers = new Set(given.map(({ part_number }) => part_number))
  if (numbers.size !== given.length) throw badRequest('parts must list each part_number only once.')
  const beyond = given.find(({ part_number }) => part_number > count)
  if (beyond)
    throw badRequest(`parts: part_number must be 1 to ${count} for this upload, not ${beyond.part_number}.`)
  if (given.length < count) {
    const missing = Array.from({ length: count }, (_, n) => n + 1).find((number) => !numbers.has(number))
    throw badRequest(`parts must list all ${count} parts. Part ${missing} is missing.`)
  }
  return given
    .map(({ part_number, etag }) => ({ partNumber: part_number, etag: etag.replace(/^"|"$/g, '') }))
    .toSorted(byPartNumber)
}

/** Assembles the object from its parts, and checks that it has the declared size. */
async function assemble(
  files: ObjectStore,
  { key, upload_id }: { key: string; upload_id: string },
  parts: CompletedPart[],
  { bytes }: Session,
): Promise<void> {
  const { outcome } = await files.complete(key, upload_id, parts)
  const found = await files.head(key)
  // An earlier call may have assembled it, and then lost its answer or crashed.
  if (found?.bytes === bytes) return
  if (outcome === 'unknown') throw noUpload()
  if (outcome === 'stored') await files.remove([key])
  throw badRequest(
    outcome === 'stored'
      ? `The parts have ${found?.bytes ?? 0} bytes in total, but ${bytes} were declared. Upload the parts again.`
      : 'parts: a part was not uploaded, or its etag is not the one of its last PUT.',
  )
}

const isImage = (type: string) => imageTypes.some((one) => one === type)

/** Detects an image by its bytes, if the declared type allows for one. */
async function headerOf(
  files: ObjectStore,
  key: string,
  { contentType, bytes }: Session,
): Promise<ImageHeader | null> {
  if (!contentType.startsWith('image/') && contentType !== 'application/octet-stream') return null
  const start = await files.get(key, { start: 0, end: Math.min(bytes, limits.files.headerBytes) - 1 })
  return start && readImageHeader(await buffer(start))
}

/** The detected type. A file that was declared as an image but is not one becomes plain bytes. */
const typeOf = ({ contentType }: Session, image: ImageHeader | null) =>
  image?.type ?? (isImage(contentType) ? 'application/octet-stream' : contentType)
