import sanitize from 'sanitize-html'

const TEXT_TAGS = ['p', 'br', 'hr', 'span', 'strong', 'b', 'em', 'i', 'u', 's', 'code', 'a']
const BLOCK_TAGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'ul', 'ol', 'li']
const TABLE_TAGS = ['table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td']

/** Tags whose content is not text for a reader, and goes with them. Of other tags the content stays. */
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
  /** More than any text needs, and well below the 512 at which browsers begin to rearrange elements. */
  nestingLimit: 100,
  transformTags: {
    a: (tagName, { href = '' }) => ({ tagName, attribs: linkAttributes(href.trim()) }),
  },
}

function linkAttributes(target: string): sanitize.Attributes {
  return LINK_TARGET.test(target) ? { href: target, rel: 'noopener noreferrer nofollow' } : {}
}

/**
 * Leaving out a tag can make its neighbours nest otherwise when they are read again; this often is always
 * enough.
 */
const PASSES_AT_MOST = 8

/** Opening tags of one text. The parser's cost grows with the number of tags times their depth. */
const TAGS_AT_MOST = 4000

/** Returns why an HTML text is refused, or null. It only counts tags, so it costs next to nothing. */
export function htmlFault(html: string): string | null {
  return tagsEnd(html) === html.length ? null : `must have at most ${TAGS_AT_MOST} opening tags`
}

/** Returns where the first opening tag past the bound begins, or the text's length. A `<` in text counts as one. */
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
 * Returns the part of an HTML text that may be shown anywhere: rich text tags without styles, scripts, event handlers
 * or embedded content; links to `http`, `https` and `mailto` only, which get `rel="noopener noreferrer
 * nofollow"`. Sanitising the result again changes nothing. The result can be longer than the input, as
 * characters are escaped and tags closed. What follows the 4,000th opening tag is left out.
 */
export function sanitizeHtml(html: string): string {
  let safe = html
  for (let pass = 0; pass < PASSES_AT_MOST; pass++) {
    const safer = sanitize(safe.slice(0, tagsEnd(safe)), OPTIONS)
    // Text alone has nothing that could nest otherwise.
    if (safer === safe || !safer.includes('<')) return safer
    safe = safer
  }
  return sanitize(safe, { ...OPTIONS, allowedTags: [] })
}

/** As `sanitizeHtml`, for many texts. */
export function sanitizeAll(texts: string[]): string[] {
  return texts.map(sanitizeHtml)
}
