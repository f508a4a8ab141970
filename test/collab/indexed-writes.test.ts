/** Changes of cards on boards that are not in memory, which are built on their index rows. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { verifyBoard } from '../../collab/log/verify.ts'
import { listCards, makeBoard, succeeded, type Shown } from '../api/board.ts'
import { openEditor, until, type Editor } from '../support/editor.ts'
import { connectionLost } from '../support/gated-database.ts'
import { ApiClient } from '../support/http.ts'
import { killNode, startNode } from '../support/node-process.ts'
import { gatedNodesOfFile } from '../support/test-file.ts'

const { testDatabase, database, here, there, user } = await gatedNodesOfFile({ workers: false })
const fromThere = new ApiClient(there.url, user.token)

const pathOf = (boardId: string, id = '') => `/boards/${boardId}/cards${id && `/${id}`}`
const isHere = (boardId: string) => here.live.queue.board(boardId).document !== null
const verified = async (boardId: string) => expect(await verifyBoard(here.database, boardId)).toEqual([])

/** A board that only the other process has in memory, large enough that many writes are built on the index. */
async function coldBoard(
  cards: Record<string, unknown>[] = [{ title: 'A', body: 'words' }],
): Promise<{ boardId: string; cards: Shown[]; editor: Editor }> {
  const { id: boardId } = await makeBoard(user)
  const editor = await openEditor(there.url, { boardId, token: user.token })
  editor.addCard('large', { body: 'x'.repeat(100_000) })
  await editor.saved()
  await there.flush(boardId)
  const placed = cards.map((card, n) => ({ kind: 'note', x: n * 300, y: 0, ...card }))
  const made = succeeded<any>(await fromThere.post(pathOf(boardId), { cards: placed })).cards
  expect(isHere(boardId)).toBe(false)
  return { boardId, cards: made, editor }
}

const patch = (
  boardId: string,
  { id }: { id: string },
  change: object,
  headers: Record<string, string> = {},
) => user.api.send<any>('PATCH', pathOf(boardId, id), change, headers)

/** Runs `work` when the next change of this process is about to be committed. */
function beforeCommit(work: () => Promise<unknown>): void {
  database.next(async (call, commit) => {
    await work()
    return commit(call)
  })
}

test('[WK40] a PATCH of cards of a board that is not in memory leaves it there, and is shown where the board is open', async () => {
  const { boardId, cards, editor } = await coldBoard([
    { title: 'A', body: 'words', props: { n: 1 }, color: '#ffd966' },
    { kind: 'link', url: 'https://example.org', identifiers: [{ scope: 's', value: 'one' }] },
  ])
  const [first, second] = cards as [Shown, Shown]
  editor.groups.set('g', new Y.Map([['name', 'G']]))
  await editor.saved()
  await there.flush(boardId)
  const changes = [
    ...[
      { title: 'B' },
      { x: 5, y: 6.6, w: 300, h: 200, z: 9, rotation: 45 },
      { color: null },
      { kind: 'doc' },
    ],
    ...[
      { props: { n: 2 } },
      { group_id: 'g' },
      { identifiers: [{ scope: 's', value: 'two' }] },
      { alt: 'seen' },
    ],
    ...[{ html: '<b>b</b>', section_header: true }, { title: null }, { url: 'https://example.org/b' }, {}],
  ]
  let expected: Record<string, unknown> = first
  for (const change of changes) {
    const { card, live } = succeeded(
      await patch(boardId, first, change, { 'if-match': `"${String(expected['version'])}"` }),
    )
    const { version, updated_at } = card
    expected = { ...expected, ...change, ...('y' in change ? { y: 7 } : {}), version, updated_at }
    expect([card, live]).toEqual([expected, true])
  }
  const bulk = {
    cards: [
      { id: first.id, title: 'bulk' },
      { id: second.id, y: 9 },
      { id: 'nobody', y: 9 },
    ],
  }
  const { updated, not_found } = succeeded<any>(await user.api.patch(pathOf(boardId), bulk))
  expect([updated, not_found]).toEqual([2, ['nobody']])
  const refused = [
    await patch(boardId, { id: 'nobody' }, { title: 'x' }),
    await patch(boardId, first, { title: 'x' }, { 'if-match': '"other"' }),
    await patch(boardId, first, { group_id: 'no-group' }),
    await patch(boardId, first, { identifiers: [{ scope: 's', value: 'one' }] }),
    await patch(boardId, first, { image_key: 'nobody/has-this' }),
  ]
  expect(refused.map(({ status }) => status)).toEqual([404, 412, 400, 409, 404])
  expect(isHere(boardId)).toBe(false)
  await until(() => editor.cards.get(second.id)?.get('y') === 9, 'the editor sees the change')
  expect(editor.cards.get(first.id)!.toJSON()).toMatchObject({
    title: 'bulk',
    group_id: 'g',
    props: { n: 2 },
  })
  await verified(boardId)
  const shown = (await listCards(user, boardId, '&include=props,identifiers')).find(
    ({ id }) => id === first.id,
  )
  expect(shown).toMatchObject({ title: 'bulk', alt: 'seen', html: '<b>b</b>' })
})

