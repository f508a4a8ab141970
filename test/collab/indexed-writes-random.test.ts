/**
 * The same random patches of two boards with the same cards. A process has one of them in memory, and not the other.
 * `STEPS=2000 SEED=7 npm test -- test/collab/indexed-writes-random.test.ts` for more.
 */
import { afterAll, expect, test } from 'vitest'
import * as Y from 'yjs'
import { catchUp } from '../../collab/boards/read.ts'
import { readLog } from '../../collab/log/verify-log.ts'
import { verifyBoard } from '../../collab/log/verify.ts'
import { makeBoard, makeCards, succeeded } from '../api/board.ts'
import { Random } from '../crash/random.ts'
import { cloneDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService } from '../support/service.ts'

const steps = Number(process.env['STEPS'] ?? 120)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

const testDatabase = await cloneDatabase()
const here = await startService({ testDatabase, workers: false })
const there = await startService({ testDatabase, workers: false, config: { warmDocumentBytes: 0 } })
const user = await here.user()
const api = new ApiClient(there.url, user.token)

afterAll(async () => {
  leaveAll()
  await there.stop()
  await here.stop()
  await testDatabase.drop()
})

const queueOf = (boardId: string) => there.live.queue.board(boardId)

async function unload(boardId: string): Promise<void> {
  await until(() => {
    there.live.documents.sweep()
    return queueOf(boardId).document === null
  }, 'the board is not in memory')
  queueOf(boardId).indexedWrites = 0
}

/** What an editor may make of a card: the values of its keys, and whether it is a map at all. */
const oddValues: (() => unknown)[] = [
  ...[() => 12.7, () => -0, () => Number.NaN, () => 'a text', () => null, () => true, () => undefined],
  ...[
    () => 'x'.repeat(2000),
    () => ({ a: [1, { b: 'ö\u0000' }] }),
    () => [1, 'two'],
    () => new Uint8Array([1]),
  ],
  ...[() => new Y.Map([['a', 1]]), () => new Y.Text('words'), () => 12345678901234567890n, () => '\ud800'],
]

const fields = (random: Random): Record<string, unknown> =>
  random.pick<() => Record<string, unknown>>([
    () => ({ title: random.pick(['A', 'B', 'ö 🎈', null, '']) }),
    () => ({ x: random.between(-5, 5) + 0.4, y: random.between(0, 3) }),
    () => ({ w: random.between(0, 5000), h: 100, rotation: random.between(-400, 400) }),
    () => ({ z: random.pick([0, 0.5, 7, 1_000_000]) }),
    () => ({ color: random.pick(['#ff0000', null]), kind: random.pick(['note', 'doc', 'link']) }),
    () => ({ url: random.pick(['https://example.org/ä', null]), alt: random.pick(['seen', null]) }),
    () => ({ props: random.pick([{ z: 1, a: { b: [true, null] } }, { n: random.between(0, 9) }, null]) }),
    () => ({ html: random.pick(['<b>bold</b>', null]), section_header: random.chance(0.5) }),
    () => ({ group_id: random.pick(['g1', 'g2', 'gone', null]) }),
    () => ({ identifiers: random.pick([[{ scope: 's', value: 'v' }], [{ scope: 's', value: 'w' }], []]) }),
    () => ({ size_bytes: random.between(0, 99), file_name: 'a.pdf', mime: 'application/pdf', ext: 'pdf' }),
    () => ({ image_key: random.pick(['nobody/has-this', null]) }),
    () => ({ body: random.pick(['one two', 'one three', null]) }),
  ])()

