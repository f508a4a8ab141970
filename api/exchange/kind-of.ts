/**
 * The kind of card for a file, detected from its bytes. File names are ignored. The server's content type counts only for
 * text, whose type can't be detected.
 */
import { fileTypeFromBuffer } from 'file-type'
import type { Kind } from '../../core/card.ts'
import { readImageHeader, type ImageType } from '../../platform/images/image-header.ts'
import { byteOrderMark } from './page-head.ts'

export type RemoteKind =
  | { kind: 'image'; mime: ImageType; ext: null }
  | { kind: 'link' }
  | { kind: Extract<Kind, 'video' | 'audio' | 'pdf' | 'file'>; mime: string; ext: string | null }

/** @param bytes the beginning of the file. @param contentType the server's header */
export async function kindOf(bytes: Buffer, contentType: string | undefined): Promise<RemoteKind> {
  const image = readImageHeader(bytes)
  if (image) return { kind: 'image', mime: image.type, ext: null }
  const said = contentType?.split(';', 1)[0]!.trim().toLowerCase() ?? ''
  const start = (
    byteOrderMark(bytes)?.decode(bytes.subarray(0, 1024)) ?? bytes.toString('latin1', 0, 1024)
  ).trimStart()
  if (htmlStart.test(start)) return { kind: 'link' }
  // The library reads only the given bytes. For hostile bytes it throws at worst.
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined)
  if (found && found.mime !== 'application/xml') {
    const ext = /^[a-z0-9]{1,10}$/.test(found.ext) ? found.ext : null
    return { kind: kindOfType(found.mime), mime: found.mime, ext }
  }
  const isText = byteOrderMark(bytes) !== null || !bytes.includes(0)
  if (isText && (said === 'text/html' || said === 'application/xhtml+xml')) return { kind: 'link' }
  if (found) return { kind: 'file', mime: found.mime, ext: 'xml' }
  const isNamedText = isText && /^(text\/[\w.+-]+|application\/json)$/.test(said)
  return isNamedText
    ? { kind: 'file', mime: said, ext: said === 'text/plain' ? 'txt' : null }
    : { kind: 'file', mime: 'application/octet-stream', ext: null }
}

/** The first tag of a web page, as in the HTML standard's sniffing rules. */
const htmlStart =
  /^(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|(?:html|head|body|title|meta|link|script|style|iframe|h1|div|table|p|a|br|font)[\s>/])/i

function kindOfType(mime: string): 'video' | 'audio' | 'pdf' | 'file' {
  if (mime === 'application/pdf') return 'pdf'
  if (mime.startsWith('video/')) return 'video'
  return mime.startsWith('audio/') ? 'audio' : 'file'
}