test('[WK42] a value that an editor sets again is no change of the card; the next write comes after it', async () => {
  const { boardId, cards, editor } = await coldBoard()
  const [card] = cards as [Shown]
  const recordsOf = async () => [
    // Deliveries take events out; what counts them only grows.
    ...(await here.admin`select last_value from events_id_seq`),
    ...(await here.admin`select op, hash, updated_at from card_index where board_id = ${boardId} order by card_id`),
  ]
  const before = await recordsOf()
  for (let n = 0; n < 3; n++) {
    editor.cards.get(card.id)!.set('title', 'A')
    await editor.saved()
    await there.flush(boardId)
  }
  expect(await recordsOf()).toEqual(before)
  await verified(boardId)
  succeeded(await patch(boardId, card, { title: 'B' }))
  await until(() => editor.cards.get(card.id)!.get('title') === 'B', 'the editor sees it')
  expect(isHere(boardId)).toBe(false)

  // The same when the process died before it wrote the row.
  const anchors =
    await here.admin`select anchors from card_index where board_id = ${boardId} and card_id = ${card.id}`
  editor.cards.get(card.id)!.set('title', 'B')
  await editor.saved()
  await there.flush(boardId)
  editor.leave()
  await here.admin`
    update card_index set anchors = ${anchors[0]!['anchors']} where board_id = ${boardId} and card_id = ${card.id}`
  const fault = { what: 'card', id: card.id, fault: 'stale', detail: 'anchors' }
  expect(await verifyBoard(here.database, boardId)).toEqual([{ boardId, ...fault }])
  await here.admin`update board_documents set indexed_seq = seq - 1 where board_id = ${boardId}`
  succeeded(await patch(boardId, card, { x: 77 }))
  expect(isHere(boardId)).toBe(true)
  await here.flush(boardId)
  await verified(boardId)
})

test('[WK43] concurrent PATCHes of one card of a board that is not in memory are all done', async () => {
  const { boardId, cards, editor } = await coldBoard()
  const [card] = cards as [Shown]
  const fields = ['title', 'alt', 'color', 'x', 'sub', 'mime', 'ext', 'file_name']
  const answers = await Promise.all(
    [user.api, fromThere].flatMap((api, n) =>
      fields.flatMap((field) =>
        [1, 2].map((value) =>
          api.patch(pathOf(boardId, card.id), { [field]: field === 'x' ? value : `${n}${value}` }),
        ),
      ),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  await verified(boardId)
  const [shown] = (await listCards(user, boardId)).filter(({ id }) => id === card.id)
  for (const field of fields) expect(String(shown![field]), field).toMatch(/^[01]?[12]$/)
  await until(() => editor.cards.get(card.id)!.get('sub') === shown!['sub'], 'the editor sees it')
})

test('[WK43] of concurrent conditional PATCHes on one version exactly one is done', async () => {
  const { boardId, cards } = await coldBoard()
  const [card] = cards as [Shown]
  const ifMatch = { 'if-match': `"${String(card['version'])}"` }
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => patch(boardId, card, { title: `${n}` }, ifMatch)),
  )
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array(7).fill(412)])
  await verified(boardId)
})

test('[WK43] what another process changes between the reading of the row and the commit is kept, and conditions see it', async () => {
  for (const isIndexed of [true, false]) {
    const { boardId, cards, editor } = await coldBoard()
    const [card] = cards as [Shown]
    const title = async (text: string) => {
      editor.cards.get(card.id)!.set('title', text)
      await editor.saved()
      if (isIndexed) await there.flush(boardId)
    }
    beforeCommit(() => title('typed'))
    expect(succeeded(await patch(boardId, card, { color: 'red' })).card).toMatchObject({
      title: 'typed',
      color: 'red',
    })
    if (!isIndexed) await there.flush(boardId)
    const { version } = (await listCards(user, boardId)).find(({ id }) => id === card.id)!
    beforeCommit(() => title('typed again'))
    const refused = await patch(boardId, card, { color: 'blue' }, { 'if-match': `"${String(version)}"` })
    expect([refused.status, refused.body.card.title]).toEqual([412, 'typed again'])
    await there.flush(boardId)
    await verified(boardId)
  }
})

