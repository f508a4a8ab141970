/** A file that the service fetches and stores: its answer, its refusals, and what it may not reach. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { limits } from '../../core/limits.ts'
import { until } from '../support/editor.ts'
import { listen } from '../support/listener.ts'
import { logLines } from '../support/log-lines.ts'
import { redirects, serves } from '../support/site.ts'
import { makeBoard, makeCards, nowhere, succeeded } from './board.ts'
import { picture, png, read, storedKeys } from './file.ts'
import { html, importsOfFile } from './importing.ts'
import type { TestUser } from '../support/service.ts'

const { log, about } = logLines()
const { service, site, user, at } = await importsOfFile({}, log)
const board = await makeBoard(user)

const from = (url: unknown, boardId = board.id, by: TestUser = user, headers?: Record<string, string>) =>
  by.api.post(`/uploads/from-url?board=${boardId}`, { url }, headers)

const pdf = Buffer.from('%PDF-1.7\n1 0 obj\nendobj\n')

test('[MC45] an image is stored and answered with key, type, size, width and height', async () => {
  const owner = await service.user()
  const own = await makeBoard(owner)
  const url = at(serves(png, 'text/plain'), 'a%20picture.png')
  const { status, body } = await from(at(redirects(url)), own.id, owner)
  expect([status, body]).toEqual([
    201,
    {
      key: expect.stringMatching(/^f[\w-]{24}\.png$/),
      kind: 'image',
      content_type: 'image/png',
      bytes: png.length,
      width: 40,
      height: 30,
      file_name: 'a picture.png',
    },
  ])
  expect((await read(service, owner, body.key)).bytes).toEqual(png)
  const { images } = succeeded(await owner.api.get('/images'))
  expect(images).toMatchObject([{ image_key: body.key, bytes: png.length, board_id: own.id }])
  expect((await owner.api.get('/me')).body.storage.used).toBe(png.length)
})

test('[MC45] another file is stored with its kind and without a size in pixels, and a card shows it', async () => {
  const { body } = await from(at(serves(pdf), 'paper.bin'))
  expect(body).toMatchObject({ kind: 'pdf', content_type: 'application/pdf', width: null, height: null })
  expect(body).toMatchObject({ bytes: pdf.length, file_name: 'paper.bin' })
  expect((await read(service, user, body.key)).bytes).toEqual(pdf)
  const [card] = await makeCards(user, board.id, [{ kind: body.kind, file_key: body.key }])
  expect(card).toMatchObject({ kind: 'pdf', file_key: body.key })
})

test('[MC46] addresses that are not public are refused by whatever writing, and see no connection', async () => {
  const forbidden = await listen(undefined, { host: '127.0.0.2' })
  const own = await listen()
  const before = await storedKeys(service)
  const hosts = [
    '127.0.0.2',
    '2130706434',
    '0x7f.2',
    '0177.0.0.2',
    '127.2',
    '10.0.0.1',
    '169.254.169.254',
    '[::1]',
    '[::ffff:7f00:2]',
    'inside.example',
    'loopback.example',
  ]
  const urls = [
    ...hosts.flatMap((host) => [`https://${host}/`, `http://${host}:${forbidden.port}/`]),
    ...hosts.map((host) => at(redirects(`http://${host}:${forbidden.port}/`))),
    `http://user:secret@127.0.0.1:${own.port}/`,
    'http://93.184.215.14/',
    'https://93.184.215.14:8443/',
    at(redirects('file:///etc/passwd')),
    'file:///etc/passwd',
    'data:text/plain,x',
    'no url',
    '',
  ]
  for (const url of urls) {
    const { status, body } = await from(url)
    expect([url, status, body.code]).toEqual([url, 400, 'bad_request'])
    expect(body.error).toMatch(/^url |URL|redirect/)
  }
  // This name leads to a public address once and to loopback then.
  const { api } = user
  await api.post(`/boards/${board.id}/import`, {
    items: [{ url: 'https://turning.example/' }],
    dry_run: true,
  })
  expect(await from('https://turning.example/')).toMatchObject({ status: 400, body: { code: 'bad_request' } })
  expect([forbidden.connections(), own.connections()]).toEqual([0, 0])
  expect(await storedKeys(service)).toEqual(before)
})

test('[MC47] a web page is 415, and is not read to its end', async () => {
  const page = at((_request, response) =>
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .write(html('<title>Page</title>').padEnd(70_000)),
  )
  const { status, body } = await from(page)
  expect([status, body.code]).toEqual([415, 'unsupported_media_type'])
  expect(body.error).toContain('web page')
})

test('[MC47] what is too large is 413, and nothing is kept of it', { timeout: 60_000 }, async () => {
  const before = await storedKeys(service)
  const image = at(serves(Buffer.concat([png, Buffer.alloc(limits.files.uploadBytes)]), 'image/png'))
  expect(await from(image)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
  const declared = at((_request, response) =>
    response
      .writeHead(200, { 'content-length': String(limits.import.fileBytes + 1) })
      .write(Buffer.concat([pdf, Buffer.alloc(70_000)])),
  )
  expect(await from(declared)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
  expect(await storedKeys(service)).toEqual(before)
})

test(
  '[MC47] what answers with an error, with nothing, breaks off or never ends is 502, and no error of the service',
  { timeout: 60_000 },
  async () => {
    const cases = [
      [`${site.url}/missing`, 'upstream_rejected'],
      [at(serves('')), 'upstream_rejected'],
      [
        at((_q, response) =>
          response.writeHead(200, { 'content-length': '100000' }).write(png, () => response.destroy()),
        ),
        'upstream_error',
      ],
      [at(() => undefined), 'upstream_error'],
      ['https://unknown.example/', 'upstream_error'],
    ] as const
    for (const [url, code] of cases) {
      const { status, body } = await from(url)
      expect([url, status, body.code]).toEqual([url, 502, code])
    }
    // They are faults of others, so each is a line of information.
    const levels = about('"code":"upstream_').map((line) => (JSON.parse(line) as { level: unknown }).level)
    expect(levels).toEqual(cases.map(() => 30))
    expect(about('ServiceError')).toEqual([])
    expect(await service.admin`select from uploads where state = 'open'`).toHaveLength(0)
  },
)

test('[MC47] a file for which the owner has no storage is 402, and leaves nothing', async () => {
  const free = await service.user({ tier: 'free' })
  const own = await makeBoard(free)
  const quota = (await free.api.get('/me')).body.storage.limit as number
  await service.admin`
    insert into storage_usage as u (workspace_id, stored) values (${free.workspaceId}, ${quota - 10})
    on conflict (workspace_id) do update set stored = excluded.stored`
  const before = await storedKeys(service)
  const { status, body } = await from(at(serves(png)), own.id, free)
  expect([status, body.code]).toEqual([402, 'limit_reached'])
  expect(body.error).toContain(String(png.length))
  expect(await storedKeys(service)).toEqual(before)
})

test('[MC48] without token, scope, rights, board or url nothing is fetched', async () => {
  const url = at(serves(png))
  const path = new URL(url).pathname
  const viewer = await service.user()
  await service.share(board.id, viewer, 'viewer')
  const reader = await service.token(user, { scopes: ['read'] })
  const trashed = await makeBoard(user)
  await user.api.delete(`/boards/${trashed.id}`)
  const anonymous = await fetch(`${service.url}/api/v1/uploads/from-url?board=${board.id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url }),
  })
  expect([anonymous.status, ((await anonymous.json()) as { code: string }).code]).toEqual([
    401,
    'invalid_token',
  ])
  const post = `/uploads/from-url?board=${board.id}`
  const stranger = await service.user()
  const answers = [
    [await reader.api.post(post, { url }), 403, 'insufficient_scope'],
    [await from(url, board.id, viewer), 403, 'forbidden'],
    [await from(url, board.id, stranger), 404, 'not_found'],
    [await from(url, nowhere), 404, 'not_found'],
    [await from(url, trashed.id), 409, 'conflict'],
    [await user.api.post(post, {}), 400, 'bad_request'],
    [await from(7), 400, 'bad_request'],
    [await from(`${url}?${'x'.repeat(2000)}`), 400, 'bad_request'],
    [await user.api.post('/uploads/from-url', { url }), 400, 'bad_request'],
    [await user.api.post('/uploads/from-url?board=x', { url }), 400, 'bad_request'],
  ] as const
  for (const [{ status, body }, expected, code] of answers)
    expect([status, body.code, body.error]).toEqual([expected, code, expect.any(String)])
  expect(site.requests.filter((one) => one.startsWith(path))).toEqual([])
})

test('[MC49] under a key it is fetched once and answered the same, also when its answer was lost', async () => {
  const url = at(serves(await picture(20, 10).png().toBuffer()))
  const fetched = () => site.requests.filter((path) => path === new URL(url).pathname).length
  const key = { 'idempotency-key': randomUUID() }
  const first = await from(url, board.id, user, key)
  expect(first.body).toMatchObject({ width: 20, height: 10 })
  const again = await from(url, board.id, user, key)
  expect([again.status, again.body, again.headers.get('idempotent-replay')]).toEqual([
    201,
    first.body,
    'true',
  ])
  await service.admin`update idempotency_keys set response = null where user_id = ${user.userId}`
  const lost = await from(url, board.id, user, key)
  expect([lost.status, lost.body]).toEqual([201, first.body])
  expect(fetched()).toBe(1)
  const other = await from(at(serves(png)), board.id, user, key)
  expect([other.status, other.body.code]).toEqual([409, 'conflict'])
  const { entries } = succeeded(await user.api.get('/audit'))
  const mine = entries.filter((entry: any) => entry.resource.id === first.body.key)
  expect(mine).toMatchObject([
    { action: 'upload.from_url', status: 201, board_id: board.id, resource: { type: 'image' } },
  ])
})

test(
  '[MC50] an account fetches 8 at a time, imports included; who gets no turn is 429',
  { timeout: 60_000 },
  async () => {
    const busy = await service.user()
    const own = await makeBoard(busy)
    let serving = 0
    const slow = () => at(() => void (serving += 1))
    const importing = busy.api.post(`/boards/${own.id}/import`, {
      items: [1, 2, 3].map(() => ({ url: slow() })),
    })
    await until(() => serving === 3, 'the import fetches')
    const uploads = [1, 2, 3, 4, 5].map(() => from(slow(), own.id, busy))
    await until(() => serving === 8, 'the uploads fetch')
    // Each of the eight ends after 4 s without an answer, and so do the eight that are next. The ninth waits for 4 s.
    const others = Array.from({ length: 9 }, () => from(slow(), own.id, busy))
    const late = await Promise.all(others)
    const refused = late.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    for (const { body, headers } of refused) {
      expect(body.code).toBe('rate_limited')
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    await Promise.all([importing, ...uploads])
  },
)
