/** Where requests may go: addresses, names, redirects. */
import { expect, test } from 'vitest'
import { openEgress } from '../../platform/egress/egress.ts'
import { addressClasses } from '../../platform/egress/addresses.ts'
import { buildOpener } from '../../platform/egress/connector.ts'
import { exchange } from '../../platform/egress/exchange.ts'
import { Pool } from '../../platform/egress/pool.ts'
import { readTarget, type Target } from '../../platform/egress/target.ts'
import { until } from '../support/editor.ts'
import { listen, onRequest } from '../support/listener.ts'
import { answer, egressTo, post } from './egress-requests.ts'

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
  ['https://user:secret@example.com/', 'must not contain a user name or a password'],
  ['https://user@example.com/', 'must not contain a user name or a password'],
  ['ftp://example.com/', 'must begin with https://'],
  ['file:///etc/passwd', 'must begin with https://'],
  ['//example.com/', 'must be an absolute URL such as https://example.com/page'],
  ['example.com', 'must be an absolute URL such as https://example.com/page'],
  ['https://', 'must be an absolute URL such as https://example.com/page'],
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

test('[G40] names of metadata services are refused, also where the operator has a list', async () => {
  const allowing = openEgress({ allow: ['10.0.0.0/8'], resolve: async () => ['10.0.0.1'] })
  for (const host of [
    'metadata',
    'metadata.google.internal',
    'METADATA.google.internal.',
    'metadata.goog',
    'instance-data',
  ])
    for (const url of [`https://${host}/`, `http://${host}:8080/computeMetadata/v1/`]) {
      expect([url, await allowing.checkUrl(url)]).toEqual([url, hostFault])
      expect(await allowing.send(post(url))).toMatchObject({ outcome: 'refused' })
    }
  expect(await allowing.checkUrl('https://receiver/')).toBeNull()
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
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '0x7f.0.0x0.01',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '0',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[::ffff:0:7f00:1]',
]

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
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.1.1',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '192.88.99.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  'fe80::1',
  'fec0::1',
  'fc00::1',
  'fd12::1',
  'ff02::1',
  '100::1',
  '2001:db8::1',
  '3fff::1',
  '5f00::1',
  '8000::1',
  '::2',
  '64:ff9b::a00:1',
  '2002:a00:1::1',
])('[G2] %s is not public', (address) => {
  expect(addressClasses([])(address)).toBe('forbidden')
})

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
  const outcome = await exchange(new Pool(open), target, post(target.url.href))
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
  expect(await egress.checkUrl('http://unknown.example/')).toContain('must have a host that resolves')
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
