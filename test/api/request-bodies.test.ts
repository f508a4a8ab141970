/** Bodies and parameters of requests: their form, size, types and characters. */
import { request as httpRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, nowhere } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false })
const board = await makeBoard(user)

const base = () => `${service.url}/api/v1`
const bearer = () => ({ authorization: `Bearer ${user.token}` })
const json = { 'content-type': 'application/json' }

test('[E6] malformed JSON, and JSON that is not an object, is 400', async () => {
  for (const body of [
    '{',
    '{"name":}',
    'nul',
    '[]',
    'null',
    '"x"',
    '3',
    '',
    '{"name":"a"} x',
    '\u0000',
    "{'name':'a'}",
  ]) {
    const answer = await user.api.send('POST', '/boards', body)
    expect([body, answer.status, answer.body.code]).toEqual([body, 400, 'bad_request'])
  }
  const deep = `{"props":${'['.repeat(200_000)}${']'.repeat(200_000)},"name":"a\\u0041"}`
  expect((await user.api.send('POST', '/boards', deep)).status).toBe(400)
})

test('[E6] text that is not UTF-8 is 400, in small bodies and in large ones; a compressed body is 415', async () => {
  const send = async (body: Buffer, headers = {}) => {
    const answer = await fetch(`${base()}/boards/${board.id}/cards`, {
      method: 'POST',
      headers: { ...bearer(), ...json, ...headers },
      body: Uint8Array.from(body),
    })
    return [answer.status, ((await answer.json()) as { error?: string }).error]
  }
  const card = { kind: 'note', title: 'café' }
  const refused = [400, 'The body must be JSON in UTF-8.']
  expect(await send(Buffer.from(JSON.stringify(card), 'latin1'))).toEqual(refused)
  const large = JSON.stringify({
    cards: [...Array.from({ length: 2000 }, () => ({ kind: 'note', body: 'x'.repeat(1000) })), card],
  })
  expect(await send(Buffer.from(large, 'latin1'))).toEqual(refused)
  const [status, error] = await send(gzipSync(JSON.stringify(card)), { 'content-encoding': 'gzip' })
  expect([status, error]).toEqual([415, expect.stringContaining('content-encoding gzip')])
  expect((await user.api.get(`/boards/${board.id}/cards`)).body.cards).toEqual([])
  expect(await send(Buffer.from(JSON.stringify(card)), { 'content-encoding': 'identity' })).toEqual([
    201,
    undefined,
  ])
})

test('[E7] a body of another type than JSON is 415; charset and case of the type do not matter', async () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
  ]) {
    const answer = await user.api.send('POST', '/boards', '{"name":"a"}', { 'content-type': type })
    expect([type, answer.status, answer.body.code]).toEqual([type, 415, 'unsupported_media_type'])
  }
  for (const type of ['application/json; charset=utf-8', 'Application/JSON']) {
    expect((await user.api.send('POST', '/boards', '{"name":"a"}', { 'content-type': type })).status).toBe(
      201,
    )
  }
})

test('[E8] a request without a body works where none is needed, with and without a content type', async () => {
  for (const headers of [{}, json]) {
    const answer = await fetch(`${base()}/boards/${board.id}/restore`, {
      method: 'POST',
      headers: { ...bearer(), ...headers },
    })
    expect(answer.status).toBe(200)
    const card = await makeCard(user, board.id)
    const removed = await fetch(`${base()}/boards/${board.id}/cards/${card.id}`, {
      method: 'DELETE',
      headers: { ...bearer(), ...headers },
    })
    expect(removed.status).toBe(200)
  }
  for (const [method, path] of [
    ['POST', '/boards'],
    ['PATCH', `/boards/${board.id}`],
    ['DELETE', `/boards/${board.id}/cards`],
  ]) {
    const answer = await fetch(base() + path!, { method: method!, headers: { ...bearer(), ...json } })
    expect([method, answer.status]).toEqual([method, 400])
  }
})

/** Says that it will send so much, and waits for the answer. */
function announce(path: string, bytes: number): Promise<{ status: number; code: string }> {
  return new Promise((resolve, reject) => {
    const sending = httpRequest(
      base() + path,
      { method: 'POST', headers: { ...bearer(), ...json, 'content-length': bytes } },
      (answer) => {
        let text = ''
        answer.on('data', (chunk) => (text += chunk))
        answer.on('end', () => {
          sending.destroy()
          resolve({ status: answer.statusCode!, code: JSON.parse(text).code })
        })
      },
    )
    sending.on('error', reject)
    sending.flushHeaders()
  })
}

test('[E9] a body over 1 MB is 413, over 64 MB for card batches', async () => {
  const board = await makeBoard(user)
  const padded = (bytes: number) => `{"name":"a"${' '.repeat(bytes - 12)}}`
  expect((await user.api.send('POST', '/boards', padded(1024 * 1024))).status).toBe(201)
  const over = await user.api.send('POST', '/boards', padded(1024 * 1024 + 1))
  expect([over.status, over.body.code]).toEqual([413, 'payload_too_large'])
  const path = `/boards/${board.id}/cards`
  expect(await announce(path, 64 * 1024 * 1024 + 1)).toEqual({ status: 413, code: 'payload_too_large' })
  const body = 'x'.repeat(20_000)
  const cards = Array.from({ length: 120 }, (_, n) => ({ kind: 'note', body, x: n * 300, y: 0 }))
  expect((await user.api.post(path, { cards })).status).toBe(201)
})

