import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { assemblies, assemblyWait } from '../../api/files/assemblies.ts'
import { partBytes, planParts } from '../../core/file.ts'
import { openDatabase } from '../../sql/database.ts'
import { until } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard } from './board.ts'
import { digest, picture, pngOf, read, sendParts, storedKeys } from './file.ts'

const mebibyte = 1024 * 1024
let service: TestService
let user: TestUser
let boardId: string
let now = Date.now()

beforeAll(async () => {
  service = await startService({
    workers: false,
    clock: { now: () => now },
    config: { storageBytes: { free: 1000, pro: 200 * mebibyte } },
  })
  user = await service.user()
  boardId = (await makeBoard(user)).id
})
afterEach(() => vi.restoreAllMocks())
afterAll(() => service.stop())

const begin = (who: TestUser, board: string, fields: Record<string, unknown>) =>
  who.api.post(`/uploads/multipart?board=${board}`, fields)
async function begun(fields: Record<string, unknown>) {
  const { status, body, text } = await begin(user, boardId, fields)
  expect(status, text).toBe(201)
  return { ...body, session: { board_id: boardId, key: body.key, upload_id: body.upload_id } }
}
const used = async () => (await user.api.get('/me')).body.storage.used

test('[MU1] parts are of 8 MB at least, and at most 10,000', () => {
  for (const bytes of [1, 8 * mebibyte, 8 * mebibyte + 1, 10 ** 11, 5 * 10 ** 12]) {
    const { partSize, partCount } = planParts(bytes)
    expect(partSize % mebibyte).toBe(0)
    expect(partSize).toBeGreaterThanOrEqual(8 * mebibyte)
    expect(partCount).toBeLessThanOrEqual(10_000)
    expect((partCount - 1) * partSize + partBytes(bytes, partSize, partCount)).toBe(bytes)
  }
  expect(planParts(10 ** 11)).toEqual({ partSize: 10 * mebibyte, partCount: 9537 })
})

test('[MU2] a file is sent in parts, in any order, by a client that was restarted, and read back', async () => {
  const file = randomBytes(20 * mebibyte + 17)
  const before = await used()
  const { key, part_size, part_count, content_type, session } = await begun({
    bytes: file.length,
    content_type: 'video/mp4',
    filename: 'holiday.final.MP4',
  })
  expect([part_size, part_count, content_type]).toEqual([8 * mebibyte, 3, 'video/mp4'])
  expect(key).toMatch(/^f[\w-]{24}\.mp4$/)
  expect(await used()).toBe(before + file.length)
  const first = await sendParts(user, session, file, part_size, [3])
  // The client knows the session and the ETags so far, and asks for new URLs.
  const rest = await sendParts(user, session, file, part_size, [2, 1])
  expect((await read(service, user, key)).status).toBe(404)
  const { status, body } = await user.api.post('/uploads/multipart/complete', {
    ...session,
    parts: [...first, ...rest],
  })
  expect([status, body]).toEqual([201, { image_key: key, bytes: file.length, width: null, height: null }])
  const answer = await read(service, user, key)
  expect([answer.status, digest(answer.bytes), answer.headers.get('content-type')]).toEqual([
    200,
    digest(file),
    'video/mp4',
  ])
  expect(await used()).toBe(before + file.length)
  const events =
    await service.admin`select data from events where type = 'image.created' and resource_id = ${key}`
  expect(events.map(({ data }) => data)).toEqual([
    { bytes: file.length, width: null, height: null, content_type: 'video/mp4' },
  ])
})

test('[MU3] completing again answers the same, also many at once, and makes one file', async () => {
  const file = await picture(300, 200).withMetadata({ orientation: 8 }).jpeg().toBuffer()
  const { key, part_size, session } = await begun({ bytes: file.length, content_type: 'image/png' })
  const parts = await sendParts(user, session, file, part_size, [1])
  const complete = () => user.api.post('/uploads/multipart/complete', { ...session, parts })
  const answers = [...(await Promise.all([complete(), complete(), complete()])), await complete()]
  for (const { status, body } of answers)
    expect([status, body]).toEqual([201, { image_key: key, bytes: file.length, width: 200, height: 300 }])
  expect(await service.admin`select content_type from images where image_key = ${key}`).toMatchObject([
    { content_type: 'image/jpeg' },
  ])
  expect(
    await service.admin`select from events where type = 'image.created' and resource_id = ${key}`,
  ).toHaveLength(1)
  expect((await user.api.post('/uploads/multipart/abort', session)).status).toBe(409)
  expect((await read(service, user, key)).status).toBe(200)
})

