/** Attacks with bodies that cost more to read than to send. */
import type { Attack } from '../attack.ts'
import type { Attempt } from '../attempt.ts'

const mb = 1_000_000

/** Returns `unit` repeated between `head` and `tail`, with the given total size in bytes. */
function repeated(head: string, unit: string, tail: string, bytes: number): Buffer {
  const count = Math.floor((bytes - head.length - tail.length) / unit.length)
  return Buffer.concat([Buffer.from(head), Buffer.alloc(count * unit.length, unit), Buffer.from(tail)])
}

const zeros = (bytes: number) => repeated('{"cards":[', '0,', String.raw`0],"x":"\ud83d\ude00"}`, bytes)
const path = (attempt: Attempt) => `/boards/${attempt.boardId}/cards`

const body = (
  name: string,
  sends: string,
  make: (attempt: Attempt) => Buffer,
  more: Partial<Attack> & { times?: number } = {},
): Attack => {
  const { times = 1, ...rest } = more
  return {
    name,
    point: 4,
    sends,
    expects: [],
    async prepare(attempt) {
      const bytes = make(attempt)
      return () => attempt.times(times, () => attempt.send('POST', path(attempt), bytes))
    },
    ...rest,
  }
}

/** One route of every kind that takes a body. */
const routes = (attempt: Attempt): ['POST' | 'PATCH' | 'DELETE', string][] => {
  const board = `/boards/${attempt.boardId}`
  return [
    ['POST', '/boards'],
    ['PATCH', board],
    ['POST', `${board}/arrange`],
    ['POST', `${board}/groups`],
    ['POST', `${board}/cards/move`],
    ['DELETE', `${board}/cards`],
    ['POST', '/boards/move'],
    ['POST', '/webhooks'],
    ['POST', '/service-accounts'],
    ['POST', `${board}/import`],
    ['POST', '/mcp'],
    ['PATCH', `${board}/cards/x`],
  ]
}

export const bodyAttacks: Attack[] = [
  body(
    'json-zeros',
    '33 million zeros in one body of 63 MB',
    (attempt) => zeros(attempt.size(63 * mb, 8 * mb)),
    { short: true },
  ),
  body('json-objects', '21 million empty objects', (attempt) =>
    repeated('{"cards":[', '{},', '{}]}', attempt.size(63 * mb, 8 * mb)),
  ),
  body('json-deep', 'arrays 30 million deep', (attempt) => {
    const depth = attempt.size(30 * mb, 4 * mb)
    return Buffer.concat([
      Buffer.from('{"cards":'),
      Buffer.alloc(depth, '['),
      Buffer.alloc(depth, ']'),
      Buffer.from('}'),
    ])
  }),
  body('json-deep-objects', 'objects 6 million deep', (attempt) => {
    const depth = attempt.size(6 * mb, mb)
    return Buffer.concat([Buffer.alloc(depth * 5, '{"a":'), Buffer.from('0'), Buffer.alloc(depth, '}')])
  }),
  body('json-escapes', 'one text of 10 million escapes', (attempt) =>
    repeated('{"x":"', String.raw`\u0041`, String.raw`\ud800"}`, attempt.size(63 * mb, 8 * mb)),
  ),
  body('json-keys', '5 million keys of one object', (attempt) => {
    const count = attempt.size(5 * mb, mb / 2)
    const keys = Array.from({ length: count }, (_, n) => `"${n.toString(36)}":0`)
    return Buffer.from(`{"kind":"note","props":{${keys.join(',')}},"x":"\\ud800"}`)
  }),
  body('json-same-key', 'one key, 8 million times', (attempt) =>
    repeated('{', '"kind":1,', '"kind":"note"}', attempt.size(63 * mb, 8 * mb)),
  ),
  body('json-numbers', '60 MB of digits in one number, and exponents', (attempt) =>
    repeated('{"x":[1', '9', ',1e999999]}', attempt.size(60 * mb, 8 * mb)),
  ),
  body(
    'json-broken',
    'a body of 63 MB that ends in the middle',
    (attempt) => zeros(attempt.size(63 * mb, 8 * mb)).subarray(0, -1),
    { times: 2 },
  ),
  body(
    'json-cards',
    '4 bodies of 1,000 whole cards each, 58 MB, at once',
    (attempt) => {
      const text = 'A quiet evening by the river. '.repeat(950).slice(0, 19_000)
      const card = JSON.stringify({
        kind: 'note',
        body: text,
        html: `<p>${text}${text}</p>`.slice(0, 39_000),
      })
      const count = attempt.size(1000, 100)
      return Buffer.from(`{"cards":[${Array.from({ length: count }, () => card).join(',')}]}`)
    },
    { times: 4 },
  ),
  {
    name: 'json-routes',
    point: 4,
    sends: '1 MB of zeros on each of 12 routes, twice',
    expects: ['200', '201', '400 rpc error'],
    short: true,
    async prepare(attempt) {
      const bytes = zeros(mb)
      const all = routes(attempt)
      return () => attempt.times(24, (n) => attempt.send(...all[n % all.length]!, bytes), 8)
    },
  },
  {
    name: 'json-wrong-token',
    point: 4,
    sends: '63 MB with a token that is none, four times',
    expects: [],
    async prepare(attempt) {
      const bytes = zeros(attempt.size(63 * mb, 8 * mb))
      return () =>
        attempt.times(4, () => attempt.send('POST', path(attempt), bytes, { token: 'cork_nobody' }))
    },
  },
  {
    name: 'json-props',
    point: 4,
    sends: '100 cards with props and identifiers at their bounds, 10 times',
    expects: ['201'],
    async prepare(attempt) {
      const props = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, [n % 10]]))
      const identifiers = (n: number) =>
        Array.from({ length: 20 }, (_, at) => ({
          scope: 's'.repeat(100),
          value: `${n} ${at} ${'v'.repeat(450)}`,
        }))
      const bytes = Buffer.from(
        JSON.stringify({
          cards: Array.from({ length: 100 }, (_, n) => ({
            kind: 'note',
            props,
            identifiers: identifiers(n),
          })),
          on_conflict: 'identifier',
        }),
      )
      return () => attempt.times(10, () => attempt.send('POST', path(attempt), bytes), 2)
    },
  },
]
