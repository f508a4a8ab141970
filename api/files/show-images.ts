/** Adds the size of the shown image to image cards in answers. */
import type { ApiContext } from '../http/route.ts'

type Card = Record<string, unknown>

interface Figures {
  image_key: string
  width: number | null
  height: number | null
  bytes: number | null
}

/**
 * Adds `width` and `height` (pixels, after rotation) and `bytes` of the image to each image card whose file the account
 * may read. The values come from the file. Fields with these names in a request are ignored.
 */
export async function showImages({ database }: ApiContext, account: string, cards: Card[]): Promise<Card[]> {
  const keys = new Set(cards.flatMap((card) => imageKeyOf(card) ?? []))
  if (keys.size === 0) return cards
  const rows = await database.asUser(
    account,
    (tx) => tx<Figures[]>`
      select distinct on (image_key) image_key, width, height, bytes
      from images
      where image_key = any (${[...keys]}::text[])
      order by image_key`,
  )
  const known = new Map(rows.map(({ image_key, ...figures }) => [image_key, figures]))
  return cards.map((card) => ({ ...card, ...known.get(imageKeyOf(card) ?? '') }))
}

/** The same for cards that were just written. The write has succeeded, so an error here only leaves the fields out. */
export async function showWritten(context: ApiContext, account: string, cards: Card[]): Promise<Card[]> {
  try {
    return await showImages(context, account, cards)
  } catch (error) {
    context.log.warn({ err: error }, 'reading image sizes for the answer to a write failed')
    return cards
  }
}

const imageKeyOf = ({ kind, image_key: key }: Card): string | null =>
  kind === 'image' && typeof key === 'string' ? key : null
