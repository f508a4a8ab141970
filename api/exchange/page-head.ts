/** Reads the title and description from the head of a web page. */
import { Parser } from 'htmlparser2'

/** @param bytes the beginning of the page. @param contentType the server's header */
export function readPageHead(bytes: Buffer, contentType: string | undefined) {
  const said: Record<string, string> = {}
  const keep = (key: string, text: string) => {
    const clean = text.replace(/\s+/g, ' ').trim()
    if (clean !== '') said[key] ??= clean
  }
  let title: string | null = null
  let tags = 0
  let depth = 0
  const parser = new Parser({
    onopentag(name, { name: metaName, property, content }) {
      tags += 1
      depth += 1
      // The head ends at `body`. The limits bound the work: each end tag is looked for among all open ones.
      if (name === 'body' || tags > maxTags || depth > maxDepth) parser.pause()
      if (name === 'title' && said['title'] === undefined) title = ''
      const key = (property ?? metaName ?? '').toLowerCase()
      if (name === 'meta' && content !== undefined && metaKeys.has(key)) keep(key, content)
    },
    ontext(text) {
      if (title !== null && title.length < maxTitle) title += text
    },
    onclosetag(name) {
      depth -= 1
      if (name === 'title' && title !== null) {
        keep('title', title)
        title = null
      }
    },
  })
  parser.write(decodePage(bytes, contentType))
  return {
    title: said['og:title'] ?? said['twitter:title'] ?? said['title'] ?? null,
    description: said['og:description'] ?? said['description'] ?? said['twitter:description'] ?? null,
  }
}

const maxTitle = 10_000
const maxTags = 5000
const maxDepth = 50
const metaKeys = new Set([
  'description',
  'og:title',
  'og:description',
  'twitter:title',
  'twitter:description',
])

/**
 * Decodes a page with the encoding from, in the order of the HTML standard: byte order mark, header, `meta` in the first
 * 1,024 bytes. Without any, UTF-8 if valid, else Windows-1252.
 */
export function decodePage(bytes: Buffer, contentType: string | undefined): string {
  const marked = byteOrderMark(bytes)
  if (marked) return marked.decode(bytes)
  const label =
    charsetIn(contentType ?? '') ?? charsetIn(bytes.toString('latin1', 0, 1024).replaceAll('\0', ''))
  // A label that is readable as ASCII shows that the page is not in UTF-16.
  const declared = label === null ? null : decoderFor(/^utf-?16/i.test(label) ? 'utf-8' : label)
  if (declared) return declared.decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true }) // the bytes may end within a character
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

export function byteOrderMark(bytes: Buffer): TextDecoder | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return new TextDecoder('utf-8')
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le')
  return bytes[0] === 0xfe && bytes[1] === 0xff ? new TextDecoder('utf-16be') : null
}

const charsetIn = (text: string) => /charset\s*=\s*["']?([\w:.-]{1,40})/i.exec(text)?.[1] ?? null

function decoderFor(label: string): TextDecoder | null {
  try {
    return new TextDecoder(label)
  } catch {
    return null // unknown encoding
  }
}
