/** Access as the database decides it: catalogue, policies, predicates and the commit function. */
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, type Database } from '../../sql/database.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await cloneDatabase()
  database = openDatabase({ url: testDatabase.url })
})
afterAll(async () => {
  await database.close()
  await testDatabase.drop()
})

const ourRoles = ['corkboard_app', 'corkboard_system']

test('[A7] row-level security is enabled and forced on every table of the schema, and none is without a policy', async () => {
  const tables = await testDatabase.admin<Record<string, unknown>[]>`
    select c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced,
      (select count(*)::integer from pg_policy p where p.polrelid = c.oid) as policies
    from pg_class c
    where c.relnamespace = 'corkboard'::regnamespace and c.relkind in ('r', 'p')`
  expect(tables.length).toBeGreaterThan(10)
  expect(tables.filter(({ enabled, forced, policies }) => !enabled || !forced || policies === 0)).toEqual([])
  const others = await testDatabase.admin`
    select relname, relkind from pg_class
    where relnamespace = 'corkboard'::regnamespace and relkind in ('v', 'm', 'f')
      and not coalesce('security_invoker=true' = any (reloptions), false)`
  expect([...others]).toEqual([])
})

test('[A8] the roles of the service cannot log in, are no superuser, bypass no policy, and own no table', async () => {
  const roles = await testDatabase.admin`
    select rolname, rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb from pg_roles where rolname = any (${ourRoles}) order by rolname`
  expect([...roles]).toEqual(
    ourRoles.map((rolname) => ({
      rolname,
      rolsuper: false,
      rolbypassrls: false,
      rolcanlogin: false,
      rolcreaterole: false,
      rolcreatedb: false,
    })),
  )
  const owned = await testDatabase.admin`
    select c.relname from pg_class c join pg_roles r on r.oid = c.relowner
    where r.rolname = any (${ourRoles}) and c.relkind in ('r', 'p', 'v', 'm')`
  expect([...owned]).toEqual([])
  const members = await testDatabase.admin`
    select r.rolname as role, m.rolname as member from pg_auth_members a
    join pg_roles r on r.oid = a.roleid join pg_roles m on m.oid = a.member
    where m.rolname = any (${ourRoles})`
  expect([...members]).toEqual([])
  const [session] = await database.asSystem(
    (tx) => tx<{ super: boolean; bypass: boolean }[]>`
      select rolsuper as super, rolbypassrls as bypass from pg_roles where rolname = session_user`,
  )
  expect(session).toEqual({ super: false, bypass: false })
})

test('[A9] every function pins its search path with pg_temp last, those of the definer belong to corkboard_system, and none is open to the public', async () => {
  const functions = await testDatabase.admin<
    { name: string; definer: boolean; owner: string; settings: string[] | null; open: boolean }[]
  >`
    select p.oid::regprocedure::text as name, p.prosecdef as definer, r.rolname as owner, p.proconfig as settings,
      exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0) as open
    from pg_proc p join pg_roles r on r.oid = p.proowner
    where p.pronamespace = 'corkboard'::regnamespace`
  expect(functions.length).toBeGreaterThan(15)
  expect(functions.filter(({ open }) => open).map(({ name }) => name)).toEqual([])
  const pinned = 'search_path=corkboard, pg_temp'
  expect(functions.filter(({ settings }) => !settings?.includes(pinned)).map(({ name }) => name)).toEqual([])
  const definers = functions.filter(({ definer }) => definer)
  expect(definers.map(({ name }) => name)).toContain(
    'commit_batch(uuid,boolean,integer,json,bytea,json,json,json)',
  )
  expect(new Set(definers.map(({ owner }) => owner))).toEqual(new Set(['corkboard_system']))
})

