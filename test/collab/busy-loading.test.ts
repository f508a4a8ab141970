/** Opening documents while more are waiting than may wait. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { LogLoader } from '../../collab/documents/load.ts'
import { QueueFull } from '../../platform/work/fair-queue.ts'
import { makeBoard, makeCards } from '../api/board.ts'
import { authFrame, connect } from '../support/raw-client.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile()

test('[X118] what is opened while too many documents wait is told to come again', async () => {
  const { id } = await makeBoard(user)
  await makeCards(user, id, [{}])
  const spy = vi.spyOn(LogLoader.prototype, 'apply').mockRejectedValue(new QueueFull('account'))
  onTestFinished(() => spy.mockRestore())
  const answer = await user.api.get(`/boards/${id}/cards?include=raw`)
  expect([answer.status, answer.body.code]).toEqual([503, 'session_unavailable'])
  expect(answer.body.error).toContain('Try again')
  const client = await connect(service.url)
  client.send(authFrame(id, user.token))
  expect(await client.untilClosed()).toBe(1013)
  const past = await user.api.get(`/boards/${id}/cards?as_of=${new Date().toISOString()}`)
  expect([past.status, past.body.code]).toEqual([503, 'session_unavailable'])
})
