/** Somebody who may see one board tries everything to see or change more: a guest of a link, and a minted session. */
import { afterEach, describe, expect, test } from 'vitest'
import { signedUrl } from '../../api/files/image-urls.ts'
import { routes } from '../../api/routes.ts'
import { openSigning } from '../../platform/secrets/signatures.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { openEvents } from '../support/event-client.ts'
import { ApiClient } from '../support/http.ts'
import { openAgent } from '../support/mcp.ts'
import { authFrame, connect, disconnectAll, enter, syncFrame, type } from '../support/raw-client.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { testSecretKey, type TestUser } from '../support/service.ts'
import { makeCards, succeeded } from './board.ts'
import { png, upload } from './file.ts'
import { makeHidden, type Hidden } from './hidden.ts'
import { guestOf, makeLink } from './links.ts'
import { mint, serviceAccountOf } from './minting.ts'

const { service, user: owner } = await serviceOfFile({
  config: { appEventPollSeconds: 1 },
  queueTickMs: 100,
})
const hidden = await makeHidden(service, owner, await service.user())
const { open } = hidden
const backend = await serviceAccountOf(service, owner)
const sessionOf = (role: string) =>
  mint(service, backend, { board_ids: [open.id], role, user: { id: role, name: 'Mallory' } })
const guestBy = async (role: string) =>
  guestOf(service, (await makeLink(owner, open.id, { role })).token, 'Mallory')

type Attacker = Pick<TestUser, 'token' | 'api'>
const attackers: [string, () => Promise<Attacker>][] = [
  ['a guest who writes', () => guestBy('editor')],
  ['a guest who reads', () => guestBy('viewer')],
  ['a session that writes', () => sessionOf('editor')],
]
afterEach(() => {
  leaveAll()
  disconnectAll()
})

/** Everything that a request can name, all at once. Routes ignore what they do not know. */
function everything({ board, cardIds, imageKey, ids, mark }: Hidden): Record<string, unknown> {
  return {
    workspace_id: ids['workspaces']![0],
    board_id: board.id,
    board_ids: [board.id],
    parent_board_id: board.id,
    to_board_id: board.id,
    card_ids: cardIds,
    cards: [{ id: cardIds[0], kind: 'note', title: 'taken' }],
    boards: [{ name: 'taken', parent_board_id: board.id }],
    images: [{ image_key: imageKey }],
    items: [{ url: 'https://93.184.215.14/a.png' }],
    url: 'https://93.184.215.14/a.png',
    events: ['*'],
    name: 'taken',
    role: 'editor',
    email: 'mallory@example.test',
    user: { id: 'mallory', name: 'Mallory' },
    user_id: 'mallory',
    key: imageKey,
    upload_id: 'mine',
    part_numbers: [1],
    parts: [{ part_number: 1, etag: 'a' }],
    bytes: 10,
    as_of: '1',
    actor: 'me',
    since: '2020-01-01T00:00:00Z',
    layout: 'grid',
    state: {},
    // Of the tools for agents.
    query: mark.slice(0, 8),
    scope: mark,
    value: 'unknown',
    card_id: cardIds[0],
    urls: ['https://93.184.215.14/a.png'],
  }
}

/** The path of a route, for each hidden thing that it can name. */
function pathsOf(path: string): string[] {
  const ids = hidden.ids[path.split('/')[1]!] ?? ['']
  const filled = path.replace(':cardId', hidden.cardIds[0]!).replaceAll(/:(?!id|key)\w+/g, hidden.board.id)
  return path.includes('/:') ? ids.map((id) => filled.replace(/:id|:key/, id)) : [filled]
}

const leaksIn = (text: string, asked = ''): string[] =>
  hidden.secrets.filter((secret) => text.includes(secret) && !asked.includes(secret))

