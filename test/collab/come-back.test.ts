/** Editors that come back while the service cannot serve them: a stock provider gives up when it is refused, so it must not be. */
import { afterEach, expect, test } from 'vitest'
import { ServiceError } from '../../core/errors.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { gatedServiceOfFile } from '../support/test-file.ts'

const { service, database, user } = await gatedServiceOfFile({ editDeadlineMs: 500 })

afterEach(() => {
  database.release()
  leaveAll()
})

async function newBoard(): Promise<string> {
  return (await user.api.post('/boards', { name: 'Come back' })).body.board.id
}

test('[O17] while edits cannot be committed, who comes back is sent away again until they can, and then saves', async () => {
  const boardId = await newBoard()
  const editor = await openEditor(service.url, { boardId, token: user.token })
  database.hold()
  editor.addCard('held')
  const sentAway = () => editor.closes.filter(({ code }) => code === 1013).length
  await until(() => sentAway() >= 3, 'the editor is sent away again and again', 5000)
  expect(editor.provider.unsyncedChanges).toBeGreaterThan(0)
  database.release()
  await editor.saved()
})

test('[O17] while the database is out of reach, who comes is sent away until it is back', async () => {
  const boardId = await newBoard()
  const { asSystem } = database
  let asked = 0
  database.asSystem = () => {
    asked += 1
    return Promise.reject(new ServiceError('storage_unavailable', 'away'))
  }
  const opening = openEditor(service.url, { boardId, token: user.token })
  try {
    await until(() => asked >= 3, 'the editor comes back')
  } finally {
    database.asSystem = asSystem
  }
  const editor = await opening
  expect(editor.closes.every(({ code }) => code === 1013)).toBe(true)
  editor.addCard('there')
  await editor.saved()
})
