import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import { expect, test, type OnTestFinishedHandler } from 'vitest'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { openEditor, until } from '../support/editor.ts'
import { enter } from '../support/raw-client.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { isBuilt, makeLarge } from './large-board.ts'

const { service, user } = await serviceOfFile()
const viewer = await service.user()
const { service: another, user: owner } = await serviceOfFile()
const { service: small, user: tenant } = await serviceOfFile({ memory: { totalBytes: 10_000_000 } })

/** A provider with its defaults, alone on a board of its own. */
async function openIdle(
  options: { token: string; withAwareness: boolean },
  onTestFinished: (end: OnTestFinishedHandler) => void,
): Promise<{ closes: number }> {
  const boardId: string = (await user.api.post('/boards', { name: 'Idle' })).body.board.id
  await service.share(boardId, viewer, 'viewer')
  const seen = { closes: 0 }
  const socket = new HocuspocusProviderWebsocket({
    url: `${service.url.replace('http', 'ws')}/collab`,
    WebSocketPolyfill: WebSocket,
    onClose: () => (seen.closes += 1),
  })
  const provider = new HocuspocusProvider({
    websocketProvider: socket,
    name: boardId,
    token: options.token,
    document: new Y.Doc(),
    ...(options.withAwareness ? {} : { awareness: null }),
  })
  provider.attach()
  onTestFinished(() => {
    provider.destroy()
    socket.destroy()
  })
  await until(() => provider.isSynced, 'it is synced')
  return seen
}

test.concurrent('[X78] a lone idle provider stays connected, with and without awareness, editor and viewer; a dead one does not', async ({
  onTestFinished,
}) => {
  const idle = []
  for (const token of [user.token, viewer.token])
    for (const withAwareness of [true, false])
      idle.push(await openIdle({ token, withAwareness }, onTestFinished))
  const boardId: string = (await user.api.post('/boards', { name: 'Dead' })).body.board.id
  const dead = await enter(service.url, { boardId, token: user.token })
  const { _socket: stream } = dead.socket as unknown as { _socket: { pause(): void; resume(): void } }
  stream.pause() // it reads nothing, so it answers no ping
  await until(() => service.counts().connections === 5, 'all are in')
  // It has to wait: the provider's own timers decide, after 30 s of silence.
  await delay(70_000)
  expect(idle).toEqual(idle.map(() => ({ closes: 0 })))
  await until(() => service.counts().connections === 4, 'the dead one is gone', 60_000)
}, 180_000)

test.concurrent('[X134] a large board that is open loses its document a minute after its last edit, and not before', async () => {
  const { id } = await makeLarge(another, owner)
  const editor = await openEditor(another.url, { boardId: id, token: owner.token })
  editor.addCard('first')
  await editor.saved()
  await delay(40_000)
  editor.addCard('second')
  await editor.saved()
  await delay(50_000)
  expect(isBuilt(another, id)).toEqual([true])
  await until(() => isBuilt(another, id)[0] === false, 'the document is dropped', 20_000)
  expect(editor.closes).toEqual([])
}, 180_000)

test.concurrent('[X134] while memory is tight, it loses its document after ten seconds', async () => {
  const { id } = await makeLarge(small, tenant)
  const editor = await openEditor(small.url, { boardId: id, token: tenant.token })
  editor.addCard('first')
  await editor.saved()
  expect(isBuilt(small, id)).toEqual([true])
  await until(() => isBuilt(small, id)[0] === false, 'the document is dropped', 20_000)
  editor.addCard('second')
  await editor.saved()
  expect(editor.closes).toEqual([])
}, 180_000)
