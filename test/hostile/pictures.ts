/** Pictures for attacks. They are made before the measurement. */
import sharp from 'sharp'
import { crc32, deflateSync } from 'node:zlib'

/** A small photograph of the tenant, which differs from all others. */
export const photograph = (n: number): Promise<Buffer> =>
  sharp({
    create: { width: 400, height: 300, channels: 3, background: { r: (n * 37) % 256, g: 90, b: 160 } },
  })
    .png()
    .toBuffer()

/** Random pixels, which cannot be compressed. */
export function noise(width: number, height: number): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * 3)
  let state = 1
  for (let at = 0; at < pixels.length; at++) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    pixels[at] = state >> 16
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 1 })
    .toBuffer()
}

/** The first bytes of a PNG. The pixels after them are missing. */
export const broken = async (bytes: number): Promise<Buffer> => {
  const whole = await bomb(9000, 9000, 0)
  return Buffer.concat([
    whole.subarray(0, whole.length - 5000),
    Buffer.alloc(Math.max(0, bytes - whole.length), 7),
  ])
}

/** A PNG of one colour, with few bytes and many pixels. */
export async function bomb(width: number, height: number, shade = 0): Promise<Buffer> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 0, 0, 0, 0], 8)
  const rows = Buffer.alloc((width + 1) * height, shade)
  for (let row = 0; row < height; row++) rows[row * (width + 1)] = 0
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** A GIF of many frames. */
export function animation(width: number, height: number, frames: number): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * 3 * frames)
  for (let at = 0; at < pixels.length; at += 3) pixels[at] = (at / 3 / width) % 256
  return sharp(pixels, { raw: { width, height: height * frames, channels: 3, pageHeight: height } })
    .gif({ effort: 1 })
    .toBuffer()
}
