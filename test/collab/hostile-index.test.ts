import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { verifyBoard } from '../../collab/log/verify.ts'
import { startHealing } from '../../workers/upkeep/heal.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { enter } from '../support/raw-client.ts'
import { startService } from '../support/service.ts'

test('[X34] a board that cannot be indexed does not keep the others from it', async () => {
  const service = await startService({ workers: false })
  const user = await service.user()
  const boards: string[] = []
  for (let n = 0; n < 3; n++) {
    const { body } = await user.api.post('/boards', { name: `Board ${n}` })
    boards.push(body.board.id)
    await user.api.post(`/boards/${body.board.id}/cards`, { kind: 'note', x: 0, y: 0 })
  }
  const [broken, ...others] = boards
  await service.admin`update board_documents set indexed_seq = 0`
  await service.admin`delete from card_index`
  const { documents } = service.live
  const partly = {
    ...service.live,
    documents: Object.create(documents, {
      withDocument: {
        value: (boardId: string, work: () => unknown) =>
          boardId === broken ? Promise.reject(new Error('broken')) : documents.withDocument(boardId, work),
      },
    }) as typeof documents,
  }
  const healing = startHealing(partly, service.app.log, { intervalMs: 20, graceSeconds: 0 })
  const isBehind = async (boardId: string) =>
    (await verifyBoard(service.database, boardId, { waitMs: 0 })).length > 0
  for (const boardId of others) await until(async () => !(await isBehind(boardId)), 'the board is indexed')
  expect(await isBehind(broken!)).toBe(true)
  await healing.stop()
  await service.stop()
})

test('[X35] thousands of cards that one editor makes and removes at once hold up no other board', async () => {
  const service = await startService({ debounceMs: 50 })
  const user = await service.user()
  const newBoard = async () => (await user.api.post('/boards', { name: 'Board' })).body.board.id as string
  const [large, small] = [await newBoard(), await newBoard()]
  // The database has made its plans on small tables.
  for (let n = 0; n < 12; n++) {
    const created = await user.api.post(`/boards/${small}/cards`, { kind: 'note', x: 0, y: 0 })
    const path = `/boards/${small}/cards/${created.body.cards[0].id}`
    await user.api.patch(path, { title: 'x' })
    await user.api.delete(path)
  }
  const innocent = await openEditor(service.url, { boardId: small, token: user.token })
  const card = innocent.addCard('innocent')
  await innocent.saved()
  const attacker = await enter(service.url, { boardId: large, token: user.token })
  const doc = attacker.documentOf(large)
  const cards = doc.getMap<unknown>('cards')
  doc.on('update', (update: Uint8Array) => attacker.update(update))
  const expectCards = async (count: number) => {
    let slowestMs = 0
    const isIndexed = async () => {
      const from = performance.now()
      card.set('x', from)
      await innocent.saved()
      slowestMs = Math.max(slowestMs, performance.now() - from)
      const [row] = await service.admin`select card_count from board_documents where board_id = ${large}`
      return row!['card_count'] === count
    }
    await until(isIndexed, `${count} cards are indexed`, 20_000)
    expect(slowestMs).toBeLessThan(4000)
  }
  doc.transact(() => {
    for (let n = 0; n < 12_000; n++) cards.set(`c${n}`, new Y.Map([['kind', 'note']]))
  })
  await expectCards(12_000)
  doc.transact(() => cards.clear())
  await expectCards(0)
  attacker.socket.terminate()
  leaveAll()
  await service.stop()
}, 60_000)
