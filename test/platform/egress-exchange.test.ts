/** What becomes of a request: bounds of time and size, faults, connections that are kept. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openEgress, type Outcome } from '../../platform/egress/egress.ts'
import { until } from '../support/editor.ts'
import { repository } from '../support/instance.ts'
import { listen, onRequest } from '../support/listener.ts'
import { answer, egressTo, post } from './egress-requests.ts'

/** What never ends, each at another step. */
const endless: [string, Parameters<typeof listen>[0]][] = [
  ['a connection on which nothing comes', undefined],
  ['headers byte by byte', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-slow: ')],
  ['a body byte by byte', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')],
  [
    'chunks byte by byte',
    (socket) => drip(socket, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\na\r\n'),
  ],
  ['informational answers', (socket) => drip(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n')],
]

function drip(socket: NodeJS.WritableStream, head: string, drop = 'a'): void {
  socket.write(head)
  const timer = setInterval(() => socket.write(drop), 50)
  socket.on('close', () => clearInterval(timer))
}

test.each(endless)('[G8] %s: given up in time, and closed', async (_what, serve) => {
  const receiver = await listen(serve)
  const outcome = await egressTo(['127.0.0.1']).send({
    ...post(`http://127.0.0.1:${receiver.port}/`),
    timeoutMs: 400,
  })
  expect(outcome).toMatchObject({ outcome: 'timeout', error: 'no complete answer within 0.4 s' })
  expect(outcome.durationMs).toBeGreaterThanOrEqual(390)
  expect(outcome.durationMs).toBeLessThan(1500)
  await until(() => receiver.open() === 0, 'closed')
  expect(receiver.connections()).toBe(1)
})

test('[G8] a name server, and a handshake, that never answer are given up in time', async () => {
  const receiver = await listen()
  const hanging = openEgress({ allow: ['127.0.0.1'], resolve: () => new Promise(() => undefined) })
  const silent = openEgress({ allow: ['127.0.0.1'] })
  for (const [egress, url] of [
    [hanging, 'https://hanging.example/'],
    [silent, `https://127.0.0.1:${receiver.port}/`],
  ] as const) {
    expect(await egress.send({ ...post(url), timeoutMs: 300 })).toMatchObject({ outcome: 'timeout' })
  }
  await until(() => receiver.connections() === 1 && receiver.open() === 0, 'closed')
})

test('[G9] of an endless answer a few kilobytes are read, and memory stays where it is', async () => {
  const block = Buffer.alloc(1024 * 1024)
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
  const pour = (socket: Socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write(block));
    }
    socket.on('drain', more)
    more()
  }
  const bodies: ((socket: Socket) => void)[] = [
    (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${1024 ** 3}\r\n\r\n`)
      pour(socket)
    },
    (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`)
      socket.end(bomb)
    },
  ]
  const before = process.memoryUsage().rss
  for (const body of bodies) {
    const receiver = await listen((socket) => onRequest(socket, () => body(socket)))
    const egress = egressTo(['127.0.0.1'])
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => egress.send(post(`http://127.0.0.1:${receiver.port}/`))),
    )
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array(20).fill('answered'))
    await until(() => receiver.open() === 0, 'closed')
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024)
})

test('[G9] [G10] headers without end are broken off', async () => {
  const receiver = await listen((socket) =>
    onRequest(socket, () => drip(socket, `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`)),
  )
  expect(await egressTo(['127.0.0.1']).send(post(`http://127.0.0.1:${receiver.port}/`))).toMatchObject({
    outcome: 'broken',
    error: 'the headers of the answer are too large',
  })
  await until(() => receiver.open() === 0, 'closed')
})

