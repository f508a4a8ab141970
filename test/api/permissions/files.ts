import {
  anyone,
  guests,
  members,
  others,
  readers,
  table,
  toAll,
  writersOfTheBoard,
  type Operation,
  type Scene,
} from './roles.ts'

/** The smallest of GIFs. */
const gif = 'GIF89a\x01\0\x01\0\0\0\0;'
const onBoard = ({ boardId }: Scene) => `?board=${boardId}`

export const files: Record<string, Operation[]> = {
  'POST /uploads': [
    {
      query: onBoard,
      body: () => gif,
      headers: { 'content-type': 'image/gif' },
      expect: writersOfTheBoard(201),
    },
    {
      query: onBoard,
      body: () => gif,
      headers: { 'content-type': 'image/gif' },
      trashed: true,
      expect: table([409, 409, 403, 409, 403]),
    },
  ],
  'POST /uploads/from-url': [
    // Those who may write learn that the address is not public.
    {
      query: onBoard,
      body: () => ({ url: 'https://127.0.0.1/' }),
      expect: writersOfTheBoard(400),
    },
    {
      query: onBoard,
      body: () => ({ url: 'https://127.0.0.1/' }),
      trashed: true,
      expect: table([409, 409, 403, 409, 403]),
    },
  ],
  'POST /uploads/multipart': [
    { query: onBoard, body: () => ({ bytes: 10 }), expect: writersOfTheBoard(201) },
    { query: onBoard, body: () => ({ bytes: 10 }), trashed: true, expect: table([409, 409, 403, 409, 403]) },
  ],
  'POST /uploads/multipart/parts': [
    { file: true, body: ({ upload }) => ({ ...upload, part_numbers: [1] }), expect: writersOfTheBoard() },
  ],
  'POST /uploads/multipart/complete': [
    {
      file: true, // nothing was sent
      body: ({ upload }) => ({ ...upload, parts: [{ part_number: 1, etag: 'x' }] }),
      expect: table([400, 400, 403, 400, 403]),
    },
  ],
  'POST /uploads/multipart/abort': [
    { file: true, body: ({ upload }) => upload, expect: writersOfTheBoard() },
  ],
  'GET /images': [
    {
      file: true,
      query: () => '?limit=500',
      expect: anyone,
      holds: ({ images }, { imageKey }) => images.some((one: any) => one.image_key === imageKey),
      sees: toAll([[...members, ...guests], true], [others, false]),
    },
    { file: true, query: () => '?since=2026-01-01T00:00:00Z', expect: anyone },
  ],
  'POST /images/urls': [
    {
      file: true,
      body: ({ imageKey }) => ({ images: [{ image_key: imageKey }] }),
      expect: anyone,
      holds: ({ images }) => images.length,
      sees: toAll([[...members, ...guests], 1], [others, 0]),
    },
  ],
  'GET /images/:key': [
    { file: true, expect: readers },
    { file: true, query: () => '?w=160', expect: table([415, 415, 415, 415, 415]) }, // no decoder takes it
    { file: true, trashed: true, expect: readers },
  ],
}
