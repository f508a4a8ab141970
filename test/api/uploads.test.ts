/** Uploads in one request. */
import { connect } from 'node:net'
import { Pool } from 'undici'
import { expect, test } from 'vitest'
import { allDeliveries } from '../support/deliveries.ts'
import { until } from '../support/editor.ts'
import { startService, type TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard } from './board.ts'
import { picture, png, pngOf, storedKeys, upload } from './file.ts'

const mebibyte = 1024 * 1024
const { service, user } = await serviceOfFile({
  config: { storageBytes: { free: 100_000, pro: 10 ** 12 } },
})
const { id: boardId } = await makeBoard(user)

const used = async (who: TestUser) => (await who.api.get('/me')).body.storage

test('[UP5] an upload answers with key, size and type, is listed, makes one event, and counts', async () => {
  const owner = await service.user()
  const board = await makeBoard(owner)
  const answer = await upload(service, owner, board.id)
  expect(answer).toEqual({
    status: 201,
    body: {
      image_key: expect.stringMatching(/^f[\w-]{24}\.png$/),
      width: 40,
      height: 30,
      bytes: png.length,
      content_type: 'image/png',
    },
  })
  const key = answer.body.image_key
  const { body } = await owner.api.get('/images')
  expect(body.images).toEqual([
    {
      image_key: key,
      bytes: png.length,
      width: 40,
      height: 30,
      board_id: board.id,
      workspace_id: owner.workspaceId,
      content_type: 'image/png',
      created_at: expect.any(String),
    },
  ])
  const events = await service.admin`
    select data, origin from events where type = 'image.created' and resource_id = ${key}
    union all
    select payload::jsonb -> 'data', 'api' from ${allDeliveries(service.admin)} d where payload like ${`%${key}%`}`
  expect(events.length).toBeLessThanOrEqual(1)
  expect(await used(owner)).toEqual({ used: png.length, limit: 10 ** 12 })
  expect(await service.files.head(key)).toEqual({ bytes: png.length })
})

test('[UP5] image.created is written with the row, with its numbers', async () => {
  const quiet = await startService({ workers: false })
  const owner = await quiet.user()
  const { body } = await upload(quiet, owner, (await makeBoard(owner)).id)
  const events =
    await quiet.admin`select type, resource_id, data, origin from events where type = 'image.created'`
  expect([...events]).toEqual([
    {
      type: 'image.created',
      resource_id: body.image_key,
      data: { bytes: png.length, width: 40, height: 30, content_type: 'image/png' },
      origin: 'api',
    },
  ])
  await quiet.stop()
})

test('[UP6] each accepted type is taken, with parameters and capitals in its name too', async () => {
  const files = {
    'image/jpeg': await picture().jpeg().toBuffer(),
    'image/gif': await picture().gif().toBuffer(),
    'image/webp': await picture().webp().toBuffer(),
    'image/avif': await picture().avif({ effort: 0 }).toBuffer(),
    'IMAGE/PNG; x=1': png,
  }
  for (const [type, bytes] of Object.entries(files)) {
    const { status, body } = await upload(service, user, boardId, bytes, type)
    expect([type, status, body.width, body.height]).toEqual([type, 201, 40, 30])
  }
  const heic = Buffer.from(files['image/avif'].toString('latin1').replaceAll('avif', 'heic'), 'latin1')
  expect((await upload(service, user, boardId, heic, 'image/heic')).body).toMatchObject({
    width: 40,
    content_type: 'image/heic',
  })
})

test('[UP7] a type that is not accepted, and bytes that are not of their type, are 415 and leave nothing', async () => {
  const before = await storedKeys(service)
  const { used: usedBefore } = await used(user)
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
  const jpeg = await picture().jpeg().toBuffer()
  const cases: [Buffer, string | null][] = [
    [svg, 'image/svg+xml'],
    [svg, 'image/png'],
    [Buffer.from('<!doctype html><script>alert(1)</script>'), 'image/gif'],
    [png, 'application/octet-stream'],
    [png, null],
    [jpeg, 'image/png'],
    [png, 'image/webp'],
    [Buffer.alloc(0), 'image/png'],
    [Buffer.alloc(3 * mebibyte), 'image/png'],
    [Buffer.concat([Buffer.from('<html>'), png]), 'image/png'],
  ]
  for (const [bytes, type] of cases) {
    const { status, body } = await upload(service, user, boardId, bytes, type)
    expect([type, status, body.code]).toEqual([type, 415, 'unsupported_media_type'])
  }
  expect(await storedKeys(service)).toEqual(before)
  expect((await used(user)).used).toBe(usedBefore)
})

test('[UP4] truncated and lying headers are stored without a size, and absurd ones as they say', async () => {
  const cut = await upload(service, user, boardId, png.subarray(0, 20))
  expect(cut).toMatchObject({ status: 201, body: { width: null, height: null, bytes: 20 } })
  const huge = Buffer.from(png)
  huge.writeUInt32BE(60_000, 16)
  huge.writeUInt32BE(60_000, 20)
  expect(await upload(service, user, boardId, huge)).toMatchObject({
    status: 201,
    body: { width: 60_000, height: 60_000 },
  })
})

