import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { locks } from '../../sql/locks.ts'
import { repository } from '../support/instance.ts'

const folders = ['api', 'collab', 'core', 'platform', 'server', 'sql', 'workers']

test('[O52] no two advisory locks have the same number, and every number in SQL and TypeScript is one that sql/locks.ts names', async () => {
  const named = Object.values(locks)
  expect(new Set(named).size).toBe(named.length)

  const used: { path: string; number: number }[] = []
  for (const folder of folders) {
    for (const path of await readdir(join(repository, folder), { recursive: true })) {
      if (!/\.(ts|sql)$/.test(path)) continue
      const text = await readFile(join(repository, folder, path), 'utf8')
      for (const [, number] of text.matchAll(/(?:advisory\w*\(|\bclassid = )\s*(\d+)/g))
        used.push({ path: join(folder, path), number: Number(number) })
    }
  }
  expect(used.filter(({ path }) => path.endsWith('.ts'))).toEqual([])
  expect(used.filter(({ number }) => !named.includes(number))).toEqual([])
  // What the functions have to agree on: the writers' lock and the readers' look at it.
  expect(used.filter(({ number }) => number === locks.stamps)).toHaveLength(2)
})
