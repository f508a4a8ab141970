import { expect, test } from 'vitest'
import { nearest } from '../../api/http/unknown-names.ts'
import { cpuMs } from '../support/cpu-time.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false })
const strict = { prefer: 'handling=strict' }

const ignored = ({ headers }: { headers: Headers }) =>
  (headers.get('x-unknown-fields') ?? '').split(', ').map(decodeURIComponent)

test('[A211] what is not known is ignored, and x-unknown-fields lists it: of the query, the body and its entries', async () => {
  const board = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  expect(ignored(await user.api.get('/boards?colour=red&limit=3&x[]=1'))).toEqual(['colour', 'x[]'])
  expect(
    ignored(
      await user.api.post('/boards', {
        name: 'a',
        parent: board.id,
        identifiers: [{ scope: 'a', value: 'b', kind: 'c' }],
      }),
    ),
  ).toEqual(['parent', 'identifiers.kind'])
  const cards = Array.from({ length: 40 }, (_, n) => ({
    kind: 'note',
    x: n * 300,
    y: 0,
    titel: 'a',
    ...(n === 30 ? { größe: 1 } : {}),
  }))
  const batch = await user.api.post(path, { cards, layuot: 'grid' })
  expect([batch.status, batch.headers.get('x-unknown-fields')]).toEqual([
    201,
    'layuot, cards.titel, cards.gr%C3%B6%C3%9Fe',
  ])
  expect(batch.headers.get('access-control-expose-headers')).toContain('x-unknown-fields')
  expect(ignored(await user.api.post('/boards', { boards: [{ name: 'a', parnet_board_id: null }] }))).toEqual(
    ['boards.parnet_board_id'],
  )
  expect(
    ignored(
      await user.api.post(`/boards/${board.id}/import`, {
        items: [{ url: 'https://example.com/a', titel: 'x' }],
        dry_run: true,
      }),
    ),
  ).toEqual(['items.titel'])
  // A refusal tells of it too, as it may be the reason.
  const refused = await user.api.post('/boards', { nmae: 'a' })
  expect([refused.status, ignored(refused)]).toEqual([400, ['nmae']])
  for (const known of [
    await user.api.get('/boards?limit=3'),
    await user.api.post('/boards', { name: 'a', props: { any: { thing: 1 } } }),
  ])
    expect(known.headers.has('x-unknown-fields')).toBe(false)
})

test('[A212] with Prefer: handling=strict what is not known is 400, which names the nearest known name', async () => {
  const board = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  const cases: [method: string, path: string, body: unknown, says: RegExp][] = [
    [
      'POST',
      '/boards',
      { name: 'a', parent: board.id },
      /^parent is not a known field\. Did you mean parent_board_id\?/,
    ],
    [
      'POST',
      '/service-accounts',
      { workspace_id: user.workspaceId, name: 'a', ttl_seconds: 5 },
      /^ttl_seconds .*Did you mean ttl_days\?/,
    ],
    [
      'POST',
      path,
      { cards: [{ kind: 'note' }, { kind: 'note', titel: 'a' }] },
      /^cards\[1\]\.titel .*Did you mean cards\[1\]\.title\?/,
    ],
    [
      'PATCH',
      path,
      { cards: [{ id: 'a', colour: 'red' }] },
      /^cards\[0\]\.colour .*Did you mean cards\[0\]\.color\?/,
    ],
    [
      'POST',
      '/boards',
      { boards: [{ name: 'a', identifiers: [{ scope: 'a', valeu: 'b' }] }] },
      /^boards\[0\]\.identifiers\[0\]\.valeu .*\.value\?/,
    ],
    [
      'POST',
      '/boards?colour=red',
      { name: 'a' },
      /^colour is not a known query parameter\. This operation has no query parameters\./,
    ],
    // Not one that is only read: sending it would change nothing either.
    ['DELETE', path, { card_ids: ['a'], cardIds: [] }, /^cardIds .*Did you mean card_ids\?/],
    [
      'POST',
      `/boards/${board.id}/restore`,
      { x: 1 },
      /^x is not a known field\. This operation has no fields\./,
    ],
    ['GET', '/boards?limt=3', undefined, /^limt is not a known query parameter\. Did you mean limit\?/],
    ['GET', '/me?x=1', undefined, /^x is not a known query parameter/],
  ]
  for (const [method, to, body, says] of cases) {
    const answer = await user.api.send(method, to, body, strict)
    expect([to, answer.status, answer.body['code']]).toEqual([to, 400, 'bad_request'])
    expect(answer.body['error']).toMatch(says)
    expect(answer.headers.get('preference-applied')).toBe('handling=strict')
  }
  expect((await user.api.get(path)).body.total).toBe(0)
  for (const prefer of ['return=minimal, handling=strict; x', 'HANDLING = "strict"'])
    expect((await user.api.send('GET', '/boards?limt=3', undefined, { prefer })).status).toBe(400)
  for (const prefer of ['handling=lenient', 'handling=stricter', 'return=strict'])
    expect((await user.api.send('GET', '/boards?limt=3', undefined, { prefer })).status).toBe(200)
  const good = await user.api.send('POST', '/boards', { name: 'a' }, strict)
  expect([good.status, good.headers.get('preference-applied')]).toEqual([201, 'handling=strict'])
})

