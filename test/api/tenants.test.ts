/** Two tenants against each other: what one is answered must not depend on whether the other is there. */
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeCards, succeeded } from './board.ts'
import { upload } from './file.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ workers: false })
})
afterAll(() => service.stop())

const boardCount = 5
const values = ['1', '2', '3', '4', 'theirs']

/** Ids by number: a tenant's own boards, and what it names of the other. */
interface Tenant extends Planted {
  user: TestUser
  /** What another tenant has, or ids of none. */
  foreign: string[]
  others: Planted
  foreignWorkspace: string
}

interface Planted {
  own: string[]
  imageKey: string
  webhook: string
  serviceAccount: string
}

/** A board that is named: the n-th of one's own, or of the other's. */
type Named = [whose: 'own' | 'foreign', n: number]
type Parent = Named | 'top' | undefined

type Step =
  | { what: 'list'; workspace: boolean; parent: Parent; deleted: boolean }
  | { what: 'tree'; start: Named | 'own workspace' | 'foreign workspace'; deleted: boolean }
  | { what: 'read'; board: Named }
  | { what: 'resolve'; value: string; workspace: 'own' | 'foreign' | undefined }
  | { what: 'move'; boards: Named[]; parent: Parent }
  | { what: 'delete'; boards: Named[] }
  | { what: 'restore'; board: Named }
  | { what: 'patch'; board: Named; parent: Parent; values: string[] | undefined }
  | { what: 'batch'; entries: { values: string[]; parent: Parent; elsewhere: boolean }[]; update: boolean }

const named = fc.tuple(fc.constantFrom<'own' | 'foreign'>('own', 'foreign'), fc.nat(boardCount - 1))
const parent = fc.oneof(named, fc.constant('top' as const), fc.constant(undefined))
const carried = fc.uniqueArray(fc.constantFrom(...values), { maxLength: 2 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ what: fc.constant('list' as const), workspace: fc.boolean(), parent, deleted: fc.boolean() }),
  fc.record({
    what: fc.constant('tree' as const),
    start: fc.oneof(named, fc.constant('own workspace' as const), fc.constant('foreign workspace' as const)),
    deleted: fc.boolean(),
  }),
  fc.record({ what: fc.constant('read' as const), board: named }),
  fc.record({
    what: fc.constant('resolve' as const),
    value: fc.constantFrom(...values),
    workspace: fc.constantFrom<'own' | 'foreign' | undefined>('own', 'foreign', undefined),
  }),
  fc.record({
    what: fc.constant('move' as const),
    boards: fc.array(named, { minLength: 1, maxLength: 4 }),
    parent,
  }),
  fc.record({
    what: fc.constant('delete' as const),
    boards: fc.array(named, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ what: fc.constant('restore' as const), board: named }),
  fc.record({
    what: fc.constant('patch' as const),
    board: named,
    parent,
    values: fc.option(carried, { nil: undefined }),
  }),
  fc.record({
    what: fc.constant('batch' as const),
    entries: fc.array(fc.record({ values: carried, parent, elsewhere: fc.boolean() }), {
      minLength: 1,
      maxLength: 3,
    }),
    update: fc.boolean(),
  }),
)

const identifiersOf = (list: string[]) => list.map((value) => ({ scope: 'tenants', value }))

function send(tenant: Tenant, step: Step) {
  const { api, workspaceId } = tenant.user
  const id = ([whose, n]: Named) => tenant[whose][n]!
  const idOf = (parent: Parent) =>
    parent === undefined ? {} : { parent_board_id: parent === 'top' ? null : id(parent) }
  switch (step.what) {
    case 'list': {
      const { parent } = step
      const query = parent === undefined ? '' : `&parent=${parent === 'top' ? 'root' : id(parent)}`
      return api.get(
        `/boards?limit=500&include=props,identifiers&deleted=${step.deleted ? 1 : 0}${query}${step.workspace ? `&workspace=${tenant.foreignWorkspace}` : ''}`,
      )
    }
    case 'tree': {
      const start =
        step.start === 'own workspace'
          ? `workspace=${workspaceId}`
          : step.start === 'foreign workspace'
            ? `workspace=${tenant.foreignWorkspace}`
            : `root=${id(step.start)}`
      return api.get(`/boards/tree?${start}&deleted=${step.deleted ? 1 : 0}`)
    }
    case 'read':
      return api.get(`/boards/${id(step.board)}`)
    case 'resolve': {
      const workspace =
        step.workspace === undefined
          ? ''
          : `&workspace=${step.workspace === 'own' ? workspaceId : tenant.foreignWorkspace}`
      return api.get(`/resolve?scope=tenants&value=${step.value}${workspace}`)
    }
    case 'move':
      return api.post('/boards/move', { board_ids: step.boards.map(id), ...idOf(step.parent) })
    case 'delete':
      return api.delete('/boards', { board_ids: step.boards.map(id) })
    case 'restore':
      return api.post(`/boards/${id(step.board)}/restore`)
    case 'patch':
      return api.patch(`/boards/${id(step.board)}`, {
        ...idOf(step.parent),
        ...(step.values ? { identifiers: identifiersOf(step.values) } : {}),
      })
    case 'batch':
      return api.post('/boards', {
        ...(step.update ? { on_conflict: 'identifier' } : {}),
        boards: step.entries.map(({ values, parent, elsewhere }) => ({
          name: 'Batch',
          identifiers: identifiersOf(values),
          ...idOf(parent),
          ...(elsewhere ? { workspace_id: tenant.foreignWorkspace } : {}),
        })),
      })
  }
}

