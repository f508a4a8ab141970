import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { closeCodes } from '../../core/errors.ts'
import { showHere } from '../../collab/documents/show.ts'
import { openEditor, until } from '../support/editor.ts'
import { enter } from '../support/raw-client.ts'
import { nodesOfFile } from '../support/test-file.ts'

const { here, there, user } = await nodesOfFile({ bounds: { maxUnreadBytes: 2_000_000 } })

/** Writes of 1.7 MB that the kernel's buffers of a connection may hold; each is 4 to 6 MB at most. */
const kernelTakes = 7

const cards = (count: number) => ({
  cards: Array.from({ length: count }, (_, n) => ({ kind: 'note', x: n, y: 0, body: 'x'.repeat(19_000) })),
})

for (const [where, node] of [
  ['here', here],
  ['on another node', there],
] as const)
  test(`[X79] \`live\` is false while a canvas ${where} reads nothing, and when it is closed for it`, async () => {
    const boardId: string = (await user.api.post('/boards', { name: 'Stuck' })).body.board.id
    const isLive = async (count: number): Promise<boolean> =>
      (await user.api.post(`/boards/${boardId}/cards`, cards(count))).body.live
    const stuck = await enter(node.url, { boardId, token: user.token })
    const { _socket: stream } = stuck.socket as unknown as { _socket: Socket }
    stream.pause()
    const answers: boolean[] = []
    while (node.gateway.counts().connections === 1 && answers.length < 30) answers.push(await isLive(90))
    expect(node.gateway.counts().connections).toBe(0)
    // The kernel may take the first writes for it. From then on nothing is taken, to the write for which it was closed.
    // The other node closes it a moment after that write was answered, and one more write in between is live.
    const whileStuck = node === here ? answers : answers.slice(0, -1)
    const lastTaken = whileStuck.lastIndexOf(true)
    expect(lastTaken).toBeLessThan(kernelTakes)
    expect(whileStuck.length - lastTaken).toBeGreaterThan(node === here ? 2 : 1)
    const healthy = await openEditor(node.url, { boardId, token: user.token })
    // Half a second may be short for 190 KB on a busy machine, again and again.
    await until(() => isLive(10), 'a canvas that reads shows them', 30_000)
    await until(() => healthy.cards.size > 0 && healthy.closes.length === 0, 'they are there')
    healthy.leave()
    await until(() => node.gateway.counts().sockets === 0, 'it has left')
  }, 60_000)

test('[X127] a canvas that the service closes makes `live` false from that moment until its socket is gone', async () => {
  const boardId: string = (await user.api.post('/boards', { name: 'Closing' })).body.board.id
  const closing = await enter(here.url, { boardId, token: user.token })
  const { _socket: stream } = closing.socket as unknown as { _socket: Socket }
  stream.pause() // it does not answer the close frame
  const { documents, nodes } = here.live
  here.gateway.closeBoard(boardId, closeCodes.tryLater)
  expect(await showHere({ documents, open: nodes.open }, boardId, 0)).toBe('unread')
  stream.resume()
  await closing.untilClosed()
  await until(() => here.gateway.counts().sockets === 0, 'its socket is gone')
  expect(await showHere({ documents, open: nodes.open }, boardId, 0)).toBe('shown')
})
