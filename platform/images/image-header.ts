/**
 * Reads the type and the size of an image from its first bytes, without decoding the image. Never reads past the given
 * bytes, whatever lengths the file claims. The libraries that exist do not read the rotation of HEIF, PNG and WebP.
 *
 * ISO/IEC 10918-1 (JPEG), PNG third edition, GIF89a, RFC 9649 (WebP), ISO/IEC 23008-12 (HEIF), CIPA DC-008 (EXIF).
 */
export const imageTypes = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'image/heic',
  'image/avif',
] as const
export type ImageType = (typeof imageTypes)[number]

export interface ImageHeader {
  type: ImageType
  /** Size in pixels after the rotation of EXIF or HEIF. Null when these bytes do not contain it. */
  size: { width: number; height: number } | null
}

/**
 * Reads the header of an image from the first bytes of a file.
 * @returns null when the file is not an image of one of these types
 */
export function readImageHeader(bytes: Buffer): ImageHeader | null {
  const type = typeOf(bytes)
  if (!type) return null
  const found = readers[type](bytes)
  if (!found || found.width < 1 || found.height < 1) return { type, size: null }
  const { width, height, turned } = found
  return { type, size: turned ? { width: height, height: width } : { width, height } }
}

interface Found {
  width: number
  height: number
  /** The image is rotated by 90 or 270 degrees, so width and height are swapped. */
  turned: boolean
}

function typeOf(bytes: Buffer): ImageType | null {
  const ascii = (start: number, end: number) => bytes.toString('latin1', start, end)
  if (bytes.length >= 3 && bytes.readUIntBE(0, 3) === 0xffd8ff) return 'image/jpeg'
  if (ascii(0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png'
  if (/^GIF8[79]a$/.test(ascii(0, 6))) return 'image/gif'
  if (ascii(0, 4) === 'RIFF' && /^WEBPVP8[ LX]$/.test(ascii(8, 16))) return 'image/webp'
  if (ascii(4, 8) !== 'ftyp' || bytes.length < 16) return null
  const brands = [ascii(8, 12)]
  const end = Math.min(bytes.readUInt32BE(0), bytes.length, 256)
  for (let at = 16; at + 4 <= end; at += 4) brands.push(ascii(at, at + 4))
  if (brands[0] === 'avif' || brands[0] === 'avis') return 'image/avif'
  if (/^(hei[cxms]|hev[cmsx])$/.test(brands[0]!)) return 'image/heic'
  // `mif1` and `msf1` are generic brands. The compatible brands decide.
  if (brands[0] !== 'mif1' && brands[0] !== 'msf1') return null
  if (brands.includes('avif')) return 'image/avif'
  return brands.some((brand) => /^hei[cx]$/.test(brand)) ? 'image/heic' : null
}

const readers: Record<ImageType, (bytes: Buffer) => Found | null> = {
  'image/jpeg': readJpeg,
  'image/png': readPng,
  'image/gif': (bytes) =>
    bytes.length < 10 ? null : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), turned: false },
  'image/webp': readWebp,
  'image/heic': readHeif,
  'image/avif': readHeif,
}

function readJpeg(bytes: Buffer): Found | null {
  let turned: boolean | null = null
  for (let at = 2; at + 4 <= bytes.length;) {
    if (bytes[at] !== 0xff) return null
    const marker = bytes[at + 1]!
    if (marker === 0xff) {
      at += 1 // fill bytes
      continue
    }
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      at += 2 // markers without a segment
      continue
    }
    if (marker === 0xd9 || marker === 0xda) return null // the image data begins, and no size came before it
    const length = bytes.readUInt16BE(at + 2)
    if (length < 2) return null
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) {
      if (length < 8 || at + 9 > bytes.length) return null
      return {
        width: bytes.readUInt16BE(at + 7),
        height: bytes.readUInt16BE(at + 5),
        turned: turned ?? false,
      }
    }
    if (marker === 0xe1 && bytes.toString('latin1', at + 4, at + 10) === 'Exif\0\0')
      turned ??= isTurned(bytes.subarray(at + 10, at + 2 + length))
    at += 2 + length
  }
  return null
}