test(
  `[WK41] after each of ${steps} random patches (SEED=${seed}) of a board in memory and of one that is not, answers, rows, events, audit and documents are the same`,
  { timeout: 60_000 + steps * 1000 },
  async () => {
    const random = new Random(seed)
    const boards = [(await makeBoard(user)).id, (await makeBoard(user)).id] as const
    const [loaded, cold] = boards
    const editors = await Promise.all(
      boards.map((boardId) => openEditor(here.url, { boardId, token: user.token })),
    )
    const lease = await there.live.documents.lease(loaded)
    const ids: string[][] = [[], []]
    for (const [n, boardId] of boards.entries()) {
      const made = await makeCards(user, boardId, [
        { title: 'A', body: 'one', color: '#ff0000', props: { a: 1 } },
        { kind: 'link', url: 'https://example.org' },
        { title: 'removed' },
        { title: 'C', identifiers: [{ scope: 's', value: 'v' }] },
      ])
      const removed = await user.api.delete(`/boards/${boardId}/cards/${made[2]!.id}`)
      const token = succeeded<any>(removed).card.restore_token
      const restore = { cards: [{ kind: 'note', x: 1, y: 1, restore_token: token }] }
      const restored = succeeded<any>(await user.api.post(`/boards/${boardId}/cards`, restore)).cards[0]
      const other = await makeBoard(user)
      const [moving] = await makeCards(user, other.id, [{ title: 'moved', body: 'words' }])
      const move = { to_board_id: boardId, card_ids: [moving!.id] }
      succeeded(await user.api.post(`/boards/${other.id}/cards/move`, move))
      const editor = editors[n]!
      editor.document.transact(() => {
        for (const id of ['editors-1', 'editors-2', 'editors-3'])
          editor.addCard(id, { title: id, grid: { columns: 2 } })
        const content = new Y.XmlFragment()
        editor.cards.get('editors-1')!.set('content', content)
        content.insert(0, [new Y.XmlText('rich')])
        for (const id of ['g1', 'g2']) editor.groups.set(id, new Y.Map([['name', id]]))
      })
      await editor.saved()
      await here.flush(boardId)
      ids[n] = [
        ...made.map(({ id }) => id),
        restored.id,
        moving!.id,
        'editors-1',
        'editors-2',
        'editors-3',
        'nobody',
        'a/b',
      ]
    }
    const same = (value: unknown, n: number): unknown =>
      JSON.parse(
        [...ids[n]!, boards[n]!].reduce(
          (text, id, at) => text.replaceAll(id, `card ${at}`),
          JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : inner)),
        ),
      )
    const withoutTimes = (value: any) =>
      JSON.parse(
        JSON.stringify(value, (key, inner) => (/^(created|updated)_at$/.test(key) ? undefined : inner)),
      )
    const stateOf = async (boardId: string, n: number) => {
      const [cards, events, audit, log] = await Promise.all([
        here.admin`
          select to_jsonb(c) - '{board_id,workspace_id,position,op,anchors,created_at,updated_at,deleted_at,moved_from}'::text[] as row,
            c.deleted_at is null as lives, c.created_at = c.updated_at as is_unchanged,
            c.position = (select seq from board_documents where board_id = ${boardId}) as is_newest
          from card_index c where board_id = ${boardId} order by card_id`,
        here.admin`select type, origin, card_ids from events where board_id = ${boardId} and origin = 'api' order by id`,
        here.admin`
          select action, method, status, resource_ids from audit_operations where board_id = ${boardId} order by id`,
        readLog(here.database, boardId),
      ])
      const document = log!.document.getMap('cards').toJSON()
      log!.document.destroy()
      const byId = (rows: any[]) => rows.toSorted((a, b) => (a.row.card_id < b.row.card_id ? -1 : 1))
      const named = same({ cards, events, audit, document }, n) as any
      for (const event of named.events) event.card_ids?.sort() // those of one z are in the order of their ids
      return { ...named, cards: byId(named.cards) }
    }
    let stayed = 0
    for (let step = 0; step < steps; step++) {
      await unload(cold)
      if (random.chance(0.35)) {
        const id = random.pick(['editors-1', 'editors-2', 'editors-3'])
        const key = random.pick(['title', 'x', 'grid', 'color', 'extra', 'body', 'kind', 'group_id'])
        const value = random.pick(oddValues)
        const kind = random.next()
        for (const { cards, document, addCard } of editors)
          document.transact(() => {
            const card = cards.get(id)
            if (!card) addCard(id, { title: 'again' })
            else if (kind < 0.1) cards.delete(id)
            else if (kind < 0.2) card.delete(key)
            else if (kind < 0.35 && !(card.get('x') instanceof Y.AbstractType)) card.set('x', card.get('x'))
            else card.set(key, value())
          })
        for (const [n, boardId] of boards.entries()) {
          await editors[n]!.saved()
          await here.flush(boardId)
        }
        await catchUp(there.live, loaded) // what is refused is refused by what the document has
      } else if (random.chance(0.05)) for (const boardId of boards) await here.compactor.compact(boardId)
      const chosen = Array.from({ length: random.between(1, 4) }, () => ({
        at: random.between(0, ids[0]!.length - 1),
        fields: fields(random),
        expects: random.next(),
      }))
      const isSingle = random.chance(0.5)
      const before = await Promise.all(boards.map(versionsOf))
      const answers = await Promise.all(
        boards.map((boardId, n) => {
          const cards = chosen.map(({ at, fields, expects }) => {
            const id = ids[n]![at]!
            const version = expects < 0.2 ? before[n]!.get(id) : expects < 0.3 ? 'another' : undefined
            return { id, ...fields, ...(version ? { if_version: version } : {}) }
          })
          const { id, if_version: ifVersion, ...change } = cards[0] as Record<string, unknown>
          const path = `/boards/${boardId}/cards`
          const headers: Record<string, string> = ifVersion ? { 'if-match': `"${String(ifVersion)}"` } : {}
          return isSingle
            ? api.send<any>('PATCH', `${path}/${encodeURIComponent(String(id))}`, change, headers)
            : api.patch(path, { cards })
        }),
      )
      const [expected, found] = answers.map(({ status, body }, n) =>
        same({ status, body: withoutTimes(body) }, n),
      )
      expect(found).toEqual(expected)
      if (answers[1]!.status === 200 && queueOf(cold).document === null) stayed += 1
      expect(queueOf(loaded).document).not.toBe(null)
      for (const boardId of boards) expect(await verifyBoard(here.database, boardId)).toEqual([])
      expect(await stateOf(cold, 1)).toEqual(await stateOf(loaded, 0))
    }
    lease.release()
    expect(stayed).toBeGreaterThan(steps / 8)
    for (const [n, boardId] of boards.entries()) {
      const { document } = (await readLog(here.database, boardId))!
      const vector = Y.encodeStateVector(document)
      await until(() => isSame(Y.encodeStateVector(editors[n]!.document), vector), 'the editor has it all')
    }
  },
)

async function versionsOf(boardId: string): Promise<Map<string, string>> {
  const rows =
    await here.admin`select card_id, hash from card_index where board_id = ${boardId} and deleted_at is null`
  return new Map(rows.map(({ card_id: id, hash }) => [id, hash]))
}

const isSame = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0
