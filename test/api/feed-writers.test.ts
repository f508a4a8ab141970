/** Sixteen writers with delays and rollbacks, and followers of the feeds. `FEED_SECONDS=30` runs it for longer. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, type Database, type Transaction } from '../../sql/database.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, succeeded, type Shown } from './board.ts'

const seconds = Number(process.env['FEED_SECONDS'] ?? 8)
const databases: Database[] = []
const services: TestService[] = []
let testDatabase: TestDatabase
let user: TestUser

beforeAll(async () => {
  testDatabase = await cloneDatabase()
  // Group commits stay open for a while after they have stamped, and now and then are rolled back and asked again.
  await testDatabase.admin.unsafe(`
    create function public.dawdle() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(random() * case when random() < 0.25 then 0.3 else 0.02 end);
      if random() < 0.2 then raise exception 'rolled back' using errcode = '40001'; end if;
      return null;
    end $$;
    create trigger dawdle after insert or update on corkboard.card_index for each statement execute function public.dawdle();`)
  for (let node = 0; node < 3; node++) {
    const database = openDatabase({ url: testDatabase.url, poolSize: 24 })
    databases.push(database)
    // Rolled back again and again, a write may take longer than its deadline, and a 503 is not what this is about.
    const patience = { writeDeadlineMs: 60_000, editDeadlineMs: 60_000 }
    services.push(await startService({ testDatabase, database, debounceMs: 30, ...patience }))
  }
  user = await services[0]!.user()
})
afterAll(async () => {
  leaveAll()
  for (const service of services) await service.stop()
  for (const database of databases) await database.close()
  await testDatabase.drop()
})

const random = (below: number) => Math.floor(Math.random() * below)

/** Follows a feed, and keeps the newest of each row that it was told. */
class Follower {
  readonly rows = new Map<string, Shown>()
  told = 0
  #query = 'since=2026-01-01T00:00:00Z'
  readonly #path: string
  readonly #api: ApiClient

  constructor(api: ApiClient, path: string) {
    this.#api = api
    this.#path = path
  }

