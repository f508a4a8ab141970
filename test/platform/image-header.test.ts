import { array, assert, constantFrom, nat, property, tuple } from 'fast-check'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { imageTypes, readImageHeader } from '../../platform/images/image-header.ts'

const picture = (width = 37, height = 21) =>
  sharp({ create: { width, height, channels: 3, background: '#336699' } })

const files = {
  'image/jpeg': await picture().jpeg().toBuffer(),
  'image/png': await picture().png().toBuffer(),
  'image/gif': await picture().gif().toBuffer(),
  'image/webp': await picture().webp().toBuffer(),
  'image/avif': await picture().avif({ effort: 0 }).toBuffer(),
}
/** No encoder here makes HEIC: its container is that of AVIF, under another brand. */
const heic = Buffer.from(files['image/avif'].toString('latin1').replaceAll('avif', 'heic'), 'latin1')
const all = { ...files, 'image/heic': heic }

test.each(Object.entries(all))('[UP1] %s is known by its bytes, with its size', (type, bytes) => {
  expect(readImageHeader(bytes)).toEqual({ type, size: { width: 37, height: 21 } })
})

test('[UP1] the variants of a type are read: progressive JPEG, lossless and extended WebP, mif1 brands', async () => {
  const size = { width: 37, height: 21 }
  for (const bytes of [
    await picture().jpeg({ progressive: true }).toBuffer(),
    await picture().webp({ lossless: true }).toBuffer(),
    await picture()
      .withExif({ IFD0: { Copyright: 'x' } })
      .webp()
      .toBuffer(),
    Buffer.from(files['image/avif'].toString('latin1').replace('ftypavif', 'ftypmif1'), 'latin1'),
  ])
    expect(readImageHeader(bytes)?.size).toEqual(size)
})

test('[UP2] a picture that EXIF or HEIF turns by a quarter has its sides exchanged', async () => {
  const turned = { width: 21, height: 37 }
  for (const orientation of [5, 6, 7, 8]) {
    for (const bytes of [
      await picture().withMetadata({ orientation }).jpeg().toBuffer(),
      await picture().withMetadata({ orientation }).png().toBuffer(),
      await picture().withMetadata({ orientation }).webp().toBuffer(),
    ])
      expect(readImageHeader(bytes)?.size).toEqual(turned)
  }
  for (const orientation of [1, 2, 3, 4]) {
    const bytes = await picture().withMetadata({ orientation }).jpeg().toBuffer()
    expect(readImageHeader(bytes)?.size).toEqual({ width: 37, height: 21 })
  }
  expect(readImageHeader(heif({ width: 37, height: 21, rotation: 1 }))?.size).toEqual(turned)
  expect(readImageHeader(heif({ width: 37, height: 21, rotation: 3 }))?.size).toEqual(turned)
  expect(readImageHeader(heif({ width: 37, height: 21, rotation: 2 }))?.size).toEqual({
    width: 37,
    height: 21,
  })
})

test('[UP2] of several pictures in one HEIC the primary one counts, not its thumbnail or its tiles', () => {
  expect(readImageHeader(heif({ width: 4032, height: 3024, rotation: 0 }))).toEqual({
    type: 'image/heic',
    size: { width: 4032, height: 3024 },
  })
})

test('[UP3] SVG, HTML and other files are no images, whatever they contain', () => {
  const texts = [
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '<!doctype html><img>',
    '%PDF-1.7',
    'BM\0\0',
    '',
  ]
  for (const text of texts) expect(readImageHeader(Buffer.from(text))).toBe(null)
  expect(readImageHeader(Buffer.concat([Buffer.from('<html>'), files['image/png']]))).toBe(null)
  const mp4 = Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isommp42', 'latin1')
  expect(readImageHeader(mp4)).toBe(null)
})

test('[UP4] headers that are cut off or lie give no size, in no time', () => {
  for (const bytes of Object.values(all)) {
    for (let end = 0; end < Math.min(bytes.length, 700); end += 1) {
      const read = readImageHeader(bytes.subarray(0, end))
      if (read?.size) expect(read.size).toEqual({ width: 37, height: 21 })
    }
  }
  const png = Buffer.from(files['image/png'])
  png.writeUInt32BE(0, 16)
  expect(readImageHeader(png)).toEqual({ type: 'image/png', size: null })
  png.writeUInt32BE(0xffffffff, 16)
  expect(readImageHeader(png)).toEqual({ type: 'image/png', size: null })
  png.writeUInt32BE(60_000, 16)
  png.writeUInt32BE(60_000, 20)
  expect(readImageHeader(png)?.size).toEqual({ width: 60_000, height: 60_000 })
})

test('[UP4] no bytes make the reader fail or hang', () => {
  const mangled = tuple(
    constantFrom(...Object.values(all)),
    array(tuple(nat(400), nat(255)), { maxLength: 12 }),
  ).map(([bytes, changes]) => {
    const copy = Buffer.from(bytes)
    for (const [at, value] of changes) if (at > 3 && at < copy.length) copy[at] = value
    return copy
  })
  const started = Date.now()
  assert(
    property(mangled, (bytes) => {
      const read = readImageHeader(bytes)
      expect(read === null || imageTypes.includes(read.type)).toBe(true)
    }),
    { numRuns: 5000 },
  )
  const endless = Buffer.alloc(512 * 1024, 0xff)
  endless.writeUInt16BE(0xffd8, 0)
  expect(readImageHeader(endless)?.size).toBe(null)
  expect(Date.now() - started).toBeLessThan(20_000)
})

/** A container with a thumbnail (item 1), a tile (2) and the primary picture (3). */
function heif({ width, height, rotation }: { width: number; height: number; rotation: number }): Buffer {
  const u32 = (...numbers: number[]) => {
    const bytes = Buffer.alloc(4 * numbers.length)
    numbers.forEach((number, at) => bytes.writeUInt32BE(number, 4 * at))
    return bytes
  }
  const box = (name: string, ...content: Buffer[]) => {
    const inner = Buffer.concat(content)
    return Buffer.concat([u32(8 + inner.length), Buffer.from(name), inner])
  }
  const ispe = (w: number, h: number) => box('ispe', u32(0, w, h))
  const ipco = box(
    'ipco',
    ispe(320, 240),
    ispe(512, 512),
    ispe(width, height),
    box('irot', Buffer.of(rotation)),
  )
  const ipma = box('ipma', u32(0, 3), Buffer.of(0, 1, 1, 1, 0, 2, 1, 2, 0, 3, 2, 0x80 | 3, 0x80 | 4))
  const pitm = box('pitm', u32(0), Buffer.of(0, 3))
  const meta = box('meta', u32(0), pitm, box('iprp', ipco, ipma))
  return Buffer.concat([box('ftyp', Buffer.from('heic\0\0\0\0mif1heic')), meta])
}
