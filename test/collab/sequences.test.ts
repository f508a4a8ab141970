/** The sequences that lose acknowledged work in designs that look right. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import * as Y from 'yjs'
import { tail } from '../../collab/log/log.ts'
import { verifyBoard } from '../../collab/log/verify.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { connectionLost, type GatedDatabase } from '../support/gated-database.ts'
import { lockBoard } from '../support/held-lock.ts'
import { authFrame, connect, disconnectAll, syncFrame } from '../support/raw-client.ts'
import { startService } from '../support/service.ts'
import { gatedServiceOfFile } from '../support/test-file.ts'

const { service, database, user } = await gatedServiceOfFile({ editDeadlineMs: 1500, writeDeadlineMs: 5000 })

afterEach(() => {
  database.release()
  database.afterSystem = null
  leaveAll()
})

async function newBoard(): Promise<string> {
  return (await user.api.post('/boards', { name: 'Sequence' })).body.board.id
}

/** The document as a fresh process would load it. */
async function fromLog(boardId: string): Promise<Y.Doc> {
  const log = await tail(database, boardId, 0)
  const document = new Y.Doc()
  if (log!.snapshot) Y.applyUpdateV2(document, log!.snapshot)
  for (const update of log!.updates) Y.applyUpdate(document, update)
  return document
}

const cardsIn = (document: Y.Doc) => document.getMap<Y.Map<unknown>>('cards')
const positioned = (title: string) => ({ kind: 'note', title, x: 0, y: 0 })

test('[S1] an edit whose commit hangs is not acknowledged to a provider that comes back with an empty SyncStep2', async () => {
  const boardId = await newBoard()
  const editor = await openEditor(service.url, { boardId, token: user.token })
  database.hold()
  editor.addCard('held')
  await until(() => service.live.documents.find(boardId)!.queue.edits.mark > 0, 'the server has the edit')
  editor.socket.disconnect()
  await until(() => editor.closes.length > 0, 'the socket is closed')
  await editor.socket.connect()
  await until(() => editor.provider.isAuthenticated && editor.provider.synced, 'the provider is back')
  // The server's memory has the edit, so there is nothing to sync; still nothing may be acknowledged.
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(editor.provider.unsyncedChanges).toBeGreaterThan(0)
  await until(() => editor.closes.some(({ code }) => code === 1013), 'the deadline closes the socket', 5000)
  expect(editor.provider.unsyncedChanges).toBeGreaterThan(0)
  database.release()
  await editor.saved()
  expect([...cardsIn(await fromLog(boardId)).keys()]).toEqual(['held'])
})

test('[S2] what one built on the edit of an editor whose rights ended is in the log with it', async () => {
  const boardId = await newBoard()
  const guest = await service.user()
  await service.share(boardId, guest, 'editor')
  const owner = await openEditor(service.url, { boardId, token: user.token })
  const leaving = await openEditor(service.url, { boardId, token: guest.token })
  await service.share(boardId, guest, 'none')
  leaving.addCard('shared', { body: 'from the guest' })
  await until(() => owner.cards.has('shared'), 'the owner sees the card')
  const text = owner.cards.get('shared')!.get('body') as Y.Text
  text.insert(4, ' us and')
  await owner.saved()
  const card = cardsIn(await fromLog(boardId)).get('shared')!
  expect(String(card.get('body'))).toBe('from us and the guest')
  await until(() => leaving.closes.some(({ code }) => code === 4403), 'the guest is cut off', 2000)
})

test('[S3] a commit that lands while the document loads is in it before anybody sees it', async () => {
  const boardId = await newBoard()
  await user.api.post(`/boards/${boardId}/cards`, positioned('first'))
  database.afterSystem = async (result) => {
    // The load has read the log and does not hold it yet; meanwhile another card is written.
    if (!Array.isArray(result) || !result[0]?.head) return
    database.afterSystem = null
    expect((await user.api.post(`/boards/${boardId}/cards`, positioned('second'))).status).toBe(201)
  }
  const editor = await openEditor(service.url, { boardId, token: user.token })
  expect(database.afterSystem).toBeNull()
  expect(editor.cards.size).toBe(2)
})

