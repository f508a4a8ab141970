/** Uploads of the client: at once, in parts, with progress, and resumed by another process. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createClient, type UploadState } from '../../client/index.ts'
import { makeBoard } from '../api/board.ts'
import { pngOf } from '../api/file.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ workers: false })
const board = (await makeBoard(user)).id
const mebibyte = 1024 * 1024
const clientOf = (fetch?: typeof globalThis.fetch) =>
  createClient({ url: service.url, token: user.token, ...(fetch ? { fetch } : {}) })
const client = clientOf()
const read = async (key: string) => {
  const response = await client.request('GET /images/{key}', { path: { key } })
  return Buffer.from(await response.arrayBuffer())
}

test('[LB9] an image goes in one request', async () => {
  const image = pngOf(5000)
  const progress: number[] = []
  const stored = await client.upload(new Blob([new Uint8Array(image)], { type: 'image/png' }), {
    board,
    onProgress: (sent, total) => progress.push(sent / total),
  })
  expect(stored).toMatchObject({ width: expect.any(Number), bytes: image.length })
  expect((await read(stored.image_key)).equals(image)).toBe(true)
  expect(progress).toEqual([1])
})

test('[LB9] another file goes in parts; one that broke off is resumed with its last state', async () => {
  const bytes = randomBytes(20 * mebibyte + 17)
  const file = new File([new Uint8Array(bytes)], 'holiday.mp4', { type: 'video/mp4' })
  let kept = ''
  const sent: number[] = []
  let puts = 0
  const stop = new AbortController()
  const flaky = clientOf(async (url, init) => {
    if (init?.method === 'PUT' && (puts += 1) === 1) throw new TypeError('a part was lost on its way')
    return fetch(url, init)
  })
  const broken = flaky.upload(file, {
    board,
    parallel: 1,
    signal: stop.signal,
    onState: (state) => {
      kept = JSON.stringify(state)
      if (Object.keys(state.etags).length === 2) stop.abort(new Error('the page was closed'))
    },
  })
  await expect(broken).rejects.toThrow('the page was closed')
  const resume = JSON.parse(kept) as UploadState
  expect(Object.keys(resume.etags)).toEqual(['1', '2'])
  // The first one was sent again, and the third one has begun when the upload is stopped.
  expect(puts).toBeGreaterThan(2)

  await expect(client.upload(new Blob(['other']), { board, resume })).rejects.toThrow('Take the same file')
  const stored = await client.upload(file, { board, resume, onProgress: (bytes) => sent.push(bytes) })
  expect(sent).toEqual([bytes.length])
  expect(stored.bytes).toBe(bytes.length)
  expect(stored.image_key).toMatch(/\.mp4$/)
  expect((await read(stored.image_key)).equals(bytes)).toBe(true)
})

test('[LB9] an upload can be given up', async () => {
  let state: UploadState | null = null
  const stop = new AbortController()
  const begun = client.upload(new Blob(['some text'], { type: 'text/plain' }), {
    board,
    signal: stop.signal,
    onState: (begun) => {
      state = begun
      stop.abort(new Error('no more'))
    },
  })
  await expect(begun).rejects.toThrow('no more')
  await client.abortUpload(state!)
  await expect(client.upload(new Blob(['some text']), { board, resume: state! })).rejects.toMatchObject({
    status: 404,
  })
})
