/** Answers that are lost between the commit of the work and their way to the client: whatever the POST. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { routes } from '../../api/routes.ts'
import { until } from '../support/editor.ts'
import { gatedDatabase } from '../support/gated-database.ts'
import { lockBoard, underWay } from '../support/held-lock.ts'
import type { ApiAnswer, ApiClient } from '../support/http.ts'
import { launch, makeDataDir, testDataDir } from '../support/instance.ts'
import { startService, testSecretKey } from '../support/service.ts'
import { png, serves } from '../support/site.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'
import { makeBoard } from './board.ts'
import { everyPost, openPictures, stateOf, type Post } from './crashed-posts.ts'

const site = await forFile(openPictures())
const dataDir = await makeDataDir(afterAll)
const { service, user } = await serviceOfFile({
  workers: false,
  config: { dataDir, egressAllow: ['127.0.0.1/32'] },
})

const keyed = () => ({ 'idempotency-key': randomUUID() })
const isReplay = ({ headers }: ApiAnswer<unknown>) => headers.get('idempotent-replay') === 'true'
const send = (client: ApiClient, { path, body, headers }: Post, key: Record<string, string>) =>
  client.send('POST', path, body, { ...headers, ...key })

/** Without what is another each time: URLs are signed for an hour from then, and text for agents has a mark of its own. */
function comparable(body: any): unknown {
  if ('urls' in body) return Object.keys(body.urls)
  return 'jsonrpc' in body ? body.result.structuredContent : body
}

/** What another process left is let go: its sessions end when PostgreSQL notices. */
async function settledAnswer(post: Post, key: Record<string, string>): Promise<ApiAnswer<any>> {
  let answer!: ApiAnswer<any>
  await until(async () => (answer = await send(user.api, post, key)).status !== 409, 'no 409 sticks', 20_000)
  return answer
}

const loseAnswers = () =>
  service.admin`update idempotency_keys set response = null where response is not null`
const cardsOn = async (boardId: string) =>
  (await service.admin`select card_id from card_index where board_id = ${boardId}`).length

test('[ID6] a process killed before its commit: the retry on another one succeeds once', async () => {
  const dataDir = await testDataDir()
  const env = {
    DATABASE_URL: service.databaseUrl,
    SECRET_KEY: testSecretKey,
    PORT: '0',
    RATE_LIMIT_PER_HOUR: '100000',
  }
  const board = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  const card = { kind: 'note', title: 'after a kill', x: 0, y: 0 }
  for (let round = 0; round < 2; round++) {
    const child = launch(dataDir, env)
    let url = ''
    await until(
      () => (url = /Server listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(child.stdout())?.[1] ?? '') !== '',
      'it listens',
      20_000,
    )
    const headers = keyed()
    // The board is held, so that the commit cannot come.
    const release = await lockBoard(service.admin, board.id)
    const cut = fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(card),
    }).then(
      () => 'answered',
      () => 'cut off',
    )
    await underWay(service.admin)
    expect((await user.api.post<any>(path, card, headers)).body.code).toBe('idempotency_in_progress')
    child.signal('SIGKILL')
    expect(await cut).toBe('cut off')
    await child.ended
    await release()
    let answer!: ApiAnswer<any>
    await until(
      async () => (answer = await user.api.post(path, card, headers)).status !== 409,
      'no 409 sticks',
    )
    expect(answer.status, answer.text).toBe(201)
    expect(await cardsOn(board.id)).toBe(round + 1)
    expect((await user.api.post(path, card, headers)).text).toBe(answer.text)
  }
}, 60_000)