test('[X44] who lost access while a board was loaded is shown nothing of it', async () => {
  const boardId = await newBoard()
  await user.api.post(`/boards/${boardId}/cards`, positioned('secret'))
  const guest = await service.user()
  await service.share(boardId, guest, 'editor')
  database.afterSystem = async (result) => {
    if (!Array.isArray(result) || !result[0]?.head) return
    database.afterSystem = null
    await service.share(boardId, guest, 'none')
    await delay(600)
  }
  const client = await connect(service.url)
  client.send(authFrame(boardId, guest.token))
  client.send(syncFrame(boardId, 0, Y.encodeStateVector(new Y.Doc())))
  await until(() => client.denials.length > 0 || client.received(0).length > 0, 'it is answered')
  expect([client.denials, client.received(0)]).toEqual([['permission-denied'], []])
  disconnectAll()
})

test('[S4] a document that stands between snapshot and newest position catches up after a compaction', async () => {
  const boardId = await newBoard()
  const path = `/boards/${boardId}/cards`
  for (let n = 0; n < 5; n++) await user.api.post(path, positioned(`early ${n}`))
  const early = await tail(database, boardId, 0)
  const document = new Y.Doc()
  for (const update of early!.updates) Y.applyUpdate(document, update)
  for (let n = 0; n < 5; n++) await user.api.post(path, positioned(`late ${n}`))
  expect(await service.compactor.compact(boardId)).toBe(10)
  await user.api.post(path, positioned('last'))
  const late = await tail(database, boardId, early!.seq)
  expect(late!.snapshot).not.toBeNull()
  expect(late!.updates).toHaveLength(1)
  Y.applyUpdateV2(document, late!.snapshot!)
  for (const update of late!.updates) Y.applyUpdate(document, update)
  expect(cardsIn(document).size).toBe(11)
  expect(cardsIn(await fromLog(boardId)).size).toBe(11)
  // Under load, no reader ever sees a gap.
  const writes = Array.from({ length: 40 }, (_, n) => user.api.post(path, positioned(`more ${n}`)))
  const compactions = Array.from({ length: 4 }, () => service.compactor.compact(boardId))
  const reads = Array.from({ length: 20 }, async () => {
    const read = await fromLog(boardId)
    expect(read.store.pendingStructs).toBeNull()
    expect(cardsIn(read).size).toBeGreaterThanOrEqual(11)
  })
  await Promise.all([...writes, ...compactions, ...reads])
  expect(cardsIn(await fromLog(boardId)).size).toBe(51)
})

test('[S5] a commit whose answer is lost is written once and answered right', async () => {
  const boardId = await newBoard()
  database.next(async (call, commit) => {
    await commit(call)
    throw connectionLost()
  })
  const created = await user.api.post(`/boards/${boardId}/cards`, positioned('once'))
  expect(created.status).toBe(201)
  expect(cardsIn(await fromLog(boardId)).size).toBe(1)
  const [{ count }] =
    (await service.admin`select count(*)::int from board_updates where board_id = ${boardId}`) as unknown as [
      { count: number },
    ]
  expect(count).toBe(1)
  expect(await verifyBoard(database, boardId)).toEqual([])
})

test('[S6] a commit that a zombie backend makes late is written once and answered right', async () => {
  const boardId = await newBoard()
  let zombie: Promise<unknown> | undefined
  // The first call is lost on its way, is asked again, and arrives after all when the second has been answered.
  database.next((call, commit) => {
    zombie = until(
      async () => (await service.admin`select from commits where commit_id = ${call.commitId}`).length > 0,
      'the repeated call is through',
    ).then(() => commit(call))
    zombie.catch(() => undefined) // it is refused before the answer to the request is here, and awaited after it
    return Promise.reject(connectionLost())
  })
  const created = await user.api.post(`/boards/${boardId}/cards`, positioned('once'))
  expect(created.status).toBe(201)
  await expect(zombie).rejects.toMatchObject({ code: '40001' })
  // And one that is still running when it is asked again: whichever of the two is through first counts, the other is undone.
  let running: Promise<unknown> | undefined
  database.next((call, commit) => {
    running = Promise.allSettled([commit(call)])
    return Promise.reject(connectionLost())
  })
  expect((await user.api.post(`/boards/${boardId}/cards`, positioned('twice'))).status).toBe(201)
  await running
  expect(cardsIn(await fromLog(boardId)).size).toBe(2)
  const updates = await service.admin`select seq from board_updates where board_id = ${boardId} order by seq`
  expect(updates.map((row) => row['seq'])).toEqual([1, 2])
  expect(await verifyBoard(database, boardId)).toEqual([])
})

