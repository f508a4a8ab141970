import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Difference } from '../../collab/log/difference.ts'
import { repairBoard, verifyBoard } from '../../collab/log/verify.ts'
import { makeBoard, makeCards } from '../api/board.ts'
import { openEditor, until } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

let service: TestService
let user: TestUser

beforeAll(async () => {
  service = await startService({ debounceMs: 20 })
  user = await service.user()
})
afterAll(() => service.stop())

/** A board with cards of the API and of an editor, identifiers, a group and a card from another board; all is indexed. */
async function fullBoard(): Promise<string> {
  const [id, other] = [(await makeBoard(user)).id, (await makeBoard(user)).id]
  const identifiers = [{ scope: 'test', value: id }]
  await makeCards(user, id, [{ title: 'First', identifiers }, { body: 'some words' }, { z: 7 }])
  await user.api.post(`/boards/${id}/groups`, { name: 'A group' })
  const [elsewhere] = await makeCards(user, other, [{ title: 'From elsewhere' }])
  const target = { to_board_id: id, card_ids: [elsewhere!.id] }
  expect((await user.api.post(`/boards/${other}/cards/move`, target)).status).toBe(200)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  editor.addCard('by-editor', { title: 'By an editor' })
  await editor.saved()
  editor.leave()
  await wordsIndexed(id)
  expect(await verifyBoard(service.database, id)).toEqual([])
  return id
}

const wordsIndexed = (id: string) =>
  until(async () => {
    const [pending] = await service.admin`select from search_pending where board_id = ${id}`
    return !pending
  }, 'the words are indexed')

const look = async (id: string) => short(await verifyBoard(service.database, id, { waitMs: 0 }))
const short = (differences: Difference[]) =>
  differences.map(({ what, id, fault }) => [what, id, fault].filter(Boolean).join(' '))

test('[IX2] verify sees what differs in all that is derived from the documents, and a repair mends it', async () => {
  const id = await fullBoard()
  const { admin } = service
  const [first, second] = await admin`
    select card_id as id from card_index where board_id = ${id} and cause = 'api' order by x, card_id`
  const tamperings: [string, () => Promise<unknown>, string[]][] = [
    [
      'identifiers gone',
      () => admin`delete from card_identifiers where board_id = ${id}`,
      [`card ${first!['id']} stale`],
    ],
    [
      'identifiers invented',
      () => admin`
        insert into card_identifiers (board_id, card_id, workspace_id, scope, value)
        select board_id, card_id, workspace_id, 'a', 'b' from card_index where board_id = ${id} and card_id = ${second!['id']}`,
      [`card ${second!['id']} stale`],
    ],
    [
      'top_z',
      () => admin`update board_documents set top_z = 1 where board_id = ${id}`,
      ['count top_z stale'],
    ],
    [
      'api_clock back',
      () => admin`update board_documents set api_clock = api_clock - 3 where board_id = ${id}`,
      ['count api_clock stale'],
    ],
    [
      'api_clock ahead',
      () => admin`update board_documents set api_clock = api_clock + 3 where board_id = ${id}`,
      ['count api_clock stale'],
    ],
    [
      'log_rows',
      () => admin`update board_documents set log_rows = 0 where board_id = ${id}`,
      ['count log_rows stale'],
    ],
    [
      'log_bytes',
      () => admin`update board_documents set log_bytes = log_bytes + 1 where board_id = ${id}`,
      ['count log_bytes stale'],
    ],
    [
      'card_count',
      () => admin`update board_documents set card_count = 99 where board_id = ${id}`,
      ['count card_count stale'],
    ],
    [
      'is_counted',
      () => admin`update board_documents set is_counted = false where board_id = ${id}`,
      ['count is_counted stale'],
    ],
    [
      'words gone',
      () => admin`delete from search_index where board_id = ${id} and card_id = 'by-editor'`,
      ['search by-editor stale'],
    ],
    [
      'words other',
      () => admin`update search_index set body = 'x' where board_id = ${id} and card_id = 'by-editor'`,
      ['search by-editor stale'],
    ],
    [
      'name other',
      () => admin`update search_index set title = 'x' where board_id = ${id} and card_id = ''`,
      ['search stale'],
    ],
    [
      'older',
      () =>
        admin`update card_index set created_at = created_at - interval '1 day' where board_id = ${id} and card_id = ${first!['id']}`,
      [`card ${first!['id']} stale`],
    ],
    [
      'younger',
      () =>
        admin`update card_index set created_at = created_at + interval '1 ms' where board_id = ${id} and card_id = ${first!['id']}`,
      [`card ${first!['id']} stale`],
    ],
    [
      'an older one of an editor',
      () =>
        admin`update card_index set created_at = created_at - interval '1 day' where board_id = ${id} and card_id = 'by-editor'`,
      ['card by-editor stale'],
    ],
    [
      'a younger one of an editor',
      () =>
        admin`update card_index set created_at = updated_at + interval '1 day' where board_id = ${id} and card_id = 'by-editor'`,
      ['card by-editor stale'],
    ],
    [
      'a row',
      () => admin`update card_index set title = 'x' where board_id = ${id} and card_id = 'by-editor'`,
      ['card by-editor stale'],
    ],
  ]
  const [{ count }] = (await admin`select count(*) from events where board_id = ${id}`) as unknown as [
    { count: string },
  ]
  for (const [name, tamper, expected] of tamperings) {
    await tamper()
    await wordsIndexed(id)
    expect([name, await look(id)]).toEqual([name, expected])
    expect([name, short(await repairBoard(service.database, id))]).toEqual([name, expected])
    await wordsIndexed(id)
    expect([name, await look(id)]).toEqual([name, []])
  }
  // A tampering with words is an event of its own; the repairs have none.
  const [after] = await admin`select count(*) from events where board_id = ${id}`
  expect(Number(after!['count']) - Number(count)).toBeLessThanOrEqual(1)
})