test('[A10] a request’s role writes boards, files and webhooks alone, by the columns that are its own, and creates nothing', async () => {
  const grants = await testDatabase.admin<{ table_name: string; privilege_type: string }[]>`
    select table_name, privilege_type from information_schema.table_privileges
    where table_schema = 'corkboard' and grantee = 'corkboard_app' and privilege_type <> 'SELECT'`
  expect([...grants]).toEqual([{ table_name: 'webhooks', privilege_type: 'DELETE' }])
  const columns = await testDatabase.admin<
    { privilege_type: string; table_name: string; columns: string[] }[]
  >`
    select privilege_type, table_name, array_agg(column_name::text order by column_name) as columns
    from information_schema.column_privileges
    where table_schema = 'corkboard' and grantee = 'corkboard_app' and privilege_type <> 'SELECT'
    group by 1, 2 order by 1, 2`
  const common = [
    'day_label',
    'identifiers',
    'name',
    'parent_board_id',
    'props',
    'scheduled_date',
    'scheduled_end',
    'view',
  ]
  expect([...columns]).toEqual([
    { privilege_type: 'INSERT', table_name: 'boards', columns: [...common, 'workspace_id'].toSorted() },
    {
      privilege_type: 'INSERT',
      table_name: 'images',
      columns: [
        'board_id',
        'bytes',
        'content_type',
        'file_name',
        'height',
        'image_key',
        'width',
        'workspace_id',
      ],
    },
    {
      privilege_type: 'INSERT',
      table_name: 'webhooks',
      columns: ['events', 'id', 'name', 'secret', 'url', 'workspace_id'],
    },
    { privilege_type: 'UPDATE', table_name: 'boards', columns: [...common, 'deleted_at'].toSorted() },
    { privilege_type: 'UPDATE', table_name: 'webhooks', columns: ['active', 'events', 'name', 'url'] },
  ])
  const [may] = await testDatabase.admin`
    select has_schema_privilege('corkboard_app', 'corkboard', 'create') as app,
      has_schema_privilege('corkboard_system', 'corkboard', 'create') as system,
      has_schema_privilege('public', 'corkboard', 'usage') as everybody`
  expect(may).toEqual({ app: false, system: false, everybody: false })
})

test('[A11] without a user a request’s role sees no row of any table', async () => {
  const tables = await testDatabase.admin<{ table: string }[]>`
    select distinct table_name as table from information_schema.column_privileges
    where table_schema = 'corkboard' and grantee = 'corkboard_app' and privilege_type = 'SELECT'`
  await makeWorld([{ owner: 0, boards: [{ trashed: false }] }], [], [])
  for (const user of ['', randomUUID()]) {
    for (const { table } of tables) {
      const [row] = await database.asUser(
        user,
        (tx) => tx<{ count: number }[]>`select count(*)::integer as count from ${tx(table)}`,
      )
      expect([table, row]).toEqual([table, { count: 0 }])
    }
  }
})

// ---- worlds: users, workspaces with boards, members and shares

interface WorkspacePlan {
  owner: number
  boards: { trashed: boolean }[]
}
type Grant = [target: number, user: number, role: 'editor' | 'viewer']

interface World {
  users: string[]
  workspaces: string[]
  boards: { id: string; workspace: number; trashed: boolean }[]
}

const userCount = 5