test('[S7] requests for one board that share a commit have each their own result', async () => {
  const boardId = await newBoard()
  const path = `/boards/${boardId}/cards`
  await user.api.post(path, positioned('warm'))
  const viewer = await service.user()
  await service.share(boardId, viewer, 'viewer')
  await viewer.api.get(path)
  const calls = database.calls.length
  database.hold()
  const first = user.api.post(path, positioned('held'))
  await until(() => database.calls.length > calls, 'one commit is under way')
  const before = database.calls.length
  const others = [
    user.api.post(path, positioned('a')),
    viewer.api.post(path, positioned('b')),
    user.api.post(path, positioned('c')),
  ]
  await until(() => service.live.queue.board(boardId).waitingWrites === 3, 'three more wait')
  database.release()
  const answers = await Promise.all([first, ...others])
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 403, 201])
  expect(JSON.parse(database.calls[before]!.items)).toHaveLength(3)
  expect(answers[1]!.body.cards[0].title).toBe('a')
  expect(answers[3]!.body.cards[0].title).toBe('c')
  const titles = [...cardsIn(await fromLog(boardId)).values()].map((card) => String(card.get('title'))).sort()
  expect(titles).toEqual(['a', 'c', 'held', 'warm'])
  expect(await verifyBoard(database, boardId)).toEqual([])
})

test('[S8] two processes create on one board: all is there, on both, and the index is right', async () => {
  const boardId = await newBoard()
  const other = await startService({ testDatabase: service.testDatabase })
  try {
    const anna = await openEditor(service.url, { boardId, token: user.token })
    const ben = await openEditor(other.url, { boardId, token: user.token })
    const post = (url: string, card: object) =>
      fetch(`${url}/api/v1/boards/${boardId}/cards`, {
        method: 'POST',
        headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(card),
      })
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        post(
          n % 2 ? service.url : other.url,
          n % 5 ? positioned(`Card ${n}`) : { kind: 'note', title: `Card ${n}` },
        ),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    anna.addCard('of-anna')
    ben.addCard('of-ben')
    await Promise.all([anna.saved(), ben.saved()])
    await until(() => anna.cards.size === 102 && ben.cards.size === 102, 'both editors hold all cards', 5000)
    expect(anna.document.store.pendingStructs).toBeNull()
    expect(ben.document.store.pendingStructs).toBeNull()
    expect(await verifyBoard(database, boardId)).toEqual([])
  } finally {
    leaveAll()
    await other.stop()
  }
})

test('[S9] one request refused among a hundred harms none of the others', async () => {
  const boardId = await newBoard()
  const viewer = await service.user()
  await service.share(boardId, viewer, 'viewer')
  const path = `/boards/${boardId}/cards`
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => (n === 42 ? viewer : user).api.post(path, positioned(`Card ${n}`))),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map((_, n) => (n === 42 ? 403 : 201)))
  expect(cardsIn(await fromLog(boardId)).size).toBe(99)
  expect(await verifyBoard(database, boardId)).toEqual([])
})

test('[S10] a request whose data the database cannot take fails alone', async () => {
  const boardId = await newBoard()
  const otherBoard = await newBoard()
  await Promise.all(
    [boardId, otherBoard].map((id) => user.api.post(`/boards/${id}/cards`, positioned('warm'))),
  )
  const poison = service.live.queue.write(boardId, {
    account: user.userId,
    reads: 'nothing',
    build: () => ({
      updates: [],
      used: 0,
      rows: [{ id: 'poison', hash: 'x' }],
      adds: 0,
      grows: 0,
      top: null,
      groups: [],
      removed: [],
    }),
  })
  const outcome = poison.then(
    () => 'written',
    (error: { code?: string }) => error.code,
  )
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      user.api.post(`/boards/${n % 2 ? boardId : otherBoard}/cards`, positioned(`Card ${n}`)),
    ),
  )
  expect(await outcome).toBe('internal_error')
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
  expect(cardsIn(await fromLog(boardId)).size + cardsIn(await fromLog(otherBoard)).size).toBe(22)
})

