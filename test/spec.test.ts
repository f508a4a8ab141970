import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository } from './support/instance.ts'

interface TestText {
  path: string
  text: string
}

const folder = join(repository, 'test')

/** `- **A1** …` */
const ruleIds = (text: string) => [...text.matchAll(/^- \*\*([A-Z]+\d+)\*\* \S/gm)].map(([, id = '']) => id)

/** The title of every test: of `test(…)`, `test(…, options, …)` and `test.each(…)(…)`; `[A1, A2] …` or `[A1] [A2] …`. */
const bracketed = /(['"`])((?:\[[A-Z]+\d+(?:,\s*[A-Z]+\d+)*\]\s*)+)/g

function quotedIds({ text }: TestText): string[] {
  return [...text.matchAll(bracketed)].flatMap(([, , brackets = '']) => brackets.match(/[A-Z]+\d+/g) ?? [])
}

/** `test('a title without ids'`, and tables of them. */
function nameless({ path, text }: TestText): string[] {
  const direct = [...text.matchAll(/^\s*(?:test|it)(?:\.\w+)*\(\s*(['"`])(?!\[[A-Z]+\d)(.{0,60})/gm)]
  const tables = [...text.matchAll(/^\s*(?:\]|\}|`)\)?\)\(\s*(['"`])(?!\[[A-Z]+\d)(.{0,60})/gm)]
  return [...direct, ...tables].map(([, , title = '']) => `${path}: ${title}`)
}

function skipped({ path, text }: TestText): string[] {
  const switches =
    /\b(?:test|it|describe|suite)\.(?:\w+\.)*(?:skip|todo|only|fails|skipIf|runIf)\b|\b(?:ctx|context)\.skip\(|[{,]\s*(?:skip|todo|only|fails): *true/g
  return [...text.matchAll(switches)].map(([found]) => `${path}: ${found}`)
}

async function readTests(): Promise<TestText[]> {
  const entries = await readdir(folder, { recursive: true })
  const paths = entries.filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules')).sort()
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(folder, path), 'utf8') })))
}

async function readRules(): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => /^SPEC.*\.md$/.test(name))
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return texts.flatMap(ruleIds)
}

// The samples below are no tests: this file is not read.
const tests = (await readTests()).filter(({ path }) => path !== 'spec.test.ts')
const rules = [...(await readRules())]
const twice = (ids: string[]) => ids.filter((id, at) => ids.indexOf(id) !== at)

test('[O43] every rule has one id and a test, and tests quote known ids only', () => {
  expect(rules.length).toBeGreaterThan(20)
  expect(twice(rules)).toEqual([])
  const quoted = new Set([...tests.flatMap(quotedIds), 'O43'])
  expect(rules.filter((id) => !quoted.has(id))).toEqual([])
  expect([...quoted].filter((id) => !rules.includes(id))).toEqual([])
})

/** What needs a file that is not this project's: it skips, and says so, where that is missing, and fails there in CI. */
const maySkip = ['api/omc.test.ts: context.skip(']

test('[O43] every test names its rules, and none is skipped', () => {
  expect(tests.flatMap(nameless)).toEqual([])
  expect(tests.flatMap(skipped)).toEqual(maySkip)
  for (const path of maySkip.map((entry) => entry.split(':')[0]))
    expect(tests.find((test) => test.path === path)?.text).toContain("if (process.env['CI']) throw")
})

test('[O43] the reading of tests finds ids, tests without them, and skipped ones', () => {
  const text = [
    "test('[A1, A2] one', () => {})",
    'test(\n  `[A3] [B12] two ${x}`,\n)',
    "test.each([\n  [1],\n])('[A4] three %s', () => {})",
    "test('four', () => {})",
    "it.concurrent('five', () => {})",
    "test.each([\n  [1],\n])('six %s', () => {})",
    "test.skip('[A5] seven', () => {})",
    "describe.only('eight', () => {})",
    "test('[A6] nine', { skip: true }, () => {})",
    "test.skipIf(windows)('[A7] ten', () => {})",
  ].join('\n')
  const sample = { path: 'x', text }
  expect(quotedIds(sample)).toEqual(['A1', 'A2', 'A3', 'B12', 'A4', 'A5', 'A6', 'A7'])
  expect(nameless(sample)).toEqual(["x: four', () => {})", "x: five', () => {})", "x: six %s', () => {})"])
  expect(skipped(sample)).toEqual(['x: test.skip', 'x: describe.only', 'x: { skip: true', 'x: test.skipIf'])
  expect(ruleIds('- **A1** one\n- **B12** two\ntext **C1**\n')).toEqual(['A1', 'B12'])
})
