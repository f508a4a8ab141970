/** Cuts answers, so that they fit the context window of a model. */

/** Most characters of JSON in a page of a list: about 8,000 tokens. */
const pageChars = 24_000

/** The first items that fit into `chars` characters of JSON, at least one. */
export function fitting<Item>(items: Item[], chars = pageChars): Item[] {
  let left = chars
  const end = items.findIndex((item, at) => (left -= JSON.stringify(item).length) < 0 && at > 0)
  return end < 0 ? items : items.slice(0, end)
}

/** `has_more` and `next_offset` of a page that shows only the first `shown` of its items. */
export function pageEndAt(
  shown: number,
  page: { items: unknown[]; offset: number; has_more: boolean },
): { has_more: boolean; next_offset: number | null } {
  const more = page.has_more || shown < page.items.length
  return { has_more: more, next_offset: more ? page.offset + shown : null }
}

/** The first `chars` UTF-16 units of the text. Never splits a surrogate pair. */
export function cut(text: string, chars: number): string {
  if (text.length <= chars) return text
  const end = isHighSurrogate(text.charCodeAt(chars - 1)) ? chars - 1 : chars
  return text.slice(0, end)
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit < 0xdc00
