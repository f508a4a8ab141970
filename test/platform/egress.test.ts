import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openEgress, type EgressOptions, type Outcome } from '../../platform/egress.ts'
import { addressClasses } from '../../platform/egress/addresses.ts'
import { buildOpener } from '../../platform/egress/connector.ts'
import { exchange } from '../../platform/egress/exchange.ts'
import { openPool } from '../../platform/egress/pool.ts'
import { readTarget, type Target } from '../../platform/egress/target.ts'
import { until } from '../support/editor.ts'
import { repository } from '../support/instance.ts'
import { listen, onRequest } from '../support/listener.ts'

/** No name but those that a test gives resolves. */
const names =
  (known: Record<string, string[]>): EgressOptions['resolve'] =>
  (name) =>
    known[name]
      ? Promise.resolve(known[name])
      : Promise.reject(Object.assign(new Error(name), { code: 'ENOTFOUND' }))

const egressTo = (allow: string[] = [], known: Record<string, string[]> = {}) =>
  openEgress({ allow, resolve: names(known)! })

const post = (url: string) => ({
  url,
  method: 'POST' as const,
  headers: { 'content-type': 'application/json' },
  body: '{}',
  timeoutMs: 2000,
  maxAnswerBytes: 4096,
})

const answer = (head: string, body = '') =>
  `HTTP/1.1 ${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

const hostFault = expect.stringContaining('must lead to a public address')
const formFault = 'must begin with https:// and use its default port, 443'

test.each([
  ['https://example.com/hook?a=b', null],
  ['https://example.com:443/', null],
  ['https://93.184.215.14/', null],
  ['https://[2606:4700::1111]/', null],
  ['http://example.com/', formFault],
  ['https://example.com:8443/', formFault],
  ['https://93.184.215.14:8443/', formFault],
  ['https://user:secret@example.com/', 'must not hold a user name or a password'],
  ['https://user@example.com/', 'must not hold a user name or a password'],
  ['ftp://example.com/', 'must begin with https://'],
  ['file:///etc/passwd', 'must begin with https://'],
  ['//example.com/', 'must be a whole URL such as https://example.com/hook'],
  ['example.com', 'must be a whole URL such as https://example.com/hook'],
  ['https://', 'must be a whole URL such as https://example.com/hook'],
  ['https://localhost/', hostFault],
  ['https://LOCALHOST./', hostFault],
  ['https://a.localhost/', hostFault],
  ['https://receiver/', hostFault],
  ['https://printer.local/', hostFault],
  ['https://metadata.google.internal/', hostFault],
  ['https://router.home.arpa/', hostFault],
])('[G1] %s: %s', async (url, fault) => {
  const egress = egressTo()
  expect(await egress.checkUrl(url)).toEqual(fault)
  if (fault) expect(await egress.send(post(url))).toMatchObject({ outcome: 'refused' })
})

test('[G1] [G4] a name that leads to a private address now is refused when the URL is given, one that does not resolve passes', async () => {
  const egress = egressTo([], {
    'inside.example': ['10.0.0.1'],
    'mixed.example': ['10.0.0.1', '93.184.215.14'],
  })
  expect(await egress.checkUrl('https://inside.example/')).toEqual(hostFault)
  expect(await egress.checkUrl('https://mixed.example/')).toBeNull()
  expect(await egress.checkUrl('https://unknown.example/')).toBeNull()
  const hanging = openEgress({ allow: [], resolve: () => new Promise(() => undefined) })
  expect(await hanging.checkUrl('https://hanging.example/')).toBeNull()
})

/** Each of them is 127.0.0.1, ::1 or this machine, written in some way. */
const loopbackForms = [
  '127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001', '0x7f.0.0x0.01', '127.0.0.1.',
  '①②⑦.⓪.⓪.①', '0', '0.0.0.0', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[::7f00:1]',
  '[64:ff9b::127.0.0.1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]', '[::ffff:0:7f00:1]',
] // prettier-ignore

test.each(loopbackForms)('[G2] a server on loopback sees no connection by %s', async (host) => {
  const forbidden = await listen((socket) => onRequest(socket, () => socket.end(answer('200 OK'))))
  const forbidden6 = await listen(() => undefined, { host: '::1' })
  const egress = openEgress({ allow: [] })
  for (const url of [
    `https://${host}/`,
    `http://${host}:${forbidden.port}/`,
    `https://${host}:${forbidden6.port}/`,
  ]) {
    expect(await egress.checkUrl(url)).not.toBeNull()
    expect(await egress.send(post(url))).toMatchObject({ outcome: 'refused' })
  }
  // Also where the form of the URL would be all right, because something else is allowed.
  const elsewhere = openEgress({ allow: ['10.9.9.9'] })
  for (const { port } of [forbidden, forbidden6]) {
    expect(await elsewhere.send(post(`http://${host}:${port}/`))).toMatchObject({ outcome: 'refused' })
  }
  expect([forbidden.connections(), forbidden6.connections()]).toEqual([0, 0])
})

test.each([
  '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '169.254.1.1', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1',
  '203.0.113.1', '192.88.99.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', 'fe80::1', 'fec0::1', 'fc00::1', 'fd12::1', 'ff02::1',
  '100::1', '2001:db8::1', '3fff::1', '5f00::1', '8000::1', '::2', '64:ff9b::a00:1', '2002:a00:1::1',
])('[G2] %s is not public', (address) => {
  expect(addressClasses([])(address)).toBe('forbidden')
}) // prettier-ignore

test.each(['8.8.8.8', '172.15.0.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450::1'])(
  '[G2] %s is public',
  (address) => {
    expect(addressClasses([])(address)).toBe('public')
  },
)

