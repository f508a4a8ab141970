/** Updates that are expensive to integrate. */
import * as fc from 'fast-check'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { partsOf } from '../../collab/log/cut-log.ts'
import { cutUpdate, smallUpdateBytes } from '../../collab/updates/cut.ts'
import { defaultBounds } from '../../collab/gateway/gateway-bounds.ts'
import { limitCleanup } from '../../collab/updates/cleanup.ts'
import { metered, stepsFor, TurnOver, type Meter } from '../../collab/updates/meter.ts'
import { makeBoard } from '../api/board.ts'
import { ascendingRightOrigins, deleteBomb } from '../hostile/attacks/updates.ts'
import { costlyUpdates, crafted, item } from '../support/crafted-updates.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { cpuMs, longestMs, longestTurnMs } from '../support/cpu-time.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import { processFaults } from '../support/process-faults.ts'
import { disconnectAll, enter } from '../support/raw-client.ts'
import { startService } from '../support/service.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'

// Its indexes are not verified at the end: that takes each document's integration anew.
const service = await startService({
  debounceMs: 50,
  loading: { maxLoadSteps: 2_000_000, cutMs: 3000 },
  compactMs: 3000,
  compactRows: 20,
})
const user = await service.user()
afterAll(async () => {
  leaveAll()
  disconnectAll()
  await service.stop()
  expect(processFaults()).toEqual([])
})

afterEach(() => {
  leaveAll()
  disconnectAll()
})

function fillCards(document: Y.Doc, count: number): void {
  const cards = document.getMap('cards')
  document.transact(() => {
    for (let n = 0; n < count; n++) {
      const fields = { kind: 'note', title: `Card ${n}`, x: n, y: 0, w: 280, h: 180, z: n, rotation: 0 }
      cards.set(`c${n}`, new Y.Map(Object.entries(fields)))
    }
  })
}

const newBoard = async (): Promise<string> => (await makeBoard(user)).id
const enterBoard = (boardId: string, token = user.token) => enter(service.url, { boardId, token })

const unlimited = (): Meter => ({ steps: 0, maxSteps: Infinity, maxItemSteps: Infinity, turnSteps: 0 })

/** Applies an update in turns. @returns the CPU time of the longest */
const applyInTurns = (document: Y.Doc, update: Uint8Array, meter: Meter): number =>
  longestMs(turnsOf(document, update, meter))

function* turnsOf(document: Y.Doc, update: Uint8Array, meter: Meter): Steps<void> {
  for (;;) {
    try {
      return metered(meter, () => Y.applyUpdate(document, update))
    } catch (error) {
      if (!(error instanceof TurnOver)) throw error
    }
    yield
  }
}

/** What Yjs itself does: how many items it puts into the set of those that it passed. */
function stepsOfYjs(work: () => void): number {
  const sets: Set<unknown> = Set.prototype
  const add = Object.getOwnPropertyDescriptor(sets, 'add')!.value as (value: unknown) => Set<unknown>
  let added = 0
  sets.add = function (value: unknown) {
    if (value instanceof Y.Item) added += 1
    return add.call(this, value)
  }
  try {
    work()
  } finally {
    sets.add = add
  }
  return added / 2
}

