/** Uploads and reads of files in tests. */
import { createHash } from 'node:crypto'
import sharp from 'sharp'
import { holdAgainstDescription } from '../support/description.ts'
import type { TestService, TestUser } from '../support/service.ts'
import type { Shown } from './board.ts'

export const picture = (width = 40, height = 30, background = '#336699') =>
  sharp({ create: { width, height, channels: 3, background } })

export const png = await picture().png().toBuffer()

/** A PNG of exactly so many bytes: what follows its end is ignored. */
export const pngOf = (bytes: number) => Buffer.concat([png, Buffer.alloc(bytes - png.length)])

/** Rows for files of these keys, without bytes in the store, for tests of cards that name them. */
export async function makeFiles(service: TestService, board: Shown, keys: string[]): Promise<void> {
  await service.admin`
    insert into images (image_key, workspace_id, board_id, content_type, bytes)
    select key, ${board['workspace_id']}, ${board.id}, 'image/png', 1
    from unnest(${keys}::text[]) as k(key)
    on conflict do nothing`
}

export interface Uploaded {
  status: number
  body: any
}

export async function upload(
  service: TestService,
  user: TestUser,
  boardId: string,
  bytes: Buffer | ReadableStream = png,
  type: string | null = 'image/png',
): Promise<Uploaded> {
  const path = `/uploads?board=${boardId}`
  const response = await fetch(`${service.url}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.token}`, ...(type === null ? {} : { 'content-type': type }) },
    body: bytes as Buffer<ArrayBuffer>,
    duplex: 'half',
  } as RequestInit)
  const text = await response.text()
  const answer = { status: response.status, body: JSON.parse(text) }
  await holdAgainstDescription(service.url, 'POST', path, { ...answer, text })
  return answer
}

export async function read(
  service: TestService,
  user: TestUser,
  path: string,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${service.url}/api/v1/images/${path}`, {
    headers: { authorization: `Bearer ${user.token}`, ...headers },
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const { status } = response
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  const text = isJson ? String(bytes) : ''
  const body: unknown = isJson ? JSON.parse(text) : null
  await holdAgainstDescription(service.url, 'GET', `/images/${path}`, { status, body, text })
  return { status, headers: response.headers, bytes }
}

/** Sends parts to their URLs and returns what complete wants. */
export async function sendParts(
  user: TestUser,
  session: { board_id: string; key: string; upload_id: string },
  file: Buffer,
  partSize: number,
  numbers: number[],
) {
  const { body } = await user.api.post('/uploads/multipart/parts', { ...session, part_numbers: numbers })
  return Promise.all(
    numbers.map(async (number) => {
      const bytes = file.subarray((number - 1) * partSize, number * partSize)
      const response = await fetch(body.urls[number], { method: 'PUT', body: bytes as Buffer<ArrayBuffer> })
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`part ${number} was answered ${response.status}`)
      return { part_number: number, etag: response.headers.get('etag')! }
    }),
  )
}

export const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** What the store of a service holds. */
export async function storedKeys(service: TestService): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of service.files.list()) keys.push(key)
  return keys.sort()
}
