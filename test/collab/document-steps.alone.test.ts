/** Large documents, and cards as large as an editor may make them: no step holds up the main thread. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { captureBoard } from '../../collab/boards/capture.ts'
import { presentGroups } from '../../collab/boards/groups.ts'
import { fileKeysOf } from '../../collab/boards/file-keys.ts'
import { findSources, identifierSource, urlSource } from '../../collab/boards/sources.ts'
import { moveCards } from '../../collab/boards/move.ts'
import { createCards, removeCards } from '../../collab/boards/write.ts'
import { findCard, rawReader, readContent } from '../../collab/canvas/canvas.ts'
import { projectCard } from '../../collab/canvas/project.ts'
import { verifyBoard } from '../../collab/log/verify.ts'
import { SharedState } from '../../collab/documents/shared-state.ts'
import { atOnce } from '../../platform/work/loop-turn.ts'
import { makeBoard } from '../api/board.ts'
import { until } from '../support/editor.ts'
import { longestStepMs, longestTurnMs, mainThreadMs } from '../support/cpu-time.ts'
import { nodesOfFile } from '../support/test-file.ts'

const boundMs = 50
const { here, there, user } = await nodesOfFile({ workers: false })

const documents: Record<string, (document: Y.Doc) => void> = {
  'one text': (document) => void document.getMap('cards').set('a', new Y.Map([['html', 'h'.repeat(4e6)]])),
  'texts of 8 KB': (document) => {
    for (let n = 0; n < 500; n++)
      document.getMap('cards').set(`a${n}`, new Y.Map([['html', 'h'.repeat(8000)]]))
  },
  'small cards': (document) => {
    for (let n = 0; n < 24_000; n++) {
      const fields: [string, unknown][] = [
        ['kind', 'note'],
        ['title', `title ${n}`],
        ['x', n],
        ['y', n],
        ['w', 280],
        ['h', 180],
      ]
      document.getMap('cards').set(`card${n}`, new Y.Map(fields))
    }
  },
  'letters typed from the end': (document) => {
    for (let n = 0; n < 300_000; n++) document.getText('text').insert(0, 'a')
  },
}

test.each(Object.entries(documents))(
  '[WK26] a document of 3 MB is encoded for who joins in turns of less than 50 ms: %s',
  async (_name, fill) => {
    const document = new Y.Doc()
    document.transact(() => fill(document))
    let bytes = 0
    const turnMs = await longestTurnMs(async () => {
      bytes = (await new SharedState(document).missing(new Map())).base.byteLength
    })
    expect(bytes).toBeGreaterThan(2.9e6)
    expect(turnMs).toBeLessThan(boundMs)
  },
)

test('[WK26] a document of 40 MB is encoded for who joins and for who comes back, in turns of less than 50 ms', async () => {
  const document = new Y.Doc()
  document.transact(() => {
    for (let n = 0; n < 5000; n++)
      document.getMap('cards').set(`a${n}`, new Y.Map([['html', 'h'.repeat(8000)]]))
  })
  const shared = new SharedState(document)
  for (const known of [new Map(), new Map([[document.clientID, 1]])]) {
    let bytes = 0
    const turnMs = await longestTurnMs(async () => {
      bytes = (await shared.missing(known)).base.byteLength
    })
    expect(bytes).toBeGreaterThan(40e6)
    expect(turnMs).toBeLessThan(boundMs)
  }
})

/** Loads a board of 15,000 cards whose index is behind. Returns its lease and the longest turn of the load. */
async function loadBehind() {
  const { id: boardId } = await makeBoard(user)
  for (let from = 0; from < 15_000; from += 1000) {
    const cards = Array.from({ length: 1000 }, (_, n) => ({
      kind: 'note',
      title: `card ${from + n}`,
      x: n,
      y: from,
    }))
    expect((await user.api.post(`/boards/${boardId}/cards`, { cards })).status).toBe(201)
  }
  await here.compactor.compact(boardId)
  await here.admin`update board_documents set indexed_seq = seq - 1 where board_id = ${boardId}`
  let lease!: Awaited<ReturnType<typeof there.live.documents.lease>>
  const turnMs = await longestTurnMs(async () => (lease = await there.live.documents.lease(boardId)))
  return { boardId, lease, turnMs }
}