test('[MU3] one that is late, after the end of the upload that another has completed, leaves the file', async () => {
  const file = pngOf(1000)
  const { key, part_size, session } = await begun({ bytes: file.length })
  const parts = await sendParts(user, session, file, part_size, [1])
  const complete = () => user.api.post('/uploads/multipart/complete', { ...session, parts })
  for (const { files } of service.nodes) {
    const real = files.complete.bind(files)
    vi.spyOn(files, 'complete').mockImplementationOnce(async (...given) => {
      // Another process, whose lock was lost.
      await real(...given)
      const now = new Date()
      await service.database.asUser(
        user.userId,
        (tx) => tx`select finish_upload(${key}, 'image/png', 40, 30, ${now})`,
      )
      await service.admin`delete from uploads where image_key = ${key}` // as its end does
      return real(...given)
    })
  }
  expect((await complete()).status).toBe(404)
  expect((await read(service, user, key)).status).toBe(200)
})

/** An upload whose parts are all sent. */
async function sent(who: TestUser, board: string, file = pngOf(1000)) {
  const { body } = await begin(who, board, { bytes: file.length })
  const session = { board_id: board, key: body.key, upload_id: body.upload_id }
  const parts = await sendParts(who, session, file, body.part_size, [1])
  return {
    session,
    parts,
    complete: () => who.api.post('/uploads/multipart/complete', { ...session, parts }),
  }
}

/** Holds the assemblies of the store until `open`, and counts them. */
function heldAssemblies() {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const running: string[] = []
  const real = service.files.complete.bind(service.files)
  vi.spyOn(service.files, 'complete').mockImplementation(async (key, ...given) => {
    running.push(key)
    await gate
    return real(key, ...given)
  })
  onTestFinished(() => open())
  return { running, open }
}
const aMoment = () => once(AbortSignal.timeout(300), 'abort')

test('[MU12] however many complete an upload at once, its file is assembled once and all get the answer', async () => {
  const { session, parts, complete } = await sent(user, boardId)
  const { running, open } = heldAssemblies()
  const completing = Array.from({ length: 40 }, complete)
  const wrong = [{ ...parts[0]!, etag: '0'.repeat(32) }]
  const others = Array.from({ length: 5 }, () =>
    user.api.post('/uploads/multipart/complete', { ...session, parts: wrong }),
  )
  await until(() => running.length > 0, 'one assembles')
  await aMoment()
  expect(running).toEqual([session.key])
  open()
  for (const { status, body } of await Promise.all([...completing, ...others]))
    expect([status, body]).toEqual([201, { image_key: session.key, bytes: 1000, width: 40, height: 30 }])
})

test('[MU13] an upload that another process completes is waited for, and then is 503', async () => {
  const { session, complete } = await sent(user, boardId)
  const { running, open } = heldAssemblies()
  open()
  const other = openDatabase({ url: service.databaseUrl })
  onTestFinished(() => other.close())
  const wait = assemblyWait.ms
  onTestFinished(() => void (assemblyWait.ms = wait))
  const lock = await other.lock(`assembly of ${session.key}`)
  assemblyWait.ms = 500
  const refused = await complete()
  expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
    ...[503, 'storage_unavailable', '10'],
  ])
  assemblyWait.ms = wait
  const completing = complete()
  await aMoment()
  expect(running).toEqual([])
  await lock!.release()
  expect((await completing).status).toBe(201)
  expect(running).toEqual([session.key])
})

