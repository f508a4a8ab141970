/** The routes of the app that are no operations of the API: they take the session cookie and a CSRF token. */
import { afterAll, expect, test } from 'vitest'
import { routes } from '../../api/routes.ts'
import type { Browser } from '../support/browser.ts'
import { startService } from '../support/service.ts'
import { makeBoard, nowhere, type Shown } from './board.ts'
import { person, signIn, type Person } from './sign-in.ts'

const service = await startService({ workers: false })
afterAll(() => service.stop())

const names = ['owner', 'editor', 'viewer', 'shared editor', 'shared viewer', 'stranger'] as const
const people = {} as Record<(typeof names)[number], Person>
for (const name of names) {
  people[name] = await person(service)
  await signIn(people[name].browser, people[name])
}
const { owner, editor, viewer } = people
await service.member(owner.workspaceId, editor, 'editor')
await service.member(owner.workspaceId, viewer, 'viewer')

async function makeDay(): Promise<Shown> {
  const board = await makeBoard(owner, { scheduled_date: '2030-05-01' })
  await service.share(board.id, people['shared editor'], 'editor')
  await service.share(board.id, people['shared viewer'], 'viewer')
  return board
}

const csrfOf = async ({ browser }: { browser: Browser }): Promise<string> =>
  JSON.parse((await browser.send('GET', '/app/csrf')).text).csrf_token

/** As the app sends it, unless `headers` say otherwise. */
async function act({ browser }: { browser: Browser }, path: string, headers: Record<string, string>) {
  const sent = { origin: service.homeUrl, 'sec-fetch-site': 'same-origin', ...headers }
  const answer = await browser.send('POST', path, undefined, sent)
  return { ...answer, body: JSON.parse(answer.text) }
}
const read = async (id: string) => (await owner.api.get(`/boards/${id}`)).body.board

test('[WP6] the app publishes and cancels for the person who is signed in, and answers with the board', async () => {
  const board = await makeDay()
  const csrf = { 'x-csrf-token': await csrfOf(owner) }
  const published = await act(owner, `/app/boards/${board.id}/publish`, csrf)
  expect(published.status).toBe(200)
  expect(published.body.board).toMatchObject({ sched_status: 'published', sched_version: 1 })
  expect(published.body.board).toEqual(await read(board.id))
  expect(published.headers.get('access-control-allow-origin')).toBe(null)
  expect(published.headers.get('cache-control')).toBe('no-store')
  const cancelled = await act(owner, `/app/boards/${board.id.toUpperCase()}/cancel`, csrf)
  expect(cancelled.body.board).toMatchObject({ sched_status: 'cancelled', sched_version: 1 })
  const { body } = await owner.api.get<any>(`/audit?limit=2`)
  expect(body.entries).toMatchObject([
    { action: 'board.cancel', actor: { user_id: owner.userId, token_id: null } },
    { action: 'board.publish', resource: { type: 'board', id: board.id }, workspace_id: owner.workspaceId },
  ])
})

test('[WP7] only writers of the workspace publish and cancel; who can’t see a board learns nothing; the trash is refused', async () => {
  const board = await makeDay()
  const expected = {
    ...{ owner: 200, editor: 200, viewer: 403 },
    ...{ 'shared editor': 403, 'shared viewer': 403, stranger: 404 },
  }
  for (const action of ['publish', 'cancel']) {
    for (const name of names) {
      const csrf = { 'x-csrf-token': await csrfOf(people[name]) }
      const { status, body } = await act(people[name], `/app/boards/${board.id}/${action}`, csrf)
      expect([name, status]).toEqual([name, expected[name]])
      if (name !== 'stranger') continue
      for (const id of [nowhere, 'x']) {
        const missing = await act(people[name], `/app/boards/${id}/${action}`, csrf)
        expect([missing.status, missing.body]).toEqual([404, body])
      }
    }
  }
  await owner.api.delete(`/boards/${board.id}`)
  const csrf = { 'x-csrf-token': await csrfOf(owner) }
  const { status, body } = await act(owner, `/app/boards/${board.id}/publish`, csrf)
  expect([status, body.code]).toEqual([409, 'conflict'])
  expect(await read(board.id)).toMatchObject({ sched_status: 'cancelled', sched_version: 2 })
})

test('[WP8] without a session, its own CSRF token or an own page nothing is published, and no token of the API is taken', async () => {
  const board = await makeDay()
  const path = `/app/boards/${board.id}/publish`
  const own = await csrfOf(owner)
  const refused: [Record<string, string>, number][] = [
    [{}, 403],
    [{ 'x-csrf-token': '' }, 403],
    [{ 'x-csrf-token': own.replace(/\.(.)/, (_, first) => `.${first === 'A' ? 'B' : 'A'}`) }, 403],
    [{ 'x-csrf-token': await csrfOf(editor) }, 403],
    [{ 'x-csrf-token': own, origin: 'https://evil.example' }, 403],
    [{ 'x-csrf-token': own, origin: 'null' }, 403],
    [{ 'x-csrf-token': own, 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'x-csrf-token': own, 'sec-fetch-site': 'same-site' }, 403],
  ]
  for (const [headers, status] of refused) {
    const answer = await act(owner, path, headers)
    expect([headers, answer.status]).toEqual([headers, status])
  }
  const bearer = { authorization: `Bearer ${owner.token}` }
  for (const headers of [{ 'x-csrf-token': own }, { ...bearer, 'x-csrf-token': own }] as Record<
    string,
    string
  >[]) {
    const answer = await fetch(service.homeUrl + path, { method: 'POST', headers })
    expect([answer.status, ((await answer.json()) as any).code]).toEqual([401, 'invalid_token'])
  }
  for (const headers of [{}, bearer] as Record<string, string>[])
    expect((await fetch(`${service.homeUrl}/app/csrf`, { headers })).status).toBe(401)
  expect(await read(board.id)).toMatchObject({ sched_status: 'draft', sched_version: 0 })
  // The session opens none of the API, which has no such operations.
  const api = await owner.browser.send('POST', `/api/v1/boards/${board.id}/publish`, undefined, {
    'x-csrf-token': own,
  })
  expect(api.status).toBe(404)
  expect((await owner.browser.send('GET', '/api/v1/boards')).status).toBe(401)
  expect(routes.filter(({ path }) => /publish|cancel/.test(path))).toEqual([])
})
