import { openDatabase } from '../sql/database.ts'
import { startEmbedded } from '../sql/embedded.ts'
import { migrate } from '../sql/migrate.ts'
import { addUser } from '../sql/accounts.ts'
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
const e = await startEmbedded({ dataDir: '/tmp/lat', settings: { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'all' } })
await migrate(e.url)
const db = openDatabase({ url: e.url })
const ids: string[] = []
await db.asSystem(async (tx) => {
  const { workspaceId } = await addUser(tx, { email: randomUUID(), name: 'b', tier: 'pro' })
  for (let i = 0; i < 50; i++) { const [b] = await tx`insert into boards (workspace_id, name) values (${workspaceId}, 'x') returning id`; ids.push(b.id) }
})
const blob = Buffer.alloc(2000)
async function one(n: number) {
  const items = ids.slice(0, n).map((b, i) => ({ n: i, b, k: 'edit', pos: 0, len: 40, actors: [ids[0]] }))
  const t = performance.now()
  await db.commit({ commitId: randomUUID(), freeCardCap: 100, items: JSON.stringify(items), blob, rows: null, groups: null, removed: null })
  return performance.now() - t
}
const raw = postgres(e.adminUrl, { max: 1 })
await raw`create table if not exists t(x int)`
for (const n of [1, 50]) {
  for (let i = 0; i < 50; i++) await one(n)
  const ts: number[] = []; for (let i = 0; i < 300; i++) ts.push(await one(n)); ts.sort((a, b) => a - b); console.log('commit', n, 'p50', ts[150].toFixed(2), 'p90', ts[270].toFixed(2))
}
{ const ts: number[] = []; for (let i = 0; i < 300; i++) { const t = performance.now(); await raw`insert into t values (1)`; ts.push(performance.now() - t) }; ts.sort((a, b) => a - b); console.log('insert p50', ts[150].toFixed(2), 'p90', ts[270].toFixed(2)) }
{ const ts: number[] = []; for (let i = 0; i < 300; i++) { const t = performance.now(); await raw`select 1`; ts.push(performance.now() - t) }; ts.sort((a, b) => a - b); console.log('select p50', ts[150].toFixed(2)) }
const u = new URL(e.adminUrl); u.pathname = '/corkboard'
const adm = postgres(u.href, { max: 1 })
await adm`create extension if not exists pg_stat_statements`
for (const n of [1, 50]) {
await adm`select pg_stat_statements_reset()`
for (let i = 0; i < 300; i++) await one(n)
console.log(n); for (const r of await adm`select left(regexp_replace(query, '\\s+', ' ', 'g'), 90) q, calls, mean_exec_time m, rows from pg_stat_statements order by total_exec_time desc limit 14`) console.log(Number(r.m).toFixed(4), r.calls, r.rows, r.q)
}
await adm.end()
await db.close(); await raw.end(); await e.stop()