test('[MU14] few files are assembled at once, and one account delays no other', async () => {
  const own = await Promise.all(Array.from({ length: 36 }, () => sent(user, boardId)))
  const stranger = await service.user()
  const theirs = await sent(stranger, (await makeBoard(stranger)).id)
  const { running, open } = heldAssemblies()
  const completing = own.map(({ complete }) => complete())
  await until(() => assemblies.waiting === 32, 'the queue of the account is full')
  const other = theirs.complete()
  await until(() => running.includes(theirs.session.key), 'another account has its turn')
  await aMoment()
  expect(running).toHaveLength(3)
  open()
  expect((await other).status).toBe(201)
  const answers = await Promise.all(completing)
  const refused = answers.filter(({ status }) => status !== 201)
  expect(refused.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
    [429, '10'],
    [429, '10'],
  ])
})

test('[MU4] a completion whose process died between the store and the row is healed by the next', async () => {
  const file = pngOf(1000)
  const { key, part_size, session } = await begun({ bytes: file.length })
  const parts = await sendParts(user, session, file, part_size, [1])
  const stored = [{ partNumber: 1, etag: parts[0]!.etag.replaceAll('"', '') }]
  expect(await service.files.complete(key, session.upload_id, stored)).toEqual({ outcome: 'stored' })
  expect((await read(service, user, key)).status).toBe(404)
  const { status, body } = await user.api.post('/uploads/multipart/complete', { ...session, parts })
  expect([status, body]).toEqual([201, { image_key: key, bytes: 1000, width: 40, height: 30 }])
})

test('[MU5] completing takes each part once, with the ETag that its PUT gave', async () => {
  const file = randomBytes(9 * mebibyte)
  const { key, part_size, session } = await begun({ bytes: file.length })
  const [one, two] = await sendParts(user, session, file, part_size, [1, 2])
  const complete = (parts: unknown) => user.api.post('/uploads/multipart/complete', { ...session, parts })
  const wrong: unknown[] = [
    [],
    [one],
    [two],
    [one, two, two],
    [one, { ...two, part_number: 3 }],
    [one, { ...two, part_number: 0 }],
    [one, { ...two, etag: one!.etag }],
    [one, { ...two, etag: '../../x' }],
    [{ part_number: 1 }, two],
    'parts',
  ]
  for (const parts of wrong) expect([parts, (await complete(parts)).status]).toEqual([parts, 400])
  expect(await service.files.head(key)).toBe(null)
  expect((await complete([two, { part_number: 1, etag: one!.etag.replaceAll('"', '') }])).status).toBe(201)
})

test('[MU6] a part too big, too small or to a changed URL is refused', async () => {
  const file = randomBytes(8 * mebibyte + 10)
  const { session } = await begun({ bytes: file.length })
  const { body } = await user.api.post('/uploads/multipart/parts', { ...session, part_numbers: [1, 2] })
  const put = async (url: string, bytes: Buffer) =>
    (await fetch(url, { method: 'PUT', body: bytes as Buffer<ArrayBuffer> })).status
  expect(await put(body.urls[2], randomBytes(9))).toBe(403)
  expect(await put(body.urls[2], randomBytes(11))).toBe(403)
  expect(await put(body.urls[2].replace('part=2', 'part=1'), randomBytes(10))).toBe(403)
  expect(await put(body.urls[2].replace('bytes=10', 'bytes=11'), randomBytes(11))).toBe(403)
  const chunked = await fetch(body.urls[2], {
    method: 'PUT',
    body: Readable.toWeb(Readable.from([randomBytes(10)])),
    duplex: 'half',
  } as unknown as RequestInit)
  expect(chunked.status).toBe(403)
  now += 3_700_000
  expect(await put(body.urls[2], randomBytes(10))).toBe(403)
  for (const part_numbers of [[], [3], [0], ['1'], Array.from({ length: 1001 }, () => 1)])
    expect((await user.api.post('/uploads/multipart/parts', { ...session, part_numbers })).status).toBe(400)
  const preflight = await fetch(body.urls[1], {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'PUT' },
  })
  expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT')
  const fresh = await user.api.post('/uploads/multipart/parts', { ...session, part_numbers: [2] })
  const sent = await fetch(fresh.body.urls[2], {
    method: 'PUT',
    body: randomBytes(10),
    headers: { origin: 'https://app.example' },
  })
  expect([sent.status, sent.headers.get('access-control-expose-headers')]).toEqual([
    200,
    expect.stringContaining('etag'),
  ])
  expect((await user.api.post('/uploads/multipart/abort', session)).status).toBe(200)
})

