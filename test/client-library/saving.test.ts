/** The save status of the client's editor part. */
import { afterEach, expect, test } from 'vitest'
import { makeBoard } from '../api/board.ts'
import { until } from '../support/editor.ts'
import { gatedServiceOfFile } from '../support/test-file.ts'
import { becomes, opening, status } from './open-boards.ts'

const { service, database, user } = await gatedServiceOfFile()
afterEach(() => database.release())
const opened = opening(service, user)
const newBoard = async () => (await makeBoard(user)).id

test('[LB23] `saved` is true only when all of the document is acknowledged, also after a reconnect with edits made offline', async () => {
  const id = await newBoard()
  const board = opened(id)
  await board.ready
  await becomes(board, { connection: 'open', saved: true, readOnly: false, reason: null })
  database.hold()
  const card = board.cards.add({ kind: 'note', title: 'One' })
  expect(status(board).saved).toBe(false)
  await expect(board.saved(AbortSignal.timeout(100))).rejects.toThrow()
  database.release()
  await board.saved()

  const { websocketProvider: socket } = board.provider.configuration
  socket.disconnect()
  await becomes(board, { connection: 'connecting', saved: true, reason: 'connection-lost' })
  for (const x of [1, 2, 3]) board.cards.change(card, { x })
  expect(status(board).saved).toBe(false)
  database.hold()
  void socket.connect()
  await becomes(board, { connection: 'open', saved: false })
  database.release()
  await board.saved()
  const { body } = await user.api.get(`/boards/${id}/cards/${card}`)
  expect(body.card.x).toBe(3)
})

test('[LB23] a viewer sees that nothing is taken; one that becomes an editor sees it saved', async () => {
  const id = await newBoard()
  const guest = await service.user()
  await service.share(id, guest, 'viewer')
  const board = opened(id, { token: guest.token })
  await board.ready
  await becomes(board, { connection: 'open', readOnly: true, saved: true })
  board.cards.add({ kind: 'note', title: 'Refused' })
  await until(() => board.provider.unsyncedChanges > 0, 'the change is sent')
  expect(status(board).saved).toBe(false)
  await expect(board.saved()).rejects.toThrow('It can only be read here.')
  await service.share(id, guest, 'editor')
  await becomes(board, { readOnly: false, saved: true })
  await board.saved()
  const { body } = await user.api.get(`/boards/${id}/cards`)
  expect(body.cards).toMatchObject([{ title: 'Refused' }])
})

test('[LB23] who waits until all is saved is told when the board is closed before', async () => {
  const id = await newBoard()
  const [deleted, closed] = [opened(id), opened(id)]
  await Promise.all([deleted.ready, closed.ready])
  database.hold()
  closed.cards.add({ kind: 'note' })
  const saved = closed.saved()
  closed.close()
  await expect(saved).rejects.toThrow('It was closed.')
  database.release()
  await user.api.delete(`/boards/${id}`)
  await becomes(deleted, { connection: 'closed' })
  deleted.cards.add({ kind: 'note' })
  await expect(deleted.saved()).rejects.toThrow('Do not come back with this token.')
})
