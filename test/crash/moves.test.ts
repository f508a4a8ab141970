/** Runs a few rounds. `npm run crash -- --moves 50` runs more. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MoveRun, movesBeforeKill } from './move-round.ts'

const rounds = Number(process.env['CRASH_ROUNDS'] ?? 3)
let run: MoveRun

beforeAll(async () => {
  run = await MoveRun.start({ seed: Date.now() % 1_000_000 })
}, 90_000)

afterAll(() => run?.end())

test(
  `[CM52] after ${rounds} kills during moves every card is on exactly one board, in documents and index, with the words acknowledged before`,
  { timeout: 60_000 + rounds * 60_000 },
  async () => {
    for (let n = 0; n < rounds; n++) expect(await run.round(), run.output).toEqual([])
    const { answered, unanswered, words } = run.figures
    expect(answered).toBeGreaterThanOrEqual(rounds * movesBeforeKill) // the kills came while moves were made
    expect(unanswered).toBeGreaterThan(0) // kills met moves under way
    expect(words).toBeGreaterThan(0)
  },
)
