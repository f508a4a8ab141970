import { afterEach, expect, test } from 'vitest'
import * as Y from 'yjs'
import { until } from '../support/editor.ts'
import { enter, type } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile()

afterEach(() => everybodyGone(service))

/** Opens a new board on some clients, each with a document of its own that has what it sends. */
async function clientsOf(count: number) {
  const boardId: string = (await user.api.post('/boards', { name: 'Own' })).body.board.id
  return Promise.all(
    Array.from({ length: count }, async () => {
      const client = await enter(service.url, { boardId, token: user.token })
      const own = new Y.Doc()
      const sent: Uint8Array[] = []
      own.on('update', (update: Uint8Array) => sent.push(update))
      /** Makes an edit. It is sent with the next `push`. */
      const edit = (key: string) => own.getMap('junk').set(key, true)
      const push = () => sent.splice(0).forEach((update) => client.update(update))
      const write = (key: string) => {
        edit(key)
        push()
      }
      const seen = () => [...client.documentOf(boardId).getMap('junk').keys()].toSorted()
      return Object.assign(client, { own, edit, push, write, seen })
    }),
  )
}

test('[X100] an editor is not sent its own edits, and the others are', async () => {
  const [writer, other] = await clientsOf(2)
  for (let n = 0; n < 20; n++) {
    writer!.write(`a${n}`)
    await until(() => writer!.acknowledgements.length === n + 1, 'it is saved')
  }
  await until(() => other!.seen().length === 20, 'the other one has all')
  expect(writer!.seen()).toEqual([])
  other!.write('b')
  await until(() => writer!.seen().length > 0, 'it comes')
  expect(writer!.seen()).toEqual(['b'])
})

test('[X100] edits of several that go out together go to all of them', async () => {
  const [one, two, viewer] = await clientsOf(3)
  for (let round = 0; round < 30; round++)
    for (const [at, client] of [one!, two!].entries()) client.write(`${at} ${round}`)
  await until(() => viewer!.seen().length === 60, 'the viewer has all')
  for (const client of [one!, two!]) {
    const all = () => new Set([...client.seen(), ...client.own.getMap('junk').keys()])
    await until(() => all().size === 60, 'who writes has all')
  }
})

test('[X100] a large edit, and what the API writes after an edit, reach whoever lacks them', async () => {
  const [writer, other] = await clientsOf(2)
  writer!.write('a')
  const { address } = writer!
  await user.api.post(`/boards/${address}/cards`, { kind: 'note', title: 'From the API', x: 0, y: 0 })
  await until(() => writer!.documentOf(address).getMap('cards').size === 1, 'the writer has the card')
  // Hocuspocus broadcasts more than 1 MB without waiting.
  writer!.own.getMap('junk').set('large', 'x'.repeat(1_200_000))
  writer!.edit('b')
  writer!.push()
  await until(() => other!.seen().length === 3, 'the other one has all')
  other!.write('c')
  await until(() => writer!.seen().includes('c'), 'it comes')
  await until(() => writer!.acknowledgements.length === 3, 'all are saved')
  expect(writer!.received(type.sync).length).toBeGreaterThan(0)
})
