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
  web: [],
  test: ['server', 'api', 'workers', 'collab', 'sql', 'platform', 'core'],
}
/** Packages that only some folders may import. */
const keepers: [RegExp, string[]][] = [
  [/^postgres$/, ['sql', 'test']],
  [/^undici$/, ['platform', 'test']],
  [/^@hocuspocus\//, ['collab', 'web', 'test']],
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
      '@hocuspocus/server', 'api/e.ts', 'collab/b.ts', 'collab/c.ts', 'collab/f.ts', 'core/a.ts', 'postgres', 'sql/d.ts',
    ].toSorted(), // prettier-ignore
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
    { path: 'collab/a.ts', imports: ['server/b.ts', 'test/c.ts'] },
  ]
  expect(wrongWays(planted)).toEqual([
    'sql/a.ts → platform/b.ts',
    'api/a.ts → workers/b.ts',
    'web/a.ts → core/b.ts',
    'collab/a.ts → server/b.ts',
    'collab/a.ts → test/c.ts',
  ])
  expect(wrongWays(files)).toEqual([])
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
