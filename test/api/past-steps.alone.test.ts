/** Rebuilding the past of a board in short steps. */
import { expect, test } from 'vitest'
import { longestTurnMs } from '../support/cpu-time.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, makeCards } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false })
const { compactor } = service

test('[HP5] rebuilding 5,000 cards of the past takes no turn of more than 50 ms', async () => {
  const { id } = await makeBoard(user)
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
  await compactor.compact(id)
  await makeCard(user, id, {})
  await compactor.compact(id)
  let turnMs = Infinity
  for (let round = 0; round < 3; round++)
    turnMs = Math.min(
      turnMs,
      await longestTurnMs(async () => void (await user.api.get(`/boards/${id}/cards?as_of=5&limit=100`))),
    )
  expect(turnMs).toBeLessThan(50)
}, 120_000)
