/** Files: their keys, and how multipart uploads are divided. */
import { ServiceError } from './errors.ts'
import { limits } from './limits.ts'

/** The key of a file: `f`, 18 random bytes in base64url, and an extension. */
export const fileKeyPattern = /^f[A-Za-z0-9_-]{24}(\.[a-z0-9]{1,10})?$/
/** Matches keys anywhere in a text. */
export const fileKeysIn =
  /(?<![A-Za-z0-9_-])f[A-Za-z0-9_-]{24}(?:\.[a-z0-9]{1,10}(?![A-Za-z0-9_-])|(?![A-Za-z0-9_-]))/g

/**
 * Keys that encoded content may contain, and others. Any byte may come before a key or after it, so each possible
 * extension gives another key.
 */
export function fileKeysWithin(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return [...text.matchAll(/(?=(f[A-Za-z0-9_-]{24})(\.[a-z0-9]{1,10})?)/g)].flatMap(
    ([, name = '', extension = '']) => [
      name,
      ...Array.from(
        { length: Math.max(0, extension.length - 1) },
        (_, n) => name + extension.slice(0, n + 2),
      ),
    ],
  )
}

export const resizeWidths = [160, 320, 640, 960, 1280, 1920] as const
export const resizeFormats = ['webp', 'avif'] as const
export type ResizeFormat = (typeof resizeFormats)[number]

/** The storage key of a resized image. */
export const resizedKey = (key: string, width: number, format: ResizeFormat) =>
  `resized/${key}/${width}.${format}`

/** All storage keys that a file may have: its own, and those of its resized images. */
export const storedKeysOf = (key: string) => [
  key,
  ...resizeWidths.flatMap((width) => resizeFormats.map((format) => resizedKey(key, width, format))),
]

/** The key of the file that a storage key belongs to. */
export const fileKeyOf = (storedKey: string) => /^resized\/([^/]+)\//.exec(storedKey)?.[1] ?? storedKey

const mebibyte = 1024 * 1024

/** Divides an upload into parts. Sizes are in bytes. All parts except the last have `partSize`. */
export function planParts(bytes: number): { partSize: number; partCount: number } {
  const fair = Math.ceil(bytes / limits.files.parts / mebibyte) * mebibyte
  const partSize = Math.max(limits.files.minPartBytes, fair)
  return { partSize, partCount: Math.ceil(bytes / partSize) }
}

export const partBytes = (bytes: number, partSize: number, partNumber: number) =>
  Math.min(partSize, bytes - (partNumber - 1) * partSize)

export const noFile = () =>
  new ServiceError('not_found', 'There is no file with this key, or you may not see it.')
