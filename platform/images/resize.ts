/** Makes smaller pictures of images. Decoding is expensive: few at a time, in turns by account, of bounded size and time. */
import { buffer } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import sharp from 'sharp'
import { ServiceError } from '../../core/errors.ts'
import { FairQueue, QueueFull, type FairQueueBounds } from '../work/fair-queue.ts'

export interface ResizeRequest {
  /** Names the image. The bytes under a key never change. */
  key: string
  /** Whose turn it takes. */
  account: string
  width: number
  format: 'webp' | 'avif'
  open(): Promise<Readable>
  /** Stores the result. It is called once for all requests that waited for the same picture. */
  keep(made: Buffer): Promise<unknown>
}

export interface Resizer {
  /**
   * @returns the picture, turned upright and never made larger; of an animation the first frame. Null when the image
   * can't be decoded, which is remembered.
   * @throws ServiceError `storage_unavailable` when too many images wait
   */
  resize(request: ResizeRequest): Promise<Buffer | null>
}

export interface ResizerBounds extends FairQueueBounds {
  /** Larger images are not decoded. Their header tells the size. */
  pixels: number
  /** Time limit for one image. */
  seconds: number
}

/** Images that could not be decoded are remembered by this process: so many, so long. A slow hour is no verdict for ever. */
const undecodableKept = { most: 10_000, ms: 3_600_000 }

export function openResizer({ pixels, seconds, ...bounds }: ResizerBounds): Resizer {
  sharp.cache(false)
  sharp.concurrency(1)
  const queue = new FairQueue(bounds)
  const underWay = new Map<string, Promise<Buffer | null>>()
  /** Key → when it is tried again (`performance.now()`). */
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
    async resize(request) {
      if (isUndecodable(request.key)) return null
      const name = `${request.key} ${request.width} ${request.format}`
      let making = underWay.get(name)
      if (!making) {
        making = queue.run(request.account, () => make(request)).finally(() => underWay.delete(name))
        underWay.set(name, making)
      }
      try {
        return await making
      } catch (error) {
        if (!(error instanceof QueueFull)) throw error
        throw new ServiceError(
          'storage_unavailable',
          'Too many images wait to be made smaller. Try again in a few seconds.',
        )
      }
    },
  }
}

/** What sharp fails with is about the image. */
const decoded = (work: Promise<Buffer>): Promise<Buffer | null> => work.catch(() => null)