const behaviours: [string, NonNullable<Parameters<typeof listen>[0]>, Partial<Outcome>][] = [
  [
    'an answer',
    (socket) => onRequest(socket, () => socket.end(answer('500 Oh\r\nretry-after: 7'))),
    { outcome: 'answered', status: 500 },
  ],
  ['an empty connection', (socket) => onRequest(socket, () => socket.end()), { outcome: 'broken' }],
  ['a reset', (socket) => onRequest(socket, () => socket.resetAndDestroy()), { outcome: 'broken' }],
  [
    'half an answer',
    (socket) => onRequest(socket, () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc')),
    { outcome: 'broken' },
  ],
  [
    'no HTTP',
    (socket) => onRequest(socket, () => socket.end('220 mail.example ESMTP\r\n')),
    { outcome: 'broken' },
  ],
  [
    'another protocol',
    (socket) =>
      onRequest(socket, () =>
        socket.end('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      ),
    { outcome: 'broken' },
  ],
]

test.each(behaviours)(
  '[G10] [G13] %s is told as a value, after one connection',
  async (_what, serve, expected) => {
    const receiver = await listen(serve)
    const outcome = await egressTo(['127.0.0.1']).send(post(`http://127.0.0.1:${receiver.port}/`))
    expect(outcome).toMatchObject(expected)
    if (outcome.outcome === 'answered') expect(outcome.headers).toMatchObject({ 'retry-after': '7' })
    else expect(outcome.error).toMatch(/^[^\n]{5,300}$/)
    await until(() => receiver.open() === 0, 'closed')
    expect(receiver.connections()).toBe(1)
  },
)

test('[G10] a port where nobody listens and a name that does not resolve are unreachable', async () => {
  const egress = egressTo(['127.0.0.1'])
  expect(await egress.send(post('http://127.0.0.1:1/'))).toMatchObject({
    outcome: 'unreachable',
    error: 'the connection was refused',
  })
  expect(await egress.send(post('https://unknown.example/'))).toMatchObject({
    outcome: 'unreachable',
    error: 'the name does not resolve',
  })
})

/** Answers the requests of each connection in turn; what `serve` has nothing for ends the connection. */
const onEach = (serve: (nth: number, socket: Socket) => string | null) => (socket: Socket) => {
  let nth = 0
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    for (;;) {
      const at = text.indexOf('\r\n\r\n')
      const sizeBytes = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (at < 0 || text.length < at + 4 + sizeBytes) return
      text = text.slice(at + 4 + sizeBytes)
      const said = serve((nth += 1), socket)
      if (said === null) return void socket.end()
      socket.write(said)
    }
  })
}

test('[G11] [G12] the very bytes arrive, one request after the other over a connection that is kept', async () => {
  const body = Buffer.from('{"text":"caf\u00e9 \u{1f600} \u2028 \\u0000"}')
  const receiver = await listen(onEach(() => answer('200 OK', 'ok')))
  const other = await listen(onEach(() => answer('200 OK', 'ok')))
  const egress = egressTo(['127.0.0.1'])
  for (const url of [`${receiver.port}/a?b=c`, `${receiver.port}/d`, `${other.port}/`]) {
    await egress.send({ ...post(`http://127.0.0.1:${url}`), body, headers: { 'x-one': '1' } })
  }
  const text = receiver.received()
  expect([receiver.connections(), other.connections()]).toEqual([1, 1])
  expect(text.indexOf(body)).toBeGreaterThan(0)
  const heads = text.toString('latin1').match(/POST [^\r]+/g)
  expect(heads).toEqual(['POST /a?b=c HTTP/1.1', 'POST /d HTTP/1.1'])
  expect(text.toString('latin1').match(/x-one: 1\r\n/g)).toHaveLength(2)
  egress.close()
  await until(() => receiver.open() + other.open() === 0, 'closed')
})

test('[G12] requests at the same moment have connections of their own, and what was not read to its end is not kept', async () => {
  const receiver = await listen(onEach(() => answer('200 OK', 'x'.repeat(10_000))))
  const egress = egressTo(['127.0.0.1'])
  const request = post(`http://127.0.0.1:${receiver.port}/`)
  await Promise.all([egress.send(request), egress.send(request)])
  await until(() => receiver.open() === 0, 'closed')
  expect(receiver.connections()).toBe(2)
  await egress.send(request)
  expect(receiver.connections()).toBe(3)
})

test('[G13] a kept connection that is closed instead of answering: sent once more, over a new one', async () => {
  let looks = 0
  const receiver = await listen(onEach((nth) => (nth === 1 ? answer('200 OK') : null)))
  const egress = openEgress({
    allow: ['127.0.0.1'],
    resolve: () => Promise.resolve([(looks += 1) > 2 ? '127.0.0.2' : '127.0.0.1']),
  })
  const request = post(`http://name.example:${receiver.port}/`)
  expect(await egress.send(request)).toMatchObject({ outcome: 'answered' })
  expect(await egress.send(request)).toMatchObject({ outcome: 'answered' })
  expect(receiver.connections()).toBe(2)
  expect(receiver.received().toString('latin1').match(/POST /g)).toHaveLength(3)
  // By now the name leads to where nobody may connect.
  expect(await egress.send(request)).toMatchObject({ outcome: 'refused' })
  expect(receiver.connections()).toBe(2)
  egress.close()
})

test.each([
  ['part of an answer came', (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
  ['it is the first one', null],
])('[G13] when %s before it was closed, it is not sent again', async (_what, breakOff) => {
  const receiver = await listen(
    onEach((nth, socket) => {
      if (!breakOff) return null
      if (nth === 1) return answer('200 OK')
      breakOff(socket)
      return ''
    }),
  )
  const egress = egressTo(['127.0.0.1'])
  const request = post(`http://127.0.0.1:${receiver.port}/`)
  if (breakOff) expect(await egress.send(request)).toMatchObject({ outcome: 'answered' })
  expect(await egress.send(request)).toMatchObject({ outcome: 'broken' })
  expect(receiver.connections()).toBe(1)
})

test('[G11] by https, a certificate has to be good, and for that name', async () => {
  const folder = join(repository, 'test/support/tls')
  const [key, cert] = await Promise.all(
    ['key.pem', 'certificate.pem'].map((file) => readFile(join(folder, file), 'utf8')),
  )
  const receiver = await listen((socket) => onRequest(socket, () => socket.end(answer('200 OK'))), {
    server: (connected) => createTlsServer({ key: key!, cert: cert! }, connected),
  })
  const resolve = () => Promise.resolve(['127.0.0.1'])
  const trusting = openEgress({ allow: ['127.0.0.1'], resolve, ca: cert! })
  const url = (host: string) => `https://${host}:${receiver.port}/`
  for (let n = 0; n < 2; n++)
    expect(await trusting.send(post(url('hooks.example.test')))).toMatchObject({ outcome: 'answered' })
  expect(await trusting.send(post(url('127.0.0.1')))).toMatchObject({ outcome: 'answered' })
  expect(await trusting.send(post(url('other.example.test')))).toMatchObject({ outcome: 'unreachable' })
  const wary = openEgress({ allow: ['127.0.0.1'], resolve })
  expect(await wary.send(post(url('hooks.example.test')))).toMatchObject({ outcome: 'unreachable' })
  expect(receiver.received().toString('latin1').match(/POST /g)).toHaveLength(3)
})