/** The rows of the owner's workspace, but for what belongs to the open board. */
const state = async () =>
  service.admin`
    select
      (select json_agg(b order by b.id) from boards b where b.workspace_id = ${owner.workspaceId} and b.id <> ${open.id}) as boards,
      (select json_agg(d.seq order by d.board_id) from board_documents d join boards b on b.id = d.board_id
       where b.workspace_id = ${owner.workspaceId} and b.id <> ${open.id}) as documents,
      (select json_agg(m order by m.user_id) from workspace_members m where m.workspace_id = ${owner.workspaceId}) as members,
      (select json_agg(w order by w.id) from webhooks w where w.workspace_id = ${owner.workspaceId}) as webhooks,
      (select json_agg(i order by i.id) from invitations i where i.workspace_id = ${owner.workspaceId}) as invitations,
      (select json_agg(a order by a.id) from service_accounts a where a.workspace_id = ${owner.workspaceId}) as robots,
      (select json_agg(s order by s.board_id, s.user_id) from board_shares s join boards b on b.id = s.board_id
       where b.workspace_id = ${owner.workspaceId}) as shares,
      (select count(*) from images where workspace_id = ${owner.workspaceId}) as files`

describe.each(attackers)('%s', { timeout: 60_000 }, (_who, come) => {
  test('[TM3] no operation tells of anything but the one board, whatever it names, and none changes it', async () => {
    const { api } = await come()
    const before = await state()
    const body = everything(hidden)
    const attempts = routes
      .filter(({ path }) => path !== '/links/open' && path !== '/mcp')
      .flatMap(({ method, path }) => pathsOf(path).map((filled) => ({ method, path: filled })))
    const filter = `?q=${hidden.mark.slice(0, 8)}&scope=${hidden.mark}&value=x&from=0&include=raw`
    for (const { method, path } of attempts) {
      const isRead = method === 'GET'
      for (const url of isRead ? [path, `${path}${filter}`] : [path]) {
        const answer = await api.send(method, url, isRead ? undefined : body)
        const where = `${method} ${url}: ${answer.status} ${answer.text}`
        expect(leaksIn(answer.text, url + (isRead ? '' : JSON.stringify(body))), where).toEqual([])
        if (path.includes(hidden.board.id)) expect(answer.status, where).toBeGreaterThanOrEqual(400)
        expect(answer.status, where).toBeLessThan(500)
      }
    }
    for (const filter of [
      `workspace=${owner.workspaceId}`,
      `parent=${hidden.ids['boards']![1]}`,
      'deleted=1',
    ])
      expect(leaksIn((await api.get(`/boards?${filter}`)).text, filter)).toEqual([])
    expect(await state()).toEqual(before)
  })

  test('[TM3] the tools and resources for agents tell of nothing else', async () => {
    const { token, api } = await come()
    const agent = await openAgent(service.url, token)
    const { tools } = await agent.client.listTools()
    const given = everything(hidden)
    expect(tools.length).toBeGreaterThan(9)
    await Promise.all(
      tools.map(async ({ name, inputSchema }) => {
        const known = Object.keys(inputSchema.properties ?? {})
        const args = Object.fromEntries(Object.entries(given).filter(([key]) => known.includes(key)))
        const text = JSON.stringify(await agent.client.callTool({ name, arguments: args }).catch(String))
        expect(leaksIn(text, JSON.stringify(args)), `${name}: ${text}`).toEqual([])
      }),
    )
    const { resources } = await agent.client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual([`board://${open.id}`])
    for (const uri of [`board://${hidden.board.id}`, `board://${hidden.board.id}/json`])
      await expect(agent.client.readResource({ uri })).rejects.toThrow()
    // What a guest can name on the own board: files and boards that it does not see.
    const path = `/boards/${open.id}`
    const { imageKey, board } = hidden
    for (const [method, url, body] of [
      ['POST', `${path}/cards`, { kind: 'image', image_key: imageKey }],
      ['POST', `${path}/cards/move`, { to_board_id: board.id, card_ids: ['x'] }],
      ['PATCH', path, { parent_board_id: board.id }],
    ] as const) {
      const answer = await api.send(method, url, body)
      expect([403, 404]).toContain(answer.status)
      expect(leaksIn(answer.text, JSON.stringify(body))).toEqual([])
    }
  })

  test('[TM3] a socket opens no other board, by whatever name, and an open one gets no frame of another', async () => {
    const { token } = await come()
    const { board, ids } = hidden
    const client = await enter(service.url, { boardId: open.id, token })
    const names = [
      ...ids['boards']!,
      board.id.toUpperCase(),
      `${board.id}\0session`,
      `${open.id}/../${board.id}`,
      ` ${board.id}`,
      `workspace:${owner.workspaceId}`,
      owner.workspaceId,
      owner.userId,
      '*',
    ]
    for (const name of names) {
      const denied = client.denials.length
      client.send(authFrame(name, token))
      await until(() => client.denials.length > denied || client.closed !== null, `${name} is refused`)
      expect(client.documentOf(name).share.size).toBe(0)
    }
    for (const name of ids['boards']!) client.send(syncFrame(name, 0, new Uint8Array([0])))
    await until(() => client.received(type.sync).length > 0, 'the own board is there')
    expect(client.received(type.sync).map(({ address }) => address.split('\0')[0])).not.toContain(board.id)
    for (const path of [`/collab/${board.id}`, `/collab?as_of=1`]) {
      const other = await connect(service.url, path)
      other.send(authFrame(path.includes('as_of') ? open.id : board.id, token))
      await until(() => other.denials.length > 0 || other.closed !== null, `${path} is refused`)
      expect(other.received(type.sync)).toEqual([])
    }
  })

  test('[TM3] its token opens no page and no consent', async () => {
    const { token } = await come()
    const headers = { authorization: `Bearer ${token}`, cookie: `corkboard_session=${token}` }
    for (const path of [
      '/settings',
      `/settings/workspace?id=${owner.workspaceId}`,
      '/oauth/authorize?client_id=corkboard&response_type=code',
    ]) {
      const answer = await fetch(service.url + path, { headers, redirect: 'manual' })
      expect([path, answer.status < 300]).toEqual([path, false])
      expect(leaksIn(await answer.text(), path)).toEqual([])
    }
    for (const grant of ['refresh_token', 'authorization_code', 'client_credentials']) {
      const form = new URLSearchParams({
        grant_type: grant,
        refresh_token: token,
        code: token,
        client_id: 'x',
      })
      const answer = await fetch(`${service.url}/oauth/token`, { method: 'POST', headers, body: form })
      expect([grant, answer.status]).toEqual([
        grant,
        expect.toSatisfy((status) => status >= 400 && status < 500),
      ])
    }
  })
})