test('[A213] what was read can be sent back as it is, also in strict mode', async () => {
  const board = await makeBoard(user, { props: { a: 1 }, identifiers: [{ scope: 's', value: 'b' }] })
  const path = `/boards/${board.id}`
  const card = await makeCard(user, board.id, {
    props: { a: { b: [1] } },
    identifiers: [{ scope: 's', value: 'v' }],
  })
  const raw = (await user.api.get(`${path}/cards/${card.id}?include=raw`)).body.card
  const { group } = (await user.api.post(`${path}/groups`, { name: 'g' })).body as any
  const removed = ((await user.api.delete(`${path}/cards/${card.id}`)).body as any).card
  const sent: [method: string, path: string, body: unknown][] = [
    ['PATCH', path, (await user.api.get(path)).body.board],
    ['POST', '/boards', { ...board, identifiers: [] }],
    ['POST', '/boards', { boards: [{ ...board, identifiers: [] }] }],
    ['POST', `${path}/cards`, removed],
    ['POST', `${path}/cards`, { cards: [{ ...raw, identifiers: [] }] }],
    ['PATCH', `${path}/cards`, { cards: [raw] }],
    ['PATCH', `${path}/groups/${group.id}`, group],
  ]
  for (const [method, to, body] of sent) {
    const answer = await user.api.send(method, to, body, strict)
    expect([method, to, answer.status, answer.text]).toEqual([method, to, expect.any(Number), answer.text])
    expect([method, to, answer.status < 300, answer.headers.get('x-unknown-fields')]).toEqual([
      method,
      to,
      true,
      null,
    ])
  }
})

test('[A214] the header holds the first 20 names, each once, in at most 1 KB, and costs little', async () => {
  const many = await user.api.post('/boards', {
    name: 'a',
    ...Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`x${n}`, n])),
  })
  expect(ignored(many)).toEqual(Array.from({ length: 20 }, (_, n) => `x${n}`))
  const long = await user.api.post('/boards', {
    name: 'a',
    ...Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}é${'x'.repeat(200)}`, n])),
  })
  expect(long.headers.get('x-unknown-fields')!.length).toBeLessThanOrEqual(1024)
  expect(ignored(long).length).toBeGreaterThan(2)
  const alone = await user.api.post('/boards', { name: 'a', ['y'.repeat(5000)]: 1 })
  expect([alone.status, alone.headers.get('x-unknown-fields')]).toEqual([201, 'y'.repeat(1024)])
  const line = await user.api.post('/boards', { name: 'a', 'a\r\nset-cookie: b, c': 1 })
  expect(line.headers.get('x-unknown-fields')).toBe('a%0D%0Aset-cookie%3A%20b%2C%20c')
  expect(await cpuMs(() => nearest('x'.repeat(1_000_000), ['title', 'body']))).toBeLessThan(50)
  const stranger = await service.user()
  expect(
    (await stranger.api.send('GET', '/boards?nothing=1', undefined, {})).headers.get('x-unknown-fields'),
  ).toBe('nothing')
})
