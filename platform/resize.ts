/** Smaller pictures of images. Decoding is what an image costs: few at a time, of bounded size and time, first in first out. */
import { buffer } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import sharp from 'sharp'
import { ServiceError } from '../core/errors.ts'

export interface ResizeOptions {
  width: number
  format: 'webp' | 'avif'
}

export interface Resizer {
  /** Turned upright, never made larger; of an animation the first picture. Null when it can't be decoded. */
  resize(open: () => Promise<Readable>, options: ResizeOptions): Promise<Buffer | null>
}

export interface ResizerBounds {
  /** Pixels of an image that is decoded; told by its header, before it is. */
  pixels: number
  atOnce: number
  waiting: number
  seconds: number
}

export function openResizer({ pixels, atOnce, waiting, seconds }: ResizerBounds): Resizer {
  sharp.cache(false)
  sharp.concurrency(1)
  const queue: (() => void)[] = []
  let running = 0

  async function enter(): Promise<void> {
    if (running < atOnce) {
      running += 1
      return
    }
    if (queue.length >= waiting)
      throw new ServiceError(
        'storage_unavailable',
        'Too many images are being made smaller. Try again shortly.',
      )
    await new Promise<void>((resolve) => queue.push(resolve))
  }
  const leave = () => {
    const next = queue.shift()
    if (next) next()
    else running -= 1
  }

  return {
    async resize(open, { width, format }) {
      await enter()
      try {
        const source = await buffer(await open())
        const image = sharp(source, { limitInputPixels: pixels, sequentialRead: true, failOn: 'error' })
          .autoOrient()
          .resize({ width, withoutEnlargement: true })
          .timeout({ seconds })
        return await decoded(
          format === 'webp'
            ? image.webp({ quality: 80 }).toBuffer()
            : image.avif({ quality: 55, effort: 2 }).toBuffer(),
        )
      } finally {
        leave()
      }
    },
  }
}

/** What sharp fails with is about the image. */
const decoded = (work: Promise<Buffer>): Promise<Buffer | null> => work.catch(() => null)
