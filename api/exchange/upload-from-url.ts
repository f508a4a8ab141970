import Type from 'typebox'
import { id, integer, nullable, oneOf, text } from '../http/vocabulary.ts'
import { requireWritable } from '../../collab/access.ts'
import { cardFields } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { currentOperation } from '../../sql/operation.ts'
import { route } from '../http/route.ts'
import { fetchUrl, takeFetchTurn, type Failed, type RemoteFile } from './fetch-url.ts'

const uploaded = Type.Object({
  key: text('Key of the file: `image_key` of an image card, `file_key` of a video, audio, pdf or file card.'),
  kind: oneOf(['image', 'video', 'audio', 'pdf', 'file'], 'The kind of card that shows this file.'),
  content_type: text('Media type of the file, detected from its bytes.'),
  bytes: integer('Size in bytes.'),
  width: nullable(integer('Width in pixels. Null when the file is not an image or its size is unknown.')),
  height: nullable(integer('Height in pixels. Null when the file is not an image or its size is unknown.')),
  file_name: nullable(text('Last part of the URL’s path.')),
})

const megabytes = (bytes: number) => bytes / 1024 / 1024

export const uploadFromUrl = route('POST /uploads/from-url', 'write', {
  refuses: ['not_found', 'forbidden', 'limit_reached', 'upstream_error', 'upstream_rejected'],
  summary: `Fetch the file at a public https URL and store it: an image of up to ${megabytes(limits.files.uploadBytes)} MB, another file of up to ${megabytes(limits.import.fileBytes)} MB.`,
  schemas: {
    query: Type.Object({ board: id('Id of the board that the file is for.') }),
    body: Type.Object({
      url: text(
        `An https URL on a public host. Up to ${limits.import.redirects} redirects are followed. Fetching may take ${limits.import.itemMs / 1000} seconds. ` +
          'A web page is refused with 415: import it as a link card.',
        { maxLength: cardFields.url.limit },
      ),
    }),
  },
  answers: { 201: uploaded },
  async handle(context, { principal, query, body }) {
    const account = principal.userId
    const boardId = query.board.toLowerCase()
    await requireWritable(context.database, account, boardId)
    const endTurn = await takeFetchTurn(account, context.importMs.item)
    if (!endTurn) throw tooManyFetches()
    try {
      const got = await fetchUrl(context, {
        account,
        boardId,
        url: body.url,
        timeoutMs: context.importMs.item,
        page: () => Promise.resolve(webPage),
        stored: (file) => currentOperation()?.answers(shownFile(file), 201),
      })
      if ('code' in got) throw new ServiceError(got.code, got.error)
      return { status: 201, body: shownFile(got) }
    } finally {
      endTurn()
    }
  },
})

function shownFile(file: RemoteFile): Record<string, unknown> {
  const { kind, mime, name, bytes } = file
  const { key, width, height } =
    file.kind === 'image' ? { ...file, key: file.image_key } : { ...file, width: null, height: null }
  return { key, kind, content_type: mime, bytes, width, height, file_name: name }
}

const webPage: Failed = {
  code: 'unsupported_media_type',
  error: 'url leads to a web page, not to a file. Import it as a link card with POST /boards/{id}/import.',
}

const tooManyFetches = () =>
  new ServiceError(
    'rate_limited',
    `Your account already fetches ${limits.import.atOnce} URLs, the most at a time. Try again in a few seconds.`,
    { retryAfterSeconds: 5 },
  )