test('[S11] one board that is locked among fifty holds nobody up', async () => {
  const boards = await Promise.all(Array.from({ length: 50 }, newBoard))
  const locked = boards[25]!
  const release = await lockBoard(service.admin, locked)
  const started = performance.now()
  let lockedDone = false
  const waiting = user.api.post(`/boards/${locked}/cards`, positioned('waits')).then((answer) => {
    lockedDone = true
    return answer
  })
  const others = await Promise.all(
    boards
      .filter((id) => id !== locked)
      .map((id) => user.api.post(`/boards/${id}/cards`, positioned('goes'))),
  )
  expect(others.every(({ status }) => status === 201)).toBe(true)
  expect(performance.now() - started).toBeLessThan(4000)
  expect(lockedDone).toBe(false)
  await release()
  expect((await waiting).status).toBe(201)
})

test('[S16] an edit whose bytes are gone is not committed, and holds up no other board', async () => {
  const [broken, other] = [await newBoard(), await newBoard()]
  await openEditor(service.url, { boardId: broken, token: user.token })
  const { queue } = service.live.documents.find(broken)!
  const update = Y.encodeStateAsUpdate(new Y.Doc())
  service.live.queue.edit(queue, { update, actors: [user.userId] })
  structuredClone(update, { transfer: [update.buffer as ArrayBuffer] })
  expect((await user.api.post(`/boards/${other}/cards`, positioned('goes'))).status).toBe(201)
  await until(() => queue.edits.isStalled, 'the edit is late')
  expect((await tail(database, broken, 0))!.updates).toEqual([])
})

test('[S12] a commit of thousands of cards holds up no other board, and what its own board does meanwhile follows it', async () => {
  const [large, small] = [await newBoard(), await newBoard()]
  const thousand = { cards: Array.from({ length: 1000 }, (_, n) => ({ ...positioned(`Card ${n}`), x: n })) }
  for (let n = 0; n < 3; n++)
    expect((await user.api.post(`/boards/${large}/cards`, thousand)).status).toBe(201)
  const editor = await openEditor(service.url, { boardId: large, token: user.token })
  const under = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const holdLarge: Parameters<GatedDatabase['next']>[0] = async (call, commit) => {
    if ([call.rows].flat().join('').length < 100_000) {
      database.next(holdLarge)
      return commit(call)
    }
    under.resolve()
    await held.promise
    return commit(call)
  }
  database.next(holdLarge)
  const arranged = user.api.post(`/boards/${large}/arrange`, { layout: 'grid' })
  await under.promise
  editor.addCard('meanwhile')
  expect((await user.api.post(`/boards/${small}/cards`, positioned('goes'))).status).toBe(201)
  expect(editor.provider.unsyncedChanges).toBeGreaterThan(0)
  held.resolve()
  expect((await arranged).body.moved).toBeGreaterThan(2500)
  await editor.saved()
  expect(cardsIn(await fromLog(large)).has('meanwhile')).toBe(true)
  expect(await verifyBoard(database, large)).toEqual([])
})

test('[S13] eight writes of other boards do not wait for a commit that is under way, and the next one of its own board does', async () => {
  const [held, ...others] = await Promise.all(Array.from({ length: 9 }, newBoard))
  const post = (boardId: string, title: string) =>
    user.api.post(`/boards/${boardId}/cards`, positioned(title))
  await Promise.all(others.map((id) => post(id, 'early')))
  const under = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  database.next(async (call, commit) => {
    under.resolve()
    await gate.promise
    return commit(call)
  })
  const answered: string[] = []
  const told = (boardId: string, title: string) =>
    post(boardId, title).then(({ status }) => {
      expect(status).toBe(201)
      answered.push(title)
    })
  const first = told(held!, 'first')
  await under.promise
  const second = told(held!, 'second')
  await Promise.all(others.map((id, n) => told(id, `other ${n}`)))
  expect(answered).toHaveLength(8)
  gate.resolve()
  await Promise.all([first, second])
  expect(answered.slice(8)).toEqual(['first', 'second'])
  for (const boardId of [held!, ...others]) expect(await verifyBoard(database, boardId)).toEqual([])
})
