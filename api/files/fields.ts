/** The fields of a file in answers. */
import { integer, nullable, text } from '../http/vocabulary.ts'

export const fileKey = text('Key of the file, for `image_key` or `file_key` of a card.')
export const fileType = text('Media type of the file, detected from its contents.')

const pixels = (side: string) => nullable(integer(`${side} in pixels. Null for a file that is not an image.`))
export const width = pixels('Width')
export const height = pixels('Height')

export const fileFields = {
  image_key: fileKey,
  bytes: nullable(integer('Size in bytes. Null when it is unknown.')),
  width,
  height,
}
