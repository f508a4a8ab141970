/** What the roles of the service may do in the database. */
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { databaseOfFile } from '../support/test-file.ts'
import { makeWorld } from './world.ts'

const { testDatabase, database } = await databaseOfFile()

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

test('[A10] a request’s role writes boards, files, webhooks, names of versions and what is read alone, by the columns that are its own, and creates nothing', async () => {
  const grants = await testDatabase.admin<{ table_name: string; privilege_type: string }[]>`
    select table_name, privilege_type from information_schema.table_privileges
    where table_schema = 'corkboard' and grantee = 'corkboard_app' and privilege_type <> 'SELECT'`
  expect([...grants].toSorted((a, b) => (a.table_name < b.table_name ? -1 : 1))).toEqual([
    { table_name: 'board_versions', privilege_type: 'DELETE' },
    { table_name: 'webhooks', privilege_type: 'DELETE' },
  ])
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
    { privilege_type: 'UPDATE', table_name: 'board_versions', columns: ['name'] },
    { privilege_type: 'UPDATE', table_name: 'boards', columns: [...common, 'deleted_at'].toSorted() },
    { privilege_type: 'UPDATE', table_name: 'notifications', columns: ['read_at'] },
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
  await makeWorld(database, [{ owner: 0, boards: [{ trashed: false }] }], [], [])
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

test('[A14] the transaction helper is the only way to a connection: nothing outside sql/ has the driver, and the helper hands out no client', async () => {
  const root = join(import.meta.dirname, '../..')
  const folders = ['core', 'platform', 'sql', 'collab', 'api', 'workers', 'server']
  const using: string[] = []
  const opening: string[] = []
  for (const folder of folders) {
    for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts')) continue
      const path = join(entry.parentPath, entry.name)
      const source = await readFile(path, 'utf8')
      if (/(from|import\(|require\()\s*['"](postgres|pg|pg-[^'"]*)(\/[^'"]*)?['"]/.test(source))
        using.push(path.slice(root.length + 1))
      if (/from '[./\w]*\/pools\.ts'/.test(source)) opening.push(path.slice(root.length + 1))
    }
  }
  expect(using).toContain('sql/database.ts')
  expect(opening).toEqual(['sql/database.ts'])
  expect(using.filter((path) => !path.startsWith('sql/'))).toEqual([])
  expect(Object.keys(database).toSorted()).toEqual([
    'asSystem',
    'asUser',
    'callAsSystem',
    'close',
    'commit',
    'listen',
    'lock',
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

  const [helper, pools] = await Promise.all(
    ['database.ts', 'pools.ts'].map((name) => readFile(join(root, 'sql', name), 'utf8')),
  )
  // All pools are opened in one place, with the role of a request; but for those of the service's own statements, and
  // its session.
  expect(pools!.match(/\bpostgres\(/g)).toHaveLength(1)
  expect(pools).toMatch(
    /const open = \(url: string, max: number, bounds: Patience, role = requestRole, more = {}\)/,
  )
  expect(pools).toMatch(/const requestRole = 'corkboard_app'/)
  expect(pools).toMatch(/const systemRole = 'corkboard_system'/)
  expect(pools).toMatch(
    /const pool = \(max: number, bounds: Patience, role = requestRole, write_soon = sendSoon\)/,
  )
  expect(pools!.match(/\b(open|pool)\([^()]*systemRole/g)).toHaveLength(3)
  expect(helper).not.toMatch(/\bpostgres\(/)
  expect(helper).not.toMatch(/export[^\n]*\bsql\b/)
})
