/**
 * Makes smaller versions of images. Decoding is expensive, so few images are decoded at a time, and accounts take
 * turns. The size of an image and the time for it are limited.
 */
import { buffer } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import sharp from 'sharp'
import { ServiceError } from '../../core/errors.ts'
import { FairQueue, QueueFull, type FairQueueBounds } from '../work/fair-queue.ts'

export interface ResizeRequest {
  /** Names the image. The bytes under a key never change. */
  key: string
  /** The account that the work counts for in the fair queue. */
  account: string
  width: number
  format: 'webp' | 'avif'
  open(): Promise<Readable>
  /** Stores the result. Called once for all concurrent requests for the same picture. */
  keep(made: Buffer): Promise<unknown>
}

export interface Resizer {
  /** Images that are being resized, or wait for it. */
  readonly queue: FairQueue
  /**
   * @returns the picture, rotated upright and never enlarged; the first frame of an animation. Null when the image
   * can't be decoded, which is remembered.
   * @throws ServiceError `storage_unavailable` when the queue is full
   */
  resize(request: ResizeRequest): Promise<Buffer | null>
}

export interface ResizerBounds extends FairQueueBounds {
  /** Images with more pixels are not decoded. Their size is read from the header. */
  pixels: number
  /** Time limit for one image. */
  seconds: number
}

/**
 * How many undecodable images the process remembers, and for how long. They expire because decoding may also fail on a
 * busy machine.
 */
const undecodableKept = { most: 10_000, ms: 3_600_000 }

export function openResizer({ pixels, seconds, ...bounds }: ResizerBounds): Resizer {
  sharp.cache(false)
  sharp.concurrency(1)
  const queue = new FairQueue(bounds)
  const underWay = new Map<string, Promise<Buffer | null>>()
  /** Image key → time after which the image is tried again, as of `performance.now()`. */
  const undecodable = new Map<string, number>()
  const isUndecodable = (key: string) => (undecodable.get(key) ?? 0) > performance.now()

  async function make({ key, width, format, open, keep }: ResizeRequest): Promise<Buffer | null> {
    if (isUndecodable(key)) return null
    const source = await buffer(await open())
    const image = sharp(source, { limitInputPixels: pixels, sequentialRead: true, failOn: 'error' })
      .autoOrient()
      .resize({ width, withoutEnlargement: true })
      .timeout({ seconds })
    const made = await decoded(
      format === 'webp'
        ? image.webp({ quality: 80 }).toBuffer()
        : image.avif({ quality: 55, effort: 2 }).toBuffer(),
    )
    if (made) await keep(made)
    else {
      undecodable.delete(key)
      undecodable.set(key, performance.now() + undecodableKept.ms)
      if (undecodable.size > undecodableKept.most) undecodable.delete(undecodable.keys().next().value!)
    }
    return made
  }

  return {
    queue,
    async resize(request) {
      if (isUndecodable(request.key)) return null
      const name = `${request.key} ${request.width} ${request.format}`
      const begin = () => queue.run(request.account, () => make(request)).finally(() => underWay.delete(name))
      try {
        return await underWay.getOrInsertComputed(name, begin)
      } catch (error) {
        if (!(error instanceof QueueFull)) throw error
        throw new ServiceError(
          'storage_unavailable',
          'Too many images are waiting to be resized. Try again in a few seconds.',
        )
      }
    },
  }
}

/** Returns null when sharp fails, because its errors mean that the image can't be decoded. */
const decoded = (work: Promise<Buffer>): Promise<Buffer | null> => work.catch(() => null)