test('[MU7] an aborted upload leaves nothing and takes nothing', async () => {
  const before = [await used(), await storedKeys(service)]
  const { part_size, session } = await begun({ bytes: 1000 })
  const parts = await sendParts(user, session, pngOf(1000), part_size, [1])
  const { body } = await user.api.post('/uploads/multipart/parts', { ...session, part_numbers: [1] })
  const aborted = await user.api.post('/uploads/multipart/abort', session)
  expect([aborted.status, aborted.body.aborted]).toEqual([200, true])
  expect([await used(), await storedKeys(service)]).toEqual(before)
  expect(
    (await fetch(body.urls[1], { method: 'PUT', body: pngOf(1000) as Buffer<ArrayBuffer> })).status,
  ).toBe(404)
  for (const [path, fields] of [
    ['parts', { part_numbers: [1] }],
    ['complete', { parts }],
    ['abort', {}],
  ] as const)
    expect([
      path,
      (await user.api.post(`/uploads/multipart/${path}`, { ...session, ...fields })).status,
    ]).toEqual([path, 404])
})

test('[MU8] a session is known on its board alone, with its own key and id, for 24 hours', async () => {
  const other = await makeBoard(user)
  const { part_size, session } = await begun({ bytes: 1000 })
  const second = await begun({ bytes: 1000 })
  const parts = await sendParts(user, session, pngOf(1000), part_size, [1])
  const stranger = await service.user()
  const theirs = await makeBoard(stranger)
  const foreign: [TestUser, Record<string, unknown>][] = [
    [user, { ...session, board_id: other.id }],
    [user, { ...session, key: second.key }],
    [user, { ...session, upload_id: second.upload_id }],
    [user, { ...session, upload_id: '../..' }],
    [stranger, session],
    [stranger, { ...session, board_id: theirs.id }],
  ]
  const calls = [
    ['parts', { part_numbers: [1] }],
    ['complete', { parts }],
    ['abort', {}],
  ] as const
  for (const [who, named] of foreign)
    for (const [path, fields] of calls)
      expect([
        path,
        (await who.api.post(`/uploads/multipart/${path}`, { ...named, ...fields })).status,
      ]).toEqual([path, 404])
  now += 24 * 3_600_000 + 1000
  for (const [path, fields] of calls)
    expect([
      path,
      (await user.api.post(`/uploads/multipart/${path}`, { ...session, ...fields })).status,
    ]).toEqual([path, 404])
})

test('[MU9] uploads in parts are for owners with a paid plan, and the quota is checked up front', async () => {
  const free = await service.user({ tier: 'free' })
  const board = await makeBoard(free)
  expect(await begin(free, board.id, { bytes: 10 })).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  })
  await service.share(board.id, user, 'editor')
  expect((await begin(user, board.id, { bytes: 10 })).status).toBe(403)
  const full = await begin(user, boardId, { bytes: 201 * mebibyte })
  expect(full).toMatchObject({ status: 402, body: { code: 'limit_reached' } })
  expect(full.body.error).toContain(String(201 * mebibyte))
  for (const fields of [
    {},
    { bytes: 0 },
    { bytes: -1 },
    { bytes: 1.5 },
    { bytes: '10' },
    { bytes: 10, content_type: 'x' },
    { bytes: 10, content_type: 'text/html\r\nx: y' },
    { bytes: 10, filename: 'x'.repeat(301) },
  ])
    expect([fields, (await begin(user, boardId, fields)).status]).toEqual([fields, 400])
})

test('[MU10] what a browser could run is handed out as a download', async () => {
  const html = Buffer.from('<script>alert(1)</script>')
  for (const content_type of ['text/html', 'image/svg+xml', 'image/png', 'application/pdf']) {
    const { key, part_size, session } = await begun({ bytes: html.length, content_type, filename: 'a.html' })
    const parts = await sendParts(user, session, html, part_size, [1])
    expect((await user.api.post('/uploads/multipart/complete', { ...session, parts })).status).toBe(201)
    const { headers } = await read(service, user, key)
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${key}"`)
    expect(headers.get('content-security-policy')).toContain('sandbox')
    expect(headers.get('content-type')).toBe(
      content_type === 'image/png' ? 'application/octet-stream' : content_type,
    )
  }
})
