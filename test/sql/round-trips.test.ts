/** What a transaction sends before it waits for the database. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase, type Transaction } from '../../sql/database.ts'
import { cloneDatabase } from '../support/database.ts'
import { forFile } from '../support/test-file.ts'

const testDatabase = await cloneDatabase()
await forFile(Promise.resolve({ close: () => testDatabase.drop() }))
const { admin, url } = testDatabase

/** A relay to the database that can keep back the answers. */
async function relay() {
  const pairs: [client: net.Socket, server: net.Socket][] = []
  const listening = net.createServer((client) => {
    const server = net.connect(Number(new URL(url).port), '127.0.0.1')
    pairs.push([client, server])
    client.pipe(server)
    server.pipe(client)
    for (const socket of [client, server]) socket.on('error', () => undefined)
  })
  listening.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  onTestFinished(() => {
    for (const socket of pairs.flat()) socket.destroy()
    listening.close()
  })
  const through = new URL(url)
  through.port = String((listening.address() as AddressInfo).port)
  return {
    url: through.href,
    keepBack: () => pairs.forEach(([client, server]) => server.unpipe(client).pause()),
    letThrough: () => pairs.forEach(([client, server]) => server.pipe(client)),
  }
}

/** A database behind a relay, whose one connection knows the statements that `work` uses. */
async function behindRelay(work: (tx: Transaction, key: string) => Promise<unknown>) {
  const answers = await relay()
  const database = openDatabase({ url: answers.url, poolSize: 1 })
  onTestFinished(() => database.close())
  const run = (key: string) => database.asSystem((tx) => work(tx, key))
  await run(randomUUID())
  await run(randomUUID())
  return { answers, database, run }
}

const insert = (tx: Transaction, key: string) => tx`insert into history_leftovers (key) values (${key})`
const found = (key: string) => admin`select key from history_leftovers where key = ${key}`

test('[D16] a transaction that returns its only statement is committed before any answer has come', async () => {
  const { answers, run } = await behindRelay(insert)
  answers.keepBack()
  const running = run('only')
  await expect.poll(() => found('only')).toHaveLength(1)
  answers.letThrough()
  expect(await running).toMatchObject({ count: 1 })
})

test('[D16] a transaction sends its BEGIN with its first statement', async () => {
  const { answers, run } = await behindRelay(async (tx, key) => {
    await insert(tx, key)
    await tx`select 'after it'`
  })
  answers.keepBack()
  const running = run('begun')
  const open = () => admin`
    select from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction' and query like '%insert into history_leftovers%'`
  await expect.poll(open).toHaveLength(1)
  expect(await found('begun')).toHaveLength(0)
  answers.letThrough()
  await running
  expect(await found('begun')).toHaveLength(1)
})

test('[D16] when the last statement fails, the transaction fails with its error and has no effect', async () => {
  const { database, run } = await behindRelay(insert)
  const failing = database.asSystem((tx) => {
    void insert(tx, 'half').execute()
    return tx`select 1 / 0`
  })
  await expect(failing).rejects.toMatchObject({ code: '22012' })
  expect(await found('half')).toHaveLength(0)
  await run('twice')
  const clash = database.asSystem((tx) => insert(tx, 'twice'))
  await expect(clash).rejects.toMatchObject({ code: '23505' })
  await run('after')
  expect(await found('after')).toHaveLength(1)
})
