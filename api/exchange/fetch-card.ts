/** Fetches a URL and returns the fields of a card for it. A file is stored, a web page becomes a link. */
import { boundText } from '../../core/card-values.ts'
import { cardFields, type CardChange } from '../../core/card.ts'
import { limits } from '../../core/limits.ts'
import type { ApiContext } from '../http/route.ts'
import { fetchUrl, type Failed, type RemoteFile, type RemotePage } from './fetch-url.ts'
import { readPageHead } from './page-head.ts'

interface Item {
  account: string
  boardId: string
  url: string
  timeoutMs: number
  /** For a file: called with the card's fields in the transaction that records the file. */
  stored(card: CardChange): void
}

/** @throws errors of the database and of the file store */
export async function fetchCard(context: ApiContext, item: Item): Promise<CardChange | Failed> {
  const got = await fetchUrl(context, {
    ...item,
    page: linkCard,
    stored: (file) => item.stored(fileCard(file)),
  })
  return 'mime' in got ? fileCard(got) : got
}

type LinkCard = Pick<CardChange, 'kind' | 'title' | 'body'>

async function linkCard({ contentType, start, body }: RemotePage): Promise<LinkCard> {
  const { title, description } = readPageHead(
    await readUpTo(start, body, limits.import.pageBytes),
    contentType,
  )
  return {
    kind: 'link',
    title: title && boundText(title, cardFields.title.limit),
    body: description && boundText(description, cardFields.body.limit),
  }
}

function fileCard(file: RemoteFile): CardChange {
  if (file.kind === 'image') {
    const { image_key, width, height } = file
    return { kind: 'image', image_key, ...(width && height ? fitCard(width, height) : {}) }
  }
  const { kind, key, name, mime, ext, bytes } = file
  return { kind, file_key: key, file_name: name, mime, ext, size_bytes: bytes }
}

async function readUpTo(start: Buffer, rest: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of rest) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= maxBytes) break
  }
  return chunks.length === 0 ? start : Buffer.concat(chunks).subarray(0, maxBytes)
}

/** The size of a card for an image. It keeps the image's proportions, within the least and greatest size of a card. */
export function fitCard(width: number, height: number): { w: number; h: number } {
  const { min, max } = limits.cardSize
  const least = min / Math.min(width, height)
  const scale = Math.min(Math.max(1, least), max / Math.max(width, height))
  const side = (pixels: number) => Math.min(max, Math.max(min, Math.round(pixels * scale)))
  return { w: side(width), h: side(height) }
}