test('[WK43] a card or a group that is removed before the commit is not changed or named', async () => {
  const { boardId, cards, editor } = await coldBoard([{ title: 'A' }, { title: 'B' }])
  const [card, other] = cards as [Shown, Shown]
  editor.groups.set('g', new Y.Map([['name', 'G']]))
  await editor.saved()
  await there.flush(boardId)
  beforeCommit(() => fromThere.delete(`/boards/${boardId}/groups/g`))
  expect((await patch(boardId, other, { group_id: 'g' })).status).toBe(400)
  beforeCommit(() => fromThere.delete(pathOf(boardId, card.id)))
  expect((await patch(boardId, card, { title: 'x' })).status).toBe(404)
  await verified(boardId)
})

test('[WK43] who opens the board at the same moment, or edits it before the commit, loses nothing', async () => {
  for (let round = 0; round < 6; round++) {
    const { boardId, cards } = await coldBoard()
    const [card] = cards as [Shown]
    if (round % 2 === 0)
      beforeCommit(async () => {
        const early = await openEditor(here.url, { boardId, token: user.token })
        early.cards.get(card.id)!.set('alt', 'early')
        early.cards.get(card.id)!.set('title', 'early')
      })
    const [answer, editor] = await Promise.all([
      patch(boardId, card, { color: `c${round}` }),
      openEditor(here.url, { boardId, token: user.token }),
    ])
    succeeded(answer)
    editor.cards.get(card.id)!.set('sub', 'typed')
    await editor.saved()
    await until(() => editor.cards.get(card.id)!.get('color') === `c${round}`, 'the editor sees the change')
    if (round % 2 === 0)
      await until(() => editor.cards.get(card.id)!.get('alt') === 'early', 'the edit is there')
    await here.flush(boardId)
    await there.flush(boardId)
    await verified(boardId)
  }
})

test('[WK43] a card that was brought back, removed again and restored, or whose past was expunged, is changed as any other', async () => {
  const { boardId, cards, editor } = await coldBoard([{ title: 'A' }, { title: 'B' }, { title: 'C' }])
  const [first, second, third] = cards as [Shown, Shown, Shown]
  const [{ seq }] = (await here.admin`select seq from board_documents where board_id = ${boardId}`) as [
    { seq: number },
  ]
  succeeded(await fromThere.patch(pathOf(boardId, first.id), { title: 'later' }))
  succeeded(await fromThere.delete(pathOf(boardId, second.id)))
  succeeded(await fromThere.post(`/boards/${boardId}/restore-to`, { as_of: String(seq) }))
  succeeded(await fromThere.delete(`${pathOf(boardId, third.id)}/history`))
  await there.compactor.compact(boardId)
  for (const [n, card] of [first, second, third].entries())
    for (const change of [{ title: `T${n}` }, { color: 'red', x: n }, { color: null }])
      expect(succeeded(await patch(boardId, card, change)).card).toMatchObject(change)
  await until(() => editor.cards.get(third.id)!.get('title') === 'T2', 'the editor sees the changes')
  expect([first, second, third].map(({ id }) => editor.cards.get(id)!.get('title'))).toEqual([
    'T0',
    'T1',
    'T2',
  ])
  await verified(boardId)
})

test('[WK43] a PATCH whose answer from the database is lost is written once', async () => {
  const { boardId, cards } = await coldBoard()
  const [card] = cards as [Shown]
  const seqOf = async () =>
    (await here.admin`select seq from board_documents where board_id = ${boardId}`)[0]!['seq']
  const before = await seqOf()
  database.next(async (call, commit) => {
    await commit(call)
    throw connectionLost()
  })
  expect(succeeded(await patch(boardId, card, { title: 'once' })).card.title).toBe('once')
  expect(await seqOf()).toBe(before + 1)
  expect(isHere(boardId)).toBe(false)
  await verified(boardId)
})