describe('the meter', () => {
  const structs = fc.array(
    fc.record({
      client: fc.constantFrom(1, 2, 3),
      origin: fc.option(fc.tuple(fc.constantFrom(1, 2, 3), fc.nat(8)), { freq: 2 }),
      rightOrigin: fc.option(fc.tuple(fc.constantFrom(1, 2, 3), fc.nat(8)), { freq: 2 }),
      key: fc.constantFrom(null, null, 'a', 'b'),
      length: fc.integer({ min: 1, max: 3 }),
    }),
    { minLength: 1, maxLength: 40 },
  )

  test('[X51] it finds the same places as Yjs, with as many steps, for updates of any shape', () => {
    let total = 0
    fc.assert(
      fc.property(structs, (given) => {
        const clocks = new Map<number, number>()
        const updates = given.map(({ client, origin, rightOrigin, key, length }) => {
          const clock = clocks.get(client) ?? 0
          clocks.set(client, clock + length)
          const id = (of: [number, number] | null) => of && Y.createID(...of)
          const content =
            key === null ? new Y.ContentString('abc'.slice(0, length)) : new Y.ContentDeleted(length)
          return crafted([
            new Y.Item(
              Y.createID(client, clock),
              null,
              id(origin),
              null,
              id(rightOrigin),
              'list' as never,
              key,
              content,
            ),
          ])
        })
        const [plain, counted] = [new Y.Doc(), new Y.Doc()]
        const meter = unlimited()
        const attempt = (work: () => void) => {
          try {
            work()
            return null
          } catch (error) {
            return String(error)
          }
        }
        for (const update of updates) {
          let failed: string | null = null
          const steps = stepsOfYjs(() => (failed = attempt(() => Y.applyUpdate(plain, update))))
          const before = meter.steps
          expect(attempt(() => metered(meter, () => Y.applyUpdate(counted, update)))).toBe(failed)
          if (failed) return
          // Going to the first of a key's entries is a step here; Yjs does it twice, without a set.
          expect(meter.steps - before).toBeGreaterThanOrEqual(steps)
          total += steps
        }
        expect(Y.encodeStateAsUpdate(counted)).toEqual(Y.encodeStateAsUpdate(plain))
        expect(counted.getText('list').toString()).toBe(plain.getText('list').toString())
      }),
      { numRuns: 300 },
    )
    expect(total).toBeGreaterThan(10)
  })

  test('[X51] a costly update in turns is the same document, and each turn is short', async () => {
    const [base, costly] = costlyUpdates(1500)
    const [plain, inTurns] = [new Y.Doc(), new Y.Doc()]
    for (const document of [plain, inTurns]) Y.applyUpdate(document, base)
    let steps = 0
    const atOnceMs = await cpuMs(() => (steps = stepsOfYjs(() => Y.applyUpdate(plain, costly))))
    const meter = unlimited()
    const longestTurn = applyInTurns(inTurns, costly, meter)
    expect(meter.steps).toBe(steps)
    expect(atOnceMs).toBeGreaterThan(longestTurn * 3)
    expect(longestTurn).toBeLessThan(50)
    expect(Y.encodeStateAsUpdate(inTurns)).toEqual(Y.encodeStateAsUpdate(plain))
    expect(inTurns.getArray('costly').toJSON()).toEqual(plain.getArray('costly').toJSON())
  })
})

describe('honest editors', () => {
  type Edit = (text: Y.Text, n: number) => void
  /** Fifty people who edit the same text offline, one after the other brought together. */
  const together = (
    people: number,
    edits: number,
    makeEdit: (random: (most: number) => number) => Edit,
  ): void => {
    let seed = 7
    const random = (most: number) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % most
    const base = new Y.Doc()
    base.getText('text').insert(0, 'The quick brown fox jumps over the lazy dog.')
    const [start, vector] = [Y.encodeStateAsUpdate(base), Y.encodeStateVector(base)]
    let mergeSteps = 0
    for (let person = 0; person < people; person++) {
      const own = new Y.Doc()
      Y.applyUpdate(own, start)
      const edit = makeEdit(random)
      for (let n = 0; n < edits; n++) edit(own.getText('text'), n)
      const update = Y.encodeStateAsUpdate(own, vector)
      const { maxItemSteps } = defaultBounds
      const maxSteps = stepsFor(update.byteLength, mergeSteps, defaultBounds)
      const meter: Meter = { steps: 0, maxSteps, maxItemSteps, turnSteps: 0 }
      for (const part of cutUpdate(update)!) applyInTurns(base, part, meter)
      mergeSteps += meter.steps
    }
    expect(mergeSteps).toBeLessThan(defaultBounds.maxDocumentSteps)
  }

  test('[X52] fifty people type 10,000 characters each at one place', () => {
    together(50, 10_000, () => (text, n) => text.insert(4 + n, 'x'))
  })
  test('[X52] fifty people put 60 things each before all others, the worst that there is', () => {
    together(50, 60, () => (text) => text.insert(4, 'x'))
  })
  test('[X52] fifty people edit a text at random places', () => {
    together(50, 300, (random) => (text) => {
      if (random(10) < 2 && text.length > 30) text.delete(random(text.length - 5), 3)
      else text.insert(random(text.length), 'word ')
    })
  })
  test('[X52] fifty people append formatted lines', () => {
    together(50, 200, () => (text, n) => text.insert(text.length, 'line\n', { bold: n % 2 === 0 }))
  })

  test('[X52] thirty who type at the same place, and one who pastes 100,000 characters, are all saved', async () => {
    const boardId = await newBoard()
    const first = await openEditor(service.url, { boardId, token: user.token })
    first.addCard('shared', { body: 'start' })
    await first.saved()
    const editors = await Promise.all(
      Array.from({ length: 30 }, () => openEditor(service.url, { boardId, token: user.token })),
    )
    const bodyOf = (editor: typeof first) => editor.cards.get('shared')!.get('body') as Y.Text
    for (let key = 0; key < 20; key++) for (const editor of editors) bodyOf(editor).insert(3, 'k')
    bodyOf(first).insert(2, 'p'.repeat(100_000))
    await Promise.all([first, ...editors].map((editor) => editor.saved()))
    await until(() => editors.every((editor) => bodyOf(editor).length === 5 + 600 + 100_000), 'all see all')
    await expectMemoryEqualsLog(service, boardId)
  })
})