/** Five boards in a small tree, with identifiers that all tenants use, a card, an image that a card shows, and a webhook. */
async function plant(user: TestUser): Promise<Planted> {
  const ids: string[] = []
  for (let n = 0; n < boardCount; n++) {
    const { board } = succeeded(
      await user.api.post('/boards', {
        name: `Board ${n}`,
        identifiers: identifiersOf([values[n]!]),
        ...(n > 1 ? { parent_board_id: ids[n - 2] } : {}),
      }),
    )
    ids.push(board.id)
  }
  const { body: file } = await upload(service, user, ids[1]!)
  await makeCards(user, ids[0]!, [
    { title: 'Harbour', body: 'a pier of Board 1', identifiers: identifiersOf(['1', 'theirs']) },
    { kind: 'image', image_key: file.image_key, identifiers: identifiersOf(['2']) },
  ])
  const { webhook } = succeeded(
    await user.api.post('/webhooks', {
      workspace_id: user.workspaceId,
      url: 'https://93.184.215.14/hook',
      events: ['board.created'],
    }),
  )
  const { service_account: account } = succeeded(
    await user.api.post('/service-accounts', { workspace_id: user.workspaceId, name: 'Robot' }),
  )
  return { own: ids, imageKey: file.image_key, webhook: webhook.id, serviceAccount: account.id }
}

/** Every list and every read there is, of what is one's own and of what is the other's. */
function reads({
  own,
  foreign,
  imageKey,
  webhook,
  serviceAccount,
  others,
  foreignWorkspace,
  user,
}: Tenant): string[] {
  const boards = [own[0]!, own[1]!, foreign[0]!, foreign[1]!]
  const workspaces = ['', `&workspace=${user.workspaceId}`, `&workspace=${foreignWorkspace}`]
  const since = 'since=2020-01-01T00:00:00Z'
  const cursors = [`2020-01-01T00:00:00.000Z|${foreign[0]}`, `2020-01-01T00:00:00.000Z|${own[0]}`].map(
    encodeURIComponent,
  )
  return [
    '/workspaces',
    '/notifications',
    '/audit?limit=500',
    '/webhooks',
    ...workspaces.flatMap((filter) => [
      ...['board', 'pier', '1', 'harbour pier', 'robot', 'te'].map(
        (q) => `/search?q=${encodeURIComponent(q)}${filter}`,
      ),
      `/boards?${since}&deleted=1${filter}`,
      `/boards?${since}&deleted=1&include=props,identifiers${filter}`,
      ...cursors.map((cursor) => `/boards?cursor=${cursor}${filter}`),
      `/images?limit=500${filter}`,
      `/images?${since}${filter}`,
      ...values.map((value) => `/resolve?scope=tenants&value=${value}${filter}`),
      `/service-accounts?limit=500${filter}`,
      `/webhooks?limit=500${filter}`,
      `/audit?${since}${filter}`,
    ]),
    ...boards.flatMap((board) => [
      `/boards/${board}`,
      `/boards/${board}/cards`,
      `/boards/${board}/groups`,
      `/boards/${board}/export`,
      `/boards/tree?root=${board}`,
      `/boards/${board}/cards?source=index&deleted=1&${since}`,
      `/boards/${board}/cards?source=index&${since}`,
      `/images?board=${board}`,
      ...cursors.map((cursor) => `/boards/${board}/cards?source=index&cursor=${cursor}`),
      `/boards?parent=${board}`,
    ]),
    ...[imageKey, others.imageKey].map((key) => `/images/${key}`),
    ...[webhook, others.webhook].map((id) => `/webhooks/${id}/deliveries`),
    ...[serviceAccount, others.serviceAccount].map((id) => `/service-accounts/${id}/tokens`),
  ]
}

