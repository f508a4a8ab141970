/** Runs the sample that `hostile.alone.test.ts` expects to fail. */
import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { include: ['test/hostile/long-turn.sample.ts'], testTimeout: 60_000 } })
