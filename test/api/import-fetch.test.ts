/** What an import fetches, and what it must not: where from, how much, how long. */
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { listen } from '../support/listener.ts'
import { png, redirects, serves } from '../support/site.ts'
import { listCards, makeBoard } from './board.ts'
import { html, importsOfFile } from './importing.ts'

const { service, site, user, at, run } = await importsOfFile()

/** Each of them is this machine or another one that is not public, written in some way. */
const forbiddenUrls = (port: number, ownPort: number) => [
  ...[
    '127.0.0.2',
    '2130706434',
    '0x7f000002',
    '0x7f.2',
    '0177.0.0.2',
    '127.2',
    '0',
    '10.0.0.1',
    '169.254.169.254',
    '[::1]',
    '[::ffff:127.0.0.2]',
    '[::ffff:7f00:2]',
    '[64:ff9b::127.0.0.2]',
    '[2002:7f00:2::]',
    '[::127.0.0.2]',
    'inside.example',
    'loopback.example',
  ].flatMap((host) => [`https://${host}/`, `https://${host}:${port}/`, `http://${host}:${port}/`]),
  `http://user:secret@127.0.0.1:${ownPort}/`,
  'http://93.184.215.14/',
  'https://93.184.215.14:8443/',
]

test('[IM8] what is not public is refused with a clear error, by whatever writing, and sees no connection', async () => {
  const board = await makeBoard(user)
  const forbidden = await listen(undefined, { host: '127.0.0.2' })
  const forbidden6 = await listen(undefined, { host: '::1' })
  const own = await listen()
  const urls = [...forbiddenUrls(forbidden.port, own.port), `https://[::1]:${forbidden6.port}/`]
  for (const more of [{}, { dry_run: true }]) {
    const body = await run(
      board.id,
      urls.map((url) => ({ url })),
      more,
    )
    const refused = body.results.filter(({ code }: any) => code === 'bad_request')
    expect(refused.map(({ url }: any) => url)).toEqual(urls)
    for (const { error } of refused) expect(error).toMatch(/must|https/)
  }
  expect([forbidden.connections(), forbidden6.connections(), own.connections()]).toEqual([0, 0, 0])
  expect(await listCards(user, board.id)).toEqual([])
})

test('[IM8] a name that is public when it is checked and leads elsewhere when it is fetched is refused', async () => {
  const board = await makeBoard(user)
  const items = [{ url: 'https://turning.example/' }]
  expect((await run(board.id, items, { dry_run: true })).results[0].status).toBe('valid')
  const [result] = (await run(board.id, items)).results
  expect(result).toMatchObject({
    code: 'bad_request',
    error: expect.stringContaining('must lead to a public address'),
  })
})

test('[IM9] redirects are followed, five of them, and each hop is held to the same rules', async () => {
  const board = await makeBoard(user)
  const forbidden = await listen(undefined, { host: '127.0.0.2' })
  const end = at(serves(html('<title>End</title>'), 'text/html'))
  const chain = (hops: number): string =>
    hops === 0 ? end : at(redirects(chain(hops - 1), [301, 302, 303, 307, 308][hops % 5]))
  const loop = at(redirects('#'), 'loop')
  site.pages.set(new URL(loop).pathname, redirects(loop))
  const good = [chain(1), chain(5), at(redirects(new URL(end).pathname))]
  const bad = [
    ...['127.0.0.2', '[::ffff:127.0.0.2]', '0x7f.2', 'loopback.example'].map((host) =>
      at(redirects(`http://${host}:${forbidden.port}/`)),
    ),
    at(redirects('file:///etc/passwd')),
    at(redirects('http://user:secret@127.0.0.1/')),
    at(redirects(at(redirects(`http://127.0.0.2:${forbidden.port}/`)))),
  ]
  const body = await run(
    board.id,
    [...good, ...bad, chain(6), loop, at(redirects('http://'))].map((url) => ({ url })),
  )
  expect(body.results.map(({ code }: any) => code)).toEqual([
    ...good.map(() => null),
    ...bad.map(() => 'bad_request'),
    'upstream_error',
    'upstream_error',
    'upstream_error',
  ])
  expect(body.cards.map(({ url, title }: any) => [url, title])).toEqual(good.map((url) => [url, 'End']))
  expect(body.results[3].error).toContain('redirect')
  expect(body.results[good.length + bad.length].error).toBe('More than 5 redirects.')
  expect(forbidden.connections()).toBe(0)
})