test('[ID6, ID8] a process that dies after the commit: the retry gets what was made, and makes nothing', async () => {
  const database = gatedDatabase(service.databaseUrl)
  const testDatabase = { url: service.databaseUrl, admin: service.admin, drop: async () => {} }
  const dying = await startService({ testDatabase, database, workers: false, answerTimeoutMs: 5000 })
  const board = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  const cards = {
    cards: [
      { kind: 'note', title: 'b', x: 0, y: 0 },
      { kind: 'note', title: 'a', x: 9, y: 9 },
    ],
  }
  const headers = keyed()
  // It commits, and is never heard of again.
  database.next((call, commit) => commit(call)) // learns where the board stands
  database.next(async (call, commit) => {
    await commit(call)
    return new Promise(() => undefined)
  })
  const lost = new AbortController()
  const cut = fetch(`${dying.url}/api/v1${path}`, {
    method: 'POST',
    signal: lost.signal,
    headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(cards),
  }).catch(() => undefined)
  await until(async () => (await cardsOn(board.id)) === 2, 'it is committed')
  expect((await user.api.post<any>(path, cards, headers)).body.code).toBe('idempotency_in_progress')
  lost.abort()
  await cut
  await service.admin`
    select pg_terminate_backend(l.pid) from pg_locks l
    where l.locktype = 'advisory' and l.objsubid = 1 and l.pid <> pg_backend_pid()
      and l.database = (select oid from pg_database where datname = current_database())`
  let answer!: ApiAnswer<any>
  await until(
    async () => (answer = await user.api.post(path, cards, headers)).status !== 409,
    'no 409 sticks',
  )
  expect([answer.status, isReplay(answer)]).toEqual([201, true])
  expect(answer.body.cards.map(({ title, x }: any) => [title, x])).toEqual([
    ['b', 0],
    ['a', 9],
  ])
  expect((await user.api.post(path, cards, headers)).text).toBe(answer.text)
  expect(await cardsOn(board.id)).toBe(2)
  await Promise.all([dying.close(), database.close()])
}, 60_000)

test('[ID13] every POST whose answer is lost after its commit is answered the same, and changes nothing more', async () => {
  const posts = await everyPost(service, user, `${site.url}/a`)
  expect(new Set(posts.map(({ route }) => route))).toEqual(
    new Set(
      routes.filter(({ method, open }) => method === 'POST' && !open).map(({ path }) => `POST ${path}`),
    ),
  )
  for (const post of posts) {
    const key = keyed()
    const first = await send(user.api, post, key)
    expect(first.status, `${post.path} ${first.text}`).toBeLessThan(300)
    expect(post.truth(first.body), `${post.path} ${first.text}`).toBe(true)
    await loseAnswers()
    const before = await stateOf(service)
    const again = await send(user.api, post, key)
    expect([again.status, comparable(again.body)], post.path).toEqual([first.status, comparable(first.body)])
    expect(isReplay(again), post.path).toBe(!post.again)
    expect(await stateOf(service), post.path).toEqual(before)
    const third = await send(user.api, post, key)
    expect([third.text, isReplay(third)], post.path).toEqual([again.text, true])
  }
}, 120_000)

test('[ID16] `live` of an answer that is made again is false while an open canvas may be stale', async () => {
  const sent = (await everyPost(service, user, `${site.url}/a`)).map((post) => ({ post, key: keyed() }))
  const sendAndLose = async (some: typeof sent) => {
    const answers = await Promise.all(some.map(({ post, key }) => send(user.api, post, key)))
    await loseAnswers()
    return answers.map(({ body }: ApiAnswer<any>) => body.live as unknown)
  }
  const first = await sendAndLose(sent)
  const telling = sent.filter((_, n) => first[n] === true)
  expect(telling.map(({ post }) => post.route.split('/').at(-1))).toEqual([
    'cards',
    'cards',
    'move',
    'arrange',
    'restore-to',
    'undo',
    'groups',
    'import',
  ])
  const canvases = telling.map(({ post }) => {
    const { to_board_id = post.path.split('/')[2]! } = (post.body ?? {}) as { to_board_id?: string }
    return service.live.nodes.hold(to_board_id)
  })
  for (const canvas of canvases) canvas.closing()
  expect(await sendAndLose(telling)).toEqual(telling.map(() => false))
  for (const canvas of canvases) canvas.end()
  expect(await sendAndLose(telling)).toEqual(telling.map(() => true))
}, 60_000)

const environment = () => ({
  DATABASE_URL: service.databaseUrl,
  SECRET_KEY: testSecretKey,
  PORT: '0',
  RATE_LIMIT_PER_HOUR: '1000000',
  DATABASE_POOL: '60',
  EGRESS_ALLOW: '127.0.0.1',
})

/** A process of its own on the same database and the same files. */
async function launchOther() {
  const child = launch(dataDir, environment())
  let url = ''
  await until(
    () => (url = /Server listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(child.stdout())?.[1] ?? '') !== '',
    'it listens',
    60_000,
  )
  const kill = async () => {
    child.signal('SIGKILL')
    await child.ended
  }
  return { url, kill }
}

