/** Imports in two processes of the service, on one database. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { urlSource } from '../../collab/boards/sources.ts'
import { createCards } from '../../collab/boards/write.ts'
import { openEgress } from '../../platform/egress/egress.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { openSite, png, serves, type Site } from '../support/site.ts'
import { listCards, makeBoard } from './board.ts'

let testDatabase: TestDatabase
let site: Site
let services: TestService[]
let user: TestUser

beforeAll(async () => {
  testDatabase = await cloneDatabase()
  site = await openSite()
  const start = () =>
    startService({ testDatabase, workers: false, egress: openEgress({ allow: ['127.0.0.1'] }) })
  services = [await start(), await start()]
  user = await services[0]!.user()
})
afterAll(async () => {
  for (const service of services) await service.stop()
  await testDatabase.drop()
  await site.close()
})

const places = [{}, { x: 10, y: 10 }]

test('[IM6] two processes that import the same at the same moment make each card once', async () => {
  for (const place of places) {
    const board = await makeBoard(user)
    // Both are fetching the last one before either creates.
    const urls = [1, 2, 3].map(() => {
      const waiting: (() => void)[] = []
      const path = `/${randomUUID()}`
      site.pages.set(path, (request, response) => {
        waiting.push(() => serves(png(30, 30), 'image/png')(request, response))
        if (waiting.length === 2) for (const answer of waiting) answer()
      })
      return site.url + path
    })
    const answers = await Promise.all(
      services.map(async ({ url }) => {
        const response = await fetch(`${url}/api/v1/boards/${board.id}/import`, {
          method: 'POST',
          headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ items: urls.map((url) => ({ url, ...place })) }),
        })
        return (await response.json()) as { created: number; existing: number; failed: number }
      }),
    )
    expect(answers.map(({ failed }) => failed)).toEqual([0, 0])
    expect(answers.map(({ created }) => created).toSorted((a, b) => a - b)).toEqual([0, 3])
    expect(await listCards(user, board.id)).toHaveLength(3)
  }
})

test('[IM6] of two processes that have found nothing and create from one source, the commit lets one', async () => {
  for (const place of places) {
    const board = await makeBoard(user)
    const url = `${site.url}/${randomUUID()}`
    const request = {
      account: user.userId,
      boardId: board.id,
      cards: [{ change: { kind: 'link', url, ...place } }],
      newSources: new Set([urlSource(url)]),
    }
    const made = await Promise.allSettled(
      Array.from({ length: 6 }, (_, n) => createCards(services[n % 2]!.live, request)),
    )
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of made)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'conflict' })
    expect(await listCards(user, board.id)).toHaveLength(1)
  }
})
