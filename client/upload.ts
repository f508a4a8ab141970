/** Uploads: small images in one request, everything else in parts, which can be resumed. */
import { CorkboardError } from './errors.ts'
import type { Answer } from './operations.ts'
import type { RequestOperation } from './request.ts'
import { backoffMs, wait } from './wait.ts'

/** How far an upload in parts has come. Plain JSON: keep it, to go on after a restart. */
export interface UploadState {
  board: string
  key: string
  upload_id: string
  bytes: number
  part_size: number
  part_count: number
  /** The tag of each part that has arrived, by its number. */
  etags: Record<number, string>
}

export interface UploadOptions {
  board: string
  /** Only its extension is used. Default: the name of a `File`. */
  filename?: string
  /** Default: the type of the file. */
  contentType?: string
  /** Called with the bytes that have arrived. */
  onProgress?: (sentBytes: number, totalBytes: number) => void
  /** Called with the state of an upload in parts when it begins, and after each part. */
  onState?: (state: UploadState) => void
  /** The last state of an upload to go on with. The file has to be the same. An upload lasts 24 hours. */
  resume?: UploadState
  /** In parts, also when the file could go in one request. */
  inParts?: boolean
  /** How many parts are sent at a time. Default: 4. */
  parallel?: number
  signal?: AbortSignal
  fetch?: typeof fetch | undefined
}

export type UploadedFile = Answer<'POST /uploads/multipart/complete'>

const imageTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/heic', 'image/avif']
const maxRequestBytes = 25 * 1024 * 1024
const partAttempts = 8
const partsPerRequest = 100

export async function upload(
  request: RequestOperation,
  file: Blob,
  options: UploadOptions,
): Promise<UploadedFile> {
  const { board, signal, resume, contentType = file.type, onProgress } = options
  const fits = imageTypes.includes(contentType) && file.size <= maxRequestBytes
  if (fits && !resume && !options.inParts) {
    const body = file.slice(0, file.size, contentType)
    const stored = await request('POST /uploads', { query: { board }, body, signal })
    onProgress?.(file.size, file.size)
    return stored
  }
  const state = resume ?? (await begin(request, file, { ...options, contentType }))
  if (state.bytes !== file.size)
    throw new TypeError(
      `The upload was begun with a file of ${state.bytes} bytes, and this one has ${file.size}. Take the same file, or begin a new upload.`,
    )
  await sendParts(request, file, state, options)
  const parts = Object.entries(state.etags).map(([part, etag]) => ({ part_number: Number(part), etag }))
  return request('POST /uploads/multipart/complete', { body: { ...sessionOf(state), parts }, signal })
}

export async function abortUpload(request: RequestOperation, state: UploadState): Promise<void> {
  await request('POST /uploads/multipart/abort', { body: sessionOf(state) })
}

const sessionOf = ({ board, key, upload_id }: UploadState) => ({ board_id: board, key, upload_id })

async function begin(
  request: RequestOperation,
  file: Blob,
  { board, contentType, signal, onState, ...options }: UploadOptions,
): Promise<UploadState> {
  const filename = options.filename ?? (file as Partial<File>).name
  const { key, upload_id, part_size, part_count } = await request('POST /uploads/multipart', {
    query: { board },
    body: {
      bytes: file.size,
      ...(contentType ? { content_type: contentType } : {}),
      ...(filename ? { filename } : {}),
    },
    signal,
  })
  const state = { board, key, upload_id, bytes: file.size, part_size, part_count, etags: {} }
  onState?.(state)
  return state
}

async function sendParts(
  request: RequestOperation,
  file: Blob,
  state: UploadState,
  { parallel = 4, onProgress, onState, ...options }: UploadOptions,
): Promise<void> {
  const urls = new Map<number, string>()
  const missing = Array.from({ length: state.part_count }, (_, n) => n + 1).filter((n) => !state.etags[n])
  const sign = async (numbers: number[]) => {
    const body = { ...sessionOf(state), part_numbers: numbers }
    const answer = await request('POST /uploads/multipart/parts', { body, signal: options.signal })
    for (const [part, url] of Object.entries(answer.urls)) urls.set(Number(part), url)
  }
  const sizeOf = (part: number) => Math.min(state.part_size, state.bytes - (part - 1) * state.part_size)
  const failures: unknown[] = []
  const work = async (parts: number[]) => {
    for (let part = parts.shift(); part !== undefined && failures.length === 0; part = parts.shift()) {
      const from = (part - 1) * state.part_size
      const bytes = file.slice(from, from + sizeOf(part))
      const number = part
      const urlOf = async (again: boolean) => {
        if (again || !urls.has(number)) await sign([number])
        return urls.get(number)!
      }
      state.etags[part] = await sendPart(bytes, urlOf, options).catch((error: unknown) => {
        failures.push(error)
        throw error
      })
      onState?.(state)
      const sent = Object.keys(state.etags).reduce((sum, part) => sum + sizeOf(Number(part)), 0)
      onProgress?.(sent, state.bytes)
    }
  }
  for (let at = 0; at < missing.length; at += partsPerRequest) {
    const batch = missing.slice(at, at + partsPerRequest)
    await sign(batch)
    await Promise.all(Array.from({ length: parallel }, () => work(batch)))
  }
}

/** @returns the tag of the part. @throws CorkboardError when the store has refused it too often */
async function sendPart(
  bytes: Blob,
  urlOf: (again: boolean) => Promise<string>,
  { signal, fetch = globalThis.fetch }: Pick<UploadOptions, 'signal' | 'fetch'>,
): Promise<string> {
  let status = 0
  for (let attempt = 1; attempt <= partAttempts; attempt++) {
    // 403: the URL was good for an hour.
    const url = await urlOf(status === 403)
    const response = await fetch(url, { method: 'PUT', body: bytes, ...(signal ? { signal } : {}) }).catch(
      (error: unknown) => {
        signal?.throwIfAborted()
        return error
      },
    )
    status = response instanceof Response ? response.status : 0
    const etag = response instanceof Response && response.ok ? response.headers.get('etag') : null
    if (etag !== null) return etag
    if (attempt < partAttempts) await wait(backoffMs(attempt), signal)
  }
  const message = `A part of the file could not be sent: the store answered ${status || 'nothing'}. Call upload again with the last state.`
  throw new CorkboardError(status === 0 ? 'unreachable' : 'unexpected_answer', message, { status })
}
