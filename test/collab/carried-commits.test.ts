/**
 * What commits add travels in the messages between nodes. `ROUNDS=40 SEED=7 npm test -- test/collab/carried-commits.test.ts`
 * for more.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import * as Y from 'yjs'
import { signed } from '../../collab/bus/added.ts'
import type { Signed } from '../../collab/bus/messages.ts'
import { toJson } from '../../collab/canvas/json.ts'
import { tail, type Added } from '../../collab/log/log.ts'
import { openSigning } from '../../platform/secrets/signatures.ts'
import { makeBoard, makeCards } from '../api/board.ts'
import { Random } from '../crash/random.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import { testSecretKey, type TestService } from '../support/service.ts'
import { expectIndexesRight, nodesOfFile } from '../support/test-file.ts'

// Forged messages are sent over NOTIFY.
const { here, there, user } = await nodesOfFile({ debounceMs: 50, config: { redisUrl: null } })
const apiThere = new ApiClient(there.url, user.token)
const rounds = Number(process.env['ROUNDS'] ?? 2)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

afterEach(leaveAll)

const open = (service: TestService, boardId: string) =>
  openEditor(service.url, { boardId, token: user.token })

/** Opens the board on both nodes, and waits until each knows of the other. */
async function openOnBoth(): Promise<{ id: string; mine: Editor; theirs: Editor }> {
  const { id } = await makeBoard(user)
  const [mine, theirs] = [await open(here, id), await open(there, id)]
  await until(
    () => here.live.nodes.isElsewhere(id) && there.live.nodes.isElsewhere(id),
    'both know that the other has it open',
  )
  return { id, mine, theirs }
}

/**
 * Counts the statements by which a node reads the log because of messages. It does not compare the board with the
 * database meanwhile: on a busy machine, that may come before a message.
 */
function readsOfLog({ live: { database }, inMemory }: TestService, boardId: string): () => number {
  let reads = 0
  const comparing = vi.spyOn(inMemory(boardId)[0]!, 'compared').mockReturnValue()
  const callAsSystem = database.callAsSystem.bind(database)
  const spy = vi.spyOn(database, 'callAsSystem').mockImplementation((work, pool) =>
    callAsSystem((sql) => {
      const counting = new Proxy(sql, {
        apply(target, self, args: Parameters<typeof sql>) {
          if (String(args[0]).includes('board_updates')) reads += 1
          return Reflect.apply(target, self, args) as unknown
        },
      })
      return work(counting)
    }, pool),
  )
  onTestFinished(() => {
    spy.mockRestore()
    comparing.mockRestore()
  })
  return () => reads
}

async function write(api: ApiClient, boardId: string, body: string): Promise<void> {
  const written = await api.post(`/boards/${boardId}/cards`, { kind: 'note', body, x: 0, y: 0 })
  expect([written.status, written.body.live]).toEqual([201, true])
}

test('[N43] what small commits add reaches the canvases of another node without a read of the log', async () => {
  const { id, mine, theirs } = await openOnBoth()
  const reads = readsOfLog(there, id)
  for (let n = 1; n <= 10; n++) {
    mine.addCard(`edit-${n}`)
    await until(() => theirs.cards.size === 2 * n - 1, 'the edit is there')
    await write(user.api, id, `write ${n}`)
    expect(theirs.cards.size).toBe(2 * n)
  }
  expect(reads()).toBe(0)
  // It has all that writing needs, too: its counters are those of the last commit.
  await write(apiThere, id, 'of the other node')
  expect(mine.cards.size).toBe(21)
  theirs.addCard('edit of the other node')
  await until(() => mine.cards.size === 22, 'the edit is here')
})

test('[N47] a node that learns from the database who has a board open does not wait for its heartbeat', async () => {
  let id: string
  do {
    id = (await makeBoard(user)).id
    await open(there, id)
  } while (here.live.nodes.isElsewhere(id)) // a heartbeat came just then
  await write(user.api, id, 'first')
  const reads = readsOfLog(there, id)
  for (let n = 0; n < 3; n++) await write(user.api, id, `write ${n}`)
  expect(reads()).toBe(0)
})

test('[N45] a commit larger than what a message carries is read from the log', async () => {
  const { id, theirs } = await openOnBoth()
  const reads = readsOfLog(there, id)
  await write(user.api, id, 'x'.repeat(9000))
  expect(theirs.cards.size).toBe(1)
  expect(reads()).toBe(1)
  await write(user.api, id, 'small')
  expect(theirs.cards.size).toBe(2)
  expect(reads()).toBe(1)
})

