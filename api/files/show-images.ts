/** What image cards tell of the file that they show. */
import type { ApiContext } from '../http/route.ts'

type Card = Record<string, unknown>

interface Figures {
  image_key: string
  width: number | null
  height: number | null
  bytes: number | null
}

/**
 * Adds `width` and `height` (pixels, as it is shown) and `bytes` of the image to each image card whose file the account
 * may read. They are the file's: what a client sends under these names is ignored.
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

/** Of cards that were written: the write stands, so its answer does without when they can't be had. */
export async function showWritten(context: ApiContext, account: string, cards: Card[]): Promise<Card[]> {
  try {
    return await showImages(context, account, cards)
  } catch (error) {
    context.log.warn({ err: error }, 'the answer to a write goes without the figures of its images')
    return cards
  }
}

const imageKeyOf = ({ kind, image_key: key }: Card): string | null =>
  kind === 'image' && typeof key === 'string' ? key : null
