import { expect, test } from 'vitest'
import { importsIn, readSources, type SourceFile } from './support/imports.ts'
import { repository } from './support/instance.ts'

/** What each folder may import, besides itself and packages. */
const reach: Record<string, string[]> = {
  server: ['api', 'workers', 'collab', 'sql', 'platform', 'core'],
  api: ['collab', 'sql', 'platform', 'core'],
  workers: ['collab', 'sql', 'platform', 'core'],
  collab: ['sql', 'platform', 'core'],
  sql: ['core'],
  platform: ['core'],
  core: [],
  client: [],
  web: ['client'],
  test: ['server', 'api', 'workers', 'collab', 'sql', 'platform', 'core', 'client', 'web'],
}
/**
 * The rooms of each folder, from top to bottom: a room may import rooms that are listed below it, and no other room of
 * its line. `.` stands for the files that lie in the folder itself.
 */
const rooms: Record<string, string[][]> = {
  server: [['cli'], ['backup'], ['.'], ['metrics', 'pages']],
  api: [
    ['.'],
    ['app-actions', 'description', 'mcp'],
    ['exchange', 'search'],
    ['cards', 'groups'],
    ['events', 'files', 'history', 'oauth', 'presence', 'settings', 'versions', 'webhooks'],
    ['people'],
    ['audit', 'boards', 'notifications', 'service-accounts', 'sessions', 'sign-in'],
    ['http'],
  ],
  workers: [['deliveries', 'search', 'upkeep'], ['.']],
  collab: [
    ['history', 'lists'],
    ['boards', 'gateway'],
    ['documents'],
    ['bus', 'commit'],
    ['log'],
    ['canvas'],
    ['updates', 'awareness', 'events'],
    ['.'],
  ],
  sql: [['archive', 'boards', 'oauth'], ['accounts', 'embedded', 'requests'], ['.']],
  platform: [['archive'], ['egress', 'images', 'storage'], ['secrets'], ['work'], ['.']],
  core: [['layout'], ['.']],
  client: [['react'], ['editor'], ['.']],
  web: [
    ['.'],
    ['shell'],
    ['settings'],
    ['history', 'people'],
    ['boards', 'canvas', 'list'],
    ['contents'],
    ['controls'],
    ['files'],
    ['board', 'build', 'service'],
  ],
}
/** Packages that only some folders may import. */
const keepers: [RegExp, string[]][] = [
  [/^postgres$/, ['sql', 'test']],
  [/^undici$/, ['platform', 'test']],
  [/^redis$/, ['collab']],
  [/^@hocuspocus\//, ['client', 'collab', 'test']],
  [/^react$/, ['client', 'web', 'test']],
]

const folderOf = (path: string) => path.split('/')[0]!
/** Packages have such names, too, but in no folder. */
const isFile = (name: string) => /\/.*\.[jt]sx?$/.test(name)

function wrongWays(files: SourceFile[]): string[] {
  return files.flatMap(({ path, imports }) =>
    imports
      .filter((name) => isFile(name) && folderOf(name) !== folderOf(path))
      .filter((name) => !reach[folderOf(path)]?.includes(folderOf(name)))
      .map((name) => `${path} → ${name}`),
  )
}

/** The folder's part that holds a file. Deeper folders belong to their room. */
const roomOf = (path: string) => (path.split('/').length > 2 ? path.split('/')[1]! : '.')

/** Folders without rooms, as `test`, are not looked at. */
function wrongRooms(files: SourceFile[]): string[] {
  const floorOf = (path: string) => rooms[folderOf(path)]!.findIndex((floor) => floor.includes(roomOf(path)))
  return files
    .filter(({ path }) => rooms[folderOf(path)])
    .flatMap(({ path, imports }) => {
      if (floorOf(path) < 0) return [`${path} lies in a room that has no place`]
      return imports
        .filter((name) => isFile(name) && folderOf(name) === folderOf(path) && roomOf(name) !== roomOf(path))
        .filter((name) => floorOf(name) <= floorOf(path))
        .map((name) => `${path} → ${name}`)
    })
}

/** More files than this in one folder want rooms. */
const maxFiles = 24

function crowded(files: SourceFile[]): string[] {
  const counts = new Map<string, number>()
  for (const { path } of files) {
    const folder = path.slice(0, path.lastIndexOf('/'))
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].filter(([, count]) => count > maxFiles).map(([folder, count]) => `${folder}: ${count}`)
}

function intruders(files: SourceFile[]): string[] {
  return files.flatMap(({ path, imports }) =>
    imports
      .filter((name) => keepers.some(([kept, by]) => kept.test(name) && !by.includes(folderOf(path))))
      .map((name) => `${path} → ${name}`),
  )
}

/** Each circle once, from where it was first entered. */
function circles(files: SourceFile[]): string[] {
  const imports = new Map(files.map((file) => [file.path, file.imports.filter(isFile)]))
  const done = new Set<string>()
  const found: string[] = []
  const walk = (path: string, trail: string[]) => {
    const entered = trail.indexOf(path)
    if (entered >= 0) found.push([...trail.slice(entered), path].join(' → '))
    if (entered >= 0 || done.has(path)) return
    for (const next of imports.get(path) ?? []) walk(next, [...trail, path])
    done.add(path)
  }
  for (const { path } of files) walk(path, [])
  return found
}

// The samples below are no imports: this file is not read.
const files = (await readSources(repository, Object.keys(reach))).filter(
  ({ path }) => path !== 'test/architecture.test.ts',
)

test('[O40, O41, O42] the reading of imports finds them in every form', () => {
  const text = [
    "import type { A } from '../core/a.ts'",
    'import {\n  b,\n  c,\n} from "./b.ts"',
    "import './c.ts'",
    "export * from '../sql/d.ts'",
    "const e = await import('../api/e.ts')",
    "new Worker(new URL('./f.ts', import.meta.url))",
    "import { g } from '@hocuspocus/server/g'",
    "import h, { i } from 'postgres'",
    "// import { j } from './j.ts'",
    " * import { k } from './k.ts'",
  ].join('\n')
  expect(importsIn('collab/x.ts', text).toSorted()).toEqual(
    [
      '@hocuspocus/server',
      'api/e.ts',
      'collab/b.ts',
      'collab/c.ts',
      'collab/f.ts',
      'core/a.ts',
      'postgres',
      'sql/d.ts',
    ].toSorted(),
  )
  const known = new Set(files.map(({ path }) => path))
  const missing = files.flatMap(({ path, imports }) =>
    imports.filter((name) => isFile(name) && !known.has(name)).map((name) => `${path} → ${name}`),
  )
  expect(missing).toEqual([])
  expect(files.flatMap(({ imports }) => imports).length).toBeGreaterThan(files.length)
})

test('[O40] imports run one way', () => {
  const planted = [
    { path: 'sql/a.ts', imports: ['platform/b.ts', 'core/c.ts', 'sql/d.ts'] },
    { path: 'api/a.ts', imports: ['workers/b.ts', 'collab/c.ts'] },
    { path: 'test/a.ts', imports: ['server/b.ts'] },
    { path: 'web/a.ts', imports: ['core/b.ts'] },
    { path: 'client/a.ts', imports: ['core/b.ts', 'client/editor/c.ts'] },
    { path: 'api/b.ts', imports: ['client/c.ts'] },
    { path: 'collab/a.ts', imports: ['server/b.ts', 'test/c.ts'] },
  ]
  expect(wrongWays(planted)).toEqual([
    'sql/a.ts → platform/b.ts',
    'api/a.ts → workers/b.ts',
    'web/a.ts → core/b.ts',
    'client/a.ts → core/b.ts',
    'api/b.ts → client/c.ts',
    'collab/a.ts → server/b.ts',
    'collab/a.ts → test/c.ts',
  ])
  expect(wrongWays(files)).toEqual([])
})

test('[O44] inside a folder imports run from room to room one way', () => {
  const planted = [
    { path: 'collab/boards/a.ts', imports: ['collab/commit/b.ts', 'collab/access.ts', 'core/c.ts'] },
    { path: 'collab/boards/b.ts', imports: ['collab/gateway/c.ts'] },
    { path: 'collab/log/a.ts', imports: ['collab/log/b.ts', 'collab/commit/c.ts'] },
    { path: 'collab/access.ts', imports: ['collab/canvas/a.ts'] },
    { path: 'api/http/body/a.ts', imports: ['api/http/b.ts', 'api/boards/c.ts'] },
    { path: 'workers/attic/a.ts', imports: [] },
    { path: 'client/a.ts', imports: ['client/editor/b.ts'] },
  ]
  expect(wrongRooms(planted)).toEqual([
    'collab/boards/b.ts → collab/gateway/c.ts',
    'collab/log/a.ts → collab/commit/c.ts',
    'collab/access.ts → collab/canvas/a.ts',
    'api/http/body/a.ts → api/boards/c.ts',
    'workers/attic/a.ts lies in a room that has no place',
    'client/a.ts → client/editor/b.ts',
  ])
  expect(wrongRooms(files)).toEqual([])
})

test('[O44] no folder of the service is crowded', () => {
  const service = files.filter(({ path }) => !path.startsWith('test/'))
  expect(crowded([{ path: 'core/a.ts', imports: [] }])).toEqual([])
  expect(crowded(Array.from({ length: 25 }, (_, n) => ({ path: `core/${n}.ts`, imports: [] })))).toEqual([
    'core: 25',
  ])
  expect(crowded(service)).toEqual([])
})

test('[O41] no files import each other in a circle', () => {
  const planted = [
    { path: 'core/a.ts', imports: ['core/b.ts'] },
    { path: 'core/b.ts', imports: ['core/c.ts'] },
    { path: 'core/c.ts', imports: ['core/b.ts'] },
  ]
  expect(circles(planted)).toEqual(['core/b.ts → core/c.ts → core/b.ts'])
  expect(circles(files)).toEqual([])
})

test('[O42] the driver stays in sql, Hocuspocus in collab', () => {
  const planted = [
    { path: 'api/a.ts', imports: ['postgres', '@hocuspocus/server'] },
    { path: 'sql/a.ts', imports: ['postgres'] },
    { path: 'collab/a.ts', imports: ['@hocuspocus/server'] },
  ]
  expect(intruders(planted)).toEqual(['api/a.ts → postgres', 'api/a.ts → @hocuspocus/server'])
  expect(intruders(files)).toEqual([])
})
