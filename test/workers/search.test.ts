/** The search indexer with texts at the limits, with a card that PostgreSQL refuses, and with many accounts. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Logger } from '../../platform/log.ts'
import { openDatabase, type Database } from '../../sql/database.ts'
import { SearchIndexer } from '../../workers/search/search.ts'
import { longestTurnMs } from '../support/cpu-time.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/editor.ts'

let testDatabase: TestDatabase
let database: Database
let logged: object[]
const log: Logger = {
  info: () => undefined,
  debug: () => undefined,
  warn: (fields) => void logged.push(fields),
  error: (fields) => void logged.push(fields),
}
/** As a process that starts makes it. */
const openIndexer = (): SearchIndexer => new SearchIndexer({ database, log })

beforeEach(async () => {
  logged = []
  testDatabase = await cloneDatabase()
  database = openDatabase({ url: testDatabase.url })
})
afterEach(async () => {
  await database.close()
  await testDatabase.drop()
})

interface Account {
  id: string
  workspaceId: string
  boardId: string
}

async function makeAccount(): Promise<Account> {
  const [id, workspaceId, boardId] = [randomUUID(), randomUUID(), randomUUID()]
  await testDatabase.admin`insert into users (id, email, tier) values (${id}, ${id}, 'pro')`
  await testDatabase.admin`insert into workspaces (id, name, owner_id) values (${workspaceId}, 'w', ${id})`
  await testDatabase.admin`insert into boards (id, workspace_id, name) values (${boardId}, ${workspaceId}, 'board')`
  return { id, workspaceId, boardId }
}

const addCards = (
  { boardId, workspaceId }: Account,
  cards: { id: string; title?: string; body?: string }[],
) =>
  testDatabase.admin`
    insert into card_index (board_id, card_id, workspace_id, kind, title, body, x, y, w, h, z, rotation, hash, position, op, cause, created_at, updated_at)
    select ${boardId}, c.id, ${workspaceId}, 'note', c.title, c.body, 0, 0, 1, 1, 0, 0, '', 0, gen_random_uuid(), 'api', now(), clock_timestamp()
    from unnest(${cards.map(({ id }) => id)}::text[], ${cards.map(({ title }) => title ?? '')}::text[], ${cards.map(({ body }) => body ?? '')}::text[])
      as c(id, title, body)`

const count = async (query: string, ...parameters: string[]): Promise<number> =>
  Number((await testDatabase.admin.unsafe(query, parameters))[0]!['count'])
const indexedCards = ({ boardId }: Account) =>
  count(`select count(*) from search_index where board_id = $1 and card_id <> ''`, boardId)
const pendingRows = () => count('select count(*) from search_pending')
const numbered = (length: number, card: (n: number) => { title?: string; body?: string }) =>
  Array.from({ length }, (_, n) => ({ id: `c${n}`, ...card(n) }))

test('[Q21] 100 cards of 20,000 combining marks are indexed without holding up the event loop', async () => {
  const attacker = await makeAccount()
  await addCards(
    attacker,
    numbered(100, () => ({ body: 'zq ' + '\u0315\u0300\u05ae\u0300'.repeat(4999) })),
  )
  const account = { account: attacker.id, timeoutMs: 60_000 }
  const turnMs = await longestTurnMs(() => openIndexer().catchUp([attacker.boardId], account))
  expect(turnMs).toBeLessThan(250)
  expect(await count(`select count(*) from search_index where body = 'zq'`)).toBe(100)
  expect(await pendingRows()).toBe(0)
}, 120_000)

test('[Q22] while long texts of several accounts wait for the index, what another account writes is found', async () => {
  const chinese = (length: number) =>
    Array.from({ length }, () => String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 20_000))).join('')
  const attackers = [await makeAccount(), await makeAccount(), await makeAccount()]
  for (const attacker of attackers)
    await addCards(
      attacker,
      numbered(90, () => ({ body: chinese(19_900) })),
    )
  const other = await makeAccount()
  const loop = openIndexer().start()
  try {
    await until(
      async () => (await indexedCards(attackers[0]!)) > 0,
      'the index takes the first long text',
      60_000,
    )
    await addCards(other, [{ id: 'fresh', title: 'fresh' }])
    await until(async () => (await indexedCards(other)) === 1, 'the fresh card is in the index', 60_000)
    const done = await Promise.all(attackers.map(indexedCards))
    expect(Math.max(...done)).toBeLessThan(60)
    expect(Math.max(...done) - Math.min(...done)).toBeLessThanOrEqual(2)
  } finally {
    await loop.stop()
  }
}, 180_000)

