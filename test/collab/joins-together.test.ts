import { expect, test } from 'vitest'
import { QueryBatch } from '../../platform/work/query-batch.ts'
import { authFrame, connect, syncFrame, type } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'
import { until } from '../support/editor.ts'
import * as Y from 'yjs'

const { service, user } = await serviceOfFile()

const transactions = async () => {
  const [row] = await service.admin<{ n: number }[]>`
    select xact_commit::int as n from pg_stat_database where datname = current_database()`
  return row!.n
}

test('[X81] joins at the same moment share the queries that check their access', async () => {
  const boardId: string = (await user.api.post('/boards', { name: 'Crowded' })).body.board.id
  const clients = await Promise.all(Array.from({ length: 4 }, () => connect(service.url)))
  const before = await transactions()
  for (const [at, client] of clients.entries())
    for (let n = 0; n < 60; n++) {
      const address = `${boardId}\0${at}-${n}`
      client.send(authFrame(address, user.token))
      client.send(syncFrame(address, 0, Y.encodeStateVector(new Y.Doc())))
    }
  await until(() => service.counts().connections === 240, 'all are in')
  await until(() => clients.every((client) => client.received(type.sync).length >= 60), 'all are answered')
  await new Promise((resolve) => setTimeout(resolve, 1100)) // PostgreSQL counts transactions once a second
  expect((await transactions()) - before).toBeLessThan(100)
  for (const client of clients) client.socket.terminate()
  await everybodyGone(service)
})

test('[X81] a question is answered by a query that begins after it came', async () => {
  const queries: { questions: string[]; end: PromiseWithResolvers<string[]> }[] = []
  const batch = new QueryBatch({
    query(questions: string[]) {
      const end = Promise.withResolvers<string[]>()
      queries.push({ questions, end })
      return end.promise
    },
    keyOf: (question) => question,
    accountOf: (question) => question[0]!,
  })
  const first = batch.ask('a')
  const late = [batch.ask('a'), batch.ask('a')]
  const many = Array.from({ length: 60 }, (_, n) => batch.ask(`a${n}`))
  const other = batch.ask('b')
  expect(queries.map(({ questions }) => questions)).toEqual([['a']])
  queries[0]!.end.resolve(['first'])
  expect(await first).toBe('first')
  await until(() => queries.length === 2, 'the second query')
  // Equal questions are asked once. An account has a share of a query, and the next account is not behind the rest.
  expect(queries[1]!.questions).toHaveLength(51)
  expect(queries[1]!.questions.at(-1)).toBe('b')
  const refused = Promise.allSettled([...late, ...many.slice(0, 49), other])
  queries[1]!.end.reject(new Error('no database'))
  expect((await refused).every(({ status }) => status === 'rejected')).toBe(true)
  await until(() => queries.length === 3, 'the third query')
  const rest = Array.from({ length: 11 }, (_, n) => `a${n + 49}`)
  expect(queries[2]!.questions).toEqual(rest)
  queries[2]!.end.resolve(rest)
  expect(await Promise.all(many.slice(49))).toEqual(rest)
})
