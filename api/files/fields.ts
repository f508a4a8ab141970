/** The fields of a file in answers. */
import Type from 'typebox'
import { nullable } from '../http/schemas.ts'

export const fileKey = Type.String({
  description: 'Key of the file, for `image_key` or `file_key` of a card.',
})
export const fileType = Type.String({ description: 'Media type of the file, detected from its contents.' })

const pixels = (side: string) =>
  nullable(Type.Integer({ description: `${side} in pixels. Null for a file that is not an image.` }))
export const width = pixels('Width')
export const height = pixels('Height')

export const fileFields = {
  image_key: fileKey,
  bytes: nullable(Type.Integer({ description: 'Size in bytes. Null when it is unknown.' })),
  width,
  height,
}