test('[Q23] a card that the index refuses is set aside alone, over restarts, until it changes', async () => {
  const { admin } = testDatabase
  await admin.unsafe(`
    create sequence tries;
    grant usage on sequence tries to corkboard_system;
    create function poison() returns trigger language plpgsql as $$
    begin
      if new.title = 'poison' then
        perform nextval('corkboard.tries'); -- is not rolled back
        raise exception 'poisoned';
      end if;
      return new;
    end $$;
    create trigger poison before insert or update on search_index for each row execute function poison()`)
  const tries = async () =>
    Number((await admin`select last_value - 1 + is_called::integer as tries from tries`)[0]!['tries'])
  const [owner, other] = [await makeAccount(), await makeAccount()]
  await addCards(
    owner,
    numbered(200, (n) => ({ title: n === 77 ? 'poison' : `title ${n}` })),
  )
  await addCards(
    other,
    numbered(20, (n) => ({ title: `title ${n}` })),
  )
  const boards = [owner.boardId, other.boardId]
  const options = { account: owner.id, timeoutMs: 60_000 }

  await openIndexer().catchUp(boards, { ...options, timeoutMs: 1 }) // of a process that ends meanwhile
  const indexer = openIndexer()
  await indexer.catchUp(boards, options)
  await until(async () => (await pendingRows()) === 0, 'the earlier process has ended its batch, too')
  expect([await indexedCards(owner), await indexedCards(other)]).toEqual([199, 20])
  expect([...(await admin`select board_id, card_id, error from search_set_aside`)]).toEqual([
    { board_id: owner.boardId, card_id: 'c77', error: 'poisoned' },
  ])
  expect(logged).toContainEqual(
    expect.objectContaining({ boardId: owner.boardId, cardId: 'c77', account: owner.id }),
  )
  const before = await tries()

  // A restart that looks at all cards again.
  const again = openIndexer()
  const lookAgain = () => admin`
    insert into search_pending (board_id, workspace_id, changed_at) select id, workspace_id, '1970-01-01' from boards`
  await lookAgain()
  await again.catchUp(boards, options)
  expect([await tries(), await pendingRows(), again.setAside]).toEqual([before, 0, 0])

  // Changed, and still refused: one try.
  const change = (title: string) => admin`
    update card_index set title = ${title}, body = body || 'x', updated_at = clock_timestamp() where card_id = 'c77' and board_id = ${owner.boardId}`
  await change('poison')
  await lookAgain()
  await again.catchUp(boards, options)
  expect([await tries(), await pendingRows(), again.setAside]).toEqual([before + 1, 0, 1])

  await change('mended')
  await again.catchUp(boards, options)
  expect([await indexedCards(owner), await count('select count(*) from search_set_aside')]).toEqual([200, 0])
}, 120_000)

test('[Q26] a poisoned card is set aside alone, and all others of its batch are found within 5 seconds', async () => {
  await testDatabase.admin.unsafe(`alter table search_index add constraint poison check (title <> 'poison')`)
  const [owner, other] = [await makeAccount(), await makeAccount()]
  const loop = openIndexer().start()
  try {
    await addCards(
      owner,
      numbered(240, (n) => ({ title: n === 77 ? 'poison' : `title ${n}` })),
    )
    await addCards(
      other,
      numbered(10, (n) => ({ title: `title ${n}` })),
    )
    const found = async () => [await indexedCards(owner), await indexedCards(other)].join()
    await until(async () => (await found()) === '239,10', 'all others are in the index', 5000)
    await until(
      async () => (await count('select count(*) from search_set_aside')) === 1,
      'it is set aside',
      5000,
    )
  } finally {
    await loop.stop()
  }
})

test('[Q23] a card that is set aside is not found by its older words', async () => {
  const { admin } = testDatabase
  const owner = await makeAccount()
  await addCards(owner, [{ id: 'one', title: 'older' }])
  const indexer = openIndexer()
  const catchUp = () => indexer.catchUp([owner.boardId], { account: owner.id, timeoutMs: 60_000 })
  await catchUp()
  expect(await indexedCards(owner)).toBe(1)
  await admin.unsafe(`alter table search_index add constraint poison check (title <> 'newer')`)
  await admin`update card_index set title = 'newer', updated_at = clock_timestamp()`
  await catchUp()
  expect([await indexedCards(owner), indexer.setAside, await pendingRows()]).toEqual([0, 1, 0])
})

test('[Q24] a search that catches up waits no longer than its time, and nothing is set aside while the index is locked', async () => {
  const owner = await makeAccount()
  await addCards(owner, [{ id: 'one', title: 'one' }])
  const indexer = openIndexer()
  const catchUp = (timeoutMs: number) => indexer.catchUp([owner.boardId], { account: owner.id, timeoutMs })
  await testDatabase.admin.begin(async (tx) => {
    await tx`lock table search_index in access exclusive mode`
    await catchUp(100)
    expect(await pendingRows()).toBeGreaterThan(0)
    await expect(catchUp(20_000)).rejects.toThrow('cannot be reached') // the lock timeout of the pool
  })
  await catchUp(60_000)
  expect([await indexedCards(owner), await pendingRows(), indexer.setAside]).toEqual([1, 0, 0])
  expect(await count('select count(*) from search_set_aside')).toBe(0)
}, 60_000)

