import sanitize from 'sanitize-html'

const TEXT_TAGS = ['p', 'br', 'hr', 'span', 'strong', 'b', 'em', 'i', 'u', 's', 'code', 'a']
const BLOCK_TAGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'ul', 'ol', 'li']
const TABLE_TAGS = ['table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td']

/** Tags that are removed with their content, which is not text for readers. Other unknown tags keep their content. */
const UNREADABLE_TAGS = ['script', 'style', 'textarea', 'option', 'xmp', 'noscript', 'noembed', 'noframes']
const EMBEDDED_TAGS = ['iframe', 'object', 'embed', 'svg', 'math', 'template', 'title']

const LINK_TARGET = /^(https?:\/\/|mailto:)/i

const OPTIONS: sanitize.IOptions = {
  allowedTags: [...TEXT_TAGS, ...BLOCK_TAGS, ...TABLE_TAGS],
  allowedAttributes: {
    a: ['href', 'rel'],
    ol: ['start'],
    th: ['colspan', 'rowspan'],
    td: ['colspan', 'rowspan'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  nonTextTags: [...UNREADABLE_TAGS, ...EMBEDDED_TAGS],
  /** More than any text needs. Browsers rearrange elements from depth 512 on. */
  nestingLimit: 100,
  transformTags: {
    a: (tagName, { href = '' }) => ({ tagName, attribs: linkAttributes(href.trim()) }),
  },
}

function linkAttributes(target: string): sanitize.Attributes {
  return LINK_TARGET.test(target) ? { href: target, rel: 'noopener noreferrer nofollow' } : {}
}

/**
 * Removing a tag can change how its neighbours nest when the result is parsed again. Then it is sanitised again, at most
 * this many times.
 */
const PASSES_AT_MOST = 8

/** Most opening tags of one text. The parser's time grows with the number of tags times their depth. */
const TAGS_AT_MOST = 4000

/** Returns why an HTML text is refused, or null. It only counts tags, so it is cheap. */
export function htmlFault(html: string): string | null {
  return tagsEnd(html) === html.length ? null : `must have at most ${TAGS_AT_MOST} opening tags`
}

/** Returns the index of the first opening tag beyond the limit, or the text's length. A `<` in text counts as a tag. */
function tagsEnd(html: string): number {
  let tags = 0
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) {
    if (html[at + 1] === '/') continue
    tags += 1
    if (tags > TAGS_AT_MOST) return at
  }
  return html.length
}

/**
 * Sanitises an HTML text, so that it is safe to show anywhere. It keeps rich text tags, without styles, scripts, event
 * handlers and embedded content. Links must be `http`, `https` or `mailto`, and get `rel="noopener noreferrer nofollow"`.
 * Sanitising the result again changes nothing. The result can be longer than the input, because characters are escaped
 * and tags closed. Text after the 4,000th opening tag is left out.
 */
export function sanitizeHtml(html: string): string {
  let safe = html
  for (let pass = 0; pass < PASSES_AT_MOST; pass++) {
    const safer = sanitize(safe.slice(0, tagsEnd(safe)), OPTIONS)
    // A text without tags needs no further pass.
    if (safer === safe || !safer.includes('<')) return safer
    safe = safer
  }
  return sanitize(safe, { ...OPTIONS, allowedTags: [] })
}

/** More than sanitising adds to a cut text: it closes at most 100 elements, and escapes half an entity. */
const ROOM_TO_CLOSE = 2000

/**
 * Cuts a sanitised text that has more than `limit` characters. Returns null when it fits. The result has to be
 * sanitised again, because elements are open at its end. Then it fits.
 */
export function cutHtml(safe: string, limit: number): string | null {
  // A character is one or two code units.
  if (safe.length <= limit || (safe.length <= limit * 2 && Array.from(safe).length <= limit)) return null
  return safe.slice(0, limit - ROOM_TO_CLOSE).toWellFormed()
}

export function sanitizeAll(texts: string[]): string[] {
  return texts.map(sanitizeHtml)
}
