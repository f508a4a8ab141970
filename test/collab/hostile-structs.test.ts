/** Updates that are well-formed, and that no encoder writes. */
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { crafted, item, made } from '../support/crafted-updates.ts'
import { openEditor, until } from '../support/editor.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import { openTargets, settle } from './target-board.ts'

const { enterBoard, expectUsable, newBoard, open, service, user } = await openTargets()

describe('updates that no encoder writes', () => {
  const me = 4711
  const gc = (clock: number, length: number) => new Y.GC(Y.createID(me, clock), length)
  const deep = (levels: number) => {
    let value: unknown = 1
    for (let level = 0; level < levels; level++) value = [value]
    return value
  }
  const nested = (levels: number) =>
    Array.from({ length: levels }, (_, n) =>
      item(me, n, n === 0 ? 'cards' : Y.createID(me, n - 1), 'k', new Y.ContentType(new Y.Map())),
    )
  const refused: Record<string, { code: number; update: () => Uint8Array }> = {
    'a plain value of 10,000 levels': {
      code: 4400,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentJSON([deep(10_000)]))]),
    },
    'a plain value of 300 levels': {
      code: 4400,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentAny([deep(300)]))]),
    },
    'a plain value of 200,000 values': {
      code: 1009,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentAny([Array(200_000).fill(0)]))]),
    },
    'a plain value of 30,000 keys': {
      code: 1009,
      update: () =>
        crafted([
          item(
            me,
            0,
            'cards',
            'k',
            new Y.ContentAny([Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`k${n}`, 0]))]),
          ),
        ]),
    },
    'a plain value with a prototype of its own': {
      code: 4400,
      update: () =>
        crafted([item(me, 0, 'cards', 'k', new Y.ContentAny([JSON.parse('{"__proto__":{"a":1}}')]))]),
    },
    '10,000 nested types': { code: 4400, update: () => crafted(nested(10_000)) },
    'a document in the document': {
      code: 4400,
      update: () => made((doc) => doc.getMap('cards').set('k', new Y.Doc())),
    },
    'a struct of no length': {
      code: 4400,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentString(''))]),
    },
    'a clock that no number holds': { code: 4400, update: () => crafted([gc(0, Number.MAX_SAFE_INTEGER)]) },
    'a struct that hangs on itself': {
      code: 4400,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentAny([1]), Y.createID(me, 0))]),
    },
    'an entry of several values': {
      code: 4400,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentAny([1, 2]))]),
    },
    'an entry of several values, of which one stays': {
      code: 4400,
      update: () =>
        crafted(
          [item(me, 0, 'cards', 'k', new Y.ContentAny([1, 2, 3]))],
          [
            [me, 0, 1],
            [me, 2, 1],
          ],
        ),
    },
    'deletions of nothing': { code: 4400, update: () => crafted([], [[me, 0, 0]]) },
    'deletions from the end to the beginning': {
      code: 4400,
      update: () =>
        crafted(
          [],
          Array.from({ length: 1000 }, (_, n): [number, number, number] => [me, 2000 - 2 * n, 1]),
        ),
    },
    'two parts of one client': {
      code: 4400,
      update: () => {
        const once = crafted([gc(0, 1)])
        return new Uint8Array([2, ...once.slice(1, -1), ...once.slice(1)])
      },
    },
    'more than the board may hold': {
      code: 1009,
      update: () => crafted([item(me, 0, 'cards', 'k', new Y.ContentAny(['x'.repeat(5 * 1024 * 1024)]))]),
    },
    'new structs of the API': {
      code: 1013,
      update: () => crafted([item(2 ** 33, 0, 'cards', 'k', new Y.ContentAny([1]))]),
    },
  }

  test.for(Object.entries(refused))('[X12] %s: refused, not acknowledged', async ([, { code, update }]) => {
    const boardId = await newBoard()
    const innocent = await openEditor(service.url, open(boardId))
    const attacker = await enterBoard(boardId)
    attacker.update(update())
    expect(await attacker.untilClosed()).toBe(code)
    expect(attacker.acknowledgements).toEqual([])
    await expectUsable(boardId, innocent)
    await expectMemoryEqualsLog(service, boardId)
  })

  test('[X112] roots are bounded in number and in their names, also those of updates that wait', async () => {
    const boardId = await newBoard()
    const innocent = await openEditor(service.url, open(boardId))
    const roots = (names: string[], from: number) =>
      crafted(names.map((name, n) => item(me, from + n, name, 'k', new Y.ContentAny([1]))))
    const named = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `root ${from + n}`)
    const sent = [roots(['x'.repeat(1001)], 0), roots(named(1001), 0), roots(named(1001), 5)]
    for (const update of sent) {
      const attacker = await enterBoard(boardId)
      attacker.update(update)
      expect(await attacker.untilClosed()).toBe(1009)
    }
    const shares = () => service.inMemory(boardId).map(({ document }) => document.share.size)
    for (const size of shares()) expect(size).toBeLessThan(10)

    const editor = await enterBoard(boardId)
    editor.update(roots(['x'.repeat(1000), ...named(900)], 0))
    await until(() => editor.acknowledgements.length === 1, 'it is acknowledged')
    editor.update(roots(named(900), 901))
    await until(() => editor.acknowledgements.length === 2, 'known roots go on')
    editor.update(roots(named(200, 900), 1801))
    expect(await editor.untilClosed()).toBe(1009)
    await expectUsable(boardId, innocent)
    await expectMemoryEqualsLog(service, boardId)
  })

  test('[X12] types cannot be nested deeper in many updates than in one, whatever their order', async () => {
    const boardId = await newBoard()
    const innocent = await openEditor(service.url, open(boardId))
    const structs = nested(600)
    const parts = Array.from({ length: 6 }, (_, n) => crafted(structs.slice(n * 100, n * 100 + 100)))
    for (const order of [parts, parts.toReversed()]) {
      const attacker = await enterBoard(boardId)
      for (const part of order) attacker.update(part)
      expect(await attacker.untilClosed()).toBe(4400)
    }
    for (const { document } of service.inMemory(boardId))
      expect(depthOf(document.getMap('cards'))).toBeLessThanOrEqual(201)
    await expectUsable(boardId, innocent)
    await expectMemoryEqualsLog(service, boardId)
  })

  function depthOf(map: Y.Map<unknown>): number {
    const inner = [...map.values()].filter((value) => value instanceof Y.Map)
    return 1 + Math.max(0, ...inner.map(depthOf))
  }

  test('[X13] structs of the API that the board holds already are taken for what they are', async () => {
    const boardId = await newBoard()
    await user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: 0, y: 0 })
    const client = await enterBoard(boardId)
    client.update(Y.encodeStateAsUpdate(client.documentOf(boardId)))
    await settle(client)
    expect(client.acknowledgements).toEqual([true, true])
  })

  test('[X12] a full board takes no more, but can be emptied', async () => {
    const boardId = await newBoard()
    const editor = await openEditor(service.url, open(boardId))
    const half = 'x'.repeat(2_000_000)
    editor.addCard('first', { junk: half })
    await editor.saved()
    const attacker = await enterBoard(boardId)
    attacker.update(crafted([item(me, 0, 'cards', 'k', new Y.ContentAny([half + half]))]))
    expect(await attacker.untilClosed()).toBe(1009)
    editor.cards.delete('first')
    await editor.saved()
  })

  test('[X14] the size of a board is measured anew when its log is merged: overwriting does not fill it', async () => {
    const boardId = await newBoard()
    const editor = await openEditor(service.url, open(boardId))
    const card = editor.addCard('c')
    for (let n = 0; n < 20; n++) {
      card.set('junk', String(n).padEnd(300_000, 'x'))
      await editor.saved()
      if (n % 5 !== 4) continue
      await service.compactor.compact(boardId)
      const isMeasured = () => service.inMemory(boardId).every(({ sizeBytes }) => sizeBytes < 600_000)
      await until(isMeasured, 'every node measures what is left')
    }
    expect(editor.closes).toEqual([])
  })

  test('[X15] a document whose transaction breaks is closed, and loaded anew from its log', async () => {
    const boardId = await newBoard()
    const editor = await openEditor(service.url, open(boardId))
    editor.addCard('kept', { title: 'kept' })
    await editor.saved()
    const openDocument = () => service.inMemory(boardId).find(({ editors }) => editors > 0)?.document
    const broken = openDocument()!
    broken.once('afterTransactionCleanup', () => {
      throw new Error('as if memory were at odds with itself')
    })
    editor.addCard('after', { title: 'after' })
    await until(() => editor.closes.length > 0, 'the board’s sockets are closed')
    expect(editor.closes[0]!.code).toBe(1013)
    await editor.saved()
    expect(openDocument()).not.toBe(broken)
    const cards = await user.api.get(`/boards/${boardId}/cards`)
    expect(cards.body.cards.map((card: { id: string }) => card.id).sort()).toEqual(['after', 'kept'])
    await expectMemoryEqualsLog(service, boardId)
  })
})