test('[E13] a known query parameter with a bad value is 400 that names it and what it accepts', async () => {
  const cards = `/boards/${board.id}/cards`
  const cases: [path: string, says: RegExp][] = [
    ['/boards?limit=0', /^limit .*1/],
    ['/boards?limit=501', /^limit .*500/],
    ['/boards?limit=ten', /^limit must be an integer/],
    ['/boards?limit=1.5', /^limit must be an integer/],
    ['/boards?limit=', /^limit must be an integer/],
    ['/boards?limit=1&limit=2', /^limit must be an integer/],
    ['/boards?offset=-1', /^offset .*0/],
    ['/boards?offset=99999999999999999999', /^offset/],
    ['/boards?workspace=abc', /^workspace must be a valid uuid/],
    [`/boards?workspace=urn:uuid:${nowhere}`, /^workspace must be a valid uuid/],
    ['/boards?parent=abc', /^parent must be/],
    ['/boards?parent=%00', /^parent must be/],
    ['/boards?deleted=yes', /^deleted must be one of: 1, 0/],
    ['/boards?include=prop', /^include .*props, identifiers.*"prop"/],
    ['/workspaces?limit=x', /^limit must be an integer/],
    [`${cards}?include=all`, /^include .*props, identifiers, raw.*"all"/],
    [`${cards}?source=mirror`, /^source must be one of: index/],
    [`${cards}?source=index&cursor=%2F`, /^cursor must be/],
    [`${cards}?source=index&cursor=${'x'.repeat(201)}`, /^cursor must be at most 200/],
    ['/boards/abc', /^id must be a valid uuid/],
    [`/boards/urn:uuid:${nowhere}`, /^id must be a valid uuid/],
  ]
  for (const [path, says] of cases) {
    const answer = await user.api.get(path)
    expect([path, answer.status, answer.body.code]).toEqual([path, 400, 'bad_request'])
    expect(answer.body['error']).toMatch(says)
  }
  expect((await user.api.get(`/boards?offset=${Number.MAX_SAFE_INTEGER}&limit=500`)).body.boards).toEqual([])
})

test('[E14] U+0000 and halves of surrogate pairs are 400 in any text, and the message names the field', async () => {
  const path = `/boards/${board.id}/cards`
  const bad = ['a\\u0000b', '\\ud83d', '\\udc00x', 'x\\uD800\\u0041']
  for (const text of bad) {
    const cases: [method: string, path: string, body: string, field: string][] = [
      ['POST', '/boards', `{"name":"${text}"}`, 'name'],
      ['POST', '/boards', `{"name":"a","day_label":"${text}"}`, 'day_label'],
      ['POST', '/boards', `{"name":"a","props":{"x":["${text}"]}}`, 'props.x[0]'],
      ['POST', '/boards', `{"name":"a","props":{"${text}":1}}`, 'props'],
      [
        'POST',
        '/boards',
        `{"name":"a","identifiers":[{"scope":"s","value":"${text}"}]}`,
        'identifiers[0].value',
      ],
      ['PATCH', `/boards/${board.id}`, `{"name":"${text}"}`, 'name'],
      ['POST', path, `{"kind":"note","x":0,"y":0,"title":"${text}"}`, 'title'],
      [
        'POST',
        path,
        `{"cards":[{"kind":"note","x":0,"y":0},{"kind":"note","x":0,"y":0,"body":"${text}"}]}`,
        'cards[1].body',
      ],
      ['PATCH', path, `{"cards":[{"id":"${text}","title":"a"}]}`, 'cards[0].id'],
      ['DELETE', path, `{"card_ids":["a","${text}"]}`, 'card_ids[1]'],
    ]
    for (const [method, path, body, field] of cases) {
      const answer = await user.api.send(method, path, body)
      expect([body, answer.status, answer.body.code]).toEqual([body, 400, 'bad_request'])
      expect(answer.body['error']).toContain(`${field} must not contain U+0000`)
    }
  }
  const plain = await user.api.send('POST', '/boards', '{"name":"\\\\u0000 \\ud83d\\ude00 \\u00e9 \\ufffd"}')
  expect(plain.body.board.name).toBe('\\u0000 😀 é \ufffd')
  for (const id of ['%00', '%ED%A0%80', '%zz']) {
    expect([id, (await user.api.delete(`${path}/${id}`)).status]).toEqual([id, 404])
    expect([id, (await user.api.patch(`${path}/${id}`, {})).status]).toEqual([id, 404])
    expect([id, (await user.api.get(`/boards/${id}`)).status]).toEqual([id, 400])
  }
})

test('[E15] a body says its types itself: text for a number, or a number for text, is 400', async () => {
  const path = `/boards/${board.id}/cards`
  const cases: [path: string, body: Record<string, unknown>, says: string][] = [
    ['/boards', { name: 5 }, 'name must be a string'],
    ['/boards', { name: 'a', scheduled_date: 20260101 }, 'scheduled_date must be a string or null'],
    ['/boards', { name: 'a', props: '{}' }, 'props must be an object or null'],
    ['/boards', { name: 'a', identifiers: {} }, 'identifiers must be an array or null'],
    ['/boards', { name: 'a', notify: 'false' }, 'notify must be a boolean'],
    ['/boards', {}, 'name is required'],
    [path, { kind: 'note', x: '1', y: 0 }, 'x must be a number'],
    [path, { kind: 'note', w: null }, 'w must be a number'],
    [path, { kind: 'note', title: 5 }, 'title must be a string or null'],
    [path, { kind: 'note', section_header: 'true' }, 'section_header must be a boolean'],
    [path, { cards: [{ kind: 'note', x: 0, y: true }] }, 'cards[0].y must be a number'],
    [path, { cards: [7] }, 'cards[0] must be an object'],
    [path, { cards: {} }, 'cards must be an array'],
  ]
  for (const [path, body, says] of cases) {
    const answer = await user.api.post(path, body)
    expect([body, answer.status, answer.body.code]).toEqual([body, 400, 'bad_request'])
    expect(answer.body['error']).toContain(says)
  }
})
