/** Imports: a site to fetch from, and a service that reaches nothing else. */
import type { Logger } from 'pino'
import { openEgress } from '../../platform/egress/egress.ts'
import type { Config } from '../../server/config.ts'
import type { TestService, TestUser } from '../support/service.ts'
import { openSite, type serves, type Site } from '../support/site.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'
import { succeeded } from './board.ts'

/** Names that lead somewhere in these tests; `turning.example` is public when it is checked, and loopback then. */
const names: Record<string, string[][]> = {
  'inside.example': [['10.0.0.1']],
  'loopback.example': [['127.0.0.2']],
  'turning.example': [['93.184.215.14'], ['127.0.0.2']],
}

export interface Importing {
  service: TestService
  site: Site
  user: TestUser
  /** A URL of the site that answers so. */
  at(serve: ReturnType<typeof serves>, name?: string): string
  run(boardId: string, items: unknown[], more?: object, by?: TestUser): Promise<any>
}

export async function importsOfFile(config: Partial<Config> = {}, log?: Logger): Promise<Importing> {
  const site = await forFile(openSite())
  const asked = new Map<string, number>()
  const { service, user } = await serviceOfFile({
    workers: false,
    config,
    ...(log && { log }),
    egress: openEgress({
      allow: ['127.0.0.1'],
      resolve(name) {
        const known = names[name]
        if (!known) return Promise.reject(Object.assign(new Error(name), { code: 'ENOTFOUND' }))
        const nth = asked.get(name) ?? 0
        asked.set(name, nth + 1)
        return Promise.resolve(known[Math.min(nth, known.length - 1)]!)
      },
    }),
    importMs: { item: 4000, call: 9000 },
  })
  let paths = 0
  return {
    service,
    site,
    user,
    at(serve, name = '') {
      const path = `/${(paths += 1)}/${name}`
      site.pages.set(path, serve)
      return site.url + path
    },
    run: async (boardId, items, more = {}, by = user) =>
      succeeded(await by.api.post(`/boards/${boardId}/import`, { items, ...more })),
  }
}

/** A page whose head this is. */
export const html = (head: string) =>
  `<!doctype html><html><head>${head}</head><body><h1>Body</h1></body></html>`