test('[TM3] a guest’s stream and notifications tell of the open board alone', async () => {
  const guest = await guestBy('editor')
  const stream = await openEvents(service.url, guest as unknown as TestUser)
  const owners = await openEvents(service.url, owner)
  const [moved] = await makeCards(owner, hidden.board.id, [{ title: 'moved' }])
  const move = { to_board_id: open.id, card_ids: [moved!.id] }
  succeeded(await owner.api.post(`/boards/${hidden.board.id}/cards/move`, move))
  await owner.api.patch(`/boards/${hidden.board.id}`, { name: `${hidden.mark} anew` })
  await owner.api.patch(`/boards/${open.id}`, { name: 'open anew' })
  await upload(service, owner, hidden.board.id, png)
  await service.admin`update boards set sched_status = 'published' where id = ${hidden.board.id}`
  await owner.api.patch(`/boards/${hidden.board.id}`, { scheduled_date: '2031-02-02' })
  await owner.api.patch(`/boards/${open.id}`, { view: 'list' })
  await until(
    () => owners.events.some(({ body }) => body.data['view'] === 'list'),
    'the owner has all events',
  )
  expect(leaksIn(JSON.stringify(stream.events))).toEqual([])
  expect(stream.events.filter(({ body }) => body.board?.id !== open.id)).toEqual([])
  expect((await guest.api.get('/notifications')).body.notifications).toEqual([])
  // Another's request under a key is nobody else's to replay.
  const key = { 'idempotency-key': 'a key that the owner has used' }
  const path = `/boards/${hidden.board.id}/cards`
  succeeded(await owner.api.post(path, { kind: 'note', title: hidden.mark }, key))
  const replayed = await guest.api.post(path, { kind: 'note', title: hidden.mark }, key)
  expect([replayed.status, replayed.headers.get('idempotent-replay')]).toEqual([404, null])
})

