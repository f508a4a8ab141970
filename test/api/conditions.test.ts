import { expect, test } from 'vitest'
import type { TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { listCards, makeBoard, makeCard, makeCards, nowhere, succeeded } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false })

const ifMatch = (tags: string, method: 'PATCH' | 'DELETE', path: string, body?: unknown, caller = user) =>
  caller.api.send<any>(method, path, body, { 'if-match': tags })
const quoted = ({ version }: Record<string, unknown>) => `"${String(version)}"`
const pathOf = (boardId: string, { id }: { id: string }) => `/boards/${boardId}/cards/${id}`

/** What webhooks would be told of a board, and what the audit says of it. */
async function recordsOf(boardId: string): Promise<number> {
  const [row] = await service.admin`
    select (select count(*) from events where board_id = ${boardId})
      + (select count(*) from audit_operations where board_id = ${boardId}) as count`
  return Number(row!['count'])
}

test('[CV1] cards and boards have versions; those of one are its ETag; in a body they are ignored', async () => {
  const { version: boardVersion, ...board } = await makeBoard(user)
  const card = await makeCard(user, board.id, { title: 'A' })
  const path = pathOf(board.id, card)
  const read = await user.api.get(path)
  expect([read.headers.get('etag'), read.body.card]).toEqual([quoted(card), card])
  const readBoard = await user.api.get(`/boards/${board.id}`)
  expect([readBoard.headers.get('etag'), readBoard.body.board.version]).toEqual([
    `"${boardVersion}"`,
    boardVersion,
  ])

  const strict = { prefer: 'handling=strict' }
  const written = await user.api.send<any>('PATCH', path, { ...card, title: 'B' }, strict)
  const { version } = succeeded(written).card
  expect([written.headers.get('etag'), version === card['version']]).toEqual([`"${version}"`, false])
  const back = { ...board, version: 'x', name: 'C' }
  const renamed = await user.api.send<any>('PATCH', `/boards/${board.id}`, back, strict)
  expect(renamed.headers.get('etag')).toBe(quoted(succeeded(renamed).board))
  expect(renamed.body.board.version).not.toBe(boardVersion)
  const copies = await user.api.send<any>('POST', `/boards/${board.id}/cards`, { cards: [card] }, strict)
  expect(succeeded(copies).cards[0].version).toBe(card['version'])
})

test('[CV3] a card is changed and removed only in the version that was read', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id, { title: 'A', props: { n: 1 } })
  const path = pathOf(id, card)
  const changed = succeeded(await ifMatch(quoted(card), 'PATCH', path, { title: 'B' })).card
  const before = await recordsOf(id)
  for (const method of ['PATCH', 'DELETE'] as const) {
    const { status, headers, body } = await ifMatch(quoted(card), method, path, { title: 'C' })
    expect([status, body.code, headers.get('etag')]).toEqual([412, 'precondition_failed', null])
    expect(body.card).toEqual(changed)
    expect(body.error).toContain('card')
  }
  expect(await listCards(user, id, '&include=props,identifiers')).toEqual([changed])
  expect(await recordsOf(id)).toBe(before)
  const removed = succeeded(await ifMatch(quoted(changed), 'DELETE', path))
  expect(removed.card).toMatchObject({ title: 'B', version: changed.version })
  expect(await recordsOf(id)).toBeGreaterThan(before)
})

test('[CV3] other refusals go before a condition', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id)
  const viewer = await service.user()
  await service.share(id, viewer, 'viewer')
  const codeOf = async (method: 'PATCH' | 'DELETE', path: string, body?: unknown, caller?: TestUser) =>
    (await ifMatch('"other"', method, path, body, caller)).body.code
  expect([
    await codeOf('PATCH', pathOf(id, { id: 'nobody' }), { title: 'x' }),
    await codeOf('DELETE', pathOf(id, { id: 'nobody' })),
    (await ifMatch('*', 'PATCH', pathOf(id, { id: 'nobody' }), {})).body.code,
    await codeOf('PATCH', pathOf(id, card), { title: 'x' }, viewer),
    await codeOf('DELETE', pathOf(id, card), undefined, viewer),
    await codeOf('PATCH', `/boards/${id}`, { name: 'x' }, viewer),
    await codeOf('DELETE', `/boards/${id}`, undefined, viewer),
    await codeOf('PATCH', `/boards/${nowhere}`, { name: 'x' }),
    await codeOf('PATCH', pathOf(id, card), { title: 1 }),
  ]).toEqual([
    ...['not_found', 'not_found', 'not_found'],
    ...['forbidden', 'forbidden', 'forbidden', 'forbidden'],
    ...['not_found', 'bad_request'],
  ])
})