test('[ID6, ID13] a process killed between the commits and the answers of every POST: each retry tells what was done', async () => {
  const posts = await everyPost(service, user, `${site.url}/a`)
  const known = new Set((await service.admin`select id::text from idempotency_keys`).map(({ id }) => id))
  // Whoever would keep an answer waits.
  await service.admin.unsafe(`
    create function hold_answers() returns trigger language plpgsql set lock_timeout = 0 as $$
    begin
      if new.response is not null then perform pg_advisory_xact_lock_shared(77); end if;
      return new;
    end $$;
    create trigger hold_answers before insert on idempotency_keys for each row execute function hold_answers()`)
  const hold = await service.admin.reserve()
  await hold`select pg_advisory_lock(77)`
  const other = await launchOther()
  const keys = posts.map(keyed)
  const cut = posts.map(({ path, body, headers }, n) => {
    const isText = typeof body === 'string'
    return fetch(`${other.url}/api/v1${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${user.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
        ...keys[n],
      },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    }).catch(() => null)
  })
  const imported = posts.find(({ route }) => route.endsWith('/import'))!.path.split('/')[2]!
  const writing = posts.filter(({ again }) => !again).length + 3 // the import, the completed upload and the agent's tool
  await until(
    async () => {
      const rows = await service.admin`select id::text from idempotency_keys where response is null`
      const made = await service.admin`select from card_index where board_id = ${imported}`
      return rows.filter(({ id }) => !known.has(id)).length === writing && made.length === 2
    },
    'all of them have committed',
    60_000,
  )
  await other.kill()
  await Promise.all(cut)
  await service.admin`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and objid = 77 and pid <> pg_backend_pid() and not granted`
  await hold`select pg_advisory_unlock(77)`
  hold.release()
  await service.admin.unsafe('drop trigger hold_answers on idempotency_keys; drop function hold_answers()')

  for (const [n, post] of posts.entries()) {
    const before = await stateOf(service)
    const answer = await settledAnswer(post, keys[n]!)
    expect(answer.status, `${post.path} ${answer.text}`).toBeLessThan(300)
    expect(post.truth(answer.body), `${post.path} ${answer.text}`).toBe(true)
    expect(await stateOf(service), post.path).toEqual(before)
    const again = await send(user.api, post, keys[n]!)
    expect([again.text, isReplay(again)], post.path).toEqual([answer.text, true])
  }
}, 180_000)

test('[ID14] an import that is killed while it fetches goes on: what was stored is not fetched again', async () => {
  const board = await makeBoard(user)
  const urls = ['/one', '/two', '/late'].map((path) => site.url + path)
  site.pages.set('/one', serves(png(30, 20)))
  site.pages.set('/two', serves(Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n')))
  site.pages.set('/late', () => undefined)
  const post: Post = {
    route: 'POST /boards/:id/import',
    path: `/boards/${board.id}/import`,
    body: { items: urls.map((url) => ({ url })) },
    truth: () => true,
  }
  const other = await launchOther()
  const key = keyed()
  const cut = fetch(`${other.url}/api/v1${post.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json', ...key },
    body: JSON.stringify(post.body),
  }).catch(() => null)
  const files = () => service.admin`select image_key from images where board_id = ${board.id}`
  await until(async () => (await files()).length === 2, 'two of the files are stored', 60_000)
  await until(() => site.requests.includes('/late'), 'the third is asked for')
  await other.kill()
  await cut
  site.pages.set('/late', serves(png(40, 40)))
  const answer = await settledAnswer(post, key)
  expect(answer.body).toMatchObject({ created: 3, existing: 0, failed: 0 })
  expect(answer.body.cards.map(({ url }: any) => url)).toEqual(urls)
  expect(answer.body.cards.map(({ kind }: any) => kind)).toEqual(['image', 'pdf', 'image'])
  expect(site.requests.filter((path) => path === '/one' || path === '/two')).toHaveLength(2)
  expect(await files()).toHaveLength(3)
  expect((await user.api.get(`/boards/${board.id}/cards`)).body.total).toBe(3)
}, 120_000)

test('[ID14] an import that is killed in its commit makes all of its cards when it is sent again, and fetches nothing twice', async () => {
  const board = await makeBoard(user)
  const cards = () => service.admin`select card_id from card_index where board_id = ${board.id}`
  // The commit waits.
  await service.admin.unsafe(`
    create function hold_cards() returns trigger language plpgsql set lock_timeout = 0 as $$
    begin
      if new.board_id = '${board.id}' then
        perform pg_advisory_xact_lock_shared(78);
      end if;
      return new;
    end $$;
    create trigger hold_cards before insert on card_index for each row execute function hold_cards()`)
  const hold = await service.admin.reserve()
  await hold`select pg_advisory_lock(78)`
  const waiting = () =>
    service.admin<{ pid: number }[]>`
      select pid from pg_locks where locktype = 'advisory' and objid = 78 and not granted`
  const items = [{ url: `${site.url}/a` }, { url: `${site.url}/a?placed`, x: 7, y: 5000, title: 'placed' }]
  const post = { route: '', path: `/boards/${board.id}/import`, body: { items }, truth: () => true }
  const key = keyed()
  const other = await launchOther()
  const cut = fetch(`${other.url}/api/v1${post.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json', ...key },
    body: JSON.stringify(post.body),
  }).catch(() => null)
  await until(async () => (await waiting()).length > 0, 'the commit is under way', 60_000)
  const fetched = site.requests.length
  await other.kill()
  await cut
  for (const { pid } of await waiting()) await service.admin`select pg_terminate_backend(${pid})`
  await until(async () => (await waiting()).length === 0, 'its work has ended')
  await hold`select pg_advisory_unlock(78)`
  hold.release()
  await service.admin.unsafe('drop trigger hold_cards on card_index; drop function hold_cards()')
  const answer = await settledAnswer(post, key)
  expect(answer.body).toMatchObject({ created: 2, existing: 0, failed: 0 })
  expect(answer.body.cards.map(({ url, title }: any) => [url, title])).toEqual([
    [items[0]!.url, null],
    [items[1]!.url, 'placed'],
  ])
  expect(answer.body.results.map(({ card_id }: any) => card_id)).toEqual(
    answer.body.cards.map(({ id }: any) => id),
  )
  expect(site.requests.length).toBe(fetched)
  expect(await cards()).toHaveLength(2)
}, 120_000)

const upload = (body: string | ReadableStream, key: Record<string, string>, type = 'image/gif') =>
  fetch(`${service.url}/api/v1/uploads?board=${uploadBoard}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.token}`, 'content-type': type, ...key },
    body,
    duplex: 'half',
  } as RequestInit)
let uploadBoard: string
const gif = (last: string) => `GIF89a\x01\0\x01\0\0\0\0${last};`

test('[ID15] an upload is known by its content: the same bytes are replayed, others of the same size are 409', async () => {
  uploadBoard = (await makeBoard(user)).id
  const files = () => service.admin`select image_key from images where board_id = ${uploadBoard}`
  const key = keyed()
  const first = await upload(gif('a'), key)
  expect(first.status).toBe(201)
  const stored = await first.text()
  const inPieces = new Blob([gif('a')]).stream()
  for (const body of [gif('a'), inPieces]) {
    const again = await upload(body, key)
    expect([again.status, again.headers.get('idempotent-replay'), await again.text()]).toEqual([
      201,
      'true',
      stored,
    ])
  }
  const other = await upload(gif('b'), key)
  expect([other.status, ((await other.json()) as any).code]).toEqual([409, 'conflict'])
  // Also when the answer was lost.
  await loseAnswers()
  expect((await upload(gif('b'), key)).status).toBe(409)
  const lost = await upload(gif('a'), key)
  expect([lost.status, await lost.text()]).toEqual([201, stored])
  expect(await files()).toHaveLength(1)
})

test('[ID15] a refused upload is replayed for the same content, and is no other upload of its size', async () => {
  const noImage = 'no image of a gif at all'
  const key = keyed()
  const first = await upload(noImage, key)
  expect(first.status).toBe(415)
  const again = await upload(noImage, key)
  expect([again.status, again.headers.get('idempotent-replay')]).toEqual([415, 'true'])
  expect((await upload(gif('a').padEnd(noImage.length, 'x'), key)).status).toBe(409)
  // By its head alone: the type is not accepted, whatever it holds.
  const wrong = keyed()
  expect((await upload('a,b', wrong, 'text/csv')).status).toBe(415)
  expect((await upload('c,d', wrong, 'text/csv')).headers.get('idempotent-replay')).toBe('true')
})