function readPng(bytes: Buffer): Found | null {
  if (bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR') return null
  const size = { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  if (size.width > maxPngSide || size.height > maxPngSide) return null
  for (let at = 8; at + 8 <= bytes.length;) {
    const length = bytes.readUInt32BE(at)
    const name = bytes.toString('latin1', at + 4, at + 8)
    if (name === 'eXIf') return { ...size, turned: isTurned(bytes.subarray(at + 8, at + 8 + length)) }
    if (name === 'IDAT') break
    at += 12 + length
  }
  return { ...size, turned: false }
}
const maxPngSide = 2 ** 31 - 1

function readWebp(bytes: Buffer): Found | null {
  if (bytes.length < 30) return null
  const kind = bytes.toString('latin1', 12, 16)
  if (kind === 'VP8X') {
    const found = { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3), turned: false }
    for (let at = 12; at + 8 <= bytes.length;) {
      const length = bytes.readUInt32LE(at + 4)
      if (bytes.toString('latin1', at, at + 4) === 'EXIF') {
        const exif = bytes.subarray(at + 8, at + 8 + length)
        return {
          ...found,
          turned: isTurned(exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif),
        }
      }
      at += 8 + length + (length % 2)
    }
    return found
  }
  if (kind === 'VP8L') {
    if (bytes[20] !== 0x2f) return null
    const bits = bytes.readUInt32LE(21)
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff), turned: false }
  }
  if (bytes.readUIntBE(23, 3) !== 0x9d012a) return null
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff, turned: false }
}

interface Box {
  name: string
  content: Buffer
}

/** Yields the boxes in order. The last box may be truncated. */
function* boxesIn(bytes: Buffer): Generator<Box> {
  for (let at = 0; at + 8 <= bytes.length;) {
    let length = bytes.readUInt32BE(at)
    let head = 8
    if (length === 1) {
      if (at + 16 > bytes.length) return
      length = Number(bytes.readBigUInt64BE(at + 8))
      head = 16
    } else if (length === 0) {
      length = bytes.length - at
    }
    if (length < head) return
    yield { name: bytes.toString('latin1', at + 4, at + 8), content: bytes.subarray(at + head, at + length) }
    at += length
  }
}

const findBox = (bytes: Buffer, name: string) => {
  for (const box of boxesIn(bytes)) if (box.name === name) return box.content
  return null
}

/** Reads the size and the rotation of the primary item. */
function readHeif(bytes: Buffer): Found | null {
  const meta = findBox(bytes, 'meta')?.subarray(4)
  const primary = meta && findBox(meta, 'pitm')
  const properties = meta && findBox(meta, 'iprp')
  const container = properties && findBox(properties, 'ipco')
  const associations = properties && findBox(properties, 'ipma')
  if (!primary || !container || !associations || primary.length < 6) return null
  const item =
    primary[0] === 0 ? primary.readUInt16BE(4) : primary.length >= 8 ? primary.readUInt32BE(4) : null
  const all = [...boxesIn(container)]
  const own = item === null ? [] : propertiesOf(item, associations).flatMap((index) => all[index - 1] ?? [])
  const size = own.find(({ name, content }) => name === 'ispe' && content.length >= 12)?.content
  if (!size) return null
  const rotation = own.find(({ name, content }) => name === 'irot' && content.length >= 1)?.content
  return {
    width: size.readUInt32BE(4),
    height: size.readUInt32BE(8),
    turned: ((rotation?.[0] ?? 0) & 1) === 1,
  }
}

/** Returns the numbers of an item's properties, counted from 1. @param box content of the `ipma` box */
function propertiesOf(item: number, box: Buffer): number[] {
  if (box.length < 8) return []
  const wideItems = box[0]! >= 1
  const wideIndexes = (box[3]! & 1) === 1
  const entries = box.readUInt32BE(4)
  let at = 8
  for (let entry = 0; entry < entries && at + (wideItems ? 5 : 3) <= box.length; entry += 1) {
    const id = wideItems ? box.readUInt32BE(at) : box.readUInt16BE(at)
    at += wideItems ? 4 : 2
    const count = box[at]!
    at += 1
    const step = wideIndexes ? 2 : 1
    if (at + count * step > box.length) return []
    if (id === item)
      return Array.from({ length: count }, (_, n) =>
        wideIndexes ? box.readUInt16BE(at + 2 * n) & 0x7fff : box[at + n]! & 0x7f,
      )
    at += count * step
  }
  return []
}

/** True when the orientation (tag 0x0112) in a TIFF block rotates the image by 90 or 270 degrees. */
function isTurned(tiff: Buffer): boolean {
  if (tiff.length < 8) return false
  const order = tiff.toString('latin1', 0, 2)
  if (order !== 'II' && order !== 'MM') return false
  const short = (at: number) => (order === 'II' ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const directory = order === 'II' ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  if (directory + 2 > tiff.length) return false
  const entries = short(directory)
  for (let entry = 0; entry < entries; entry += 1) {
    const at = directory + 2 + 12 * entry
    if (at + 12 > tiff.length) return false
    if (short(at) === 0x0112) return short(at + 2) === 3 && short(at + 8) >= 5 && short(at + 8) <= 8
  }
  return false
}
