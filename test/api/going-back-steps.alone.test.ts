/** Going back on a large board in short steps. */
import { expect, test } from 'vitest'
import { longestTurnMs } from '../support/cpu-time.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCards, succeeded } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false })

test('[HB8] restoring 5,000 cards, and undoing that, takes no turn of more than 50 ms', async () => {
  const { id } = await makeBoard(user)
  const path = `/boards/${id}/cards`
  for (let n = 0; n < 5; n++)
    await makeCards(
      user,
      id,
      Array.from({ length: 1000 }, (_, at) => ({
        title: `card ${n} ${at}`,
        body: 'word '.repeat(40),
        x: at * 10,
        y: n,
      })),
    )
  await service.compactor.compact(id)
  const [total] = [succeeded<any>(await user.api.get(`${path}?limit=1`)).total]
  expect(total).toBe(5000)
  let [restoreMs, undoMs] = [Infinity, Infinity]
  for (let round = 0; round < 2; round++) {
    // Empty, then whole again: the second removes nothing, and each card comes back.
    succeeded(await user.api.post(`/boards/${id}/restore-to`, { as_of: '0' }))
    let request = ''
    restoreMs = Math.min(
      restoreMs,
      await longestTurnMs(async () => {
        const answer = await user.api.post(`/boards/${id}/restore-to`, { as_of: '5' })
        expect(answer.body.changes).toHaveLength(5000)
        request = answer.headers.get('x-request-id')!
      }),
    )
    undoMs = Math.min(
      undoMs,
      await longestTurnMs(async () => {
        const { undone } = succeeded<any>(await user.api.post(`/boards/${id}/undo`, { request_id: request }))
        expect(undone).toHaveLength(5000)
      }),
    )
  }
  expect(restoreMs).toBeLessThan(50)
  expect(undoMs).toBeLessThan(50)
}, 120_000)
