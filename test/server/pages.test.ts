import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readReleases, type Release } from '../../server/pages/changelog.ts'
import { repository } from '../support/instance.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ workers: false })
})
afterAll(() => service.stop())

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${service.url}${path}`, { headers })
const typeOf = ({ headers }: Response) => headers.get('content-type')?.split(';')[0]

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

test('[CL1] without a token /changelog is a page, and JSON or Markdown to who asks for them', async () => {
  for (const [accept, type] of [
    [browser, 'text/html'],
    ['*/*', 'text/html'],
    ['image/png', 'text/html'],
    ['application/json', 'application/json'],
    ['text/markdown', 'text/markdown'],
    ['text/html;q=0.1, application/json', 'application/json'],
  ] as const) {
    const answer = await get('/changelog', { accept })
    expect([answer.status, typeOf(answer)], accept).toEqual([200, type])
    expect(answer.headers.get('vary')?.toLowerCase(), accept).toContain('accept')
  }
  // What names its type is that, whoever asks.
  expect(typeOf(await get('/changelog.md', { accept: browser }))).toBe('text/markdown')
  expect(typeOf(await get('/changelog.json', { accept: browser }))).toBe('application/json')
  const head = await fetch(`${service.url}/changelog`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('[CL2] it is CHANGELOG.md: as it is, as its releases with their entries, and as a page with all of them', async () => {
  const text = await readFile(join(repository, 'CHANGELOG.md'), 'utf8')
  expect(await (await get('/changelog.md')).text()).toBe(text)
  const { releases } = (await (await get('/changelog.json')).json()) as any
  expect(
    releases.map(({ version, date }: any) => (date === null ? version : `${version} – ${date}`)),
  ).toEqual([...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading))
  const entries = releases.flatMap(({ changes }: any) => changes.map((change: any) => change.text))
  expect(entries.length).toBe(text.match(/^- /gm)!.length)
  expect(entries[0]).toBe(/^- ([^]*?)\n(?! )/m.exec(text)![1]!.replace(/\s+/g, ' '))
  const page = await (await get('/changelog', { accept: browser })).text()
  expect(page.match(/<li>/g)).toHaveLength(entries.length)
  expect(page).toContain('<h2>')
  const dated =
    '# C\n\n## 1.2.0 – 2026-11-21\n\n### Added\n\n- one\n  more `x`\n- two\n\n## [1.0.0] (2026-01-02)\n\n- three\n'
  expect(readReleases(dated)).toEqual([
    {
      version: '1.2.0',
      date: '2026-11-21',
      changes: [
        { heading: 'Added', text: 'one more `x`' },
        { heading: 'Added', text: 'two' },
      ],
    },
    { version: '1.0.0', date: '2026-01-02', changes: [{ heading: null, text: 'three' }] },
  ])
})

test('[PG9] each release has its version and its date, below what is not released yet', async () => {
  const { releases } = (await (await get('/changelog.json')).json()) as { releases: Release[] }
  const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as Release
  const [unreleased, ...released] = releases.map(({ version, date }) => ({ version, date }))
  expect(unreleased).toEqual({ version: 'Unreleased', date: null })
  expect(released[0]?.version).toBe(version)
  for (const release of released) {
    expect(release.version).toMatch(/^\d+\.\d+\.\d+$/)
    expect(release.date).toMatch(/^20\d\d-\d\d-\d\d$/)
  }
  expect(await (await get('/changelog')).text()).toContain(`<h2>${version} – ${released[0]!.date}</h2>`)
})

test('[CL3] caches keep it for five minutes and ask again by its ETag, which each form has to itself', async () => {
  const etags = new Set<string>()
  for (const path of ['/changelog', '/changelog.md', '/changelog.json']) {
    const answer = await get(path)
    expect(answer.headers.get('cache-control'), path).toBe('public, max-age=300')
    const etag = answer.headers.get('etag')!
    etags.add(etag)
    const again = await get(path, { 'if-none-match': etag })
    expect([again.status, await again.text(), again.headers.get('etag')], path).toEqual([304, '', etag])
    expect((await get(path, { 'if-none-match': '"other"' })).status, path).toBe(200)
  }
  expect(etags.size).toBe(3)
})

/** Directive → sources. */
function policyOf({ headers }: Response): Map<string, string[]> {
  const directives = headers.get('content-security-policy')!.split(';')
  return new Map(
    directives.map((directive) => {
      const [name = '', ...sources] = directive.trim().split(' ')
      return [name, sources]
    }),
  )
}

/** What each may load: this service, what is in the page itself by its hash, and pictures within it. */
const allowed = /^('none'|'self'|data:|'sha256-[\w+/=]+')$/

test('[CL4] the pages load from this service alone, by a policy that names no other host and no inline script', async () => {
  for (const path of ['/changelog', '/docs', '/docs/static/swagger-ui-bundle.js']) {
    const policy = policyOf(await get(path, { accept: browser }))
    expect(policy.get('default-src'), path).toEqual(["'none'"])
    expect(policy.get('frame-ancestors'), path).toEqual(["'none'"])
    expect(policy.get('base-uri'), path).toEqual(["'none'"])
    for (const [directive, sources] of policy)
      for (const source of sources) {
        expect(source, `${path} ${directive}`).toMatch(allowed)
        if (source === 'data:') expect(directive).toBe('img-src')
        if (source.startsWith("'sha256")) expect([path, directive]).toEqual(['/changelog', 'style-src'])
      }
  }
})

/** What the markup loads or links. */
const named = (html: string) => [...html.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, url]) => url!)

test('[CL5] /docs is a viewer of the description whose files all come from here', async () => {
  const page = await get('/docs')
  expect([page.status, typeOf(page)]).toEqual([200, 'text/html'])
  const html = await page.text()
  const files = named(html)
  expect(files.some((file) => file.endsWith('swagger-ui-bundle.js'))).toBe(true)
  for (const file of files) {
    const url = new URL(file, `${service.url}/docs`)
    expect(url.origin, file).toBe(service.url)
    const answer = await fetch(url)
    expect(answer.status, file).toBe(200)
    if (!typeOf(answer)?.includes('css')) continue
    for (const [, loaded = ''] of (await answer.text()).matchAll(/(?:@import|url\()\s*["']?([^"')\s;]+)/g))
      expect(loaded, file).toMatch(/^(data:|\.|#)/)
  }
  // Neither in the markup nor by its event attributes, which the policy would refuse.
  expect(html).not.toMatch(/<script>|<style>|\son\w+=/)
  const start = await (await get('/docs/static/swagger-initializer.js')).text()
  expect(start.replace(/^\s*\/\/.*$/gm, '')).not.toMatch(/https?:\/\//)
  expect(start).toContain('"validatorUrl":null')

  const shown = (await (await get('/docs/json')).json()) as any
  const described = (await (await get('/api/v1/openapi.json')).json()) as any
  expect(shown).toEqual({ ...described, servers: [{ url: '/api/v1' }] })
})

/** In texts, links, names of specifications and of namespaces; the last is where it would have a description checked. */
const mentioned = [
  'datatracker.ietf.org',
  'example.com',
  'fb.me',
  'github.com',
  'instagram.com',
  'json-schema.org',
  'reactjs.org',
  'redux.js.org',
  'soundcloud.com',
  'spdx.org',
  'spec.openapis.org',
  'swagger.io',
  'twitter.com',
  'vladimirgorej.com',
  'www.facebook.com',
  'www.rfc-editor.org',
  'www.tiktok.com',
  'www.w3.org',
  'validator.swagger.io',
]

test('[CL6] the viewer’s code loads nothing from elsewhere: the hosts that it names are known, and none serves code', async () => {
  const hosts = new Set<string>()
  for (const file of ['swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js']) {
    const code = await (await get(`/docs/static/${file}`)).text()
    for (const [, host] of code.matchAll(/(?:https?:|["'`])\/\/([a-z0-9.-]+\.[a-z]{2,})/gi)) hosts.add(host!)
    expect(code, file).not.toMatch(/\b(?:importScripts|import)\(\s*["'`]|\beval\(/)
  }
  expect([...hosts].toSorted()).toEqual(mentioned.toSorted())
})
