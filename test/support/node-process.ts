/** The service in a child process on the database of a test, beside services in the test's own process. */
import { onTestFinished } from 'vitest'
import { startInstance, testDataDir, type Instance } from './instance.ts'
import { testRedisUrl, testSecretKey } from './service.ts'

/** Starts a node. It is killed at the end of the test. @param dataDir for a node that replaces another */
export async function startNode(databaseUrl: string, given: { dataDir?: string } = {}): Promise<Instance> {
  const dataDir = given.dataDir ?? (await testDataDir())
  const node = await startInstance(dataDir, {
    DATABASE_URL: databaseUrl,
    SECRET_KEY: testSecretKey,
    RATE_LIMIT_PER_HOUR: '1000000',
    LOG_LEVEL: 'info',
    REDIS_URL: testRedisUrl,
  })
  onTestFinished(async () => {
    node.signal('SIGCONT')
    node.signal('SIGKILL')
    await node.ended
  })
  return node
}

export async function killNode(node: Instance): Promise<void> {
  node.signal('SIGKILL')
  await node.ended
}