test('[UP8] 25 MB are taken, one byte more is 413, with and without a content-length', async () => {
  const limit = 25 * mebibyte
  const stream = (bytes: Buffer) =>
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += mebibyte)
          controller.enqueue(bytes.subarray(at, at + mebibyte))
        controller.close()
      },
    })
  const before = (await storedKeys(service)).length
  expect(await upload(service, user, boardId, pngOf(limit))).toMatchObject({
    status: 201,
    body: { bytes: limit },
  })
  expect(await upload(service, user, boardId, stream(pngOf(limit)))).toMatchObject({
    status: 201,
    body: { bytes: limit },
  })
  for (const bytes of [pngOf(limit + 1), stream(pngOf(limit + 1))])
    expect(await upload(service, user, boardId, bytes)).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large' },
    })
  expect((await storedKeys(service)).length).toBe(before + 2)
})

test('[UP9] over the quota of the owner is 402 with the numbers; the last byte fits', async () => {
  const owner = await service.user({ tier: 'free' })
  const editor = await service.user()
  const board = await makeBoard(owner)
  await service.share(board.id, editor, 'editor')
  expect((await upload(service, editor, board.id, pngOf(60_000))).status).toBe(201)
  const refused = await upload(service, editor, board.id, pngOf(40_001))
  expect(refused).toMatchObject({ status: 402, body: { code: 'limit_reached' } })
  expect(refused.body.error).toMatch(/40001 bytes .* 60000 of 100000 bytes are used/)
  expect((await upload(service, editor, board.id, pngOf(40_000))).status).toBe(201)
  expect(await used(owner)).toEqual({ used: 100_000, limit: 100_000 })
  expect((await used(editor)).used).toBe(0)
})

test('[UP9] of uploads that race for the last bytes as many are taken as fit, and the count is exact', async () => {
  const owner = await service.user({ tier: 'free' })
  const boards = await Promise.all([makeBoard(owner), makeBoard(owner)])
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, n) => upload(service, owner, boards[n % 2]!.id, pngOf(30_000))),
  )
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    201,
    201,
    201,
    ...Array.from({ length: 13 }, () => 402),
  ])
  expect((await used(owner)).used).toBe(90_000)
  expect((await upload(service, owner, boards[0]!.id, pngOf(10_000))).status).toBe(201)
})

test('[UP10] an upload that breaks off leaves no bytes, no row, and its place in the quota free', async () => {
  const before = await storedKeys(service)
  const { used: usedBefore } = await used(user)
  const { hostname, port } = new URL(service.url)
  for (const length of ['content-length: 5000000', 'transfer-encoding: chunked']) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    const head = `POST /api/v1/uploads?board=${boardId} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${user.token}\r\ncontent-type: image/png\r\n${length}\r\n\r\n`
    const body = pngOf(1_000_000)
    socket.write(head)
    if (length.startsWith('transfer')) socket.write(`${body.length.toString(16)}\r\n`)
    socket.write(body)
    if (length.startsWith('content'))
      await until(async () => (await used(user)).used === usedBefore + 5_000_000, 'its place is held')
    socket.destroy()
    await until(async () => (await used(user)).used === usedBefore, 'its place is free')
  }
  expect(await storedKeys(service)).toEqual(before)
  expect(await service.admin`select from uploads where created_by = ${user.userId}`).toHaveLength(0)
})

test('[UP11] a board in the trash is 409; a missing or foreign board is the same 404; a viewer gets 403', async () => {
  const trashed = await makeBoard(user)
  await user.api.delete(`/boards/${trashed.id}`)
  expect(await upload(service, user, trashed.id)).toMatchObject({ status: 409, body: { code: 'conflict' } })
  const foreign = await makeBoard(await service.user())
  const answers = [await upload(service, user, foreign.id), await upload(service, user, crypto.randomUUID())]
  expect(answers[0]).toMatchObject({ status: 404 })
  expect(answers[1]).toEqual(answers[0])
  const viewer = await service.user()
  await service.share(boardId, viewer, 'viewer')
  expect((await upload(service, viewer, boardId)).status).toBe(403)
  for (const path of ['/uploads', '/uploads?board=x'])
    expect((await user.api.post(path, '', { 'content-type': 'image/png' })).status).toBe(400)
})

test('[UP18] who still sends when an upload is refused gets the answer, on a connection that serves the next', async () => {
  const stranger = await service.user()
  const foreign = await makeBoard(stranger)
  const free = await service.user({ tier: 'free' })
  const before = await storedKeys(service)
  const { used: usedBefore } = await used(user)
  const bytes = pngOf(20 * mebibyte)
  const pool = new Pool(service.url, { connections: 1 })
  let connections = 0
  pool.on('connect', () => (connections += 1))
  const send = async (who: TestUser, board: string, type: string) => {
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: `/api/v1/uploads?board=${board}`,
      headers: { authorization: `Bearer ${who.token}`, 'content-type': type },
      body: bytes,
    })
    await body.text()
    return statusCode
  }
  expect(await send(user, foreign.id, 'image/png')).toBe(404)
  expect(await send(user, boardId, 'image/gif')).toBe(415)
  expect(await send(user, foreign.id, 'image/gif')).toBe(404)
  expect(await send(free, (await makeBoard(free)).id, 'image/png')).toBe(402)
  expect(await storedKeys(service)).toEqual(before)
  expect((await used(user)).used).toBe(usedBefore)
  expect(await send(user, boardId, 'image/png')).toBe(201)
  expect(connections).toBe(1)
  await pool.close()
})
