/**
 * A client that uploads a file in parts, in a separate process that may be killed. It records the parts it has sent,
 * and another process continues from the record. The file's bytes are computed from a seed, so that the file is never
 * stored.
 *
 *   node test/support/multipart-client.ts '<JSON of MultipartClientOptions>'
 *
 * Prints a line for each part, and finally `{"image_key"}`.
 */
import { createCipheriv, createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface MultipartClientOptions {
  url: string
  token: string
  boardId: string
  bytes: number
  seed: number
  /** File with one line for the session, then one line for each part, as `complete` takes it. */
  record: string
  atOnce: number
}

interface Session {
  key: string
  upload_id: string
  part_size: number
  part_count: number
}
interface SentPart {
  part_number: number
  etag: string
}

/** Returns bytes of the file from a position that is a multiple of 16. */
export function fileBytes(seed: number, from: number, length: number): Buffer {
  const counter = Buffer.alloc(16)
  counter.writeUIntBE(from / 16, 10, 6)
  const key = createHash('sha256').update(`file ${seed}`).digest()
  return createCipheriv('aes-256-ctr', key, counter).update(Buffer.alloc(length))
}

export function fileDigest(seed: number, bytes: number): string {
  const hash = createHash('sha256')
  const chunk = 4 * 1024 * 1024
  for (let at = 0; at < bytes; at += chunk) hash.update(fileBytes(seed, at, Math.min(chunk, bytes - at)))
  return hash.digest('hex')
}

async function upload(options: MultipartClientOptions): Promise<string> {
  const { session, sent } = await resume(options)
  const there = new Set(sent.map(({ part_number }) => part_number))
  const left = Array.from({ length: session.part_count }, (_, n) => n + 1)
    .filter((number) => !there.has(number))
    .map((number) => ({ number, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ number }) => number)
  const name = { board_id: options.boardId, key: session.key, upload_id: session.upload_id }
  const { urls } =
    left.length === 0
      ? { urls: {} }
      : await post(options, '/uploads/multipart/parts', { ...name, part_numbers: left })
  const send = async () => {
    for (let number = left.shift(); number !== undefined; number = left.shift()) {
      const part = await put(options, session, number, (urls as Record<string, string>)[number]!)
      sent.push(part)
      appendFileSync(options.record, `${JSON.stringify(part)}\n`)
      process.stdout.write(`part ${number}\n`)
    }
  }
  await Promise.all(Array.from({ length: options.atOnce }, send))
  const { image_key } = await post(options, '/uploads/multipart/complete', { ...name, parts: sent })
  return image_key as string
}

async function resume(options: MultipartClientOptions): Promise<{ session: Session; sent: SentPart[] }> {
  if (existsSync(options.record)) {
    // The last line may be incomplete. Its part is sent again.
    const lines = readFileSync(options.record, 'utf8').split('\n').slice(0, -1)
    const [session, ...sent] = lines.map((line) => JSON.parse(line) as unknown)
    return { session: session as Session, sent: sent as SentPart[] }
  }
  const path = `/uploads/multipart?board=${options.boardId}`
  const session = await post(options, path, { bytes: options.bytes, filename: 'film.mp4' })
  writeFileSync(options.record, `${JSON.stringify(session)}\n`)
  return { session: session as unknown as Session, sent: [] }
}

async function put(
  { seed, bytes }: MultipartClientOptions,
  { part_size }: Session,
  number: number,
  url: string,
): Promise<SentPart> {
  const from = (number - 1) * part_size
  const body = fileBytes(seed, from, Math.min(part_size, bytes - from))
  const response = await fetch(url, { method: 'PUT', body: body as Buffer<ArrayBuffer> })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`part ${number} was answered ${response.status}`)
  return { part_number: number, etag: response.headers.get('etag')! }
}

async function post(
  { url, token }: MultipartClientOptions,
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as Record<string, unknown>
  if (response.status !== 201 && response.status !== 200)
    throw new Error(`${path} was answered ${JSON.stringify(answer)}`)
  return answer
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const image_key = await upload(JSON.parse(process.argv[2]!) as MultipartClientOptions)
  process.stdout.write(`${JSON.stringify({ image_key })}\n`)
}
