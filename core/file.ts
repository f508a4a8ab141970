/** Files: their keys, and how one is cut into parts. */
import { ServiceError } from './errors.ts'
import { limits } from './limits.ts'

/** A key has no slash. 18 random bytes and an extension. */
export const fileKeyPattern = /^f[A-Za-z0-9_-]{24}(\.[a-z0-9]{1,10})?$/
/** The same anywhere in a text. */
export const fileKeysIn =
  /(?<![A-Za-z0-9_-])f[A-Za-z0-9_-]{24}(?:\.[a-z0-9]{1,10}(?![A-Za-z0-9_-])|(?![A-Za-z0-9_-]))/g

export const resizeWidths = [160, 320, 640, 960, 1280, 1920] as const
export const resizeFormats = ['webp', 'avif'] as const
export type ResizeFormat = (typeof resizeFormats)[number]

/** Where a smaller picture of an image is kept. */
export const resizedKey = (key: string, width: number, format: ResizeFormat) =>
  `resized/${key}/${width}.${format}`

/** All that may be stored for a file. */
export const storedKeysOf = (key: string) => [
  key,
  ...resizeWidths.flatMap((width) => resizeFormats.map((format) => resizedKey(key, width, format))),
]

/** The file that something stored belongs to. */
export const fileKeyOf = (storedKey: string) => /^resized\/([^/]+)\//.exec(storedKey)?.[1] ?? storedKey

const mebibyte = 1024 * 1024

/** Sizes in bytes; all parts but the last are of `partSize`. */
export function planParts(bytes: number): { partSize: number; partCount: number } {
  const fair = Math.ceil(bytes / limits.files.parts / mebibyte) * mebibyte
  const partSize = Math.max(limits.files.minPartBytes, fair)
  return { partSize, partCount: Math.ceil(bytes / partSize) }
}

export const partBytes = (bytes: number, partSize: number, partNumber: number) =>
  Math.min(partSize, bytes - (partNumber - 1) * partSize)

export const noFile = () => new ServiceError('not_found', 'There is no such file, or it is not yours to see.')