async function makeWorld(plan: WorkspacePlan[], members: Grant[], shares: Grant[]): Promise<World> {
  return database.asSystem(async (tx) => {
    const users = Array.from({ length: userCount }, () => randomUUID())
    for (const id of users) await tx`insert into users (id, email, tier) values (${id}, ${id}, 'pro')`
    const workspaces: string[] = []
    const boards: World['boards'] = []
    for (const [at, { owner, boards: planned }] of plan.entries()) {
      const workspace = randomUUID()
      workspaces.push(workspace)
      await tx`insert into workspaces (id, name, owner_id) values (${workspace}, 'w', ${users[owner]!})`
      for (const { trashed } of planned) {
        const id = randomUUID()
        boards.push({ id, workspace: at, trashed })
        await tx`
          insert into boards (id, workspace_id, name, deleted_at, identifiers)
          values (${id}, ${workspace}, 'b', ${trashed ? new Date() : null}, ${tx.json([{ scope: 's', value: id }])})`
      }
    }
    for (const [workspace, user, role] of members) {
      const target = workspaces[workspace % workspaces.length]!
      await tx`
        insert into workspace_members (workspace_id, user_id, role)
        select ${target}, ${users[user]!}, ${role} from workspaces where id = ${target} and owner_id <> ${users[user]!}
        on conflict do nothing`
    }
    for (const [board, user, role] of shares) {
      const target = boards[board % boards.length]
      if (target) {
        await tx`
          insert into board_shares (board_id, user_id, role) values (${target.id}, ${users[user]!}, ${role})
          on conflict do nothing`
      }
    }
    for (const { id } of boards) {
      await tx`
        insert into card_index (board_id, card_id, workspace_id, kind, x, y, w, h, z, rotation, hash, position, op, cause, created_at, updated_at, identifiers)
        select id, 'c', workspace_id, 'note', 0, 0, 1, 1, 0, 0, '', 0, gen_random_uuid(), 'api', now(), now(), identifiers from boards where id = ${id}`
      await tx`
        insert into group_index (board_id, group_id, workspace_id, name, shape, outline, hash, position, created_at, updated_at)
        select id, 'g', workspace_id, 'g', 'box', true, '', 0, now(), now() from boards where id = ${id}`
      await tx`
        insert into removed_cards (restore_token, board_id, workspace_id, card_id, state, removed_at)
        select gen_random_uuid(), id, workspace_id, 'r', '', now() from boards where id = ${id}`
    }
    return { users, workspaces, boards }
  })
}

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
const plans = fc.array(
  fc.record({
    owner: user,
    boards: fc.array(fc.record({ trashed: fc.boolean() }), { minLength: 1, maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 3 },
)

test('[A12] in any world of members, shares and trash the predicates, the policies and the commit function agree', async () => {
  await fc.assert(
    fc.asyncProperty(plans, grants, grants, async (plan, members, shares) => {
      const { users, boards, workspaces } = await makeWorld(plan, members, shares)
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
})

test('[A13] on one connection, two users by turns 1,000 times see their own rows alone, also after faults and past a commit', async () => {
  const { users, boards } = await makeWorld(
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

test('[A14] the transaction helper is the only way to a connection: nothing outside sql/ has the driver, and the helper hands out no client', async () => {
  const root = join(import.meta.dirname, '../..')
  const folders = ['core', 'platform', 'sql', 'collab', 'api', 'workers', 'server']
  const using: string[] = []
  for (const folder of folders) {
    for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts')) continue
      const path = join(entry.parentPath, entry.name)
      const source = await readFile(path, 'utf8')
      if (/(from|import\(|require\()\s*['"](postgres|pg|pg-[^'"]*)(\/[^'"]*)?['"]/.test(source))
        using.push(path.slice(root.length + 1))
    }
  }
  expect(using).toContain('sql/database.ts')
  expect(using.filter((path) => !path.startsWith('sql/'))).toEqual([])
  expect(Object.keys(database).toSorted()).toEqual([
    'asSystem',
    'asUser',
    'callAsSystem',
    'close',
    'commit',
    'listen',
    'lock',
    'notify',
    'onTokensEnded',
    'openSession',
    'search',
    'takesWrites',
  ])
  for (const call of [database.callAsSystem, database.search])
    await call((tag) => {
      expect(Object.keys(tag)).toEqual([]) // a statement, and nothing else of the client
      return tag`select 1`
    })

  const source = await readFile(join(root, 'sql/database.ts'), 'utf8')
  // All pools are opened in one place, with the role of a request; but for those of the service's own statements, and
  // its session.
  expect(source.match(/postgres\(options/g)).toHaveLength(1)
  expect(source).toMatch(/const open = \(max: number, bounds: Patience, role = requestRole, more = {}\)/)
  expect(source).toMatch(/const requestRole = 'corkboard_app'/)
  expect(source.match(/open\([^()]*'corkboard_system'/g)).toHaveLength(3)
  expect(source).not.toMatch(/export[^\n]*\bsql\b/)
})
