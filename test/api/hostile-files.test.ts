/** What is sent to do harm: files that are two things at once, that break off, that lie, and uploads that race. */
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard } from './board.ts'
import { picture, png, pngOf, read, sendParts, storedKeys, upload } from './file.ts'

let service: TestService
let user: TestUser
let boardId: string

beforeAll(async () => {
  service = await startService({
    workers: false,
    config: { storageBytes: { free: 100_000, pro: 100_000_000 } },
  })
  user = await service.user()
  boardId = (await makeBoard(user)).id
})
afterAll(() => service.stop())

const script = '<script>alert(1)</script>'

/** A GIF whose first bytes are also an assignment in JavaScript: its width and height open a comment. */
function gifAndScript(): Buffer {
  const code = '*/=1;alert(1)//'
  return Buffer.concat([
    Buffer.from('GIF89a/*\0\0', 'latin1'),
    Buffer.from([0, 0, 0]),
    Buffer.from(code),
    Buffer.from(';'),
  ])
}

/** A JPEG that is shown as one, with a page in a comment segment right at its start. */
async function jpegAndPage(): Promise<Buffer> {
  const jpeg = await picture(200, 100).jpeg().toBuffer()
  const page = Buffer.from(`<!doctype html>${script}`)
  const head = Buffer.from([0xff, 0xfe, 0, page.length + 2])
  return Buffer.concat([jpeg.subarray(0, 2), head, page, jpeg.subarray(2), page])
}

test('[UP16] a file that is an image and something else is an image alone: nothing else can be made of it', async () => {
  const polyglots: [Buffer, string][] = [
    [gifAndScript(), 'image/gif'],
    [await jpegAndPage(), 'image/jpeg'],
    [Buffer.concat([png, Buffer.from(script)]), 'image/png'],
    [Buffer.concat([png, Buffer.from('%PDF-1.7 PK\x03\x04')]), 'image/png'],
  ]
  for (const [bytes, type] of polyglots) {
    const stored = await upload(service, user, boardId, bytes, type)
    expect([type, stored.status]).toEqual([type, 201])
    const key: string = stored.body.image_key
    const whole = await read(service, user, key)
    expect(whole.bytes.equals(bytes)).toBe(true)
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': type,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    // Named otherwise it is refused, and sent in parts under another name it is an image too, or a download.
    for (const other of ['image/webp', 'text/html', 'application/javascript'])
      expect((await upload(service, user, boardId, bytes, other)).status).toBe(415)
    const smaller = await read(service, user, `${key}?w=160`)
    if (smaller.status === 200) expect(String(smaller.bytes)).not.toContain('alert')
    else expect([type, smaller.status]).toEqual(['image/gif', 415]) // it has no picture
  }
})