test('[CV4] If-Match is read as HTTP has it', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id)
  const path = pathOf(id, card)
  const tag = quoted(card)
  const codeOf = async (tags: string) => (await ifMatch(tags, 'PATCH', path, {})).body.code
  for (const tags of [tag, ` ${tag} `, `"a,b" , ${tag},"c"`, `, ,${tag},`, `W/"x",${tag}`, '*', ' * '])
    expect([tags, await codeOf(tags)]).toEqual([tags, undefined])
  const bare = tag.slice(1, -1)
  for (const tags of [`W/${tag}`, '"other"', '""', `"${bare}\xff"`, '"a","b"'])
    expect([tags, await codeOf(tags)]).toEqual([tags, 'precondition_failed'])
  for (const tags of [
    bare,
    `"${bare}`,
    `${bare}"`,
    `${tag}${tag}`,
    `${tag} ${tag}`,
    `*, ${tag}`,
    `w/${tag}`,
    ',',
    '',
  ])
    expect([tags, (await ifMatch(tags, 'PATCH', path, {})).body]).toEqual([
      tags,
      { code: 'bad_request', error: expect.stringMatching(/^If-Match must be \*/) },
    ])
  const others = [
    ['PATCH', `/boards/${id}/cards`, { cards: [{ id: card.id, title: 'x' }] }],
    ['DELETE', `/boards/${id}/cards`, { card_ids: [card.id] }],
    ['POST', `/boards/${id}/cards`, { kind: 'note' }],
  ] as const
  for (const [method, target, body] of others) {
    const refused = await user.api.send<any>(method, target, body, { 'if-match': tag })
    expect([refused.status, refused.body.error]).toEqual([
      400,
      expect.stringMatching(/^If-Match: .*if_version/),
    ])
  }
  expect(await listCards(user, id, '&include=props,identifiers')).toEqual([card])
})

test('[CV5] in bulk, what has changed is listed and the rest goes on', async () => {
  const { id } = await makeBoard(user)
  const [a, b, c, d] = await makeCards(user, id, [
    { title: 'a' },
    { title: 'b' },
    { title: 'c' },
    { title: 'd' },
  ])
  const newer = succeeded(await user.api.patch(pathOf(id, b!), { title: 'newer' })).card
  const change = ({ id, version }: Record<string, unknown>, title: string) => ({
    id,
    title,
    if_version: version,
  })
  const cards = [
    change(b!, 'B'),
    change(a!, 'A'),
    { id: c!.id, title: 'C' },
    { id: 'nobody', title: 'N', if_version: 'x' },
    change(d!, 'D'),
    { id: d!.id, x: 5, if_version: 'x' },
    { ...change(a!, 'AA'), y: 7 },
  ]
  const { status, body } = await user.api.patch(`/boards/${id}/cards`, { cards })
  expect([status, body.updated, body.not_found]).toEqual([200, 2, ['nobody']])
  expect(body.cards).toMatchObject([
    { id: c!.id, title: 'C' },
    { id: a!.id, title: 'AA', y: 7 },
  ])
  expect(body.conflicts).toEqual([newer, d])

  const [, changedA] = body.cards
  const entries = [changedA, b, newer, { id: 'nobody' }].map(({ id, version }) => ({
    id,
    if_version: version,
  }))
  const removed = await user.api.delete(`/boards/${id}/cards`, { cards: [...entries, { id: c!.id }] })
  expect([removed.status, removed.body.deleted, removed.body.not_found]).toEqual([200, 2, ['nobody']])
  expect(removed.body.cards).toMatchObject([changedA, { id: c!.id, restore_token: expect.any(String) }])
  expect(removed.body.conflicts).toEqual([newer])
  expect((await listCards(user, id)).map((card) => card.id).toSorted()).toEqual([b!.id, d!.id].toSorted())
})

test('[CV5] a bulk DELETE takes card_ids or cards; only conflicts leave no trace', async () => {
  const { id } = await makeBoard(user)
  const card = await makeCard(user, id)
  for (const body of [{}, { card_ids: [card.id], cards: [{ id: card.id }] }, { cards: [] }, { cards: [{}] }])
    expect((await user.api.delete(`/boards/${id}/cards`, body)).body.code).toBe('bad_request')
  const before = await recordsOf(id)
  const other = { id: card.id, if_version: 'other' }
  const removed = await user.api.delete(`/boards/${id}/cards`, { cards: [other] })
  expect(removed.body).toMatchObject({ deleted: 0, cards: [], conflicts: [card], not_found: [] })
  const patched = await user.api.patch(`/boards/${id}/cards`, { cards: [{ ...other, title: 'x' }] })
  expect(patched.body).toMatchObject({ updated: 0, cards: [], conflicts: [card], not_found: [] })
  expect(await recordsOf(id)).toBe(before)
})
