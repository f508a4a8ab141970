/** Boards that are attacked: what becomes of what is sent, and whether they can be worked on afterwards. */
import { afterEach, expect } from 'vitest'
import * as Y from 'yjs'
import { leaveAll, until, type Editor } from '../support/editor.ts'
import { disconnectAll, enter, syncFrame, type, updateFrame, type RawClient } from '../support/raw-client.ts'
import { serviceOfFile } from '../support/test-file.ts'

/** Starts the service that the tests of a file attack. */
export async function openTargets() {
  const { service, user } = await serviceOfFile({
    debounceMs: 50,
    bounds: { maxPendingBytes: 20_000, maxDocumentBytes: 4 * 1024 * 1024 },
  })
  afterEach(() => {
    leaveAll()
    disconnectAll()
  })
  const open = (boardId: string) => ({ boardId, token: user.token })
  return {
    service,
    user,
    newBoard: async (): Promise<string> => (await user.api.post('/boards', { name: 'Target' })).body.board.id,
    open,
    enterBoard: (boardId: string) => enter(service.url, open(boardId)),
    /** The editor goes on, others see it, and so does the API. */
    async expectUsable(boardId: string, editor: Editor): Promise<void> {
      const id = `c${Math.random().toString(36).slice(2)}`
      editor.addCard(id, { title: 'still here' })
      await editor.saved()
      const patched = await user.api.patch(`/boards/${boardId}/cards/${id}`, { title: 'renamed' })
      expect(patched.status).toBe(200)
      await until(() => editor.cards.get(id)?.get('title') === 'renamed', 'the editor sees the API’s change')
    },
  }
}

const nothing = new Uint8Array([0, 0])

/** What becomes of a frame: a further update, of nothing, is acknowledged after it in any case. */
export async function sendAndProbe(
  client: RawClient & { address: string },
  frame: Uint8Array,
): Promise<'acknowledged' | 'waits' | 'refused'> {
  const before = client.acknowledgements.length
  client.send(frame)
  await settle(client)
  if (client.closed) return 'refused'
  return client.acknowledgements.length >= before + 2 ? 'acknowledged' : 'waits'
}

/** Resolves when all that was sent has been dealt with. */
export async function settle(client: RawClient & { address: string }): Promise<void> {
  const asked = client.received(type.sync).length
  const before = client.acknowledgements.length
  client.send(updateFrame(client.address, nothing))
  await until(
    () => client.acknowledgements.length > before || client.closed !== null,
    'the update is dealt with',
  )
  // An answer that comes after all acknowledgements.
  client.send(syncFrame(client.address, 0, Y.encodeStateVector(new Y.Doc())))
  await until(() => client.received(type.sync).length >= asked + 2 || client.closed !== null, 'an answer')
}
