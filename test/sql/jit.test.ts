import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../sql/database.ts'
import { cloneDatabase } from '../support/database.ts'

test('[D17] PostgreSQL compiles no statement of the service, whatever its settings say', async () => {
  const { url, admin, drop } = await cloneDatabase()
  await admin`alter database ${admin(new URL(url).pathname.slice(1))} set jit = on`
  const database = openDatabase({ url })
  onTestFinished(async () => {
    await database.close()
    await drop()
  })
  expect(await database.asSystem((tx) => tx`show jit`)).toEqual([{ jit: 'off' }])
  expect(await database.callAsSystem((sql) => sql`show jit`, 'follow')).toEqual([{ jit: 'off' }])
})