test('[TM4] the signed URLs of a guest end with the link, and so does its stream of events', async () => {
  const link = await makeLink(owner, open.id)
  const guest = await guestOf(service, link.token)
  const { image_key } = (await upload(service, owner, open.id, png)).body
  const { images } = succeeded(await guest.api.post('/images/urls', { images: [{ image_key }] }))
  const statusOf = async () => (await fetch(images[0].url)).status
  const stream = await openEvents(service.url, guest as unknown as TestUser)
  expect(await statusOf()).toBe(200)
  await owner.api.delete(`/boards/${open.id}/links/${link.id}`)
  await until(async () => (await statusOf()) === 404, 'the URL has ended', 2000)
  await until(() => stream.ended, 'the stream has ended', 2000)
})

test('[TM5] a token, link, signature or invitation of another kind opens nothing', async () => {
  const link = await makeLink(owner, open.id)
  const guest = await guestOf(service, link.token)
  const session = await sessionOf('viewer')
  const { url: invitation } = succeeded(
    await owner.api.post(`/workspaces/${owner.workspaceId}/invitations`, { role: 'viewer' }),
  )
  const code = new URL(invitation).searchParams.get('code') ?? new URL(invitation).hash.slice(1)
  expect(code.length).toBeGreaterThanOrEqual(43) // 256 bits, as the token of a link
  expect(link.token).toMatch(/^[\w-]{43}$/)
  const { image_key } = (await upload(service, owner, open.id, png)).body
  const { images } = succeeded(await owner.api.post('/images/urls', { images: [{ image_key }] }))
  const signature = new URL(images[0].url).searchParams.get('signature')!
  for (const token of [link.token, code, signature, `corks_${link.token}`, `cork_${link.token}`])
    expect([token, (await new ApiClient(service.url, token).get('/me')).status]).toEqual([token, 401])
  for (const token of [guest.token, session.token, code, signature]) {
    const { status } = await service.anonymous.post('/links/open', { token, name: 'Mallory' })
    expect([404, token.length > 100 ? 400 : 404]).toContain(status)
  }
  for (const token of [guest.token, session.token, link.token, signature]) {
    const page = await fetch(`${service.url}/login/invitation?code=${token}`)
    expect([page.status, leaksIn(await page.text(), token)]).toEqual([410, []])
  }
  const url = new URL(images[0].url)
  const [by, expires] = [url.searchParams.get('by')!, Number(url.searchParams.get('expires'))]
  const file = { key: image_key, width: null, format: 'webp', by, expires, session: null } as const
  for (const [keys, purpose, status] of [
    [[testSecretKey], 'image urls', 200],
    [['another key, as long as it has to be'], 'image urls', 401],
    [[testSecretKey], 'sessions', 401],
    [[testSecretKey], 'part urls', 401],
  ] as const) {
    const signed = signedUrl(openSigning([...keys], purpose), url.origin, file)
    expect([purpose, (await fetch(signed)).status]).toEqual([purpose, status])
  }
  const editor = await openEditor(service.url, { boardId: open.id, token: link.token, expectRefusal: true })
  expect(editor.cards.size).toBe(0)
})