test('[Q27] a search waits for what is pending when it comes, not for what is written meanwhile', async () => {
  const owner = await makeAccount()
  await addCards(
    owner,
    numbered(300, () => ({ title: 'word' })),
  )
  await openIndexer().catchUp([owner.boardId], { account: owner.id, timeoutMs: 60_000 })
  expect([await indexedCards(owner), await pendingRows()]).toEqual([300, 0])
  // Somebody who writes all the time: whenever something has been indexed, more is pending.
  await testDatabase.admin.unsafe(`
    create function write_more() returns trigger language plpgsql as $$
    begin
      insert into search_pending (board_id, workspace_id, changed_at) values (old.board_id, old.workspace_id, now());
      return old;
    end $$;
    create trigger write_more after delete on search_pending for each row execute function write_more()`)
  await addCards(owner, [{ id: 'late', title: 'word' }])
  const startMs = performance.now()
  await openIndexer().catchUp([owner.boardId], { account: owner.id, timeoutMs: 10_000 })
  expect(performance.now() - startMs).toBeLessThan(8000)
  expect([await indexedCards(owner), await pendingRows()]).toEqual([301, 1])
}, 90_000)

test('[Q28] an account with little to index does not wait for the long texts of another in the same batch', async () => {
  const { admin } = testDatabase
  await admin.unsafe(`
    create function wait_for_long_texts() returns trigger language plpgsql as $$
    begin
      if new.title = 'long' then perform pg_advisory_xact_lock_shared(42); end if;
      return new;
    end $$;
    create trigger wait before insert on search_index for each row execute function wait_for_long_texts()`)
  const [long, little] = [await makeAccount(), await makeAccount()]
  await addCards(
    long,
    numbered(100, () => ({ title: 'long', body: 'word '.repeat(50) })),
  )
  await addCards(little, [{ id: 'one', title: 'short' }])
  await admin.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(42)`
    const turn = openIndexer().catchUp([long.boardId, little.boardId], {
      account: long.id,
      timeoutMs: 60_000,
    })
    turn.catch(() => undefined) // it ends with the lock timeout when this takes too long
    await until(async () => (await indexedCards(little)) === 1, 'the short text is in the index', 1500)
    expect(await indexedCards(long)).toBe(0)
  })
})

test('[Q29] searches of one account share the turn that waits, and each finds what was written before it', async () => {
  const { admin } = testDatabase
  const owner = await makeAccount()
  const indexer = openIndexer()
  await addCards(owner, [{ id: 'before', title: 'before' }])
  const searching: Promise<void>[] = []
  const search = () =>
    searching.push(indexer.catchUp([owner.boardId], { account: owner.id, timeoutMs: 60_000 }))
  await admin.begin(async (tx) => {
    await tx`lock table search_index in share mode`
    search()
    const isWaiting = async () =>
      (await count(
        `select count(*) from pg_locks where not granted and relation = 'search_index'::regclass`,
      )) > 0
    await until(isWaiting, 'the first search has begun its turn')
    await addCards(owner, [{ id: 'after', title: 'after' }])
    for (let n = 0; n < 20; n++) search()
    await until(() => indexer.queue.waiting > 0, 'another turn waits')
    expect([indexer.queue.running, indexer.queue.waiting]).toEqual([1, 1])
  })
  await Promise.all(searching)
  expect([await indexedCards(owner), await pendingRows()]).toEqual([2, 0])
})

test('[Q290] a turn whose searches have all given up leaves the queue', async () => {
  const accounts = await Promise.all(numbered(6, () => ({})).map(() => makeAccount()))
  for (const account of accounts) await addCards(account, [{ id: 'one', title: 'word' }])
  const indexer = openIndexer()
  const search = (account: Account, timeoutMs: number) =>
    indexer.catchUp([account.boardId], { account: account.id, timeoutMs })
  const [first, ...others] = accounts as [Account, ...Account[]]
  await testDatabase.admin.begin(async (tx) => {
    await tx`lock table search_index in share mode`
    const working = search(first, 60_000)
    working.catch(() => undefined)
    await until(() => indexer.queue.running === 1, 'the first search has its turn')
    const waiting = others.map((account) => search(account, 200))
    await until(() => indexer.queue.waiting === others.length, 'the others wait')
    await Promise.all(waiting)
    expect(indexer.queue.waiting).toBe(0)
  })
  await search(others[0]!, 60_000)
  expect(await indexedCards(others[0]!)).toBe(1)
})

test('[Q290] a search does not wait for what another search of its account waits for', async () => {
  const owner = await makeAccount()
  const small = { ...owner, boardId: randomUUID() }
  await testDatabase.admin`insert into boards (id, workspace_id, name) values (${small.boardId}, ${owner.workspaceId}, 'small')`
  await addCards(small, [{ id: 'one', title: 'word' }])
  await addCards(
    owner,
    numbered(1500, () => ({ title: 'long', body: 'word '.repeat(100) })),
  )
  const indexer = openIndexer()
  const options = { account: owner.id, timeoutMs: 60_000 }
  const long = indexer.catchUp([owner.boardId], options)
  await indexer.catchUp([small.boardId], options)
  expect(await indexedCards(small)).toBe(1)
  expect(await indexedCards(owner)).toBeLessThan(1500)
  await indexer.catchUp([small.boardId], options) // nothing is pending
  expect(await indexedCards(owner)).toBeLessThan(1500)
  await long
  expect(await indexedCards(owner)).toBe(1500)
})
