/**
 * Random edits, writes, moves, imports, restores and compactions, with a copy of the board after each step.
 * `HISTORY_STEPS=2000 npm test -- test/collab/history-random.test.ts` takes more steps; `HISTORY_SEED=7` repeats a run.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { verifyBoard } from '../../collab/log/verify.ts'
import { openEgress } from '../../platform/egress/egress.ts'
import { openSite } from '../support/site.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'
import { kinds, makeRandomBoard, same, type State } from './random-board.ts'

const steps = Number(process.env['HISTORY_STEPS'] ?? 60)
const seed = Number(process.env['HISTORY_SEED'] ?? Date.now() % 1_000_000)
const site = await forFile(openSite())
const { service, user } = await serviceOfFile({
  ...{ workers: false, debounceMs: 20, nodes: 1 },
  egress: openEgress({ allow: ['127.0.0.1'] }),
})

const step = fc.record({ kind: fc.constantFrom(...kinds), seed: fc.nat() })

test(
  `[HP6, HB7, HU9] after ${steps} random steps as_of of each position is what the board was; restore-to a moment is, too; undo takes an actor's changes back and leaves the others' (seed ${seed})`,
  async () => {
    const run = fc.asyncProperty(fc.array(step, { minLength: steps, maxLength: steps }), async (list) => {
      const board = await makeRandomBoard(service, user, site)
      for (const { kind, seed } of list) await board.take(kind, seed)
      const states = new Map<number, State>(board.steps.map(({ position, after }) => [position, after]))
      expect(states.size).toBeGreaterThan(steps / 3)
      const expectStates = async (when: string) => {
        for (const [position, state] of states)
          same(await board.stateAt(`as_of=${position}`), state, `${when}: as_of ${position}`)
      }
      await expectStates('at the end')
      await service.compactor.compact(board.id)
      await expectStates('after a compaction')
      expect(await verifyBoard(service.database, board.id)).toEqual([])
      board.leave()
    })
    // A shorter run would be another board.
    await fc.assert(run, { numRuns: 1, seed, endOnFailure: true })
  },
  60_000 + steps * 1000,
)