test(
  '[WK43] when a process is killed while it changes cards of a board that is not in memory, what it acknowledged is there',
  { timeout: 90_000 },
  async () => {
    const { boardId, cards, editor } = await coldBoard(
      Array.from({ length: 20 }, (_, n) => ({ title: `${n}` })),
    )
    const node = await startNode(testDatabase.url)
    const api = new ApiClient(node.url, user.token)
    const done = new Map<string, number>()
    const writing = cards.map(async ({ id }) => {
      for (let x = 1; ; x++) {
        const answer = await api.patch(pathOf(boardId, id), { x, title: `${x}` }).catch(() => null)
        if (answer?.status !== 200) return
        done.set(id, x)
      }
    })
    await until(() => done.size === cards.length && Math.max(...done.values()) > 3, 'all of them write')
    await killNode(node)
    await Promise.all(writing)
    await until(async () => (await verifyBoard(here.database, boardId)).length === 0, 'the index is right')
    for (const card of await listCards(user, boardId)) {
      const x = done.get(card.id)
      if (x === undefined) continue
      expect([x, x + 1]).toContain(card['x'])
      expect(card['title']).toBe(String(card['x']))
    }
    for (const card of cards) succeeded(await patch(boardId, card, { x: 1000 }))
    await until(() => cards.every(({ id }) => editor.cards.get(id)!.get('x') === 1000), 'the editor sees all')
    await verified(boardId)
  },
)

test('[WK44] bodies, large values, and cards whose rows lack what it takes are changed in the loaded document', async () => {
  const needsDocument: Record<string, (card: Shown, editor: Editor) => Promise<object>> = {
    'a body': async () => ({ body: 'other words' }),
    'a large value': async (card, editor) => {
      editor.cards.get(card.id)!.set('html', 'x'.repeat(5000))
      return { title: 'B' }
    },
    'a key with a map': async (card, editor) => {
      editor.cards.get(card.id)!.set('title', new Y.Map([['a', 1]]))
      return { title: 'B' }
    },
    'a key with bytes': async (card, editor) => {
      editor.cards.get(card.id)!.set('alt', new Uint8Array([1]))
      return { title: 'B' }
    },
    'a row of an earlier version': async (card) => {
      await here.admin`update card_index set anchors = null where card_id = ${card.id}`
      return { title: 'B' }
    },
    'a row of a later version': async (card) => {
      await here.admin`update card_index set anchors = '\\x7f01' where card_id = ${card.id}`
      return { title: 'B' }
    },
  }
  for (const [name, prepare] of Object.entries(needsDocument)) {
    const { boardId, cards, editor } = await coldBoard()
    const [card] = cards as [Shown]
    const change = await prepare(card, editor)
    await editor.saved()
    await there.flush(boardId)
    expect(succeeded(await patch(boardId, card, change)).card, name).toMatchObject(change)
    expect(isHere(boardId), name).toBe(true)
    if (!name.includes('row')) continue
    const [row] =
      await here.admin`select anchors from card_index where board_id = ${boardId} and card_id = ${card.id}`
    expect(row!['anchors'], name).not.toBe(null)
    await verified(boardId)
  }
})

test('[WK44] many cards, and cards with long bodies, are changed in the loaded document', async () => {
  for (const [count, chars] of [
    [101, 1],
    [30, 20_000],
  ] as const) {
    const { boardId, cards } = await coldBoard(
      Array.from({ length: count }, () => ({ body: 'x'.repeat(chars) })),
    )
    const one = await patch(boardId, cards[0]!, { x: 5 })
    expect([one.status, isHere(boardId)]).toEqual([200, false])
    const changes = cards.map(({ id }) => ({ id, y: 5 }))
    expect(succeeded<any>(await user.api.patch(pathOf(boardId), { cards: changes })).updated).toBe(count)
    expect(isHere(boardId)).toBe(true)
    await verified(boardId)
  }
})

test('[WK45] a board that is changed often is loaded; a large one later than a small one', async () => {
  const small = (await makeBoard(user)).id
  const made = await succeeded<any>(
    await fromThere.post(pathOf(small), { cards: [{ kind: 'note', x: 0, y: 0 }] }),
  ).cards[0]
  const { boardId, cards } = await coldBoard()
  for (let n = 0; n < 5; n++) {
    succeeded(await patch(small, made, { x: n }))
    succeeded(await patch(boardId, cards[0]!, { x: n }))
  }
  expect([isHere(small), isHere(boardId)]).toEqual([true, false])
})