test('[N43] also those of a large board that is only shown, without its document', async () => {
  const { id } = await makeBoard(user)
  const body = 'word '.repeat(1500)
  await makeCards(
    user,
    id,
    Array.from({ length: 200 }, () => ({ body })),
  )
  const theirs = await open(there, id)
  await until(() => theirs.cards.size === 200, 'it is shown')
  await until(() => here.live.nodes.isElsewhere(id), 'this node knows it')
  const isStored = () => there.inMemory(id)[0]!.isStored
  expect(isStored()).toBe(true)
  const reads = readsOfLog(there, id)
  for (let n = 1; n <= 5; n++) await write(user.api, id, `write ${n}`)
  expect([theirs.cards.size, reads(), isStored()]).toEqual([205, 0, true])
})

const contentOf = ({ document }: Editor) => toJson(document.getMap('cards'), { left: 1e8 })

test('[N44] messages may be lost, late, doubled or out of order', { timeout: 120_000 }, async () => {
  const random = new Random(seed)
  const { id, mine, theirs } = await openOnBoth()
  let carried = 0
  for (const node of [here, there]) {
    const board = node.inMemory(id)[0]!
    const noticed = board.noticed.bind(board)
    const spy = vi.spyOn(board, 'noticed').mockImplementation((seq, added) => {
      if (!added) return noticed(seq)
      carried += 1
      if (random.chance(0.3)) return undefined
      const times = random.chance(0.3) ? 2 : 1
      for (let n = 0; n < times; n++) {
        if (random.chance(0.5)) noticed(seq, added)
        else setTimeout(() => noticed(seq, added), random.between(0, 60))
      }
    })
    onTestFinished(() => spy.mockRestore())
  }
  for (let round = 0; round < rounds; round++) {
    for (let n = 0; n < 40; n++) {
      const name = `${round}-${n}`
      const step = random.between(0, 4)
      if (step === 0) mine.addCard(`mine-${name}`)
      else if (step === 1) theirs.addCard(`theirs-${name}`)
      else {
        const api = step === 2 ? user.api : apiThere
        const written = await api.post(`/boards/${id}/cards`, { kind: 'note', body: name, x: 0, y: 0 })
        expect(written.status).toBe(201)
      }
      await delay(random.between(0, 25))
    }
    await Promise.all([mine.saved(), theirs.saved()])
    for (const node of [here, there]) await expectMemoryEqualsLog(node, id)
    await until(
      () => isDeepStrictEqual(contentOf(mine), contentOf(theirs)),
      `both canvases show the same (seed ${seed})`,
    )
  }
  expect(carried).toBeGreaterThan(rounds * 10)
  await Promise.all([here, there].map((node) => node.flush(id)))
  await expectIndexesRight(here)
})

test('[N46] what is not signed for a node of this database is not applied', async () => {
  const { id, mine, theirs } = await openOnBoth()
  const forged = new Y.Doc()
  forged.getMap('cards').set('forged', new Y.Map([['kind', 'note']]))
  const {
    seq: after,
    indexedSeq,
    apiClient,
    apiClock,
    topZ,
    logRows,
    logBytes,
  } = (await tail(here.database, id, 0))!
  const head = { indexedSeq, apiClient, apiClock, topZ, logRows, logBytes }
  const added: Added = {
    after,
    head: { ...head, seq: after + 1 },
    updates: [Buffer.from(Y.encodeStateAsUpdate(forged))],
  }
  const ours = openSigning([testSecretKey], 'messages between nodes')
  const other = openSigning([`${testSecretKey} of another service`], 'messages between nodes')
  const alive = here.live.nodes.id
  const by = (signing: typeof ours, node: string) => signed(signing, node, [[id, added]], 4096)!
  const send = async (from: string, message: Signed) => {
    const parts = { v: 1, from, signed: message }
    for (const text of [
      JSON.stringify({ ...parts, kind: 'hint', boards: [[id, after + 1]] }),
      JSON.stringify({ ...parts, kind: 'show', ask: randomUUID(), board: id, seq: after + 1 }),
    ])
      await here.admin`select pg_notify('corkboard_nodes', ${text})`
  }
  const stranger = randomUUID()
  await send(alive, by(other, alive))
  await send(stranger, by(ours, stranger)) // a copy of the database, with the same keys
  await send(alive, by(ours, stranger))
  const changed = by(ours, alive)
  await send(alive, { ...changed, added: [{ ...changed.added[0]!, after: after + 1 }] })
  mine.addCard('mine')
  await until(() => theirs.cards.size > 0, 'what follows is there')
  await write(apiThere, id, 'theirs')
  expect([mine.cards.size, theirs.cards.size]).toEqual([2, 2])
  expect(there.inMemory(id)[0]!.document.getMap('cards').has('forged')).toBe(false)
})
