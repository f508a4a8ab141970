/** Commits of new cards alone (sql/functions/commit-creates.sql). */
import { randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { CommitCall } from '../../sql/commit-call.ts'
import { until } from '../support/editor.ts'
import type { TestUser } from '../support/service.ts'
import { gatedServiceOfFile } from '../support/test-file.ts'

// Without workers the outbox and the list of words to index keep their rows.
const { service, database: gated, user } = await gatedServiceOfFile({ workers: false })

interface Item {
  n: number
  board: string
  op: string
  account: string
  clock: number
  seen: number | null
  creates?: boolean
  operation: { request_id: string; key: { id: string } | null }
}

interface Answer {
  boards: unknown[][]
  items: unknown[]
  times: unknown
}

const itemsOf = (call: CommitCall) => JSON.parse(call.items) as Item[]

const card = (x: number, more: object = {}) => ({ kind: 'note', title: `card ${x}`, x, y: 0, ...more })

/** A board with one card. So the queue knows its counters, which are the same as those of all such boards. */
async function makeBoard(owner = user): Promise<string> {
  const { body } = await owner.api.post('/boards', { name: 'Board' })
  await owner.api.post(`/boards/${body.board.id}/cards`, card(0))
  return body.board.id
}

/** A commit of three writes on two boards, as the service makes it. Tests send copies of it for their own boards. */
async function takeSample(): Promise<{ call: CommitCall; boards: string[] }> {
  const [aside, one, two] = [await makeBoard(), await makeBoard(), await makeBoard()]
  const post = (board: string, body: object, headers = {}) =>
    user.api.post(`/boards/${board}/cards`, body, headers)
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
  const earlier = gated.calls.length
  gated.hold()
  const first = post(aside, card(0))
  await until(() => gated.calls.length > earlier, 'the first commit')
  const sent = [
    post(one, card(1), trace),
    post(one, { cards: [card(2, { z: 7 }), card(3, { body: 'words', url: 'https://example.com' })] }),
    post(two, { cards: [card(4), card(5), card(6)] }, { 'idempotency-key': randomUUID() }),
  ]
  await until(() => service.live.queue.counts().writes === sent.length, 'the writes in the queue')
  gated.release()
  const answers = await Promise.all([first, ...sent])
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
  const call = gated.calls[earlier + 1]!
  // On a very busy machine they may take two commits.
  return itemsOf(call).length === sent.length ? { call, boards: [one, two] } : takeSample()
}

const sample = await takeSample()

/** The sample for other boards, under other ids. */
function copyFor(boards: string[], change: (item: Item) => Partial<Item> = () => ({})): CommitCall {
  let items = sample.call.items
  for (const [at, from] of sample.boards.entries()) items = items.replaceAll(from, boards[at]!)
  const copied = (JSON.parse(items) as Item[]).map((item) => {
    const key = item.operation.key && { ...item.operation.key, id: randomBytes(32).toString('hex') }
    return { ...item, op: randomUUID(), operation: { ...item.operation, key }, ...change(item) }
  })
  return { ...sample.call, commitId: randomUUID(), items: JSON.stringify(copied) }
}

const commit = (call: CommitCall, options = {}) => gated.commit(call, options) as Promise<Answer>

/** All that a commit writes about these boards, without times and ids of its own. */
async function written(boards: string[], call: CommitCall): Promise<object> {
  const { admin } = service
  const ops = itemsOf(call).map(({ op }) => op)
  const tables = {
    documents: await admin`
      select board_id, seq, api_clock, top_z, indexed_seq, card_count, log_rows, is_counted,
        log_bytes = (select sum(octet_length(updates)) from board_updates u where u.board_id = d.board_id) as are_all_bytes
      from board_documents d where board_id = any (${boards}::uuid[]) order by board_id`,
    log: await admin`
      select board_id, seq, encode(updates, 'hex') as updates, actors, causes
      from board_updates where board_id = any (${boards}::uuid[]) and seq = 2 order by board_id`,
    cards: await admin`
      select to_jsonb(c) - array['created_at', 'updated_at'] as card, created_at = updated_at as same
      from card_index c where board_id = any (${boards}::uuid[]) and op = any (${ops}::uuid[]) order by board_id, card_id`,
    events: await admin`
      select to_jsonb(e) - array['id', 'occurred_at'] as event
      from events e where op = any (${ops}::uuid[]) order by board_id, card_ids`,
    pending: await admin`
      select p.board_id, p.workspace_id, p.after
      from search_pending p join board_documents d using (board_id)
      where board_id = any (${boards}::uuid[]) and p.changed_at = d.changed_at order by board_id, id`,
    audit: await admin`
      select to_jsonb(a) - array['id', 'occurred_at'] as entry
      from audit_operations a where request_id = any (${requestIds(call)}) and resource_ids && ${boards}::text[]
      order by resource_ids, request_id`,
    keys: await admin`
      select encode(fingerprint, 'hex') as fingerprint, user_id, attempt, result
      from idempotency_keys where encode(id, 'hex') = any (${itemsOf(call).flatMap(({ operation }) => operation.key?.id ?? [])})`,
  }
  let text = JSON.stringify(tables)
  for (const [n, id] of boards.entries()) text = text.replaceAll(id, `board ${n}`)
  for (const [n, { op }] of itemsOf(call).entries()) text = text.replaceAll(op, `op ${n}`)
  return JSON.parse(text)
}

const requestIds = (call: CommitCall) => itemsOf(call).map(({ operation }) => operation.request_id)

test('[S30] a commit of new cards alone leaves the same log, counters, index, events, words to index, audit and keys as one that decides each item', async () => {
  expect(itemsOf(sample.call).map(({ creates }) => creates)).toEqual([true, true, true])
  const outcomes: object[] = []
  for (const creates of [true, false]) {
    const boards = [await makeBoard(), await makeBoard()].toSorted() // rows are read in the order of ids
    const call = copyFor(boards, () => ({ creates }))
    const answer = await commit(call)
    const heads = answer.boards.map(([board, seq, indexed, , clock, top, rows]) => {
      return { board: boards.indexOf(board as string), seq, indexed, clock, top, rows }
    })
    const { items, times } = answer
    outcomes.push({ ...(await written(boards, call)), heads: heads.toSorted((x, y) => x.board - y.board), items, times }) // prettier-ignore
    expect(await commit(call, { again: true })).toEqual(answer)
  }
  expect(outcomes[0]).toEqual(outcomes[1])
  expect(outcomes[0]).toMatchObject({
    documents: expect.arrayContaining([
      expect.objectContaining({ seq: 2, indexed_seq: 2, card_count: 4, log_rows: 2, are_all_bytes: true }),
      expect.objectContaining({ seq: 2, indexed_seq: 2, card_count: 4, log_rows: 2, are_all_bytes: true }),
    ]),
    events: expect.arrayContaining([
      { event: expect.objectContaining({ trace: '0af7651916cd43dd8448eb211c80319c-01' }) },
    ]),
    pending: [{}, {}],
    audit: [{}, {}, {}],
    keys: [{ result: [expect.any(String), expect.any(String), expect.any(String)] }],
  })
})

const stranger = await service.user()
const viewer = await service.user()
await service.member(user.workspaceId, viewer, 'viewer')
const free = await service.user({ tier: 'free' })
await service.member(free.workspaceId, user, 'editor')
const other = randomUUID()

const refusals: {
  what: string
  owner?: TestUser
  before?: (board: string) => Promise<unknown>
  change?: (item: Item) => Partial<Item>
  outcome: string
}[] = [
  {
    what: 'the board is in the trash',
    before: (board) => user.api.delete(`/boards/${board}`),
    outcome: 'trashed',
  },
  { what: 'a stranger writes', change: () => ({ account: stranger.userId }), outcome: 'missing' },
  { what: 'a viewer writes', change: () => ({ account: viewer.userId }), outcome: 'forbidden' },
  { what: 'the clock has passed', change: ({ clock }) => ({ clock: clock - 1 }), outcome: 'again' },
  { what: 'the board has changed', change: () => ({ seen: 0 }), outcome: 'again' },
  { what: 'the owner has no room for cards', owner: free, outcome: 'limit' },
  { what: 'there is no such board', before: (board) => service.admin`delete from boards where id = ${board}`, outcome: 'missing' }, // prettier-ignore
  {
    what: 'another node has reserved the board',
    before: (board) => service.admin`
      update board_documents set reserved_by = ${other}, reserved_until = clock_timestamp() + interval '2 seconds'
      where board_id = ${board}`,
    outcome: 'busy',
  },
]

for (const { what, owner = user, before, change, outcome } of refusals)
  test(`[S31] of new cards in one commit, a write is refused alone when ${what}`, async () => {
    const boards = [await makeBoard(), await makeBoard(owner)]
    await before?.(boards[1]!)
    const call = copyFor(boards, (item) => (item.board === boards[1] ? (change?.(item) ?? {}) : {}))
    const [refused] = itemsOf(call).filter(({ board }) => board === boards[1])
    expect(itemsOf(call).every(({ creates }) => creates)).toBe(true)
    const answer = await commit({ ...call, freeCardCap: 1 })
    expect(answer.items).toEqual([[refused!.n, outcome, outcome === 'limit' ? 1 : null]])
    const rows = await service.admin`
      select board_id, title from card_index where board_id = any (${boards}::uuid[]) and title <> 'card 0' order by title`
    expect(rows.map(({ title }) => title)).toEqual(['card 1', 'card 2', 'card 3'])
  })

test('[S32] cards that plain SQL inserts after such a commit, in its transaction too, fire their event and are counted', async () => {
  const boards = [await makeBoard(), await makeBoard()]
  const { commitId, freeCardCap, items, blob, rows } = copyFor(boards)
  await service.admin.begin(async (tx) => {
    await tx`set local search_path = corkboard`
    await tx`
      select commit_batch(
        ${commitId}, false, ${freeCardCap}, ${items}::text::json, ${Buffer.concat(blob as Uint8Array[])},
        ${(rows as string[]).join('')}::text::json, null, null
      )`
    await tx`
      insert into card_index (board_id, card_id, workspace_id, kind, x, y, w, h, z, rotation, hash, position, op, cause, created_at, updated_at)
      select id, 'plain', workspace_id, 'note', 0, 0, 1, 1, 0, 0, 'h', 1, ${randomUUID()}, 'editor', now(), now()
      from boards where id = ${boards[1]!}`
  })
  const events = await service.admin`
    select card_ids from events where board_id = ${boards[1]!} and type = 'card.created' order by id`
  expect(events).toHaveLength(3)
  expect(events[2]).toEqual({ card_ids: ['plain'] })
  const [document] =
    await service.admin`select card_count from board_documents where board_id = ${boards[1]!}`
  expect(document).toEqual({ card_count: 5 })
})
