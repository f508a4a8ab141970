/** Updates whose items name a neighbour on the wrong side. Undo of Yjs makes them. */
import { afterEach, expect, test } from 'vitest'
import * as Y from 'yjs'
import { documentOf } from '../../collab/log/log.ts'
import { verifyBoard } from '../../collab/log/verify.ts'
import { makeBoard } from '../api/board.ts'
import { leaveAll, openEditor } from '../support/editor.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ workers: false, debounceMs: 20 })
afterEach(leaveAll)

/** What an editor of stock Yjs does: it ends with `ABCGD`. */
function writeOddly(document: Y.Doc): void {
  const cards = document.getMap<Y.Map<unknown>>('cards')
  const undo = new Y.UndoManager([cards], { captureTimeout: 0 })
  const text = () => cards.get('c')!.get('body') as Y.Text
  document.transact(() => {
    const card = cards.set('c', new Y.Map())
    card.set('kind', 'note')
    card.set('body', new Y.Text('AB'))
  })
  text().insert(2, 'CD')
  undo.undo()
  undo.redo()
  text().insert(3, 'G')
  cards.delete('c')
  undo.undo()
  expect(text().toString()).toBe('ABCGD')
}

test('[IX12] they stand at the same place, whether they are applied one by one, together or merged', () => {
  const document = new Y.Doc()
  const updates: Uint8Array[] = []
  document.on('update', (update: Uint8Array) => void updates.push(update))
  writeOddly(document)
  const oneByOne = new Y.Doc()
  for (const update of updates) Y.applyUpdate(oneByOne, update)
  const together = documentOf({ snapshot: null, updates })
  const merged = documentOf({ snapshot: Y.encodeStateAsUpdateV2(document), updates: [] })
  const texts = [oneByOne, together, merged].map((one) => {
    const card = one.getMap<Y.Map<unknown>>('cards').get('c')!
    return (card.get('body') as Y.Text).toString()
  })
  expect(texts).toEqual(['ABCGD', 'ABCGD', 'ABCGD'])
})

test('[IX12] the document of an open board equals its log, and so do the index and every answer', async () => {
  const { id } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: id, token: user.token })
  writeOddly(editor.document)
  await editor.saved()
  await service.flush(id)
  await expectMemoryEqualsLog(service, id)
  expect(await verifyBoard(service.database, id)).toEqual([])
  expect((await user.api.get(`/boards/${id}/cards`)).body.cards[0].body).toBe('ABCGD')
})