/** What was answered, with each id by the place where it first came up (not `counts`: what is new is alike), and without times and the tenant's own name. */
function normal(
  tenant: Tenant,
  known: Map<string, string>,
  answer: { status: number; text: string },
  { counts = true } = {},
): string {
  tenant.own.forEach((id, n) => known.set(id, `own ${n}`))
  tenant.foreign.forEach((id, n) => known.set(id, `foreign ${n}`))
  known.set(tenant.user.workspaceId, 'workspace').set(tenant.foreignWorkspace, 'foreign workspace')
  known.set(tenant.webhook, 'webhook').set(tenant.serviceAccount, 'robot').set(tenant.user.userId, 'user')
  const text = answer.text
    .replaceAll(tenant.imageKey, 'image')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
      if (counts && !known.has(id)) known.set(id, `new ${known.size}`)
      return known.get(id) ?? 'new'
    })
    .replaceAll(/"(id|prefix|display_name|request_id)":"(\d+|[A-Za-z0-9_-]{5,36}|User \d+)"/g, '"$1":"any"')
    .replaceAll(/"version":"[A-Za-z0-9+/]{22}"/g, '"version":"any"')
    .replaceAll(/("next_cursor":"[^"]*\|)(\d+|own \d+|[A-Za-z0-9_-]{16})"/g, '$1any"')
  return `${answer.status} ${text}`
}

/** What was made in one millisecond comes in the order of its random ids. */
function sorted(text: string): string {
  const [status, ...rest] = text.split(' ')
  const inOrder = (_: string, value: unknown) =>
    Array.isArray(value) ? value.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : value
  const body = rest.join(' ')
  return body.startsWith('{') ? `${status} ${JSON.stringify(JSON.parse(body, inOrder))}` : text
}

/** Of the same form as a key, and of no file. */
const randomKey = (key: string) =>
  key.replaceAll(/[0-9a-f]/g, () => Math.floor(Math.random() * 16).toString(16))

const stateOf = (user: TestUser) => service.admin`
  select b.*, array(select i.scope || i.value from board_identifiers i where i.board_id = b.id order by 1) as carried
  from boards b where b.workspace_id = ${user.workspaceId} order by b.id`

/** Two tenants that do not know of each other: one names what a third has, the other the same of nobody. */
async function pair(victim: TestUser, theirs: Planted): Promise<[Tenant, Tenant]> {
  const missing = {
    imageKey: randomKey(theirs.imageKey),
    webhook: randomUUID(),
    serviceAccount: randomUUID(),
  }
  const tenant = async (others: Planted, foreignWorkspace: string): Promise<Tenant> => {
    const user = await service.user()
    return { user, ...(await plant(user)), others, foreign: others.own, foreignWorkspace }
  }
  const none = { own: theirs.own.map(() => randomUUID()), ...missing }
  return Promise.all([tenant(theirs, victim.workspaceId), tenant(none, randomUUID())])
}

test('[BB37] what a tenant is answered does not depend on what other tenants have, and changes nothing of it', async () => {
  const victim = await service.user()
  const theirs = await plant(victim)
  const before = await stateOf(victim)
  let refused = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 30 }), async (steps) => {
      const tenants = await pair(victim, theirs)
      const known = tenants.map(() => new Map<string, string>())
      for (const step of steps) {
        const answers = await Promise.all(
          tenants.map(async (one, n) => sorted(normal(one, known[n]!, await send(one, step)))),
        )
        expect(answers[0], JSON.stringify(step)).toBe(answers[1])
        if (answers[0]!.startsWith('4')) refused += 1
        expect(answers[0]).not.toMatch(/^5/)
      }
    }),
    { numRuns: 20 },
  )
  expect(refused).toBeGreaterThan(20)
  expect(await stateOf(victim)).toEqual(before)
}, 60_000)

test('[BB37] no list, search, feed, cursor or id reads anything of another tenant, nor tells that it is there', async () => {
  const victim = await service.user()
  const tenants = await pair(victim, await plant(victim))
  for (const one of fc.sample(fc.array(step, { minLength: 20, maxLength: 30 }), 1)[0]!)
    await Promise.all(tenants.map((tenant) => send(tenant, one)))
  const known = tenants.map(() => new Map<string, string>())
  const [paths, same] = tenants.map(reads) as [string[], string[]]
  const statuses = new Set<number>()
  for (const [n, path] of paths.entries()) {
    const answers = await Promise.all(tenants.map((one, who) => one.user.api.get([path, same[n]!][who]!)))
    const texts = answers.map((answer, who) =>
      sorted(normal(tenants[who]!, known[who]!, answer, { counts: false })),
    )
    expect(texts[0], path).toBe(texts[1])
    statuses.add(answers[0]!.status)
  }
  expect(statuses).toEqual(new Set([200, 400, 404]))
}, 120_000)
