/** Attacks with images that cost more to resize than to upload. */
import { resizeFormats, resizeWidths } from '../../../core/file.ts'
import type { Attack } from '../attack.ts'
import type { Attempt } from '../attempt.ts'
import { animation, bomb, broken, noise } from '../pictures.ts'

async function upload(attempt: Attempt, bytes: Buffer, type = 'image/png'): Promise<string> {
  const { image_key } = await attempt.make('POST', `/uploads?board=${attempt.boardId}`, bytes, {
    'content-type': type,
  })
  return encodeURIComponent(image_key)
}

const variants = resizeWidths.flatMap((width) => resizeFormats.map((format) => `w=${width}&format=${format}`))

/** Requests resized pictures. The images are uploaded in the preparation. */
const reads = (
  name: string,
  sends: string,
  requests: (attempt: Attempt) => Promise<string[]>,
  more: Partial<Attack> = {},
): Attack => ({
  name,
  point: 9,
  sends,
  expects: ['200'],
  async prepare(attempt) {
    const paths = await requests(attempt)
    return () => attempt.times(paths.length, (n) => attempt.send('GET', `/images/${paths[n]}`))
  },
  ...more,
})

const fill = (count: number, one: (n: number) => string) => Array.from({ length: count }, (_, n) => one(n))

export const fileAttacks: Attack[] = [
  reads(
    'resize-broken',
    '20 requests for one broken PNG of 422 KB and 81 million pixels',
    async (attempt) => {
      const key = await upload(attempt, await broken(422_000))
      return fill(20, () => `${key}?w=320`)
    },
    { short: true },
  ),
  reads('resize-bomb', '12 sizes of a PNG of 99 million pixels in 100 KB', async (attempt) => {
    const key = await upload(attempt, await bomb(9950, 9950))
    return variants.map((variant) => `${key}?${variant}`)
  }),
  reads('resize-too-large', '24 requests for a PNG of 1,600 million pixels', async (attempt) => {
    const key = await upload(attempt, await bomb(40_000, 40_000, 0))
    return fill(24, (n) => `${key}?${variants[n % variants.length]}`)
  }),
  reads('resize-frames', '12 sizes of a GIF of 300 frames', async (attempt) => {
    const key = await upload(attempt, await animation(600, 400, 300), 'image/gif')
    return variants.map((variant) => `${key}?${variant}`)
  }),
  reads('resize-widths', '12 sizes of 8 photographs of 12 million pixels', async (attempt) => {
    const photo = await noise(2000, 2000)
    const keys: string[] = []
    for (let n = 0; n < 8; n++) keys.push(await upload(attempt, photo))
    return keys.flatMap((key) => variants.map((variant) => `${key}?${variant}`))
  }),
  {
    name: 'upload-headers',
    point: 9,
    sends: '60 uploads of pictures that are all header',
    expects: ['201'],
    async prepare(attempt) {
      const start = (await bomb(10, 10)).subarray(0, 33)
      // Text chunks up to the number of bytes that the service reads.
      const texts = Buffer.alloc(500_000)
      for (let at = 0; at + 12 <= texts.length; at += 12) texts.write('tEXt', at + 4, 'latin1')
      const body = Buffer.concat([start, texts])
      return () =>
        attempt.times(
          60,
          () =>
            attempt.send('POST', `/uploads?board=${attempt.boardId}`, body, {
              headers: { 'content-type': 'image/png' },
            }),
          20,
        )
    },
  },
]
