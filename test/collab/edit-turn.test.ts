import { afterEach, expect, test, vi } from 'vitest'
import { openEditor, until } from '../support/editor.ts'
import { everybodyGone, gatedServiceOfFile } from '../support/test-file.ts'

const { service, database, user } = await gatedServiceOfFile()

afterEach(async () => {
  vi.restoreAllMocks()
  await everybodyGone(service)
})

test('[X103] an edit of a quiet board is broadcast and committed in its turn, and sets no timer for it', async () => {
  const boardId: string = (await user.api.post('/boards', { name: 'Quiet' })).body.board.id
  const editor = await openEditor(service.url, { boardId, token: user.token })
  const viewer = await openEditor(service.url, { boardId, token: user.token })
  const { document } = service.live.documents.find(boardId)!
  for (let n = 1; n <= 5; n++) {
    const steps: string[] = []
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const { flush } = document
    document.flush = () => {
      steps.push('broadcast')
      return flush.call(document)
    }
    document.once('update', () => {
      steps.push('edit')
      setImmediate(() => steps.push('next turn'))
    })
    database.next((call, commit) => {
      steps.push('commit')
      return commit(call)
    })
    editor.addCard(`card ${n}`)
    await editor.saved()
    document.flush = flush
    const inTurn = steps.slice(0, steps.indexOf('next turn'))
    expect(inTurn).toEqual(expect.arrayContaining(['edit', 'broadcast', 'commit']))
    expect(timers.mock.calls.filter(([, ms]) => ms === document.flushDelay)).toEqual([])
    timers.mockRestore()
  }
  await until(() => viewer.document.getMap('cards').size === 5, 'all are shown')
})

test('[X124] a turn that begins late applies an update all the same', async () => {
  const boardId: string = (await user.api.post('/boards', { name: 'Late' })).body.board.id
  const editor = await openEditor(service.url, { boardId, token: user.token })
  // As on a slow machine: Yjs copies the state vector before it gives a transaction to its caller.
  service.live.documents.find(boardId)!.document.on('beforeTransaction', () => {
    const until = performance.now() + 6
    while (performance.now() < until);
  })
  for (let n = 1; n <= 3; n++) {
    editor.addCard(`card ${n}`)
    await editor.saved()
  }
})