describe('costly updates', () => {
  test('[X50] they are refused with 4400 and a reason; the board and its memory are sound', async () => {
    const boardId = await newBoard()
    const innocent = await openEditor(service.url, { boardId, token: user.token })
    const attacker = await enterBoard(boardId)
    const [base, costly] = costlyUpdates(2500)
    attacker.update(base)
    attacker.update(costly)
    expect(await attacker.untilClosed(30_000)).toBe(4400)
    expect(attacker.closed!.reason).toBe('update too costly to merge')
    innocent.addCard('fine')
    await innocent.saved()
    await expectMemoryEqualsLog(service, boardId)
  })

  test('[X50] a document that took too many steps allows only few from then on', () => {
    const { maxUpdateSteps, maxDocumentSteps } = defaultBounds
    expect(stepsFor(20, 0, defaultBounds)).toBeGreaterThanOrEqual(maxUpdateSteps)
    expect(stepsFor(20, maxDocumentSteps, defaultBounds)).toBeLessThan(2000)
  })

  test('[X50] updates that are sent together share the steps of their document', async () => {
    const small = await startService({ bounds: { maxDocumentSteps: 200_000 } })
    try {
      const owner = await small.user()
      const boardId: string = (await owner.api.post('/boards', { name: 'Target' })).body.board.id
      const attacker = await enter(small.url, { boardId, token: owner.token })
      const { base, parts } = ascendingRightOrigins(32_000)
      for (const update of [base, ...parts(64)]) attacker.update(update)
      expect(await attacker.untilClosed(10_000)).toBe(4400)
      // Each update alone would be allowed. Together they take eight million steps.
      expect(attacker.acknowledgements.length).toBeLessThan(20)
    } finally {
      await small.stop()
    }
  })

  test('[X50] deletions that prove too costly only after minutes are refused before the first is applied', async () => {
    const boardId = await newBoard()
    const attacker = await enterBoard(boardId)
    attacker.update(deleteBomb(800_000))
    expect(await attacker.untilClosed(10_000)).toBe(4400)
    expect(attacker.closed!.reason).toBe('update too costly to merge')
    const [row] =
      await service.admin`select count(*)::int as updates from board_updates where board_id = ${boardId}`
    expect(row).toEqual({ updates: 0 })
  })

  test('[X54] while an account’s costly update is applied, another edits the same board and a third its own', async () => {
    const guest = await service.user()
    const boardId = await newBoard()
    await service.share(boardId, guest, 'editor')
    const innocent = await openEditor(service.url, { boardId, token: user.token })
    const attacker = await enterBoard(boardId, guest.token)
    const [base, costly] = costlyUpdates(2500)
    attacker.update(base)
    attacker.update(costly)
    let saved = 0
    while (!attacker.closed) {
      innocent.addCard(`c${saved}`)
      await innocent.saved()
      saved += 1
    }
    expect(attacker.closed.code).toBe(4400)
    expect(saved).toBeGreaterThan(3)
  })

  test('[X53] a large update is cut into small parts in causal order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(2), fc.nat(1000), fc.nat(3)), { minLength: 300, maxLength: 600 }),
        (edits) => {
          const documents = [new Y.Doc(), new Y.Doc(), new Y.Doc()]
          for (const [who, at, what] of edits) {
            const document = documents[who]!
            const text = document.getText('text')
            if (what === 0) text.insert(at % (text.length + 1), 'long '.repeat(100))
            else if (what === 1 && text.length > 0) text.delete(at % text.length, 1)
            else if (what === 2) document.getMap('map').set(`k${at % 5}`, new Y.Map([['at', at]]))
            else Y.applyUpdate(document, Y.encodeStateAsUpdate(documents[(who + 1) % 3]!))
          }
          for (const document of documents) Y.applyUpdate(documents[0]!, Y.encodeStateAsUpdate(document))
          const whole = Y.encodeStateAsUpdate(documents[0]!)
          const rebuilt = new Y.Doc()
          for (const part of cutUpdate(whole)!) {
            expect(part.byteLength).toBeLessThan(smallUpdateBytes + 2000)
            Y.applyUpdate(rebuilt, part)
            expect(rebuilt.store.pendingStructs).toBeNull()
            expect(rebuilt.store.pendingDs).toBeNull()
          }
          expect(Y.encodeStateAsUpdate(rebuilt)).toEqual(whole)
        },
      ),
      { numRuns: 10 },
    )
  })

  test('[X53] 5,000 cards in one update are shown, saved and acknowledged', async () => {
    const boardId = await newBoard()
    const observer = await openEditor(service.url, { boardId, token: user.token })
    const document = new Y.Doc()
    document.transact(() => {
      for (let n = 0; n < 5000; n++)
        document.getMap('cards').set(
          `c${n}`,
          new Y.Map<unknown>([
            ['kind', 'note'],
            ['title', `Title ${n}`],
          ]),
        )
    })
    const client = await enterBoard(boardId)
    client.update(Y.encodeStateAsUpdate(document))
    await until(() => client.acknowledgements.length === 1, 'the update is acknowledged', 30_000)
    await until(() => observer.cards.size === 5000, 'the others see it', 30_000)
    await expectMemoryEqualsLog(service, boardId)
  })

  test('[X59] one update that deletes all of 20,000 cards is applied in short turns, and others get all of it', async () => {
    const boardId = await newBoard()
    const client = await enterBoard(boardId)
    limitCleanup(client.documentOf(boardId)) // it is in this process, too
    const document = new Y.Doc()
    const cards = document.getMap('cards')
    fillCards(document, 20_000)
    client.update(Y.encodeStateAsUpdate(document))
    await until(() => client.acknowledgements.length === 1, 'the cards are acknowledged', 60_000)
    const observer = await openEditor(service.url, { boardId, token: user.token })
    expect(observer.cards.size).toBe(20_000)
    observer.leave()
    const before = Y.encodeStateVector(document)
    document.transact(() => cards.clear())
    const deletion = Y.encodeStateAsUpdate(document, before)
    expect(deletion.byteLength).toBeLessThan(20)
    const turnMs = await longestTurnMs(async () => {
      client.update(deletion)
      await until(() => client.acknowledgements.length === 2, 'the deletion is acknowledged', 60_000)
    })
    expect(turnMs).toBeLessThan(100) // 900 ms, all at once. It is 20 ms, and 60 when garbage is collected meanwhile
    const late = await openEditor(service.url, { boardId, token: user.token })
    expect(late.cards.size).toBe(0)
    await expectMemoryEqualsLog(service, boardId)
  })

  test('[X59] a log with such a deletion is loaded in short steps', () => {
    const document = new Y.Doc()
    fillCards(document, 20_000)
    const snapshot = Y.encodeStateAsUpdateV2(document)
    const before = Y.encodeStateVector(document)
    document.getMap('cards').clear()
    const log = { snapshot, updates: [Y.encodeStateAsUpdate(document, before)] }
    const parts = partsOf(log)
    const loaded = new Y.Doc()
    limitCleanup(loaded)
    const loading = longestMs(
      (function* () {
        for (const part of parts) yield Y.applyUpdate(loaded, part)
      })(),
    )
    expect(loading).toBeLessThan(50)
    expect(loaded.getMap('cards').size).toBe(0)
    expect(Y.encodeStateVector(loaded)).toEqual(Y.encodeStateVector(document))
  })

  test('[X58] deleting a formatted text of many pieces is linear', async () => {
    /** A text of single characters by two clients in turn, which Yjs can't join, after a formatting mark. */
    const pieces = (count: number): Uint8Array[] => [
      crafted([item(1, 0, 'text', null, new Y.ContentFormat('bold', true))]),
      ...Array.from({ length: count }, (_, n) => {
        const origin = n === 0 ? Y.createID(1, 0) : Y.createID(2 + ((n - 1) % 2), (n - 1) >> 1)
        return crafted([item(2 + (n % 2), n >> 1, 'text', null, new Y.ContentString('x'), origin)])
      }),
    ]
    const document = new Y.Doc()
    limitCleanup(document)
    const count = 20_000
    document.transact(() => {
      document.getText('text')
      for (const update of pieces(count)) Y.applyUpdate(document, update)
    })
    const deletion = crafted(
      [],
      [
        [2, 0, count / 2],
        [3, 0, count / 2],
      ],
    )
    expect(await cpuMs(() => Y.applyUpdate(document, deletion))).toBeLessThan(300) // 1.5 s and more, tidied up
    expect(document.getText('text').length).toBe(0)
  })
})
