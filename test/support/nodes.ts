/**
 * Several nodes for the tests. With `NODES=3` every service of a test is three of them on one database: each call goes
 * to the next node. With `REDIS_URL` they have that Redis between them. A rule of SPEC.md that is marked `(one node)` promises something of the node that did it. Its tests
 * use the first node only.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'

export const nodesPerService = Math.max(1, Number(process.env['NODES'] ?? 1))

/** `- **A12** (one node) …` */
export const pinnedRules = (text: string): string[] =>
  [...text.matchAll(/^- \*\*([A-Z]+\d+)\*\* \(one node\) \S/gm)].map(([, id = '']) => id)

/** The ids in a test's name: `[A1, A2] …` or `[A1] [A2] …`. */
const idsIn = (name: string) =>
  (/((?:\[[A-Z]+\d+(?:,\s*[A-Z]+\d+)*\]\s*)+)/.exec(name)?.[1] ?? '').match(/[A-Z]+\d+/g) ?? []

let pinned: Set<string> | null = null

function isPinned(testName: string): boolean {
  pinned ??= new Set(pinnedRules(readFileSync(join(import.meta.dirname, '../SPEC.md'), 'utf8')))
  return idsIn(testName).some((id) => pinned!.has(id))
}

/** Returns a function that returns the next of `nodes` at each call, and always the first in a test that is pinned. */
export function inTurn<T>(nodes: T[]): () => T {
  let calls = 0
  return () => {
    if (nodes.length === 1 || isPinned(expect.getState().currentTestName ?? '')) return nodes[0]!
    return nodes[calls++ % nodes.length]!
  }
}