test('[UP16] sent in parts under whatever name, it is handed out as the image that it is, or as a download', async () => {
  for (const content_type of ['text/html', 'image/svg+xml', 'image/jpeg', 'application/javascript']) {
    const bytes = gifAndScript()
    const begun = await user.api.post(`/uploads/multipart?board=${boardId}`, {
      bytes: bytes.length,
      content_type,
    })
    const session = { board_id: boardId, key: begun.body.key, upload_id: begun.body.upload_id }
    const parts = await sendParts(user, session, bytes, begun.body.part_size, [1])
    expect((await user.api.post('/uploads/multipart/complete', { ...session, parts })).status).toBe(201)
    const { headers } = await read(service, user, session.key)
    const shown = headers.get('content-disposition')!.startsWith('inline')
    expect([content_type, shown, headers.get('content-type')]).toEqual([
      content_type,
      content_type.startsWith('image/'),
      content_type.startsWith('image/') ? 'image/gif' : content_type,
    ])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
})

test('[UP4] each type cut off anywhere is stored without a size or refused, and never decoded', async () => {
  const files: [string, Buffer][] = [
    ['image/png', png],
    ['image/jpeg', await picture().jpeg().toBuffer()],
    ['image/gif', await picture().gif().toBuffer()],
    ['image/webp', await picture().webp().toBuffer()],
    ['image/avif', await picture().avif({ effort: 0 }).toBuffer()],
  ]
  for (const [type, bytes] of files) {
    for (const length of [1, 4, 11, 13, 20, 30, bytes.length - 1]) {
      const { status, body } = await upload(service, user, boardId, bytes.subarray(0, length), type)
      expect([201, 415]).toContain(status)
      if (status === 201) expect(body).toMatchObject({ bytes: length, content_type: type })
      // What has no size is not decoded; what has one and no picture can't be.
      if (status === 201 && length < bytes.length - 1)
        expect([type, length, (await read(service, user, `${body.image_key}?w=160`)).status]).toEqual([
          type,
          length,
          415,
        ])
    }
  }
})

test('[UP4] a header that says 60000 × 60000, or next to nothing, is believed by nobody who decodes', async () => {
  const started = process.memoryUsage.rss()
  for (const [width, height] of [
    [60_000, 60_000],
    [0xffff_ffff, 1],
    [0x7fff_ffff, 0x7fff_ffff],
    [0, 0],
  ]) {
    const lying = Buffer.from(png)
    lying.writeUInt32BE(width!, 16)
    lying.writeUInt32BE(height!, 20)
    const { status, body } = await upload(service, user, boardId, lying)
    expect(status).toBe(201)
    expect((await read(service, user, `${body.image_key}?w=320`)).status).toBe(415)
  }
  expect(process.memoryUsage.rss() - started).toBeLessThan(200_000_000)
})

test('[UP10] more or less than the content-length says leaves nothing', async () => {
  const before = await storedKeys(service)
  const used = async () => (await user.api.get('/me')).body.storage.used
  const usedBefore = await used()
  const { hostname, port } = new URL(service.url)
  const head = (length: number) =>
    `POST /api/v1/uploads?board=${boardId} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${user.token}\r\ncontent-type: image/png\r\ncontent-length: ${length}\r\n\r\n`
  // Less: the client closes its side after 500 of 1,000 bytes.
  const short = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  short.on('error', () => undefined)
  short.resume()
  short.end(Buffer.concat([Buffer.from(head(1000)), pngOf(500)]))
  await until(async () => short.closed || short.readableEnded, 'the connection is over', 20_000)
  short.destroy()
  await until(async () => (await used()) === usedBefore, 'its place is free', 20_000)
  expect(await storedKeys(service)).toEqual(before)
  // More: what follows is no request, so the connection ends; whether or not the file was taken, it has 500 bytes.
  const long = connect(Number(port), hostname)
  long.on('error', () => undefined)
  long.resume()
  long.write(Buffer.concat([Buffer.from(head(500)), pngOf(1000)]))
  await until(async () => long.closed, 'the connection is over', 20_000)
  await until(
    async () => (await service.admin`select from uploads where state <> 'stored'`).length === 0,
    'the upload is over',
    20_000,
  )
  const added = (await storedKeys(service)).filter((key) => !before.includes(key))
  for (const key of added) expect(await service.files.head(key)).toEqual({ bytes: 500 })
  expect(await used()).toBe(usedBefore + 500 * added.length)
})

test('[UP9] of two uploads that race for the last byte of a quota one is 402', async () => {
  for (let round = 0; round < 5; round += 1) {
    const owner = await service.user({ tier: 'free' })
    const board = await makeBoard(owner)
    expect((await upload(service, owner, board.id, pngOf(99_000))).status).toBe(201)
    const answers = await Promise.all(
      [1000, 1000].map((bytes) => upload(service, owner, board.id, pngOf(bytes))),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 402])
    expect((await owner.api.get('/me')).body.storage).toEqual({ used: 100_000, limit: 100_000 })
  }
})

test('[UP9] an upload in parts and one in a request that race for the last byte: one is 402', async () => {
  const owner = await service.user()
  const board = await makeBoard(owner)
  const begin = (bytes: number) => owner.api.post(`/uploads/multipart?board=${board.id}`, { bytes })
  expect((await begin(100_000_000 - 1000)).status).toBe(201)
  const answers = await Promise.all([begin(1000), upload(service, owner, board.id, pngOf(1000))])
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 402])
})
