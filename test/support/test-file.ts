/**
 * Resources that the tests of one file share. They are opened when the file is loaded and closed after its last test.
 */
import { afterAll, afterEach, expect } from 'vitest'
import { boardIds, verifyBoard } from '../../collab/log/verify.ts'
import { openDatabase, type Database } from '../../sql/database.ts'
import { cloneDatabase, type TestDatabase } from './database.ts'
import { leaveAll, until } from './editor.ts'
import { gatedDatabase, type GatedDatabase } from './gated-database.ts'
import { processFaults } from './process-faults.ts'
import { disconnectAll } from './raw-client.ts'
import { startService, type TestService, type TestServiceOptions, type TestUser } from './service.ts'

/** Opens a resource for the tests of a file. Resources are closed in reverse order. */
export async function forFile<Opened extends { close(): Promise<unknown> }>(
  opening: Promise<Opened>,
): Promise<Opened> {
  const opened = await opening
  afterAll(() => opened.close())
  return opened
}

/**
 * Starts the service with an account. At the end it checks that no error was uncaught, and that indexes equal
 * documents.
 */
export async function serviceOfFile(
  options: TestServiceOptions = {},
): Promise<{ service: TestService; user: TestUser }> {
  const service = await startService(options)
  afterAll(async () => {
    leaveAll()
    disconnectAll()
    await expectIndexesRight(service)
    await service.stop()
    expect(processFaults()).toEqual([])
  })
  return { service, user: await service.user() }
}

/** Starts two processes on one database, with an account. */
export async function nodesOfFile(
  options: TestServiceOptions = {},
): Promise<{ here: TestService; there: TestService; user: TestUser }> {
  const testDatabase = await cloneDatabase()
  const here = await startService({ ...options, testDatabase })
  const there = await startService({ ...options, testDatabase })
  afterAll(async () => {
    leaveAll()
    await there.stop()
    await here.stop()
    await testDatabase.drop()
  })
  return { here, there, user: await here.user() }
}

/** Starts two processes on one database, with an account. The test can delay the commits of the first one. */
export async function gatedNodesOfFile(options: TestServiceOptions = {}) {
  const testDatabase = await cloneDatabase()
  const database = gatedDatabase(testDatabase.url)
  const here = await startService({ ...options, testDatabase, database })
  const there = await startService({ testDatabase })
  afterEach(() => {
    database.release()
    leaveAll()
  })
  afterAll(async () => {
    await there.stop()
    await here.stop()
    await database.close()
    await testDatabase.drop()
  })
  return { testDatabase, database, here, there, user: await here.user() }
}

/** Opens a migrated database without a service. */
export async function databaseOfFile(): Promise<{ testDatabase: TestDatabase; database: Database }> {
  const testDatabase = await cloneDatabase()
  const database = openDatabase({ url: testDatabase.url })
  afterAll(async () => {
    await database.close()
    await testDatabase.drop()
  })
  return { testDatabase, database }
}

/** Starts the service with an account, on a database whose commits the test can delay. */
export async function gatedServiceOfFile(
  options: TestServiceOptions = {},
): Promise<{ service: TestService; database: GatedDatabase; user: TestUser }> {
  const testDatabase = await cloneDatabase()
  const database = gatedDatabase(testDatabase.url)
  const service = await startService({ ...options, testDatabase, database })
  afterAll(async () => {
    leaveAll()
    await service.stop()
    await database.close()
    await testDatabase.drop()
  })
  return { service, database, user: await service.user() }
}

export async function expectIndexesRight({ database }: TestService): Promise<void> {
  for (const id of await boardIds(database)) expect(await verifyBoard(database, id)).toEqual([])
}

/** Disconnects all clients of a test, and checks that the gateway has no state of them. */
export async function everybodyGone(service: TestService): Promise<void> {
  leaveAll()
  disconnectAll()
  await until(() => service.counts().sockets === 0, 'no socket is left')
  const nobody = { sockets: 0, strangers: 0, connections: 0, accounts: 0, unreadBytes: 0, states: 0 }
  await until(() => service.counts().states === 0, 'no awareness state is left')
  expect(service.counts()).toEqual(nobody)
}
