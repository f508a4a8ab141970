import { startEmbedded } from '../sql/embedded.ts'
import { migrate } from '../sql/migrate.ts'
import { compose } from '../server/compose.ts'
import { readConfig } from '../server/config.ts'
import { addUser } from '../sql/accounts.ts'
import { mintToken } from '../sql/tokens.ts'
import postgres from 'postgres'
const e = await startEmbedded({ dataDir: '/tmp/lat', settings: { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'all' } })
await migrate(e.url)
const s = await compose({ ...readConfig({ PORT: '0', LOG_LEVEL: 'error', RATE_LIMIT_PER_HOUR: '100000000' }) }, e.url)
const { token, ws } = await s.database.asSystem(async (tx) => { const u = await addUser(tx, { email: crypto.randomUUID(), name: 'x', tier: 'pro' }); return { ws: u.workspaceId, token: (await mintToken(tx, { userId: u.userId, name: 't', scopes: ['read', 'write', 'delete'] })).token } })
const H = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
const post = async (p: string, b: any) => (await fetch(s.url + '/api/v1' + p, { method: 'POST', headers: H, body: JSON.stringify(b) })).json() as any
const id = (await post('/boards', { name: 'x' })).board.id
const u = new URL(e.adminUrl); u.pathname = '/corkboard'
const adm = postgres(u.href, { max: 1 })
await adm`create extension if not exists pg_stat_statements`
const show = async (n: number) => { for (const r of await adm`select left(regexp_replace(query, '\\s+', ' ', 'g'), 110) q, calls, mean_exec_time m, rows from pg_stat_statements order by total_exec_time desc limit ${n}`) console.log(Number(r.m).toFixed(4), r.calls, r.rows, r.q); await adm`select pg_stat_statements_reset()` }
const card = (n: number) => ({ kind: 'note', title: 't ' + n, body: 'b ' + n, x: n, y: n })
for (let i = 0; i < 40; i++) { const t = performance.now(); await post(`/boards/${id}/cards`, { cards: Array.from({ length: 1000 }, (_, n) => card(n)) }); console.log('1000:', (performance.now() - t).toFixed(1)) }
await show(8)
for (let r = 0; r < 6; r++) { const t = performance.now(); await Promise.all(Array.from({ length: 32 }, async () => { for (let i = 0; i < 20; i++) await post(`/boards/${id}/cards`, card(i)) })); console.log('640 singles:', (performance.now() - t).toFixed(1)) }
await show(14)
await adm.end(); await s.close(); await e.stop(); process.exit(0)
