import Type from 'typebox'
import { resizeFormats, resizeWidths } from '../../core/file.ts'
import { limits } from '../../core/limits.ts'
import { route } from '../http/route.ts'
import { list, listOf, nullable, object, oneOf, text, time } from '../http/vocabulary.ts'
import { fileKey } from './fields.ts'
import { onlyBoard, signedSession, signedUrl, urlEnd } from './image-urls.ts'

const width = Type.Unsafe<(typeof resizeWidths)[number]>({
  enum: [...resizeWidths],
  description: 'Width of a smaller image in pixels. Without it the URL is that of the whole file.',
})
const format = oneOf(resizeFormats, 'Format of the smaller image. Default: `webp`.')

export const signUrls = route('POST /images/urls', 'read', {
  answersSecret: true,
  summary: 'Get URLs of files that need no token, for `<img>` and `srcset`.',
  description:
    'Each URL is signed for its file, width and end. It ends at a half hour, at most an hour from now, and never after the session that asks. Within a half hour the same request gets the same URLs, so browsers use what they have cached. A read by such a URL is audited under the account that asked for it. It counts for the address of the reader, not against the rate limit of the token.',
  schemas: {
    body: Type.Object({
      images: listOf(
        Type.Object({ image_key: fileKey, w: Type.Optional(width), format: Type.Optional(format) }),
        limits.files.urlsPerRequest,
        `The files, up to ${limits.files.urlsPerRequest}. For a \`srcset\`, name a file once for each width.`,
      ),
    }),
  },
  answers: {
    200: Type.Object({
      images: list(
        object('A URL.', {
          image_key: fileKey,
          w: nullable(width, 'Null for the whole file.'),
          url: text('The URL. Whoever has it can read the file until it ends.'),
        }),
        'The URLs, in the order of the request, without those of `not_found`.',
      ),
      not_found: list(fileKey, 'Keys of files that do not exist, or that you may not see.'),
      expires_at: time('When the URLs end.'),
    }),
  },
  async handle({ database, clock, imageUrls }, { principal, body, request }) {
    const keys = [...new Set(body.images.map((image) => image.image_key))]
    const rows = await database.asUser(
      principal.userId,
      (tx) =>
        tx<{ key: string; ended: string }[]>`
          select image_key as key, sessions_ended(${principal.userId}, ${onlyBoard(principal)}) as ended
          from images
          where image_key = any (${keys}::text[])`,
    )
    const readable = new Map(rows.map(({ key, ended }) => [key, signedSession(principal, ended)]))
    const expires = urlEnd(clock.now(), principal)
    const publicUrl = request.server.publicUrl()
    return {
      body: {
        images: body.images
          .filter(({ image_key }) => readable.has(image_key))
          .map(({ image_key, w = null, format = 'webp' }) => ({
            image_key,
            w,
            url: signedUrl(imageUrls, publicUrl, {
              ...{ key: image_key, width: w, format, by: principal.userId, expires },
              session: readable.get(image_key)!,
            }),
          })),
        not_found: keys.filter((key) => !readable.has(key)),
        expires_at: new Date(expires * 1000).toISOString(),
      },
    }
  },
})
