/** Who reaches what, as the database decides it: policies, predicates and the commit function. */
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { openDatabase, type Database } from '../../sql/database.ts'
import { databaseOfFile } from '../support/test-file.ts'
import { isLive, makeWorld, userCount, type Grant, type WorkspacePlan } from './world.ts'

const { testDatabase, database } = await databaseOfFile()

type Access = 'write' | 'read' | null

/** The rule itself, in other words than the database has it. */
function expectedAccess(
  plan: WorkspacePlan[],
  members: Grant[],
  shares: Grant[],
  user: number,
  board: number,
  workspace: number,
  boards: number,
): Access {
  const roleIn = (grants: Grant[], count: number, target: number) =>
    grants.find(([at, who]) => at % count === target && who === user)?.[2]
  const roles = [
    plan[workspace]!.owner === user ? 'editor' : roleIn(members, plan.length, workspace),
    roleIn(shares, boards, board),
  ]
  if (roles.includes('editor')) return 'write'
  return roles.includes('viewer') ? 'read' : null
}

const user = fc.nat({ max: userCount - 1 })
const grants = fc.array(
  fc.tuple(fc.nat({ max: 11 }), user, fc.constantFrom<'editor' | 'viewer'>('editor', 'viewer')),
  { maxLength: 12 },
)
const links = fc.array(
  fc.tuple(fc.nat({ max: 11 }), user, fc.constantFrom<'editor' | 'viewer'>('editor', 'viewer')),
  { maxLength: 4 },
)
const plans = fc.array(
  fc.record({
    owner: user,
    boards: fc.array(fc.record({ trashed: fc.boolean() }), { minLength: 1, maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 3 },
)

test('[A12] in any world of members, shares, links and trash the predicates, the policies and the commit function agree', async () => {
  await fc.assert(
    fc.asyncProperty(plans, grants, grants, links, async (plan, members, given, links) => {
      const { users, boards, workspaces } = await makeWorld(database, plan, members, given, links)
      // A guest of a link has what a share gives.
      const shares = [
        ...given,
        ...links.flatMap((link, n): Grant[] => (isLive(link) ? [[link[0], userCount + n, link[2]]] : [])),
      ]
      const ids = boards.map(({ id }) => id)
      const pairs = users.flatMap((account, u) => boards.map((board, b) => ({ account, u, board, b })))
      const expected = pairs.map(({ u, b, board }) =>
        expectedAccess(plan, members, shares, u, b, board.workspace, boards.length),
      )

      const predicates = await database.asSystem(
        (tx) => tx<{ access: Access }[]>`
          select board_access(q.account, b.id, b.workspace_id) as access
          from unnest(${pairs.map(({ account }) => account)}::uuid[], ${pairs.map(({ board }) => board.id)}::uuid[])
            with ordinality as q(account, board, at)
          join boards b on b.id = q.board
          order by q.at`,
      )
      expect(predicates.map(({ access }) => access)).toEqual(expected)

      const byUser = await Promise.all(
        users.map((account) =>
          database.asUser(account, async (tx) => {
            const seen = async (table: string, column: string) =>
              (
                await tx<
                  { id: string }[]
                >`select ${tx(column)} as id from ${tx(table)} where ${tx(column)} = any (${ids}::uuid[])`
              )
                .map(({ id }) => id)
                .toSorted()
            const visible = await seen('boards', 'id')
            for (const table of [
              'board_documents',
              'card_index',
              'group_index',
              'removed_cards',
              'card_identifiers',
            ])
              expect([table, await seen(table, 'board_id')]).toEqual([table, visible])
            const live = visible.filter((id) => boards.some((board) => board.id === id && !board.trashed))
            expect(await seen('board_identifiers', 'board_id')).toEqual(live)
            const updated = await tx<{ id: string }[]>`
              update boards set name = name where id = any (${ids}::uuid[]) returning id`
            return { visible, updated: updated.map(({ id }) => id) }
          }),
        ),
      )
      const policies = pairs.map(({ u, board }): Access =>
        byUser[u]!.updated.includes(board.id)
          ? 'write'
          : byUser[u]!.visible.includes(board.id)
            ? 'read'
            : null,
      )
      expect(policies).toEqual(expected)

      const answer = (await database.commit({
        commitId: randomUUID(),
        freeCardCap: null,
        items: JSON.stringify(
          pairs.map(({ account, board }, n) => ({
            n,
            board: board.id,
            kind: 'write',
            account,
            op: randomUUID(),
            cause: 'api',
            blob_at: 0,
            blob_bytes: 0,
            adds: 0,
            actors: [],
          })),
        ),
        blob: new Uint8Array(),
        rows: null,
        groups: null,
        removed: null,
      })) as { items: [n: number, outcome: string][] }
      const refused = new Map(answer.items.map(([n, outcome]) => [n, outcome]))
      expect(pairs.map((_, n) => refused.get(n) ?? 'ok')).toEqual(
        pairs.map(({ board }, n) =>
          expected[n] === null
            ? 'missing'
            : expected[n] === 'read'
              ? 'forbidden'
              : board.trashed
                ? 'trashed'
                : 'ok',
        ),
      )

      // Deleting, and creating, are for writers of the workspace; a share is not enough.
      for (const [u, account] of users.entries()) {
        for (const [w, workspace] of workspaces.entries()) {
          const writer = expectedAccess(plan, members, [], u, 0, w, 1) === 'write'
          const create = database.asUser(
            account,
            (tx) => tx`insert into boards (workspace_id, name) values (${workspace}, 'x')`,
          )
          await (writer
            ? expect(create).resolves.toBeDefined()
            : expect(create).rejects.toMatchObject({ code: '42501' }))
          const [board] = boards.filter((one) => one.workspace === w)
          const remove = database.asUser(
            account,
            (tx) => tx`update boards set deleted_at = now() where id = ${board!.id} returning id`,
          )
          if (writer) expect(await remove).toHaveLength(1)
          else if (policies[u * boards.length + boards.indexOf(board!)] === 'write')
            await expect(remove).rejects.toMatchObject({ code: '42501' })
          else expect(await remove).toHaveLength(0)
        }
      }
    }),
    { numRuns: 25 },
  )
}, 90_000)

test('[A13] on one connection, two users by turns 1,000 times see their own rows alone, also after faults and past a commit', async () => {
  const { users, boards } = await makeWorld(
    database,
    [
      { owner: 0, boards: [{ trashed: false }] },
      { owner: 1, boards: [{ trashed: false }] },
    ],
    [],
    [],
  )
  const single = openDatabase({ url: testDatabase.url, poolSize: 1 })
  const pids = new Set<number>()
  const who = (tx: Parameters<Parameters<Database['asUser']>[1]>[0]) =>
    tx<{ role: string; account: string | null; pid: number; seen: string[] }[]>`
      select current_user as role, current_user_id() as account, pg_backend_pid() as pid,
        array(select id from boards order by id) as seen`
  for (let turn = 0; turn < 1000; turn++) {
    const at = turn % 2
    const [row] = await single.asUser(users[at]!, who)
    pids.add(row!.pid)
    expect(row).toMatchObject({ role: 'corkboard_app', account: users[at], seen: [boards[at]!.id] })
    if (turn % 100 === 7) {
      const failing = single.asUser(users[at]!, async (tx) => {
        await tx`select set_config('corkboard.user_id', ${users[1 - at]!}, true)`
        await tx`select 1 / 0`
      })
      await expect(failing).rejects.toMatchObject({ code: '22012' })
    }
    if (turn % 100 === 31)
      expect((await single.asSystem(who))[0]).toMatchObject({ role: 'corkboard_system', account: null })
    if (turn % 100 === 63)
      await single.commit({
        commitId: randomUUID(),
        freeCardCap: null,
        items: '[]',
        blob: new Uint8Array(),
        rows: null,
        groups: null,
        removed: null,
      })
  }
  expect(pids.size).toBe(1)
  const together = await Promise.all(Array.from({ length: 200 }, (_, n) => single.asUser(users[n % 2]!, who)))
  together.forEach(([row], n) => expect(row!.seen).toEqual([boards[n % 2]!.id]))
  await single.close()
})
