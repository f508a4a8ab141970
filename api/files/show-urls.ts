/** Adds signed URLs of their files to cards in answers. */
import { fileFields } from '../../core/card.ts'
import { resizeWidths } from '../../core/file.ts'
import { mapInTurns } from '../../platform/work/loop-turn.ts'
import type { Transaction } from '../../sql/database.ts'
import type { ApiContext, Call } from '../http/route.ts'
import { onlyBoard, signedSession, signedUrl, urlEnd } from './image-urls.ts'
import { canBeResized, type FileRow } from './read.ts'

type Card = Record<string, unknown>

/** For `include=urls`: each file field of a card that names a file which the caller may read. */
export async function showUrls<Shown extends Card>(
  { database, clock, imageUrls }: ApiContext,
  { principal, request }: Pick<Call<never, never, never>, 'principal' | 'request'>,
  cards: Shown[],
): Promise<Shown[]> {
  const keys = cards.flatMap((card) =>
    fileFields.map((field) => card[field]).filter((key) => typeof key === 'string'),
  )
  const read = (tx: Transaction) => tx<(FileRow & { ended: string })[]>`
    select distinct on (image_key) image_key, content_type, bytes, width, height,
      sessions_ended(${principal.userId}, ${onlyBoard(principal)}) as ended
    from images
    where image_key = any (${keys}::text[])
    order by image_key`
  const rows = keys.length === 0 ? [] : await database.asUser(principal.userId, read)
  const expires = urlEnd(clock.now(), principal)
  const urlOf = ({ image_key: key, ended }: (typeof rows)[number], width: number | null) =>
    signedUrl(imageUrls, request.server.publicUrl(), {
      ...{ key, width, format: 'webp', by: principal.userId, expires },
      session: signedSession(principal, ended),
    })
  const signed = await mapInTurns(rows, (file) => {
    const { image_key: key, width } = file
    const smaller = canBeResized(file) ? resizeWidths.filter((one) => one < (width ?? 0)) : []
    const srcset = smaller.map((one) => `${urlOf(file, one)} ${one}w`).join(', ')
    return [key, { url: urlOf(file, null), srcset: srcset || null }] as const
  })
  const urls = new Map(signed)
  return cards.map((card) => ({
    ...card,
    urls: Object.fromEntries(
      fileFields.flatMap((field) => {
        const found = urls.get(String(card[field]))
        return found ? [[field, found]] : []
      }),
    ),
  }))
}