test('[IX3] damage of the log is a fault of its own, and a repair leaves such a board alone', async () => {
  const { admin } = service
  const damages: [string, (id: string) => Promise<unknown>, RegExp][] = [
    [
      'a missing row',
      (id) => admin`delete from board_updates where board_id = ${id} and seq = 2`,
      /^log 2 missing$/,
    ],
    [
      'missing rows',
      (id) => admin`delete from board_updates where board_id = ${id} and seq in (1, 2)`,
      /^log 1-2 missing$/,
    ],
    [
      'a cut row',
      (id) =>
        admin`update board_updates set updates = substring(updates for 20) where board_id = ${id} and seq = 1`,
      /^log 1 unreadable$/,
    ],
    [
      'a changed row',
      (id) =>
        admin`update board_updates set updates = set_byte(updates, 4, 255) where board_id = ${id} and seq = 1`,
      /^log 1 unreadable$/,
    ],
    [
      'no newest row',
      (id) =>
        admin`delete from board_updates u using board_documents d where d.board_id = u.board_id and u.seq = d.seq and u.board_id = ${id}`,
      /^log \d+ missing$/,
    ],
  ]
  for (const [name, damage, expected] of damages) {
    const id = await fullBoard()
    const rows = () => admin`select * from card_index where board_id = ${id} order by card_id`
    const before = await rows()
    await damage(id)
    const found = await look(id)
    expect([name, found.filter((one) => expected.test(one)).length]).toEqual([name, 1])
    expect([name, await repairBoard(service.database, id)]).toEqual([name, []])
    expect([name, await rows()]).toEqual([name, before])
    expect([name, await look(id)]).toEqual([name, found])
  }
})

test('[IX3] structs that wait for a row that is gone are a fault', async () => {
  const id = await fullBoard()
  await service.admin`delete from board_updates where board_id = ${id} and seq = 1`
  expect(await look(id)).toEqual(expect.arrayContaining(['log 1 missing', 'log pending']))
})
