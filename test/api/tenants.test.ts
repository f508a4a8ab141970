/** Two tenants against each other: what one is answered must not depend on whether the other is there. */
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeCards, succeeded, type Shown } from './board.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ workers: false })
})
afterAll(() => service.stop())

const boardCount = 5
const values = ['1', '2', '3', '4', 'theirs']

/** Ids by number: a tenant's own boards, and what it names of the other. */
interface Tenant {
  user: TestUser
  own: string[]
  /** Boards of another tenant, or ids of none. */
  foreign: string[]
  foreignWorkspace: string
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
  fc.record({ what: fc.constant('move' as const), boards: fc.array(named, { minLength: 1, maxLength: 4 }), parent }),
  fc.record({ what: fc.constant('delete' as const), boards: fc.array(named, { minLength: 1, maxLength: 3 }) }),
  fc.record({ what: fc.constant('restore' as const), board: named }),
  fc.record({ what: fc.constant('patch' as const), board: named, parent, values: fc.option(carried, { nil: undefined }) }),
  fc.record({
    what: fc.constant('batch' as const),
    entries: fc.array(fc.record({ values: carried, parent, elsewhere: fc.boolean() }), { minLength: 1, maxLength: 3 }),
    update: fc.boolean(),
  }),
) // prettier-ignore

const identifiersOf = (list: string[]) => list.map((value) => ({ scope: 'tenants', value }))

function send(tenant: Tenant, step: Step) {
  const { api, workspaceId } = tenant.user
  const id = ([whose, n]: Named) => tenant[whose][n]!
  const idOf = (parent: Parent) => (parent === undefined ? {} : { parent_board_id: parent === 'top' ? null : id(parent) })
  switch (step.what) {
    case 'list': {
      const { parent } = step
      const query = parent === undefined ? '' : `&parent=${parent === 'top' ? 'root' : id(parent)}`
      return api.get(`/boards?limit=500&include=props,identifiers&deleted=${step.deleted ? 1 : 0}${query}${step.workspace ? `&workspace=${tenant.foreignWorkspace}` : ''}`)
    }
    case 'tree': {
      const start = step.start === 'own workspace' ? `workspace=${workspaceId}` : step.start === 'foreign workspace' ? `workspace=${tenant.foreignWorkspace}` : `root=${id(step.start)}`
      return api.get(`/boards/tree?${start}&deleted=${step.deleted ? 1 : 0}`)
    }
    case 'read':
      return api.get(`/boards/${id(step.board)}`)
    case 'resolve': {
      const workspace = step.workspace === undefined ? '' : `&workspace=${step.workspace === 'own' ? workspaceId : tenant.foreignWorkspace}`
      return api.get(`/resolve?scope=tenants&value=${step.value}${workspace}`)
    }
    case 'move':
      return api.post('/boards/move', { board_ids: step.boards.map(id), ...idOf(step.parent) })
    case 'delete':
      return api.delete('/boards', { board_ids: step.boards.map(id) })
    case 'restore':
      return api.post(`/boards/${id(step.board)}/restore`)
    case 'patch':
      return api.patch(`/boards/${id(step.board)}`, { ...idOf(step.parent), ...(step.values ? { identifiers: identifiersOf(step.values) } : {}) })
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
} // prettier-ignore

/** Five boards in a small tree, with identifiers that all tenants use, and a card. */
async function plant(user: TestUser): Promise<string[]> {
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
  await makeCards(user, ids[0]!, [{ identifiers: identifiersOf(['1', 'theirs']) }])
  return ids
}

/** What was answered, with each id by the place where it first came up, and without times and the tenant's own name. */
function normal(
  tenant: Tenant,
  known: Map<string, string>,
  answer: { status: number; text: string },
): string {
  tenant.own.forEach((id, n) => known.set(id, `own ${n}`))
  tenant.foreign.forEach((id, n) => known.set(id, `foreign ${n}`))
  known.set(tenant.user.workspaceId, 'workspace').set(tenant.foreignWorkspace, 'foreign workspace')
  const text = answer.text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
      if (!known.has(id)) known.set(id, `new ${known.size}`)
      return known.get(id)!
    })
    .replaceAll(/"id":"[A-Za-z0-9_-]{16}"/g, '"id":"card"')
  return `${answer.status} ${text}`
}

/** Boards made in one millisecond come in the order of their random ids. */
function sorted(text: string): string {
  const [status, ...rest] = text.split(' ')
  const body = JSON.parse(rest.join(' ')) as Record<string, Shown[]>
  for (const list of ['boards', 'matches']) {
    if (Array.isArray(body[list])) body[list] = body[list].toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  return `${status} ${JSON.stringify(body)}`
} // prettier-ignore

const stateOf = (user: TestUser) => service.admin`
  select b.*, array(select i.scope || i.value from board_identifiers i where i.board_id = b.id order by 1) as carried
  from boards b where b.workspace_id = ${user.workspaceId} order by b.id`

test('[BB37] what a tenant is answered does not depend on what other tenants have, and changes nothing of it', async () => {
  const victim = await service.user()
  const theirs = await plant(victim)
  const before = await stateOf(victim)
  let refused = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 30 }), async (steps) => {
      const tenant = async (foreign: string[], foreignWorkspace: string): Promise<Tenant> => {
        const user = await service.user()
        return { user, own: await plant(user), foreign, foreignWorkspace }
      }
      const tenants = await Promise.all([
        tenant(theirs, victim.workspaceId),
        tenant(theirs.map(() => randomUUID()), randomUUID()),
      ])
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
}, 60_000) // prettier-ignore
