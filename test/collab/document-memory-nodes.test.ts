/** The memory of documents that another process makes larger. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { makeBoard } from '../api/board.ts'
import { until } from '../support/editor.ts'
import { enter } from '../support/raw-client.ts'
import { nodesOfFile } from '../support/test-file.ts'

const maps = 50_000
const { here, there, user } = await nodesOfFile({
  memory: { accountBytes: { free: 0, pro: maps * 600 }, totalBytes: 10 * maps * 600 },
})

/** Adds empty maps to a board. */
async function fill(client: Awaited<ReturnType<typeof enter>>, count: number) {
  const document = new Y.Doc()
  document.getArray('filler').push(Array.from({ length: count }, () => new Y.Map()))
  client.update(Y.encodeStateAsUpdate(document))
  await until(() => client.acknowledgements.length > 0, 'it is saved', 20_000)
}

test('[X64] a document that another process makes too large is closed, and what was acknowledged is there', async () => {
  const [one, other] = [await makeBoard(user), await makeBoard(user)]
  const large = await enter(here.url, { boardId: one.id, token: user.token })
  await fill(large, maps * 0.9)
  const watching = await enter(here.url, { boardId: other.id, token: user.token })
  const writing = await enter(there.url, { boardId: other.id, token: user.token })
  await fill(writing, maps * 0.9)
  expect(await watching.untilClosed(10_000)).toBe(1013)
  expect([large.closed, writing.closed]).toEqual([null, null])
  large.socket.close()
  await until(
    () =>
      enter(here.url, { boardId: other.id, token: user.token }).then(
        ({ documentOf }) => documentOf(other.id).getArray('filler').length === maps * 0.9,
        () => false,
      ),
    'it opens again',
    30_000,
  )
  expect(here.inMemory(one.id)).toEqual([])
}, 90_000)
