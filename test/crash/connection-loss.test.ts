/** Terminates backends and kills PostgreSQL under load. The service must survive, answer, and lose nothing. */
import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ServiceError } from '../../core/errors.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { gatedDatabase, type GatedDatabase } from '../support/gated-database.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { Load } from './load.ts'
import { Random } from './random.ts'
import { ServiceProcess } from '../support/service-process.ts'

/** Conditions on pg_stat_activity, which choose the backends to terminate. */
const aims = {
  any: `true`,
  idle: `state = 'idle'`,
  active: `state = 'active'`,
  'in a transaction': `state = 'idle in transaction'`,
  'in a commit call': `state = 'active' and query like '%commit_batch%'`,
  'flushing a commit': `state = 'active' and wait_event in ('WalSync', 'WALWrite', 'WalWrite')`,
}
type Aim = keyof typeof aims
const terminations = 200

describe('a service of its own', () => {
  let service: ServiceProcess
  let random: Random
  let load: Load

  beforeAll(async () => {
    service = await ServiceProcess.make()
    service.launch()
    await service.ready()
    random = new Random(1)
    load = await Load.make(service, random)
  })

  afterAll(async () => {
    load?.leave()
    await service.remove()
  })

  test(
    `[L1] ${terminations} terminated backends: every request succeeds or is 503, none hangs, nothing acknowledged is lost`,
    { timeout: 120_000 },
    async () => {
      const admin = await service.withDatabase(async (_database, { adminUrl }) =>
        postgres(adminUrl, { max: 1, onnotice: () => undefined }),
      )
      const hits = new Map<Aim, number>()
      const progress = () => load.figures.acknowledged + load.figures.written
      await load.start()
      try {
        for (let done = 0; done < terminations;) {
          const aim = random.pick(Object.keys(aims) as Aim[])
          const before = progress()
          const hit = await admin.unsafe(`
            select pg_terminate_backend(pid)
            from pg_stat_activity
            where application_name = 'corkboard' and ${aims[aim]}
            order by random()
            limit 1`)
          if (hit.length === 0) continue
          done += 1
          hits.set(aim, (hits.get(aim) ?? 0) + 1)
          // Without a pause between kills, no connection would live long enough to do any work.
          await until(() => progress() > before, 'the service goes on')
          await delay(random.between(0, 50))
        }
      } finally {
        await admin.end()
      }
      expect(await load.stop()).toEqual([])
      expect(await load.check()).toEqual([])
      expect(service.isAlive, service.output).toBe(true)
      for (const aim of Object.keys(aims) as Aim[]) expect(hits.get(aim), aim).toBeGreaterThan(0)
      const { acknowledged, written } = load.figures
      expect(Math.min(acknowledged, written)).toBeGreaterThan(100)
    },
  )

  test(
    '[L2] PostgreSQL is killed again and again: the process lives and says so, and is ready by itself when it is over',
    { timeout: 120_000 },
    async () => {
      await load.start()
      const answers = { healthz: new Set<number>(), readyz: new Set<number>() }
      const over = new AbortController()
      const watching = (Object.keys(answers) as (keyof typeof answers)[]).map(async (path) => {
        while (!over.signal.aborted) {
          const answer = await fetch(`${service.url}/${path}`, { signal: AbortSignal.timeout(20_000) })
          await answer.text()
          answers[path].add(answer.status)
          await delay(20)
        }
      })
      const killUntil = performance.now() + 6000
      for (let n = 0; performance.now() < killUntil; n++) {
        await service.killPostgres(n % 2 ? 'all' : 'postmaster')
        await service.postgresBack()
      }
      const backAt = performance.now()
      await service.ready()
      // A driver may wait longer between attempts the longer the database was down. This one must not.
      expect(performance.now() - backAt).toBeLessThan(2000)
      over.abort()
      await Promise.all(watching)
      expect(await load.stop()).toEqual([])
      expect(await load.check()).toEqual([])
      expect(service.isAlive, service.output).toBe(true)
      expect([...answers.healthz]).toEqual([200])
      expect([...answers.readyz].sort((a, b) => a - b)).toEqual([200, 503])
    },
  )
})

describe('editors that come while the database is away', () => {
  let testDatabase: TestDatabase
  let database: GatedDatabase
  let service: TestService
  let user: TestUser
  let boardId: string

  beforeAll(async () => {
    testDatabase = await cloneDatabase()
    database = gatedDatabase(testDatabase.url)
    service = await startService({ testDatabase, database, workers: false, editDeadlineMs: 500 })
    user = await service.user()
    boardId = (await user.api.post('/boards', { name: 'Away' })).body.board.id
  })

  afterEach(() => {
    database.afterSystem = null
    database.afterSession = null
    leaveAll()
  })

  afterAll(async () => {
    await service.stop()
    await database.close()
    await testDatabase.drop()
  })

  const isAway = () =>
    Promise.reject(new ServiceError('storage_unavailable', 'The database is out of reach.'))

  test('[L3] an editor whose token cannot be checked comes again, and gets in', async () => {
    let refused = 0
    database.afterSystem = () => ((refused += 1) < 10 ? isAway() : Promise.resolve())
    const editor = await openEditor(service.url, { boardId, token: user.token })
    expect(editor.closes.map(({ code }) => code)).toContain(1013)
  })

  test('[L4] an editor whose board cannot be loaded comes again, and gets in', async () => {
    let refused = 0
    const other = (await user.api.post('/boards', { name: 'Away' })).body.board.id
    database.afterSystem = (result) => {
      const isTail = Array.isArray(result) && result[0]?.head
      return isTail && (refused += 1) < 4 ? isAway() : Promise.resolve()
    }
    const editor = await openEditor(service.url, { boardId: other, token: user.token })
    expect(editor.closes.map(({ code }) => code)).toContain(1013)
    editor.addCard('after')
    await editor.saved()
  })

  test('[L5] an editor on a board whose commits have stopped is sent away to come again, and gets in when they go on', async () => {
    const editor = await openEditor(service.url, { boardId, token: user.token })
    database.hold()
    editor.addCard('held')
    await until(() => editor.closes.length > 0, 'the deadline closes the socket')
    await until(() => editor.closes.length > 1, 'it comes again, and is sent away')
    expect(editor.closes.map(({ code }) => code)).toEqual(editor.closes.map(() => 1013))
    database.release()
    await editor.saved()
  })

  test('[L6] editors get in after this node could not say that a board is closed', async () => {
    const editor = await openEditor(service.url, { boardId, token: user.token })
    let refused = 0
    database.afterSession = (result) => {
      const isBeat = Array.isArray(result) && result[0]?.others
      return isBeat && (refused += 1) > 0 ? isAway() : Promise.resolve()
    }
    editor.leave()
    await until(() => refused > 0, 'a heartbeat reports the closed board and fails')
    database.afterSession = null
    const again = await openEditor(service.url, { boardId, token: user.token })
    expect(again.closes).toEqual([])
  })
})
