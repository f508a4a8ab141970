import { expect, onTestFinished, test } from 'vitest'
import { begin, callback, register, type Application } from '../api/oauth.ts'
import { person, signIn } from '../api/sign-in.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

const runsFor = { timeout: 90_000 }

async function open(): Promise<{ service: TestService; user: TestUser; cards: string }> {
  const testDatabase = await cloneDatabase()
  const service = await startService({ testDatabase })
  onTestFinished(async () => {
    await service.stop()
    await testDatabase.drop()
  })
  const user = await service.user()
  const { body } = await user.api.post('/boards', { name: 'Writable' })
  return { service, user, cards: `/boards/${body.board.id}/cards` }
}

const note = (title: string) => ({ cards: [{ kind: 'note', title }] })

async function readyz(service: TestService): Promise<{ status: number; database: string }> {
  const answer = await fetch(`${service.url}/readyz`)
  const { database } = (await answer.json()) as { database: string }
  return { status: answer.status, database }
}

async function expectRefused(service: TestService, user: TestUser, cards: string): Promise<void> {
  const refused = { code: 'storage_unavailable' }
  const [board, card] = await Promise.all([
    user.api.post('/boards', { name: 'Never' }),
    user.api.post(cards, note('refused')),
  ])
  expect(board.status).toBe(503)
  expect(board.body).toMatchObject(refused)
  expect(board.body.error).toBe('The database accepts no writes at the moment. Try again shortly.')
  expect(card.status).toBe(503)
  expect(card.body).toMatchObject(refused)
  expect(await readyz(service)).toEqual({ status: 503, database: 'takes no writes' })
}

/** The authorization server uses the error format of OAuth. */
async function expectRefusedApplications(service: TestService, known: Application): Promise<void> {
  const registered = await fetch(`${service.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [callback] }),
  })
  expect([registered.status, registered.headers.get('retry-after')]).toEqual([503, '2'])
  expect(await registered.json()).toEqual({
    error: 'temporarily_unavailable',
    error_description: 'The database accepts no writes at the moment. Try again shortly.',
  })
  const { url, state } = await begin(service, known)
  const { headers } = await fetch(url, { redirect: 'manual' })
  const back = new URL(headers.get('location')!)
  expect(back.origin + back.pathname).toBe(callback)
  expect([back.searchParams.get('error'), back.searchParams.get('state')]).toEqual([
    'temporarily_unavailable',
    state,
  ])
}

async function expectRecovered(service: TestService, user: TestUser, cards: string): Promise<void> {
  await until(async () => (await readyz(service)).status === 200, 'it is ready again', 20_000)
  // A session that began read-only is replaced when it refuses.
  await until(
    async () => (await user.api.post('/boards', { name: 'Again' })).status === 201,
    'boards are written again',
    20_000,
  )
  await until(
    async () => (await user.api.post(cards, note('after'))).status === 201,
    'cards are written again',
    20_000,
  )
  const { body } = await user.api.get(cards)
  const titles = (body.cards as { title: string }[]).map(({ title }) => title)
  expect(titles.filter((title) => title === 'before')).toHaveLength(1)
  expect(titles.filter((title) => title === 'refused').length).toBeLessThanOrEqual(1)
}

test('[L23, L25] a database that was set to read only', runsFor, async () => {
  const { service, user, cards } = await open()
  const known = await register(service)
  const { browser, email } = await person(service)
  expect((await user.api.post(cards, note('before'))).status).toBe(201)
  const name = new URL(service.databaseUrl).pathname.slice(1)
  // As after a failover: the connections end, and new ones are read only.
  const change = (how: string) =>
    service.admin.begin('read write', (tx) => tx.unsafe(`alter database ${name} ${how}`))
  await change('set default_transaction_read_only = on')
  await service.admin`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = ${name} and application_name = 'corkboard'`
  await until(async () => (await readyz(service)).database === 'takes no writes', 'it is noticed', 15_000)
  await expectRefused(service, user, cards)
  await expectRefusedApplications(service, known)
  expect((await signIn(browser, { email })).status).toBe(503)
  await change('reset default_transaction_read_only')
  await expectRecovered(service, user, cards)
})

test('[L23] a database without room on its disk', runsFor, async () => {
  const { service, user, cards } = await open()
  expect((await user.api.post(cards, note('before'))).status).toBe(201)
  // What PostgreSQL raises when it can't extend a table.
  await service.admin.unsafe(`
    create function no_room() returns trigger language plpgsql as $$
    begin
      raise exception 'could not extend file: No space left on device' using errcode = 'disk_full';
    end $$;
    create trigger no_room before insert on boards for each row execute function no_room();
    create trigger no_room before insert on board_updates for each row execute function no_room()`)
  await expectRefused(service, user, cards)
  await service.admin.unsafe(`
    drop trigger no_room on boards;
    drop trigger no_room on board_updates`)
  await expectRecovered(service, user, cards)
})
