import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { until } from '../support/editor.ts'
import { authFrame, connect, enter, syncFrame } from '../support/raw-client.ts'
import { everybodyGone, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile()

/**
 * Opens a board on a writer and on sockets that drop what they read. The writer's socket has it open twice: the second
 * connection shows what is broadcast.
 */
async function crowd(sockets: number) {
  const before = service.counts().connections
  const boardId: string = (await user.api.post('/boards', { name: 'Crowd' })).body.board.id
  const writer = await enter(service.url, { boardId, token: user.token, session: 'writer' })
  const viewer = `${boardId}\0viewer`
  writer.send(authFrame(viewer, user.token))
  writer.send(syncFrame(viewer, 0, Y.encodeStateVector(new Y.Doc())))
  for (let n = 2; n < sockets; n++) {
    const { socket } = await connect(service.url)
    socket.removeAllListeners('message')
    socket.send(authFrame(boardId, user.token))
  }
  await until(() => service.counts().connections === before + sockets, 'all are in', 20_000)
  const { document } = service.live.documents.find(boardId)!
  const source = new Y.Doc()
  source.on('update', (update: Uint8Array) => writer.update(update))
  const shown = () => writer.documentOf(viewer).getMap('junk').get('n')
  return { writer, document, shown, edit: (n: number) => source.getMap('junk').set('n', n) }
}

test('[X66] a board with 100 sockets is broadcast as before', async () => {
  const { writer, document, shown, edit } = await crowd(100)
  for (let n = 1; n <= 50; n++) {
    edit(n)
    await until(() => shown() === n, 'it is shown')
    expect(document.flushDelay).toBe(4)
  }
  await until(() => writer.acknowledgements.length === 50, 'all are saved')
  await everybodyGone(service)
})

test('[X66] 300 sockets are written to less often, their editor pays, and no acknowledgement precedes its broadcast', async () => {
  const { writer, document, shown, edit } = await crowd(300)
  const early: number[] = []
  writer.socket.on('message', () => {
    const saved = writer.acknowledgements.length
    if (saved > Number(shown() ?? 0)) early.push(saved)
  })
  const beganAt = performance.now()
  for (let n = 1; n <= 300; n++) {
    edit(n)
    await until(() => shown() === n, 'it is shown')
  }
  // 300 broadcasts of 3 ms each, of which the account has 125 ms at once and then a quarter of the time.
  expect(performance.now() - beganAt).toBeGreaterThan(3000)
  expect(document.flushDelay).toBeGreaterThanOrEqual((300 * 0.012) / 0.3)
  // Edits that are not waited for are gathered.
  for (let n = 301; n <= 400; n++) edit(n)
  await until(() => writer.acknowledgements.length === 400, 'all are saved')
  expect(early).toEqual([])
  await everybodyGone(service)
}, 60_000)

test('[X66] boards with many sockets have that share together, and take turns', async () => {
  const crowds = [await crowd(200), await crowd(200)]
  let broadcasts = 0
  let longestMs = 0
  for (const { writer, document } of crowds)
    writer.socket.on('message', (data: Buffer) => {
      // The frame of the second connection: the writer's own edits are not sent to it.
      if (!data.includes('viewer')) return
      broadcasts += 1
      longestMs = Math.max(longestMs, Number(document.flushDelay))
    })
  const beganAt = performance.now()
  for (let n = 1; performance.now() - beganAt < 1000; n++) {
    for (const { edit } of crowds) edit(n)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const lastedMs = performance.now() - beganAt
  // Each board alone would broadcast every 8 ms.
  const ownMs = (200 * 0.012) / 0.3
  expect(broadcasts).toBeGreaterThan(10)
  expect(broadcasts).toBeLessThanOrEqual(lastedMs / ownMs + 5)
  expect(longestMs).toBeLessThanOrEqual(100)
  await everybodyGone(service)
})
