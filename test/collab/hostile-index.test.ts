import { expect, test } from 'vitest'
import { verifyBoard } from '../../collab/verify.ts'
import { startHealing } from '../../workers/heal.ts'
import { until } from '../support/editor.ts'
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
