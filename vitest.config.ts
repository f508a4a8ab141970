import { configDefaults, defineConfig } from 'vitest/config'

// Every test file, and every process that tests start, loads the same modules. Compiled once, a process starts in half
// the time.
process.env['NODE_COMPILE_CACHE'] ??= new URL('node_modules/.cache/compile', import.meta.url).pathname

const common = { pool: 'forks', testTimeout: 30_000, hookTimeout: 60_000 } as const
const folders = 'api|client-library|collab|core|mcp|platform|server|sql|sync|workers'
/** Files that hold nothing in modules they share. Their worker loads the service once, instead of once for each file. */
const sharing = `test/@(${folders})/**/*.test.ts`
/** They change the environment, or import modules that open something for one file, such as a scene or a server. */
const holding = [
  'test/server/{administration,metrics}.test.ts',
  'test/sql/{driver,driver-pool,driver-silence,event-operations,events}.test.ts',
  'test/workers/{deliveries,first-attempts,switched-off}.test.ts',
]
/** It does little but wait for more than a minute. */
const waiting = ['test/collab/idle.test.ts']
const workers = 3
/** What these test files measure depends on what else runs. So they run one at a time, after all others. */
const alone = 'test/**/*.alone.test.ts'

// Projects of one group begin in the order of their names, and the longest files are among those apart. So the run does
// not end with one of them while other workers have nothing to do.
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    teardownTimeout: 20_000,
    projects: [
      {
        test: {
          ...common,
          name: 'apart',
          include: [`test/!(${folders})/**/*.test.ts`, 'test/*.test.ts', ...holding, ...waiting],
          exclude: [...configDefaults.exclude, alone],
          maxWorkers: workers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'sharing',
          include: [sharing],
          exclude: [...configDefaults.exclude, alone, ...holding, ...waiting],
          isolate: false,
          maxWorkers: workers,
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
