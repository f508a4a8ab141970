/** Runs a round of each kind. `npm run crash -- --events 30` runs more. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventKills, EventRun } from './event-round.ts'

const rounds = Number(process.env['CRASH_ROUNDS'] ?? Object.keys(eventKills).length)
let run: EventRun

beforeAll(async () => {
  run = await EventRun.start({ seed: Date.now() % 1_000_000 })
}, 90_000)

afterAll(() => run?.end())

test(
  `[W22] after ${rounds} kills at every step each committed change reaches the receiver within a minute of the restart, in one event, and nothing else does`,
  { timeout: 200_000 + rounds * 60_000 },
  async () => {
    for (let n = 0; n < rounds; n++) await run.round()
    expect(await run.check(), run.output).toEqual([])
    const { changes, repeated } = run.figures
    expect(changes).toBeGreaterThan(rounds * 20)
    expect(repeated).toBeGreaterThan(0) // kills met attempts under way
  },
)