test.each(['169.254.169.254', 'fd00:ec2::254', '168.63.129.16', '100.100.100.200', '::ffff:169.254.169.254'])(
  '[G3] %s is refused, also when a range that is allowed holds it',
  (address) => {
    expect(addressClasses([])(address)).toBe('forbidden')
    expect(addressClasses(['0.0.0.0/0', '::/0'])(address)).toBe('forbidden')
  },
)

test('[G4] a name that was public when it was checked and is loopback when it is connected to reaches nobody', async () => {
  const forbidden = await listen()
  const answers = [['93.184.215.14'], ['127.0.0.1'], ['::1', '10.0.0.1'], ['::ffff:127.0.0.1']]
  let asked = 0
  const resolve = () => Promise.resolve(answers[Math.min(asked++, answers.length - 1)]!)
  const egress = openEgress({ allow: [], resolve })
  expect(await egress.checkUrl('https://rebinding.example/')).toBeNull()
  for (const _ of answers) {
    expect(await egress.send(post('https://rebinding.example/'))).toMatchObject({
      outcome: 'refused',
      error: expect.stringContaining('url must lead to a public address'),
    })
  }
  asked = 1
  const elsewhere = openEgress({ allow: ['10.9.9.9'], resolve })
  expect(await elsewhere.send(post(`http://rebinding.example:${forbidden.port}/`))).toMatchObject({
    outcome: 'refused',
  })
  expect(forbidden.connections()).toBe(0)
})

test('[G4] [G6] of several addresses only those that are allowed are tried', async () => {
  const named = await listen((socket) => onRequest(socket, () => socket.end(answer('204 No Content'))), {
    host: '127.0.0.2',
  })
  const egress = egressTo(['127.0.0.2'], { 'mixed.example': ['127.0.0.1', '127.0.0.2', '10.0.0.1'] })
  expect(await egress.send(post(`http://mixed.example:${named.port}/`))).toMatchObject({
    outcome: 'answered',
    status: 204,
  })
  expect(named.connections()).toBe(1)
})

test('[G5] a connection that turns out to lead elsewhere is closed before anything is sent', async () => {
  const receiver = await listen((socket) => onRequest(socket, () => socket.end(answer('200 OK'))))
  const classify = addressClasses(['127.0.0.1'])
  let looks = 0
  const open = buildOpener({
    classify: () => ((looks += 1) <= 2 ? 'named' : 'forbidden'), // two looks at what the name leads to
    resolve: () => Promise.resolve(['127.0.0.1']),
  })
  const target = readTarget(`http://name.example:${receiver.port}/`, classify, true) as Target
  const outcome = await exchange(openPool(open), target, post(target.url.href))
  expect(outcome).toMatchObject({ outcome: 'refused' })
  await until(() => receiver.connections() === 1 && receiver.open() === 0, 'closed')
  expect(receiver.received().length).toBe(0)
})

test('[G6] what is named may be reached by http and on any port, its neighbours not', async () => {
  const named = await listen((socket) => onRequest(socket, () => socket.end(answer('200 OK'))))
  const other = await listen((socket) => onRequest(socket, () => socket.end(answer('200 OK'))), {
    host: '127.0.0.3',
  })
  const egress = egressTo(['127.0.0.0/31'], {
    'named.example': ['127.0.0.1'],
    'public.example': ['93.184.215.14'],
  })
  for (const host of ['127.0.0.1', 'named.example', '[::ffff:127.0.0.1]']) {
    const url = `http://${host}:${named.port}/`
    expect(await egress.checkUrl(url)).toBeNull()
    expect(await egress.send(post(url))).toMatchObject({ outcome: 'answered', status: 200 })
  }
  expect(await egress.checkUrl(`http://127.0.0.3:${other.port}/`)).toEqual(hostFault)
  expect(await egress.send(post(`http://127.0.0.3:${other.port}/`))).toMatchObject({ outcome: 'refused' })
  // What is public stays bound to https and its port.
  expect(await egress.checkUrl('http://public.example/')).toBe(formFault)
  expect(await egress.checkUrl('http://unknown.example/')).toContain('does not resolve')
  expect(await egress.send(post('https://public.example:8443/'))).toMatchObject({ outcome: 'refused' })
  expect([named.connections(), other.connections()]).toEqual([3, 0])
})

test('[G7] a redirect to loopback is an answer, and nobody goes there', async () => {
  const forbidden = await listen()
  for (const status of [301, 302, 303, 307, 308]) {
    const receiver = await listen((socket) =>
      onRequest(socket, () =>
        socket.end(answer(`${status} Elsewhere\r\nlocation: http://127.0.0.1:${forbidden.port}/`)),
      ),
    )
    expect(await egressTo(['127.0.0.1']).send(post(`http://127.0.0.1:${receiver.port}/`))).toMatchObject({
      outcome: 'answered',
      status,
    })
  }
  expect(forbidden.connections()).toBe(0)
})

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
  ['an answer', (socket) => onRequest(socket, () => socket.end(answer('500 Oh\r\nretry-after: 7'))), { outcome: 'answered', status: 500 }],
  ['an empty connection', (socket) => onRequest(socket, () => socket.end()), { outcome: 'broken' }],
  ['a reset', (socket) => onRequest(socket, () => socket.resetAndDestroy()), { outcome: 'broken' }],
  ['half an answer', (socket) => onRequest(socket, () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc')), { outcome: 'broken' }],
  ['no HTTP', (socket) => onRequest(socket, () => socket.end('220 mail.example ESMTP\r\n')), { outcome: 'broken' }],
  ['another protocol', (socket) => onRequest(socket, () => socket.end('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')), { outcome: 'broken' }],
] // prettier-ignore

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
