/** docs/benchmarks.md: the bench writes it. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { measures } from './bench/measures.ts'
import { rowOf } from './bench/compare.ts'
import { report } from './bench/report.ts'
import { repository } from './support/instance.ts'

const run = promisify(execFile)
const path = join(repository, 'docs/benchmarks.md')
/** These print no rows. */
const withoutRows = ['capacity']

test('[DC7] docs/benchmarks.md has a place for each measure', async () => {
  const guide = await readFile(path, 'utf8')
  const places = [...guide.matchAll(/^<!-- bench ([\w-]+) -->$[^]*?^<!-- end -->$/gm)].flatMap(
    ([, name]) => name ?? [],
  )
  const names = measures.map(({ name }) => name).filter((name) => !withoutRows.includes(name))
  expect(places.toSorted()).toEqual(names.toSorted())
})

test('[DC7] the bench writes its rows into a guide, and leaves the rest', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-guide-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const guide = join(folder, 'guide.md')
  const around = ['# Here\n\n<!-- bench move -->\n\nOf moves.\n\n<!-- end -->\n\n', '\nAnd more.\n']
  const place = '<!-- bench layout -->\n\nOf an earlier run.\n\n<!-- end -->\n'
  await writeFile(guide, around.join(place))
  const options = ['--only', 'layout', '--runs', '1', '--markdown', guide]
  const { stdout } = await run(process.execPath, ['test/bench/main.ts', ...options], { cwd: repository })
  const text = await readFile(guide, 'utf8')
  expect([text.startsWith(around[0]!), text.endsWith(around[1]!)]).toEqual([true, true])
  expect(text).not.toContain('Of an earlier run.')
  const [, figure = 'none'] = /^slowest layout of 10,000 cards +\S+ per card +(\S+) /m.exec(stdout)!
  expect(text).toMatch(
    new RegExp(
      `^\\| slowest layout of 10,000 cards +\\| µs per card +\\| +${figure} \\| of 1,000 +\\| `,
      'm',
    ),
  )
  expect(text).toContain('Medians of 1.')
})

test('[DC7] a row that misses its target says why; a guide without a place is refused', async () => {
  const row = (name: string, met: boolean | null, reference = 2) => ({
    ...{ name, unit: 'ms', subject: 3, reference, referenceName: 'a peer', ratio: 1.5, met },
    ...{ ratioRange: [1.5, 1.5] as [number, number], target: { atMost: met ? 2 : 1 } },
  })
  const guide = '# Here\n\n<!-- bench move -->\n<!-- end -->\n'
  const about = { runs: 3, about: 'A machine.', reasons: { 'a slow move': 'the disk.' } }
  const rows = [
    row('a move', true),
    row('a slow move', false),
    row('a new move', false),
    row('no move', null, -1),
  ]
  expect(await report(guide, [{ measure: 'move', rows }], about, path)).toBe(`# Here

<!-- bench move -->

| what        | unit | Corkboard | against |     | ratio | target |            |
| ----------- | ---- | --------: | ------- | --: | ----: | ------ | ---------- |
| a move      | ms   |         3 | a peer  |   2 |  1.50 | <= 2   | met        |
| a slow move | ms   |         3 | a peer  |   2 |  1.50 | <= 1   | **missed** |
| a new move  | ms   |         3 | a peer  |   2 |  1.50 | <= 1   | **missed** |
| no move     | ms   |         3 | a peer  |  -1 |     – | <= 1   | no ratio   |

Missed:

- **a slow move** (ms): the disk.
- **a new move** (ms): not looked into yet.

A machine. Medians of 3.

<!-- end -->
`)
  await expect(report(guide, [{ measure: 'layout', rows }], about, path)).rejects.toThrow(
    /no lines <!-- bench layout -->/,
  )
})

test('[DC7] without a positive figure of the peer, a row has no ratio to judge', () => {
  const about = { name: 'a move', unit: 'ms', referenceName: 'a peer', target: { atMost: 2 } }
  const of = (reference: number) => rowOf({ subject: [3], reference: [reference] }, (figure) => figure, about)
  expect([of(2).met, of(1).met, of(0).met, of(-1).met]).toEqual([true, false, null, null])
})