  /** One page; true when there is more. */
  async read(): Promise<boolean> {
    const body: any = succeeded(await this.#api.get(`${this.#path}&limit=7&${this.#query}`))
    const page: Shown[] = body.boards ?? body.cards
    for (const row of page) this.rows.set(row.id, row)
    this.told += page.length
    this.#query = `cursor=${encodeURIComponent(body.next_cursor)}`
    return body.has_more
  }
}

test(
  '[F14] a follower of pages of 7 misses nothing of 16 writers with delays and rollbacks, of boards and of cards',
  { timeout: (seconds + 150) * 1000 },
  async () => {
    const cardBoards = await Promise.all([0, 1, 2].map((n) => makeBoard(user, { name: `Cards ${n}` })))
    const deadline = performance.now() + seconds * 1000
    // On a busy machine for longer, until enough has happened to say something.
    const enough = { boards: (50 * seconds) / 8, cardsOfEach: (30 * seconds) / 8 }
    const written = { boards: 0, cards: [0, 0, 0] }
    const isOver = () => {
      const isEnough =
        written.boards > enough.boards && written.cards.every((count) => count > enough.cardsOfEach)
      return performance.now() > deadline + (isEnough ? 0 : 60_000)
    }
    const failures: unknown[] = []
    const boards = new Follower(user.api, '/boards?deleted=1')
    const cards = cardBoards.map((board, n) => {
      const api = new ApiClient(services[n]!.url, user.token)
      return new Follower(api, `/boards/${board.id}/cards?source=index&deleted=1`)
    })
    const followers = [boards, ...cards]

    /** Ten of boards: several statements in a transaction that takes its time. */
    const writeBoards = async (writer: number) => {
      const database = databases[writer % 3]!
      const own: string[] = []
      for (let n = 0; !isOver(); n++) {
        const made: string[] = []
        const insert = async (tx: Transaction) => {
          const [row] = await tx<{ id: string }[]>`
            insert into boards (workspace_id, name) values (${user.workspaceId}, ${`${writer}-${n}`}) returning id`
          made.push(row!.id)
        }
        await database
          .asUser(user.userId, async (tx) => {
            if (random(10) < 7 || own.length === 0) await insert(tx)
            else await tx`update boards set name = ${`${writer}-${n}`} where id = ${own[random(own.length)]!}`
            await delay(random(5) === 0 ? random(1500) : random(30))
            if (random(3) === 0) await insert(tx)
            if (random(6) === 0 && own.length > 0)
              await tx`update boards set deleted_at = now() where id = ${own[random(own.length)]!}`
            await delay(random(30))
            if (random(5) === 0) throw new Error('rolled back')
          })
          .then(() => {
            own.push(...made)
            written.boards += made.length
          })
          .catch((error: unknown) => (error as Error).message === 'rolled back' || failures.push(error))
      }
    }
    /** Three of cards by the API, on boards of their own node and of others. */
    const writeCards = async (writer: number) => {
      const api = new ApiClient(services[writer]!.url, user.token)
      const own: [board: string, card: string][] = []
      while (!isOver()) {
        const at = random(3)
        const board = cardBoards[at]!.id
        const what = random(10)
        const [ownBoard, card] = own[random(own.length)] ?? []
        const answer =
          what < 6 || !card
            ? await api.post<any>(`/boards/${board}/cards`, {
                kind: 'note',
                x: 0,
                y: 0,
                title: `api ${own.length}`,
              })
            : what < 8
              ? await api.patch<any>(`/boards/${ownBoard}/cards/${card}`, { x: random(1000) })
              : await api.delete<any>(`/boards/${ownBoard}/cards/${card}`)
        if (answer.status === 201) {
          own.push([board, answer.body.cards[0].id])
          written.cards[at]! += 1
        } else if (![200, 404].includes(answer.status)) failures.push(answer.text)
      }
    }
    /** Three of cards in editors. */
    const edit = async (writer: number) => {
      const editor = await openEditor(services[writer]!.url, {
        boardId: cardBoards[writer]!.id,
        token: user.token,
      })
      for (let n = 0; !isOver(); n++) {
        const ids = [...editor.cards.keys()]
        const id = ids[random(ids.length)]
        if (random(10) < 6 || !id) {
          editor.addCard(`editor${writer}-${n}`, { title: `drawn ${n}` })
          written.cards[writer]! += 1
        } else if (random(4) === 0) editor.cards.delete(id)
        else editor.cards.get(id)!.set('x', random(1000))
        await delay(random(40))
      }
      await editor.saved(30_000)
    }
    const over = new AbortController()
    const following = followers.map(async (follower) => {
      while (!over.signal.aborted) if (!(await follower.read())) await delay(random(50))
    })
    await Promise.all([
      ...Array.from({ length: 10 }, (_, writer) => writeBoards(writer)),
      ...[0, 1, 2].map(writeCards),
      ...[0, 1, 2].map(edit),
    ])
    await until(
      async () =>
        (await testDatabase.admin`select from board_documents where indexed_seq < seq`).length === 0,
      'all edits are indexed',
      30_000,
    )
    over.abort()
    await Promise.all(following)
    // Judged is a follower who has read to the end under a horizon that is past the last stamp for good: a lock of the
    // same second that another writer takes later would pull the horizon back before it.
    const lastStamp = async (): Promise<Date> =>
      (
        await testDatabase.admin`select greatest((select max(updated_at) from boards), (select max(updated_at) from card_index)) as at`
      )[0]!['at']
    for (let last = new Date(0); last < (last = await lastStamp());) {
      await until(
        async () =>
          (
            await testDatabase.admin`select feed_horizon() > date_trunc('second', ${last}::timestamptz) + interval '1.2 seconds' as past`
          )[0]!['past'],
        'the horizon is past all',
      )
      for (const follower of followers) while (await follower.read());
    }

    expect(failures).toEqual([])
    const boardRows =
      await testDatabase.admin`select id, name, updated_at, deleted_at is not null as deleted from boards`
    expect(boardRows.length).toBeGreaterThan(enough.boards)
    expect(sorted(boards.rows.values(), ['id', 'name', 'updated_at', 'deleted'])).toEqual(
      sorted(boardRows, ['id', 'name', 'updated_at', 'deleted']),
    )
    for (const [n, { id }] of cardBoards.entries()) {
      const cardRows = await testDatabase.admin`
        select card_id as id, updated_at, deleted_at is not null as deleted, case when deleted_at is null then x end as x from card_index where board_id = ${id}`
      expect(cardRows.length).toBeGreaterThan(enough.cardsOfEach)
      expect(cardRows.some(({ deleted }) => deleted)).toBe(true)
      expect(sorted(cards[n]!.rows.values(), ['id', 'updated_at', 'deleted', 'x'])).toEqual(
        sorted(cardRows, ['id', 'updated_at', 'deleted', 'x']),
      )
    }
    process.stderr.write(`followed ${followers.map(({ told }) => told).join(' + ')} changes\n`)
  },
)

/** The named fields as text, in one order. */
function sorted(rows: Iterable<Record<string, unknown>>, fields: string[]): string[] {
  const text = (value: unknown) => (value instanceof Date ? value.toISOString() : (value ?? false))
  return [...rows].map((row) => JSON.stringify(fields.map((field) => text(row[field])))).toSorted()
}