test(
  '[WK26] a board of 15,000 cards whose index is behind is loaded, and captured while it changes, in turns of less than 50 ms',
  { timeout: 120_000 },
  async () => {
    let { boardId, lease, turnMs: loadMs } = await loadBehind()
    for (let run = 1; run < 3 && loadMs >= boundMs; run++) {
      lease.release()
      ;({ boardId, lease, turnMs: loadMs } = await loadBehind())
    }
    expect(loadMs, 'load, best of three').toBeLessThan(boundMs)

    const cards = lease.board.document.getMap<Y.Map<unknown>>('cards')
    const [first] = cards.keys()
    let captured!: Awaited<ReturnType<typeof captureBoard>>
    let least = Infinity
    for (let run = 0; run < 3 && least > boundMs / 2; run++) {
      const turnMs = await longestTurnMs(async () => {
        const capture = captureBoard(there.live, boardId, { raw: true, account: user.userId })
        await new Promise((resolve) => setTimeout(resolve, 100))
        cards.get(first!)!.set('title', `changed ${run}`)
        captured = await capture
      })
      least = Math.min(least, turnMs)
    }
    expect(least, 'capture').toBeLessThan(boundMs)
    expect(captured.cards).toHaveLength(15_000)
    for (const { content, raw } of captured.cards)
      expect((raw as { title: string }).title).toBe(content.title)
    lease.release()
  },
)

