import sharp from 'sharp'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { FileRead } from '../../api/http/route.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard } from './board.ts'
import { picture, png, pngOf, read, storedKeys, upload } from './file.ts'

let service: TestService
let user: TestUser
let boardId: string
const reads: FileRead[] = []
/** The service's clock stands at this time; null: it runs. */
let stoppedAt: number | null = null

beforeAll(async () => {
  const clock = { now: () => stoppedAt ?? Date.now() }
  service = await startService({ clock, fileRead: (one) => reads.push(one) })
  user = await service.user()
  boardId = (await makeBoard(user)).id
})
afterAll(() => service.stop())

const uploaded = async (bytes: Buffer = png, type = 'image/png'): Promise<string> =>
  (await upload(service, user, boardId, bytes, type)).body.image_key

test('[FR1] a file is read whole, with headers that let it be shown and nothing else', async () => {
  const key = await uploaded()
  const { status, headers, bytes } = await read(service, user, key)
  expect([status, bytes.equals(png)]).toEqual([200, true])
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(png.length),
    'accept-ranges': 'bytes',
    etag: `"${key}"`,
    'cache-control': 'private, max-age=86400, immutable',
    vary: 'authorization',
    'content-disposition': `inline; filename="${key}"`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  })
  const head = await fetch(`${service.url}/api/v1/images/${key}`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${user.token}` },
  })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(png.length)])
})

test('[FR2] ranges are answered as HTTP says', async () => {
  const file = pngOf(100_000)
  const key = await uploaded(file)
  const ranges: [string, number, number, number][] = [
    ['bytes=0-0', 206, 0, 1],
    ['bytes=100-199', 206, 100, 200],
    ['bytes=99999-', 206, 99_999, 100_000],
    ['bytes=-10', 206, 99_990, 100_000],
    ['bytes=-200000', 206, 0, 100_000],
    ['bytes=50000-999999999', 206, 50_000, 100_000],
    ['bytes=5-1', 200, 0, 100_000],
    ['bytes=0-1,5-6', 200, 0, 100_000],
    ['chunks=0-1', 200, 0, 100_000],
  ]
  for (const [range, status, start, end] of ranges) {
    const answer = await read(service, user, key, { range })
    expect([range, answer.status, answer.bytes.equals(file.subarray(start, end))]).toEqual([
      range,
      status,
      true,
    ])
    expect(answer.headers.get('content-range')).toBe(
      status === 206 ? `bytes ${start}-${end - 1}/100000` : null,
    )
    expect(answer.headers.get('content-length')).toBe(String(end - start))
  }
  for (const range of ['bytes=100000-', 'bytes=-0']) {
    const { status, headers } = await read(service, user, key, { range })
    expect([status, headers.get('content-range')]).toEqual([416, 'bytes */100000'])
  }
  const other = await read(service, user, key, { range: 'bytes=0-0', 'if-range': '"another"' })
  expect(other.status).toBe(200)
  expect((await read(service, user, key, { range: 'bytes=0-0', 'if-range': `"${key}"` })).status).toBe(206)
})

test('[FR3] a reader who has it already gets 304 without a body', async () => {
  const key = await uploaded()
  for (const known of [`"${key}"`, `W/"${key}"`, `"a", "${key}"`, '*']) {
    const { status, bytes, headers } = await read(service, user, key, { 'if-none-match': known })
    expect([status, bytes.length, headers.get('etag')]).toEqual([304, 0, `"${key}"`])
  }
  expect((await read(service, user, key, { 'if-none-match': '"another"' })).status).toBe(200)
})

test('[FR48] HEAD answers as GET does, and reads nothing from the store', async () => {
  const key = await uploaded(pngOf(100_000))
  const { body } = await user.api.post('/images/urls', { images: [{ image_key: key }] })
  const signed: string = body.images[0].url
  const bearer = { authorization: `Bearer ${user.token}` }
  const ask = async (method: string, path: string, headers: Record<string, string>) => {
    const response = await fetch(new URL(path, `${service.url}/api/v1/images/`), { method, headers })
    const answered = Object.fromEntries(response.headers)
    for (const name of Object.keys(answered))
      if (
        /^(connection|keep-alive|transfer-encoding|date|x-request-id|x-ratelimit-.*|ratelimit.*)$/.test(name)
      )
        delete answered[name]
    return { status: response.status, headers: answered, body: await response.text() }
  }
  const heads: [string, Record<string, string>, number][] = [
    [key, bearer, 200],
    [key, { ...bearer, range: 'bytes=100-199' }, 206],
    [key, { ...bearer, range: 'bytes=100000-' }, 416],
    [key, { ...bearer, 'if-none-match': `"${key}"` }, 304],
    [signed, {}, 200],
    [`${key}?w=160`, bearer, 200],
  ]
  // The answer to a signed address says how many seconds it is valid for.
  stoppedAt = Date.now()
  onTestFinished(() => void (stoppedAt = null))
  const gets = []
  for (const [path, headers] of heads) gets.push(await ask('GET', path, headers))
  const opened = service.nodes.map(({ files }) => vi.spyOn(files, 'get'))
  for (const [at, [path, headers, status]] of heads.entries()) {
    const { 'content-length': length, ...get } = gets[at]!.headers
    const wanted = path.includes('?w=') ? get : { ...get, ...(length ? { 'content-length': length } : {}) }
    expect([path, await ask('HEAD', path, headers)]).toEqual([path, { status, headers: wanted, body: '' }])
  }
  expect(opened.map((spy) => spy.mock.calls)).toEqual(opened.map(() => []))
  vi.restoreAllMocks()
  const missing = await ask('HEAD', `f${'x'.repeat(24)}.png`, bearer)
  expect(missing.status).toBe(404)
})

test('[FR4] who cannot see the board or the workspace gets the 404 of a file that is not there', async () => {
  const key = await uploaded()
  const stranger = await service.user()
  const guest = await service.user()
  await service.share(boardId, guest, 'viewer')
  expect((await read(service, guest, key)).status).toBe(200)
  const hidden = await read(service, stranger, key)
  const absent = await read(service, stranger, `f${'a'.repeat(24)}.png`)
  expect([hidden.status, absent.status]).toEqual([404, 404])
  expect(hidden.bytes.equals(absent.bytes)).toBe(true)
  for (const bad of ['x', '..%2F..%2Fsecret-key', 'f%00', `${key}%2F..`, `resized%2F${key}%2F320.webp`])
    expect([bad, (await read(service, user, bad)).status]).toEqual([bad, 404])
  const loose = await upload(service, user, (await makeBoard(user)).id)
  expect((await read(service, guest, loose.body.image_key)).status).toBe(404)
  expect((await guest.api.get('/images')).body.images.map((one: any) => one.image_key)).toContain(key)
  expect((await stranger.api.get('/images')).body.images).toEqual([])
})

test('[FR5] w gives a smaller webp or avif, upright, kept for the next reader', async () => {
  const large = await picture(1000, 500).withMetadata({ orientation: 6 }).jpeg().toBuffer()
  const key = await uploaded(large, 'image/jpeg')
  for (const [query, format] of [
    ['w=160', 'webp'],
    ['w=160&format=avif', 'heif'],
    ['w=320&format=webp', 'webp'],
  ] as const) {
    const { status, headers, bytes } = await read(service, user, `${key}?${query}`)
    const made = await sharp(bytes).metadata()
    expect([status, made.format, made.width, made.height]).toEqual([
      200,
      format,
      Number(query.slice(2, 5)),
      2 * Number(query.slice(2, 5)),
    ])
    expect(headers.get('content-type')).toBe(format === 'webp' ? 'image/webp' : 'image/avif')
    const etag = headers.get('etag')!
    expect(etag).not.toBe(`"${key}"`)
    expect((await read(service, user, `${key}?${query}`, { 'if-none-match': etag })).status).toBe(304)
    expect((await read(service, user, `${key}?${query}`)).bytes.equals(bytes)).toBe(true)
  }
  expect((await storedKeys(service)).filter((one) => one.includes(key))).toEqual([
    key,
    `resized/${key}/160.avif`,
    `resized/${key}/160.webp`,
    `resized/${key}/320.webp`,
  ])
  const same = await read(service, user, `${await uploaded()}?w=1920`)
  expect((await sharp(same.bytes).metadata()).width).toBe(40)
})

test('[FR6] w of another width is 400; of what cannot or must not be decoded, 415', async () => {
  const key = await uploaded()
  for (const query of ['w=161', 'w=0', 'w=abc', 'w=160&format=png', 'format=webp'])
    expect([query, (await read(service, user, `${key}?${query}`)).status]).toEqual([query, 400])
  const avif = await picture().avif({ effort: 0 }).toBuffer()
  const heic = Buffer.from(avif.toString('latin1').replaceAll('avif', 'heic'), 'latin1')
  const huge = Buffer.from(png)
  huge.writeUInt32BE(60_000, 16)
  huge.writeUInt32BE(60_000, 20)
  const cases: [Buffer, string][] = [
    [heic, 'image/heic'],
    [huge, 'image/png'],
    [png.subarray(0, 40), 'image/png'],
  ]
  for (const [bytes, type] of cases) {
    const one = await uploaded(bytes, type)
    expect((await read(service, user, `${one}?w=160`)).status).toBe(415)
    expect((await read(service, user, one)).status).toBe(200)
  }
})

test('[FR30] a read that is answered with 304 does not count against the hour', async () => {
  const reader = await service.token(user, { scopes: ['read'] })
  const key = await uploaded()
  const remaining = (headers: Headers) => Number(headers.get('x-ratelimit-remaining'))
  const first = remaining((await read(service, reader, key)).headers)
  for (let n = 0; n < 20; n += 1) {
    const { status, headers } = await read(service, reader, key, { 'if-none-match': `"${key}"` })
    expect([status, remaining(headers)]).toEqual([304, first])
  }
  expect(remaining((await read(service, reader, key)).headers)).toBe(first - 1)
})

test('[FR7] each read is told with who, what and how it was answered', async () => {
  const key = await uploaded()
  reads.length = 0
  await read(service, user, key)
  await read(service, user, key, { 'if-none-match': '*' })
  await read(service, await service.user(), key)
  expect(
    reads.map(({ reader, imageKey, boardId, workspaceId, status }) => [
      reader.userId,
      imageKey,
      boardId,
      workspaceId,
      status,
    ]),
  ).toEqual([
    [user.userId, key, boardId, user.workspaceId, 200],
    [user.userId, key, boardId, user.workspaceId, 304],
  ])
})

test('[FR8] the listing goes from the newest by cursor, filters, and refuses bad cursors', async () => {
  const owner = await service.user()
  const [a, b] = [await makeBoard(owner), await makeBoard(owner)]
  const keys: string[] = []
  for (let n = 0; n < 7; n += 1)
    keys.unshift((await upload(service, owner, n % 2 ? a.id : b.id)).body.image_key)
  const walk = async (query: string) => {
    const found: string[] = []
    for (let cursor: string | null = '', pages = 0; cursor !== null && pages < 20; pages += 1) {
      const { body, status }: any = await owner.api.get(
        `/images?limit=2${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      expect([status, body.limit, body.has_more]).toEqual([200, 2, body.next_cursor !== null])
      found.push(...body.images.map((one: any) => one.image_key))
      cursor = body.next_cursor
    }
    return found
  }
  expect(await walk('')).toEqual(keys)
  expect(await walk(`&board=${a.id}`)).toEqual(keys.filter((_, n) => n % 2 === 1))
  expect(await walk(`&workspace=${owner.workspaceId}`)).toEqual(keys)
  expect((await owner.api.get(`/images?workspace=${user.workspaceId}`)).status).toBe(404)
  for (const query of [
    'cursor=x',
    `cursor=before|2026-01-01T00:00:00Z|x|y`,
    'since=yesterday',
    'limit=0',
    'board=x',
    'workspace=1',
  ])
    expect([query, (await owner.api.get(`/images?${query}`)).status]).toEqual([query, 400])
})

test('[FR9] a follower of since misses nothing of many uploaders', async () => {
  const owner = await service.user()
  const board = await makeBoard(owner)
  const since = new Date(Date.now() - 1000).toISOString()
  const found: string[] = []
  const made: string[] = []
  const writing = Promise.all(
    Array.from({ length: 8 }, async () => {
      const keys: string[] = []
      for (let n = 0; n < 6; n += 1) keys.push((await upload(service, owner, board.id)).body.image_key)
      return keys
    }),
  ).then((keys) => made.push(...keys.flat()))
  let cursor: string | null = null
  const deadline = Date.now() + 30_000
  while (Date.now() < deadline && (made.length === 0 || found.length < made.length)) {
    const { body }: any = await owner.api.get(
      `/images?limit=5&${cursor ? `cursor=${encodeURIComponent(cursor)}` : `since=${since}`}`,
    )
    expect(body.next_cursor).toEqual(expect.any(String))
    found.push(...body.images.map((one: any) => one.image_key))
    cursor = body.next_cursor
  }
  await writing
  expect(found.toSorted()).toEqual(made.toSorted())
})
