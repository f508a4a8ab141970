import { configDefaults, defineConfig } from 'vitest/config'

// Every test file, and every process that tests start, loads the same modules. Compiled once, a process starts in half
// the time.
process.env['NODE_COMPILE_CACHE'] ??= new URL('node_modules/.cache/compile', import.meta.url).pathname

const common = { pool: 'forks', testTimeout: 30_000, hookTimeout: 60_000 } as const
/** What these test files measure depends on what else runs. So they run one at a time, after all others. */
const alone = 'test/**/*.alone.test.ts'

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    teardownTimeout: 20_000,
    projects: [
      {
        test: {
          ...common,
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, alone],
          // Many tests wait: for timers, processes, and commits. Three workers leave a third of two cores unused.
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'alone',
          include: [alone],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
          execArgv: ['--expose-gc'],
        },
      },
    ],
  },
})