test('[IM10] failures are told item by item, and the others are imported', async () => {
  const board = await makeBoard(user)
  const closed = await listen((socket) => socket.destroy())
  const tls = await listen(undefined, { server: (connected) => createTlsServer({}, connected) })
  const items = [
    [at(serves('fine')), null],
    [`${site.url}/missing`, 'upstream_rejected'],
    [at((_q, response) => response.writeHead(500).end()), 'upstream_rejected'],
    [at(serves('')), 'upstream_rejected'],
    [`http://127.0.0.1:${closed.port}/`, 'upstream_error'],
    ['https://unknown.example/', 'upstream_error'],
    [`https://127.0.0.1:${tls.port}/`, 'upstream_error'],
    [
      at((_q, response) =>
        response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy()),
      ),
      'upstream_error',
    ],
    [
      at((_q, response) =>
        response.writeHead(200, { 'content-length': '100000' }).write(png(9, 9), () => response.destroy()),
      ),
      'upstream_error',
    ],
    [
      at((_q, response) => response.writeHead(206, { 'content-range': 'bytes 0-3/100' }).end('part')),
      'upstream_rejected',
    ],
    [at(() => undefined), 'upstream_error'],
    [at(serves('not gzip at all', 'text/html', { 'content-encoding': 'gzip' })), 'upstream_error'],
    [at(serves('x', 'text/html', { 'content-encoding': 'zstd' })), 'upstream_error'],
    [at(serves('also fine')), null],
  ] as const
  const body = await run(
    board.id,
    items.map(([url]) => ({ url })),
  )
  expect(body.results.map(({ code }: any) => code)).toEqual(items.map(([, code]) => code))
  expect(body).toMatchObject({ created: 2, failed: items.length - 2 })
  for (const { status, error } of body.results)
    if (status === 'failed') expect(error).toMatch(/^[A-Z].{8,}\.$/)
  expect(body.results[1].error).toBe('The server of the URL answered with status 404.')
  // Of what broke off nothing is left.
  expect(await service.admin`select from images where board_id = ${board.id}`).toHaveLength(2)
  expect(await service.admin`select from uploads where board_id = ${board.id}`).toHaveLength(0)
}, 30_000)

test('[IM11] sizes are bounded: images by 25 MB, also when compressed to little; nothing is kept of what is larger', async () => {
  const board = await makeBoard(user)
  const large = Buffer.concat([png(100, 100), Buffer.alloc(26 * 1024 * 1024)])
  const bomb = gzipSync(Buffer.concat([png(100, 100), Buffer.alloc(200 * 1024 * 1024)]))
  const bytesBomb = gzipSync(Buffer.concat([Buffer.from([0, 1]), Buffer.alloc(150 * 1024 * 1024)]))
  const pageBomb = gzipSync(html('<title>Bomb</title>') + ' '.repeat(100 * 1024 * 1024))
  const before = process.memoryUsage().rss
  const body = await run(board.id, [
    { url: at(serves(large)) },
    { url: at(serves(bomb, 'image/png', { 'content-encoding': 'gzip' })) },
    { url: at(serves(bytesBomb, 'x/y', { 'content-encoding': 'gzip' })) },
    { url: at(serves(pageBomb, 'text/html', { 'content-encoding': 'gzip' })) },
  ])
  expect(body.results.map(({ code }: any) => code)).toEqual([
    'payload_too_large',
    'payload_too_large',
    'payload_too_large',
    null,
  ])
  expect(body.cards[0]).toMatchObject({ kind: 'link', title: 'Bomb' })
  expect(await service.admin`select from images where board_id = ${board.id}`).toHaveLength(0)
  expect(await service.admin`select from uploads where board_id = ${board.id}`).toHaveLength(0)
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024)
}, 30_000)

test('[IM12] 100 hosts that never answer are given up in time, those that get no turn are named, and come with the next run', async () => {
  const board = await makeBoard(user)
  let slow = true
  const urls = Array.from({ length: 100 }, () =>
    at((request, response) => (slow ? undefined : serves('at last')(request, response))),
  )
  const from = performance.now()
  const body = await run(
    board.id,
    urls.map((url) => ({ url })),
  )
  expect(performance.now() - from).toBeLessThan(13_000) // 9 s in all are set in this test
  expect(body).toMatchObject({ created: 0, failed: 100 })
  expect(new Set(body.results.map(({ code }: any) => code))).toEqual(new Set(['upstream_error']))
  expect(body.results[0].error).toBe('No complete answer within 4 s.')
  expect(body.results[99].error).toContain('not fetched within')
  slow = false
  const again = await run(
    board.id,
    urls.map((url) => ({ url })),
  )
  expect(again).toMatchObject({ created: 100, failed: 0 })
}, 60_000)
