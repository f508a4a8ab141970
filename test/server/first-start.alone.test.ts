import { expect, test } from 'vitest'
import { startInstance, testDataDir } from '../support/instance.ts'

test('[O1] a first start on an empty data folder is ready in less than 15 s', async () => {
  const dataDir = await testDataDir()
  const began = performance.now()
  const first = await startInstance(dataDir, { DEMO: 'on' })
  expect(performance.now() - began).toBeLessThan(15_000)
  await first.stop()
})
