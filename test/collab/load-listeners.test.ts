import { Document } from '@hocuspocus/server'
import { expect, test, vi } from 'vitest'
import { openEditor, until } from '../support/editor.ts'
import { nodesOfFile } from '../support/test-file.ts'

const { there, user } = await nodesOfFile()

test('[X139] a load encodes nothing for who hears of updates; what comes after it is told', async () => {
  const board: string = (await user.api.post('/boards', { name: 'Loaded' })).body.board.id
  const cards = Array.from({ length: 50 }, (_, n) => ({ kind: 'note', title: `Card ${n}` }))
  expect((await user.api.post(`/boards/${board}/cards`, { cards })).status).toBe(201)
  expect(there.inMemory(board)).toEqual([])
  // Hocuspocus hears of updates in every document, and Yjs encodes each transaction for it.
  const heard = vi.spyOn(Document.prototype as never as { handleUpdate(): void }, 'handleUpdate')
  try {
    const editor = await openEditor(there.url, { boardId: board, token: user.token })
    expect(editor.cards.size).toBe(50)
    expect(heard).not.toHaveBeenCalled()
    editor.document.getMap('junk').set('key', 'value')
    await until(() => heard.mock.calls.length === 1, 'the edit is heard of')
    editor.leave()
  } finally {
    heard.mockRestore()
  }
})
