import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { broadcastWindowMs } from '../../collab/documents/fan-out.ts'
import type { CommitItem } from '../../sql/commit-call.ts'
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
    await delay(2 * broadcastWindowMs) // until the board is quiet
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

test('[X130, X132] edits don’t wait for many writes: a commit takes them alone, the next one takes both, and none takes many writes', async () => {
  const boardId: string = (await user.api.post('/boards', { name: 'Busy' })).body.board.id
  const path = `/boards/${boardId}/cards`
  const write = (x: number) => user.api.post(path, { kind: 'note', x, y: 0 })
  const editor = await openEditor(service.url, { boardId, token: user.token })
  const queue = service.live.queue.board(boardId)
  const [before, many] = [database.calls.length, 20]
  database.hold()
  const writes = [write(0)]
  await until(() => database.calls.length === before + 1, 'a commit is under way')
  for (let n = 1; n <= many; n++) writes.push(write(n))
  editor.addCard('first')
  await until(() => queue.waitingWrites === many && queue.edits.count === 1, 'all wait')
  database.release()
  database.hold()
  await until(() => database.calls.length === before + 2, 'the next commit is under way')
  editor.addCard('second')
  await until(() => queue.edits.count === 2, 'another edit waits')
  database.release()
  for (const { status } of await Promise.all(writes)) expect(status).toBe(201)
  await editor.saved()
  const kinds = database.calls
    .slice(before + 1)
    .map(({ items }) => (JSON.parse(items) as CommitItem[]).map(({ kind }) => kind))
  expect(kinds[0]).toEqual(['edit'])
  expect(kinds[1]).toEqual(['edit', ...Array.from({ length: 4 }, () => 'write')])
  expect(kinds.slice(2).map(({ length }) => length)).toEqual([4, 4, 4, 4])
  await until(() => editor.cards.size === many + 3, 'all are shown')

  await delay(1100)
  const later = database.calls.length
  database.hold()
  const more = [write(0)]
  await until(() => database.calls.length === later + 1, 'a commit is under way again')
  for (let n = 1; n <= many; n++) more.push(write(n))
  await until(() => queue.waitingWrites === many, 'many wait again')
  database.release()
  for (const { status } of await Promise.all(more)) expect(status).toBe(201)
  expect(database.calls.slice(later).map(({ items }) => JSON.parse(items).length)).toEqual([1, many])
})

/** The first byte of a WebSocket frame. */
const binaryFrame = '\x82'

test('[X129] a write of the API is written to the sockets of its board before its answer is', async () => {
  const boardId: string = (await user.api.post('/boards', { name: 'Shown' })).body.board.id
  const viewer = await openEditor(service.url, { boardId, token: user.token })
  const writes = vi.spyOn(Socket.prototype, 'write')
  for (let n = 1; n <= 5; n++) {
    writes.mockClear()
    const answer = await user.api.post(`/boards/${boardId}/cards`, { kind: 'note', x: n, y: 0 })
    const { id } = answer.body.cards[0]
    await until(() => viewer.cards.has(id), 'it is shown')
    const written = writes.mock.calls.map(([bytes]) => Buffer.from(bytes as Uint8Array).toString('latin1'))
    const shown = written.findIndex((text) => text.startsWith(binaryFrame) && text.includes(id))
    const answered = written.findIndex((text) => text.startsWith('HTTP/1.1 201'))
    expect([shown, answered]).not.toContain(-1)
    expect(shown).toBeLessThan(answered)
  }
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
