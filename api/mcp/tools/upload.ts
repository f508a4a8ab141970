import { limits } from '../../../core/limits.ts'
import { uploadFromUrl as uploadRoute } from '../../exchange/upload-from-url.ts'
import { boardId, integer, orNull, text } from '../fields.ts'
import { tool } from '../tool.ts'

const megabytes = (bytes: number) => `${bytes / 1024 / 1024} MB`

export const uploadFromUrl = tool('upload_from_url', 'Store a file from a URL', {
  description: `Fetches the file at a public https URL and stores it for a board. Images can have up to ${megabytes(limits.files.uploadBytes)}, other files ${megabytes(limits.import.fileBytes)}. Returns the file key for create_cards and update_cards. For web pages use import_urls.`,
  route: uploadRoute,
  openWorld: true,
  input: { board_id: boardId, url: text('Public https URL of the file.') },
  output: {
    key: text('Value for image_key or file_key.'),
    kind: text('Kind of card for this file.'),
    content_type: text('Media type of the file.'),
    bytes: integer,
    width: orNull('integer', 'Pixels; images only.'),
    height: orNull('integer', 'Pixels; images only.'),
  },
  call: ({ board_id, url }) => ({ query: { board: board_id }, body: { url } }),
  show: (file) => ({
    said: `Stored. Create a card of kind ${file.kind} with the key as ${file.kind === 'image' ? 'image_key' : 'file_key'}.`,
    lines: [file],
    content: { ...file },
  }),
})