test('[WK30] 50,000 groups are listed in steps of less than 50 ms, by their creation time and id', () => {
  const document = new Y.Doc()
  const groups = document.getMap<Y.Map<unknown>>('groups')
  const timeOf = (n: number) => new Date(1.7e12 + ((n * 7919) % 20_011)).toISOString()
  document.transact(() => {
    for (const n of numbered(50_000)) {
      const times: [string, string][] = n % 5 === 0 ? [] : [['created_at', timeOf(n)]]
      groups.set(`group-${n}`, new Y.Map<unknown>([['name', `group ${n}`], ...times]))
    }
  })
  expect(longestStepMs(() => presentGroups(document))).toBeLessThan(boundMs)
  const keyOf = (id: string) => `${String(groups.get(id)!.get('created_at') ?? '')} ${id}`
  const expected = [...groups.keys()].map((id) => ({ id, key: keyOf(id) }))
  expected.sort((a, b) => (a.key < b.key ? -1 : 1))
  expect(atOnce(presentGroups(document)).map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
}, 120_000)

test('[WK31] items of an import are looked for among 120,000 identifiers in turns of less than 50 ms', async () => {
  const { id: boardId } = await makeBoard(user)
  const { live } = here
  const lease = await live.documents.lease(boardId)
  const cards = lease.board.document.getMap<Y.Map<unknown>>('cards')
  const identifiersOf = (card: number) => numbered(20).map((n) => ({ scope: 'test', value: `${card} ${n}` }))
  for (let from = 0; from < 6000; from += 500) {
    lease.board.document.transact(() => {
      for (let n = from; n < from + 500; n++) {
        const fields: [string, unknown][] = [
          ['kind', 'link'],
          ['url', `https://example.com/${n}`],
          ['identifiers', identifiersOf(n)],
        ]
        cards.set(`card-${n}`, new Y.Map(fields))
      }
    })
    await live.queue.flush(boardId)
  }
  const wanted = new Set([
    urlSource('https://EXAMPLE.com/5999'),
    identifierSource({ scope: 'test', value: '7 19' }),
  ])
  const card = { change: { kind: 'link', url: 'https://example.com/5999', x: 0, y: 0 } }
  const searches = {
    before: async () =>
      expect([...(await findSources(live, boardId, wanted)).values()]).toEqual(['card-7', 'card-5999']),
    within: () =>
      expect(
        createCards(live, { account: user.userId, boardId, cards: [card], newSources: wanted }),
      ).rejects.toMatchObject({ code: 'conflict' }),
  }
  for (const [when, search] of Object.entries(searches)) {
    const turns = [await longestTurnMs(search), await longestTurnMs(search), await longestTurnMs(search)]
    expect(Math.min(...turns), when).toBeLessThan(boundMs)
  }
  lease.release()
}, 120_000)

const numbered = (length: number) => Array.from({ length }, (_, n) => n)
const fields: Record<string, (card: Y.Map<unknown>) => void> = {
  'html of 8 MB': (card) => void card.set('html', 'f'.repeat(8e6)),
  'a list of 99,000 values': (card) => void card.set('grid', numbered(99_000)),
  'props of 19,000 keys': (card) =>
    void card.set('props', Object.fromEntries(numbered(19_000).map((n) => [`k${n}`, n]))),
  'an object of 19,000 numbers as keys': (card) =>
    void card.set('grid', Object.fromEntries(numbered(19_000).map((n) => [String(n * 40_007), n]))),
  '90,000 texts': (card) =>
    void card.set(
      'grid',
      numbered(90_000).map((n) => `s${n}`.padEnd(80, 'f ')),
    ),
  'a shared map of 60,000 keys': (card) => {
    const map = card.set('grid', new Y.Map<number>())
    for (const n of numbered(60_000)) map.set(`k${n}`, n)
  },
  '60,000 keys of its own': (card) => {
    for (const n of numbered(60_000)) card.set(`k${n}`, n)
  },
  '40,000 shared maps': (card) => {
    card.set('grid', new Y.Array<Y.Map<number>>()).insert(
      0,
      numbered(40_000).map((n) => new Y.Map([['a', n]])),
    )
  },
  'rich text of 300,000 empty nodes': (card) => addRichText(card, () => new Y.XmlElement('p')),
  'rich text of 300,000 attributes': (card) =>
    addRichText(card, () => {
      const element = new Y.XmlElement('p')
      element.setAttribute('a', 'b')
      return element
    }),
  'rich text of 300,000 formats': (card) =>
    addRichText(card, () => {
      const text = new Y.XmlText()
      text.insert(0, 'a', { b: true })
      return text
    }),
}

function addRichText(card: Y.Map<unknown>, node: () => Y.XmlElement | Y.XmlText): void {
  card.set('content', new Y.XmlFragment()).insert(0, Array.from({ length: 300_000 }, node))
}

test.each(Object.entries(fields))(
  '[WK27] a card with %s is read, projected and shown in short steps',
  (_name, fill) => {
    const document = new Y.Doc()
    const card = new Y.Map<unknown>([['kind', 'note']])
    document.getMap('cards').set('a', card)
    document.transact(() => fill(card))
    const shared = findCard(document, 'a')!
    const steps: Record<string, () => unknown> = {
      content: () => readContent(shared),
      row: () => projectCard(document, 'a'),
      raw: () => rawReader()(shared),
    }
    for (const [what, step] of Object.entries(steps)) expect(mainThreadMs(step), what).toBeLessThan(boundMs)
    expect(
      longestStepMs(() => fileKeysOf(shared)),
      'file keys',
    ).toBeLessThan(boundMs)
  },
)

test('[WK32] a card with rich text of 300,000 nodes is removed, restored and moved in turns of less than 50 ms', async () => {
  const [{ id: boardId }, { id: toBoardId }] = [await makeBoard(user), await makeBoard(user)]
  const { live } = here
  const leases = await Promise.all([live.documents.lease(boardId), live.documents.lease(toBoardId)])
  const cards = leases[0].board.document.getMap<Y.Map<unknown>>('cards')
  const card = cards.set('a', new Y.Map<unknown>([['kind', 'note']]))
  addRichText(card, () => new Y.XmlElement('p'))
  await live.queue.flush(boardId)
  const [target, there] = [
    { account: user.userId, boardId },
    { account: user.userId, boardId: toBoardId },
  ]
  const least: Record<string, number> = {}
  const measure = async (what: string, work: () => Promise<unknown>) =>
    (least[what] = Math.min(least[what] ?? Infinity, await longestTurnMs(work)))
  let [id, token] = ['a', '']
  for (let run = 0; run === 0 || (run < 3 && Math.max(...Object.values(least)) >= boundMs); run++) {
    await measure('remove', async () => {
      const removed = await removeCards(live, { ...target, cards: [{ id }] })
      token = removed.cards[0]!['restore_token'] as string
    })
    const [row] = await here.admin<{ state: Buffer }[]>`
      select state from removed_cards where restore_token = ${token}`
    await measure('restore', async () => {
      const made = await createCards(live, { ...target, cards: [{ change: {}, removed: row!.state }] })
      id = made.cards[0]!['id'] as string
    })
    const ids = [id]
    await measure('move', () => moveCards(live, { ...target, toBoardId, ids }))
    await measure('back', () => moveCards(live, { ...there, toBoardId: boardId, ids }))
  }
  for (const [what, ms] of Object.entries(least)) expect(ms, what).toBeLessThan(boundMs)
  const nodesOf = (shared?: Y.Map<unknown>) => (shared?.get('content') as Y.XmlFragment | undefined)?.length
  await until(() => nodesOf(cards.get(id)) === 300_000, 'the whole card is back', 60_000)

  // An editor types in the card while it is copied: the row on the target fits the copy.
  const moving = moveCards(live, { ...target, toBoardId, ids: [id] })
  for (let n = 0; n < 30; n++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    cards.get(id)?.set('title', `typed ${n}`)
  }
  await moving
  for (const board of [boardId, toBoardId]) {
    await live.queue.flush(board)
    expect(await verifyBoard(here.database, board)).toEqual([])
  }
  for (const lease of leases) lease.release()
}, 120_000)
